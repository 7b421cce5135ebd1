
// What an analysis adds to the page. Of a decision it shows a seat only what follows from what that seat knew, such as the
// search and the policy; figures of open hands are hidden.
function analysing({ data, at, OPEN, find, make, tile, to }) {
  const analysis = data.analysis, MAX_ACTIONS = 7;
  const decisionAt = (move) => analysis.deals[at.deal]?.[move];
  const who = (seat) => data.persons[seat];
  const isOpen = (decision) => at.seen === OPEN || decision.seat === at.seen;

  const signed = (points) => (points === null ? "–" : `${points > 0 ? "+" : ""}${Math.abs(points) < 0.05 ? "0" : points.toFixed(1)}`.replace("-", "−"));
  const whole = (points) => signed(points).replace(/\.0$/, "");
  const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`);
  // Of digits, as records write tiles; of an action that plays none nothing.
  const kindsOf = (digits) => [...digits].map((digit) => Math.min(digit - 1, 7));
  const played = (action) => (/^[1-9]{2}$/.test(action) ? kindsOf(action) : []);
  const word = (action) => {
    const [block, attack] = played(action).map((kind) => analysis.kinds[kind]);
    return block ? say("{block} then {attack}", { block, attack }) : say(action === "p" ? "pass" : action);
  };

  const HEADINGS = { forced: say("forced"), shared: analysis.also };
  const heading = (decision) => HEADINGS[decision.verdict] ?? (decision.size ? analysis.error_names[decision.size] : say("fine"));
  const mark = (decision) => "!".repeat(decision.size);

  // Conditions use the words of a reader of the page.
  const short = (action) => (played(action).length ? shortly(played(action).map((kind) => analysis.kinds[kind])) : word(action));
  const holder = (seat) => who(seat).charAt(0).toUpperCase() + who(seat).slice(1);
  function why(decision) {
    const seen = decision.deciding;
    find("whys").hidden = !seen.length;
    find("why").replaceChildren(...seen.map((it) => {
      const item = make("li", { innerHTML: tile(it.kind, false) });
      item.append(" ", dependsOn({ ...it, kind: analysis.kinds[it.kind] }, holder(it.seat), short(decision.best), short(decision.rival)));
      return item;
    }));
  }

  function cells(row, texts) {
    for (const text of texts) row.append(make("td", { textContent: text, className: "number" }));
  }

  function head(table, titles) {
    const row = table.createTHead().insertRow();
    titles.forEach((title, n) => row.append(make("th", { scope: "col", textContent: title, className: n ? "number" : "" })));
  }

  function name(cell, decision, option) {
    const what = make("span", { className: "what" });
    what.innerHTML = played(option.action).map((kind) => tile(kind, false)).join("");
    what.append(word(option.action));
    if (option.action === decision.action) what.append(" ", make("b", { textContent: say("played") }));
    else if (option.action === decision.best) what.append(" ", make("i", { textContent: say("best") }));
    cell.append(what);
  }

  function list(decision) {
    const table = find("options"), open = at.seen === OPEN && decision.open_value !== null;
    table.textContent = "";
    if (!decision.options.length) return;
    head(table, [say("action"), say("first choice"), say("points"), ...(open ? [say("open")] : [])]);
    const body = table.createTBody();
    // What was dropped early, in few worlds that were good for all, may have more points than the best: it shows none.
    const best = decision.options.find((option) => option.action === decision.best);
    const compares = (option) => Number(option.points.toFixed(1)) <= Number(best.points.toFixed(1));
    const rank = (option) => (option === best ? 1e6 : option.points - (compares(option) ? 0 : 1e3));
    const sorted = [...decision.options].sort((a, b) => rank(b) - rank(a));
    const shown = sorted.filter((option, n) => n < MAX_ACTIONS || option.action === decision.action);
    for (const option of shown) {
      const row = body.insertRow();
      if (option.action === decision.action) row.className = "played";
      name(row.insertCell(), decision, option);
      const points = compares(option) ? option.points : null;
      cells(row, [percent(option.probability), points === null ? signed(points) : `${signed(points)} ± ${option.error.toFixed(1)}`]);
      if (open) cells(row, [whole(option.open)]);
    }
    const omitted = decision.options.length - shown.length;
    if (omitted) body.insertRow().append(make("td", { colSpan: open ? 4 : 3, textContent: say("and {n} more that did worse", { n: omitted }) }));
  }

  function judged(decision) {
    if (decision.verdict === "forced") return say("There was nothing else to do.");
    if (decision.verdict === "best") {
      const also = decision.policy_agrees ? ` ${analysis.also[0].toUpperCase()}${analysis.also.slice(1)}${say(".")}` : "";
      return say("No other of {n} actions did better, by what {who} could know.", { n: decision.options.length, who: who(decision.seat) }) + also;
    }
    const lost = say("By what {who} could know, {best} makes {n} points more.", { who: who(decision.seat), best: word(decision.best), n: `${decision.loss.toFixed(1)} ± ${decision.loss_error.toFixed(1)}` });
    return decision.verdict === "shared" ? `${lost} ${say("That is more than sampling explains; but {also}.", { also: analysis.also })}` : lost;
  }

  function worth(decision) {
    const parts = [];
    if (decision.value !== null) parts.push(say("The network expected {n} points.", { n: signed(decision.value) }));
    if (at.seen === OPEN && decision.open_value !== null) {
      parts.push(say("Perfect play with all hands open makes {n} points.", { n: whole(decision.open_value) }));
      parts.push(decision.open_loss ? say("{action} gave away {n} of them, but nobody sees all hands during play.", { action: word(decision.action), n: decision.open_loss }) : say("{action} keeps them.", { action: word(decision.action) }));
    }
    return parts.join(" ");
  }

  // hidden: the page asks for a better action and does not yet show the move.
  function show(hidden) {
    const decision = hidden ? null : decisionAt(at.move), seen = decision && isOpen(decision);
    const n = at.move, name = hidden ? heading(decisionAt(n)) : seen ? heading(decision) : "";
    find("verdict").textContent = !n ? say("Before the first move") : name ? say("Move {n}: {verdict}", { n, verdict: name }) : say("Move {n}", { n });
    find("verdict").className = seen ? decision.verdict : "";
    find("judged").textContent = hidden ? say("Choose above the board.") : !analysis.deals[at.deal] ? say("This deal is not analysed yet.") : !n ? say("Each move is judged as it is made.") : !decision ? say("It was not analysed.") : seen ? judged(decision) : say("Decisions of others are judged with all hands open.");
    find("sure").hidden = !(seen && decision.options.length);
    find("options").parentElement.hidden = !(seen && decision.options.length);
    find("worth").textContent = seen ? worth(decision) : "";
    find("whys").hidden = true;
    find("options").textContent = "";
    find("principle").textContent = seen ? analysis.principles[decision.principle] ?? "" : "";
    if (seen) { list(decision); why(decision); }
    const x = analysis.left + at.move * step();
    const now = find("graph").querySelector(".now");
    if (now) now.setAttribute("d", `M${x} 30V${analysis.bottom}`);
  }

  const moves = () => data.deals[at.deal].moves.length;
  const step = () => (analysis.right - analysis.left) / Math.max(moves(), 1);

  // The shares of a record's players need all hands; a viewer's are the viewer's own.
  function summarise() {
    const texts = data.viewer !== null || at.seen === OPEN ? analysis.summaries : [];
    find("summaries").replaceChildren(...texts.map((text) => make("p", { textContent: text })));
  }

  function deal() {
    for (const part of document.querySelectorAll("[data-open]")) part.hidden = at.seen !== OPEN;
    if (!analysis.deals[at.deal]) find("graph").parentElement.hidden = true;
    summarise();
    const { svg, label } = analysis.graphs[at.deal];
    find("graph").innerHTML = at.seen === OPEN ? `${svg}<path class="now"/>` : "";
    find("graph").setAttribute("aria-label", at.seen === OPEN ? label : "");
    for (const link of document.querySelectorAll("#moves a[data-move], #questions a[data-move]")) {
      const decision = decisionAt(link.dataset.move);
      if (!decision || !isOpen(decision) || !decision.size) continue;
      const lost = make("span", { className: "lost", textContent: mark(decision) });
      lost.setAttribute("aria-hidden", "true");
      link.querySelector(".hidden").before(lost);
      link.querySelector(".hidden").append(`${say("; ")}${heading(decision)}`);
    }
  }

  // Sorts the table of errors by the setting, which the button at the table changes, too.
  function sort() {
    const rows = [...document.querySelectorAll("#tables tr[data-loss]")], isLargestFirst = find("order").value === "loss";
    const inPlay = (a, b) => a.dataset.deal - b.dataset.deal || a.dataset.move - b.dataset.move;
    rows.sort((a, b) => (isLargestFirst ? b.dataset.loss - a.dataset.loss : 0) || inPlay(a, b));
    if (!rows.length) return;
    rows[0].parentElement.append(...rows);
    document.querySelector("button.order").textContent = isLargestFirst ? say("show them in order of play") : say("show the largest first");
  }

  // Deals that were analysed since the page was opened: the tables are replaced, and the page tells how many deals are missing.
  function renew(tables = null) {
    if (tables !== null) { find("tables").innerHTML = tables; sort(); summarise(); }
    const all = data.deals.length, missing = analysis.deals.filter((moves) => !moves).length;
    if (missing) find("progress").textContent = say("{n} of {all} deals are analysed. The others are being analysed, and appear on this page when they are ready.", { n: all - missing, all });
    else if (find("progress")?.textContent) find("progress").textContent = say("All deals are analysed.");
    return missing;
  }

  find("graph").addEventListener("click", (event) => {
    const box = find("graph").getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * 600;
    to({ move: Math.ceil((x - analysis.left) / step()) });
  });

  sort();
  const does = { order: () => { find("order").value = find("order").value === "loss" ? "play" : "loss"; find("order").dispatchEvent(new Event("change")); } };
  return { show, deal, renew, sort, does, word, played, mark };
}
