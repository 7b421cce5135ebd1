
// What an analysis adds to the page. It shows what one seat saw nothing that needs other hands: the
// search and the policy know what the seat knew, so they stay; open hands do not.
function analysing({ data, at, OPEN, find, make, tile, to }) {
  const told = data.analysis, MOST = 7;
  const decision = (move) => told.deals[at.deal][move];
  const who = (seat) => data.persons[seat];
  const known = (one) => at.seen === OPEN || one.seat === at.seen;

  const signed = (points) => (points === null ? "–" : `${points > 0 ? "+" : ""}${Math.abs(points) < 0.05 ? "0" : points.toFixed(1)}`.replace("-", "−"));
  const whole = (points) => signed(points).replace(/\.0$/, "");
  const percent = (share) => (share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`);
  // Of digits, as records write tiles; of an action that plays none nothing.
  const kindsOf = (digits) => [...digits].map((digit) => Math.min(digit - 1, 7));
  const played = (action) => (/^[1-9]{2}$/.test(action) ? kindsOf(action) : []);
  const word = (action) => {
    const [block, attack] = played(action).map((kind) => told.kinds[kind]);
    return block ? say("{block} then {attack}", { block, attack }) : say(action === "p" ? "pass" : action);
  };

  const HEADINGS = { forced: say("forced"), clear: say("an error"), shared: told.also };
  const heading = (one) => HEADINGS[one.verdict] ?? say("fine");

  // What decides is told as a reader of the page would say it.
  const short = (action) => (played(action).length ? shortly(played(action).map((kind) => told.kinds[kind])) : word(action));
  const holder = (seat) => who(seat).charAt(0).toUpperCase() + who(seat).slice(1);
  function why(one) {
    const seen = one.deciding.filter((it) => Math.abs(it.held - it.missing) >= 1);
    find("whys").hidden = !seen.length;
    find("why").replaceChildren(...seen.map((it) => {
      const item = make("li", { innerHTML: tile(it.kind, false) });
      item.append(" ", hangsOn({ ...it, kind: told.kinds[it.kind] }, holder(it.seat), short(one.best), short(one.rival)));
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

  function name(cell, one, option) {
    const what = make("span", { className: "what" });
    what.innerHTML = played(option.action).map((kind) => tile(kind, false)).join("");
    what.append(word(option.action));
    if (option.action === one.action) what.append(" ", make("b", { textContent: say("played") }));
    else if (option.action === one.best) what.append(" ", make("i", { textContent: say("best") }));
    cell.append(what);
  }

  function list(one) {
    const table = find("options"), open = at.seen === OPEN && one.open_value !== null;
    table.textContent = "";
    if (!one.options.length) return;
    head(table, [say("action"), say("at sight"), say("points"), ...(open ? [say("open")] : [])]);
    const body = table.createTBody();
    // What was dropped early, in few worlds that were good for all, may have more points than the best: it shows none.
    const best = one.options.find((option) => option.action === one.best);
    const compares = (option) => Number(option.points.toFixed(1)) <= Number(best.points.toFixed(1));
    const rank = (option) => (option === best ? 1e6 : option.points - (compares(option) ? 0 : 1e3));
    const sorted = [...one.options].sort((a, b) => rank(b) - rank(a));
    const shown = sorted.filter((option, n) => n < MOST || option.action === one.action);
    for (const option of shown) {
      const row = body.insertRow();
      if (option.action === one.action) row.className = "played";
      name(row.insertCell(), one, option);
      const points = compares(option) ? option.points : null;
      cells(row, [percent(option.probability), points === null ? signed(points) : `${signed(points)} ± ${option.error.toFixed(1)}`]);
      if (open) cells(row, [whole(option.open)]);
    }
    const left = one.options.length - shown.length;
    if (left) body.insertRow().append(make("td", { colSpan: open ? 4 : 3, textContent: say("and {n} more that did worse", { n: left }) }));
  }

  function judged(one) {
    if (one.verdict === "forced") return say("There was nothing else to do.");
    if (one.verdict === "best") {
      const also = one.policy_agrees ? ` ${told.also[0].toUpperCase()}${told.also.slice(1)}${say(".")}` : "";
      return say("No other of {n} actions did better, by what {who} could know.", { n: one.options.length, who: who(one.seat) }) + also;
    }
    const lost = say("By what {who} could know, {best} makes {n} points more.", { who: who(one.seat), best: word(one.best), n: `${one.loss.toFixed(1)} ± ${one.loss_error.toFixed(1)}` });
    return one.verdict === "shared" ? `${lost} ${say("That is more than sampling explains; but {also}.", { also: told.also })}` : lost;
  }

  function worth(one) {
    const parts = [];
    if (one.value !== null) parts.push(say("The network expected {n} points.", { n: signed(one.value) }));
    if (at.seen === OPEN && one.open_value !== null) {
      parts.push(say("Perfect play with all hands open makes {n} points.", { n: whole(one.open_value) }));
      parts.push(one.open_loss ? say("{action} gave away {n} of them, but nobody sees all hands during play.", { action: word(one.action), n: one.open_loss }) : say("{action} keeps them.", { action: word(one.action) }));
    }
    return parts.join(" ");
  }

  // hidden: something better is asked for.
  function show(hidden) {
    const one = hidden ? null : decision(at.move), seen = one && known(one);
    const n = at.move, name = hidden ? say("an error") : seen ? heading(one) : "";
    find("verdict").textContent = !n ? say("Before the first move") : name ? say("Move {n}: {verdict}", { n, verdict: name }) : say("Move {n}", { n });
    find("verdict").className = seen ? one.verdict : "";
    find("judged").textContent = hidden ? say("Choose below the board.") : !n ? say("Each move is judged as it is made.") : !one ? say("It was not analysed.") : seen ? judged(one) : say("Decisions of others are judged with all hands open.");
    find("sure").hidden = !(seen && one.options.length);
    find("options").parentElement.hidden = !(seen && one.options.length);
    find("worth").textContent = seen ? worth(one) : "";
    find("whys").hidden = true;
    find("options").textContent = "";
    find("principle").textContent = seen ? told.principles[one.principle] ?? "" : "";
    if (seen) { list(one); why(one); }
    const x = told.left + at.move * step();
    const now = find("graph").querySelector(".now");
    if (now) now.setAttribute("d", `M${x} 30V${told.bottom}`);
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
      if (!one || !known(one) || one.verdict !== "clear") continue;
      const mark = make("span", { className: "lost", textContent: "!" });
      mark.setAttribute("aria-hidden", "true");
      link.querySelector(".hidden").before(mark);
      link.querySelector(".hidden").append(`; ${HEADINGS.clear}`);
    }
  }

  find("graph").addEventListener("click", (event) => {
    const box = find("graph").getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * 600;
    to({ move: Math.ceil((x - told.left) / step()) });
  });

  return { show, deal, word, played };
}
