
// What an analysis adds to the page. It shows what one seat saw nothing that needs other hands: the
// search and the policy know what the seat knew, so they stay; open hands and partners do not.
function analysing({ data, at, OPEN, find, make, tile, to, show: draw, kept, keep, paint: again }) {
  const told = data.analysis, MOST = 7;
  const decision = (move) => told.deals[at.deal][move];
  const known = (one) => at.seen === OPEN || one.seat === at.seen;

  const signed = (points) => (points === null ? "–" : `${points > 0 ? "+" : ""}${Math.abs(points) < 0.05 ? "0" : points.toFixed(1)}`.replace("-", "−"));
  const whole = (points) => signed(points).replace(/\.0$/, "");
  const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`);
  // Of digits, as records write tiles; of an action that plays none nothing.
  const kindsOf = (digits) => [...digits].map((digit) => Math.min(digit - 1, 7));
  const played = (action) => (/^[1-9]{2}$/.test(action) ? kindsOf(action) : []);
  const word = (action) => played(action).map((kind) => told.kinds[kind]).join(" then ") || (action === "p" ? "pass" : action);

  const lines = continuing({ find, make, tile, told, word, played, percent });

  const HEADINGS = {
    forced: "forced", agreed: "an error under every type",
    depends: "depends on who you play with", fine: "fine",
  };
  const heading = (one) => (one.verdict === "shared" && one.agreement === "fine" ? told.also : HEADINGS[one.agreement]);

  // What decides is told as a reader of the page would say it.
  const HOLDERS = ["next seat", "partner", "previous seat"];
  function why(one) {
    const list = find("why");
    list.textContent = "";
    const seen = one.deciding.filter((it) => Math.abs(it.held - it.missing) >= 1);
    find("whys").hidden = !seen.length;
    find("whys").querySelector("p").textContent = `How much ${word(one.best)} leads ${word(one.rival)} by what seat ${one.seat} could know, if`;
    for (const it of seen) {
      const item = list.appendChild(make("li")), who = HOLDERS[(it.seat - one.seat + 3) % 4];
      item.innerHTML = tile(it.kind, false);
      item.append(` seat ${it.seat} (${who}) has a ${told.kinds[it.kind]}: `, make("b", { textContent: signed(it.held) }), `, else `, make("b", { textContent: signed(it.missing) }), `. It had one in ${percent(it.probability)} of what could be.`);
    }
  }

  // What another seat learned: the kinds whose chances changed most.
  function learned(knowledge) {
    const [before, after] = knowledge.at_least_one;
    const changed = told.kinds.map((kind, n) => [kind, after[n] - before[n], before[n], after[n]]).filter(([, by]) => Math.abs(by) >= 0.1);
    changed.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const said = changed.slice(0, 3).map(([kind, by, from, to]) => `a ${kind} is ${by > 0 ? "likelier" : "less likely"} (${percent(from)}, then ${percent(to)})`);
    return said.length ? said.join("; ") : "hardly anything";
  }

  const VERDICTS = {
    best: "nothing better", level: "level", close: "close", clear: "a clear loss", shared: "as the policy",
  };
  const MARKS = { agreed: "!", depends: "?" };
  const range = ([low, high], show = signed) => `${show(low)} to ${show(high)}`;

  function cells(row, texts) {
    for (const text of texts) row.append(make("td", { textContent: text, className: "number" }));
  }

  function head(table, titles) {
    const row = table.createTHead().insertRow();
    titles.forEach((title, n) => row.append(make("th", { scope: "col", textContent: title, className: n ? "number" : "" })));
  }

  function name(cell, one, option) {
    const what = make("span", { className: "what" });
    what.innerHTML = played(option.action).map((kind) => tile(kind, false)).join("");
    what.append(word(option.action));
    if (option.action === one.action) what.append(" ", make("b", { textContent: "played" }));
    else if (option.action === one.best) what.append(" ", make("i", { textContent: "best" }));
    cell.append(what);
  }

  const several = (one) => one.types.filter((type) => type.counts).length > 1;

  // What the decision lost, if the opponents are of each type; faint where the type hardly counts.
  function types(one) {
    const table = find("types");
    table.textContent = "";
    if (!one.types.length) return;
    head(table, ["if they play like", "chance", "best", "points lost"]);
    const body = table.createTBody();
    for (const type of [...one.types].sort((a, b) => b.probability - a.probability)) {
      const row = body.insertRow();
      row.className = type.counts ? "" : "faint";
      const th = make("th", { scope: "row" });
      th.append(...type.name.split(/(?<=[:=.])/).flatMap((part) => [part, make("wbr")]));
      row.append(th);
      const lost = type.loss > 0 ? `${type.loss.toFixed(1)} ± ${type.loss_error.toFixed(1)}` : "";
      cells(row, [percent(type.probability), word(type.best), lost]);
      row.lastElementChild.append(make("small", { textContent: VERDICTS[type.verdict] }));
      if (type.verdict === "clear") row.lastElementChild.classList.add("agreed");
    }
  }

  function list(one) {
    const table = find("options"), open = at.seen === OPEN && one.open_value !== null;
    table.textContent = "";
    if (!one.options.length) return;
    head(table, ["action", "policy", "search", ...(open ? ["open"] : [])]);
    const body = table.createTBody();
    // The best by all worlds comes first, though one that was dropped early may show more.
    const rank = (option) => (option.action === one.best ? 1e6 : option.worlds * 1e-9 + option.points);
    const sorted = [...one.options].sort((a, b) => rank(b) - rank(a));
    const shown = sorted.filter((option, n) => n < MOST || option.action === one.action);
    for (const option of shown) {
      const row = body.insertRow();
      if (option.action === one.action) row.className = "played";
      name(row.insertCell(), one, option);
      cells(row, [percent(option.probability), signed(option.points)]);
      row.lastElementChild.append(make("span", { className: "research", textContent: ` ± ${option.error.toFixed(1)}` }));
      if (several(one)) row.lastElementChild.append(make("small", { className: "research", textContent: range(option.range) }));
      if (open) cells(row, [whole(option.open)]);
    }
    const left = one.options.length - shown.length;
    if (left) body.insertRow().append(make("td", { colSpan: open ? 4 : 3, textContent: `and ${left} more that did worse` }));
  }

  function judged(one) {
    if (one.verdict === "forced") return "There was nothing else to do.";
    const counts = one.types.filter((type) => type.counts), clear = counts.filter((type) => type.verdict === "clear");
    const names = (some) => some.map((type) => type.name).join("; ");
    const research = find("research").checked, by = research && several(one) ? `, ${range(one.loss_range, (points) => points.toFixed(1))} by type` : "";
    const error = research ? ` ± ${one.loss_error.toFixed(1)}` : "", limit = research ? `; clear from ${(one.threshold * one.loss_error).toFixed(1)} on` : "";
    const lost = one.verdict === "best"
      ? `No other of ${one.options.length} actions did better, by what seat ${one.seat} could know.`
      : `By what seat ${one.seat} could know, ${word(one.best)} does better by ${one.loss.toFixed(1)}${error} points${by}${limit}.`;
    if (one.agreement === "agreed") return `${lost} It is a clear loss ${several(one) ? `under each of ${counts.length} types` : `if they play like ${names(counts)}, and hardly anything else is likely`}.`;
    if (one.agreement === "depends") return `${lost} It is a clear loss if they play like ${names(clear)}; not if like ${names(counts.filter((type) => type.verdict !== "clear"))}.`;
    if (one.verdict === "shared") return `${lost} That is more than sampling explains; but ${told.also}.`;
    return `${lost}${one.policy_agrees ? ` And ${told.also}.` : ""}`;
  }

  function worth(one) {
    const parts = [];
    if (one.value !== null) parts.push(`The network expected ${signed(one.value)} points.`);
    if (at.seen === OPEN && one.open_value !== null) {
      const lost = one.open_loss ? `${word(one.action)} gave away ${one.open_loss} of that, but nobody sees all hands during play` : `${word(one.action)} keeps it`;
      parts.push(`Perfect play with all hands open makes ${whole(one.open_value)}; ${lost}.`);
    }
    return parts.join(" ");
  }

  function belief(one) {
    const table = find("belief"), partner = one.knowledge[1];
    for (const part of [...table.tBodies, table.tHead].filter(Boolean)) part.remove();
    find("knowledge").hidden = at.seen !== OPEN || !partner;
    if (find("knowledge").hidden) return;
    find("knowledge").querySelector("summary").textContent = `What the move told of seat ${one.seat}'s hand`;
    find("learned").replaceChildren(...[partner, one.knowledge[0], one.knowledge[2]].map((knowledge) => {
      const item = make("li"), who = HOLDERS[(knowledge.seat - one.seat + 3) % 4];
      const real = knowledge.log_probability.map((log) => (log === null ? "0 %" : `${(100 * Math.exp(log)).toPrecision(2)} %`));
      item.append(make("b", { textContent: knowledge === partner ? `its partner, seat ${knowledge.seat}` : `seat ${knowledge.seat} (${who})` }), `: ${learned(knowledge)}.`);
      item.append(make("span", { className: "research", textContent: ` The move told ${knowledge.information.toFixed(2)} nats. Doubt: ${knowledge.entropy[0].toFixed(1)} nats before, ${knowledge.entropy[1].toFixed(1)} after. The real hand's chance: ${real[0]}, then ${real[1]}.` }));
      return item;
    }));
    table.caption.textContent = `What its partner, seat ${partner.seat}, could know`;
    head(table, ["kind", "one or more", "dealt"]);
    table.tHead.rows[0].cells[1].colSpan = 2;  // as bars and as figures
    const body = table.createTBody(), hand = kindsOf(told.dealt[at.deal][one.seat]);
    told.kinds.forEach((kind, n) => {
      const row = body.insertRow(), th = make("th", { scope: "row", innerHTML: tile(n, false) });
      th.append(kind);
      row.append(th);
      const [before, after] = partner.at_least_one.map((shares) => shares[n]);
      const bars = row.insertCell();
      bars.className = "share";
      bars.style.setProperty("--before", before);
      bars.style.setProperty("--after", after);
      cells(row, [`${percent(before)} → ${percent(after)}`.replace(" % →", " →"), hand.filter((one) => one === n).length]);
    });
  }

  // hidden: the move is to be guessed.
  function show(hidden) {
    const one = hidden ? null : decision(at.move), seen = one && known(one);
    find("verdict").textContent = hidden ? `Move ${at.move}: yours to guess` : !at.move ? "Before the first move" : seen ? `Move ${at.move}: ${heading(one)}` : `Move ${at.move}`;
    find("verdict").className = seen ? one.agreement : "";
    find("judged").textContent = hidden ? "Choose below the board." : !at.move ? "Each move is judged as it is made." : !one ? "It was not analysed." : seen ? judged(one) : "Decisions of others are judged with all hands open.";
    find("sure").hidden = find("marks").hidden = !(seen && one.options.length);
    for (const id of ["options", "types"]) find(id).parentElement.hidden = !(seen && one.options.length);
    find("worth").textContent = seen ? worth(one) : "";
    find("whys").hidden = true;
    lines(seen ? one : null);
    if (seen) { list(one); types(one); why(one); belief(one); } else { find("options").textContent = find("types").textContent = find("learned").textContent = ""; find("knowledge").hidden = true; }
    const x = told.left + at.move * step();
    const now = find("graph").querySelector(".now");
    if (now) now.setAttribute("d", `M${x} 30V${told.bottom}`);
    find("tour").textContent = "";
  }

  const moves = () => data.deals[at.deal].moves.length;
  const step = () => (told.right - told.left) / Math.max(moves(), 1);

  function deal() {
    for (const part of document.querySelectorAll("[data-open]")) part.hidden = at.seen !== OPEN;
    const { svg, label } = told.graphs[at.deal];
    find("graph").innerHTML = at.seen === OPEN ? `${svg}<path class="now"/>` : "";
    find("graph").setAttribute("aria-label", at.seen === OPEN ? label : "");
    for (const link of document.querySelectorAll("#moves a[data-move], #questions a[data-move]")) {
      const one = decision(link.dataset.move);
      if (!one || !known(one) || !MARKS[one.agreement]) continue;
      const mark = make("span", { className: `lost ${one.agreement}`, textContent: MARKS[one.agreement] });
      mark.setAttribute("aria-hidden", "true");
      link.querySelector(".words").before(mark);
      link.querySelector(".words").append(`; ${HEADINGS[one.agreement]}`);
    }
  }

  find("graph").addEventListener("click", (event) => {
    const box = find("graph").getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * 600;
    to({ move: Math.ceil((x - told.left) / step()) });
  });

  // Errors in order of play; of one seat alone where the page shows what that seat saw.
  function tour(by) {
    const places = told.deals.flatMap((moves, n) => Object.values(moves).filter((one) => one.agreement === "agreed" && known(one)).map((one) => [n, one.move]));
    const ahead = ([n, move]) => by * (n - at.deal || move - at.move) > 0;
    const next = (by > 0 ? places : places.reverse()).find(ahead);
    if (next) to({ deal: next[0], move: next[1] });
    else find("tour").textContent = places.length ? `No error ${by > 0 ? "after" : "before"} this move.` : "No error.";
  }

  // The board stands where the decision was made, or after it.
  function turn() {
    at.after = !at.after;
    find("turn").setAttribute("aria-pressed", at.after);
    draw();
  }

  // Who does research sees errors of sampling, types and nats.
  const research = find("research"), paint = () => document.documentElement.classList.toggle("researcher", research.checked);
  research.checked = kept("research") === "yes";
  research.addEventListener("change", () => { keep("research", research.checked ? "yes" : "no"); again(); });

  const does = { before: () => tour(-1), after: () => tour(1), turn };
  return { show, deal, word, played, paint, does, keys: { ",": does.before, ".": does.after, a: turn } };
}
