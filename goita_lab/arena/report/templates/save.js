// Adds to each figure of a report what it can be saved as: its table as CSV or LaTeX, its plot as SVG or PNG.
// A heading of a table of text becomes a button that sorts its rows.
(() => {
  const PLOT = 330, ROW = 26, GAP = 12, SIZE = 14;
  const text = (node) => [...node.childNodes].map((child) => (child.nodeType === 3 ? child.textContent : ["svg", "WBR"].includes(child.nodeName) ? "" : ` ${text(child)} `)).join("").replace(/\s+/g, " ").replace(/ ([,;:.])/g, "$1").trim();
  const cellTexts = (row) => [...row.cells].filter((cell) => !cell.classList.contains("plot")).map(text);
  const rows = (table) => [...table.rows].filter((row) => !row.closest("tfoot")).map(cellTexts);
  const escaped = (content) => content.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

  const csv = (table) => rows(table).map((row) => row.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n");

  function latex(table, caption) {
    const tex = (cell) => cell.replace(/[\\{}$&#_%^~]/g, (sign) => ({ "\\": "\\textbackslash{}", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}" })[sign] ?? `\\${sign}`).replaceAll("−", "$-$");
    const [head, ...body] = rows(table).map((row) => `${row.map(tex).join(" & ")} \\\\`);
    const columns = "l".padEnd(cellTexts(table.rows[0]).length, "r");
    return ["\\begin{table}", `\\caption{${tex(caption)}}`, `\\begin{tabular}{${columns}}`, "\\hline", head, "\\hline", ...body, "\\hline", "\\end{tabular}", "\\end{table}", ""].join("\n");
  }

  // The names, the marks of the plot and the figures, one row below the other, in black and blue; as wide as they need.
  function svg(table, caption) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${SIZE}px sans-serif`;
    const widest = (texts) => Math.max(0, ...texts.map((label) => pen.measureText(label).width));
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.querySelector(".plot svg")).map((row) => {
      const cells = cellTexts(row).filter(Boolean), name = cells.find((cell) => !/^\d+$/.test(cell)) ?? "";
      return { row, name, after: cells[cells.indexOf(name) + 1] ?? "" };
    });
    const over = Math.max(0, widest([caption]) - PLOT) / 2; // the axis title may be wider than its plot
    const left = Math.ceil(GAP + Math.max(over, widest(rows.map((line) => line.name)) + GAP));
    const wide = Math.ceil(left + PLOT + Math.max(over, GAP + widest(rows.map((line) => line.after))) + GAP);
    const at = (value) => left + (PLOT * parseFloat(value)) / 100, high = ROW * (rows.length + 2.8);
    const parts = rows.map(({ row, name, after }, n) => {
      const y = ROW * (n + 1);
      const marks = [...row.querySelectorAll(".plot .whisker, .plot circle")].map((mark) => (mark.nodeName === "circle" ? `<circle cx="${at(mark.getAttribute("cx"))}" cy="${y}" r="4.5" fill="#1f5fa8"/>` : `<path d="M${at(mark.getAttribute("x1"))} ${y}H${at(mark.getAttribute("x2"))}" stroke="#1f5fa8" stroke-width="2.5"/>`));
      const grid = [...row.querySelectorAll(".plot line:not(.whisker)")].map((line) => `<path d="M${at(line.getAttribute("x1"))} ${y - ROW / 2}v${ROW}" stroke="${line.classList.contains("zero") ? "#888" : "#ddd"}"/>`);
      return `${grid.join("")}${marks.join("")}<text x="${left - GAP}" y="${y + 5}" text-anchor="end">${escaped(name)}</text><text x="${left + PLOT + GAP}" y="${y + 5}">${escaped(after)}</text>`;
    });
    const ticks = [...table.querySelectorAll("thead .plot text, tfoot .plot text")].map((tick) => `<text x="${at(tick.getAttribute("x"))}" y="${high - 1.6 * ROW}" text-anchor="middle" font-size="12">${escaped(tick.textContent)}</text>`);
    const title = `<text x="${left + PLOT / 2}" y="${high - 0.6 * ROW}" text-anchor="middle">${escaped(caption)}</text>`;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" font-family="sans-serif" font-size="${SIZE}"><title>${escaped(caption)}</title><rect width="100%" height="100%" fill="#fff"/>${parts.join("")}${ticks.join("")}${title}</svg>`;
  }

  async function png(drawing) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing)}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  }

  async function save(figure, kind) {
    const table = figure.querySelector("table"), { title: caption } = figure.dataset;
    const content = { csv: () => csv(table), tex: () => latex(table, caption), svg: () => svg(table, caption), png: () => png(svg(table, caption)) };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await content[kind]()]));
    link.download = `${caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60)}.${kind}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  for (const figure of document.querySelectorAll("figure[data-title]")) {
    const kinds = figure.querySelector("tbody .plot svg") ? ["svg", "png", "csv", "tex"] : ["csv", "tex"];
    const bar = document.createElement("span");
    bar.className = "save";
    for (const kind of kinds) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: { tex: "LaTeX" }[kind] ?? kind.toUpperCase() });
      button.setAttribute("aria-label", `save ${figure.dataset.title} as ${button.textContent}`);
      button.addEventListener("click", () => save(figure, kind));
      bar.append(button);
    }
    figure.querySelector("figcaption").append(bar);
  }

  // A cell that begins with a number counts by it; other text comes last, in alphabetical order.
  const NUMBER = /^[\s\u2588]*([-+\u2212]?(?:\d[\d,]*\.?\d*|\.\d+))/;
  function sorted(body, column, down) {
    const key = (row) => {
      const content = row.cells[column].textContent.trim(), match = content.match(NUMBER);
      return { content, number: match ? parseFloat(match[1].replace("\u2212", "-").replaceAll(",", "")) : NaN };
    };
    const compare = (a, b) => {
      if (Number.isNaN(a.number) || Number.isNaN(b.number)) return Number.isNaN(a.number) - Number.isNaN(b.number) || (down ? b : a).content.localeCompare((down ? a : b).content);
      return down ? b.number - a.number : a.number - b.number;
    };
    return [...body.rows].map((row) => ({ row, key: key(row) })).sort((a, b) => compare(a.key, b.key)).map(({ row }) => row);
  }
  for (const table of document.querySelectorAll("table.grid")) {
    const heads = [...table.tHead.rows[0].cells];
    for (const head of heads.filter((cell) => cell.nodeName === "TH")) {
      const button = Object.assign(document.createElement("button"), { type: "button", title: "sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const cell of heads) cell.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        table.tBodies[0].append(...sorted(table.tBodies[0], head.cellIndex, down));
      });
    }
  }
})();
