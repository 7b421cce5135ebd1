
// What an analysis adds to the page. It shows what one seat saw nothing that needs other hands: the
// search and the policy know what the seat knew, so they stay; open hands and partners do not.
function analysing({ data, at, OPEN, find, make, tile, to, kept, keep, paint: again }) {
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

  const HEADINGS = {
    forced: say("forced"), agreed: say("an error"),
    depends: say("depends on who you play with"), fine: say("fine"),
  };
  const heading = (one) => (one.verdict === "shared" && one.agreement === "fine" ? told.also : HEADINGS[one.agreement]);

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

  // What another seat learned: the kinds whose chances changed most.
  function learned(knowledge) {
    const [before, after] = knowledge.at_least_one;
    const changed = told.kinds.map((kind, n) => [kind, after[n] - before[n], before[n], after[n]]).filter(([, by]) => Math.abs(by) >= 0.1);
    changed.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const said = changed.slice(0, 3).map(([kind, by, from, to]) => say(by > 0 ? "a {kind} is likelier ({from}, then {to})" : "a {kind} is less likely ({from}, then {to})", { kind, from: percent(from), to: percent(to) }));
    return said.length ? said.join(say("; ")) : say("hardly anything");
  }

  const VERDICTS = {
    best: say("nothing better"), level: say("level"), close: say("close"), clear: say("a clear loss"), shared: say("as the policy"),
  };
  const MARKS = { agreed: "!", depends: "?" };
  const range = ([low, high], show = signed) => `${show(low)} – ${show(high)}`;

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

  const several = (one) => one.types.filter((type) => type.counts).length > 1;

  // What the decision lost, if the opponents are of each type; faint where the type hardly counts.
  function types(one) {
    const table = find("types");
    table.textContent = "";
    if (!one.types.length) return;
    head(table, [say("if they play like"), say("chance"), say("best"), say("points lost")]);
    const body = table.createTBody();
    for (const type of [...one.types].sort((a, b) => b.probability - a.probability)) {
      const row = body.insertRow();
      row.className = type.counts ? "" : "faint";
      const th = make("th", { scope: "row" });
      th.append(...say(type.name).split(/(?<=[:=.])/).flatMap((part) => [part, make("wbr")]));
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
      cells(row, [percent(option.probability), signed(points)]);
      if (points !== null) row.lastElementChild.append(make("span", { className: "research", textContent: ` ± ${option.error.toFixed(1)}` }));
      if (points !== null && several(one)) row.lastElementChild.append(make("small", { className: "research", textContent: range(option.range) }));
      if (open) cells(row, [whole(option.open)]);
    }
    const left = one.options.length - shown.length;
    if (left) body.insertRow().append(make("td", { colSpan: open ? 4 : 3, textContent: say("and {n} more that did worse", { n: left }) }));
  }

  function judged(one) {
    if (one.verdict === "forced") return say("There was nothing else to do.");
    const research = find("research").checked, best = word(one.best);
    const n = `${one.loss.toFixed(1)}${research ? ` ± ${one.loss_error.toFixed(1)}` : ""}`;
    const lost = one.verdict === "best" ? say("No other of {n} actions did better, by what {who} could know.", { n: one.options.length, who: who(one.seat) }) : say("By what {who} could know, {best} makes {n} points more.", { who: who(one.seat), best, n });
    const parts = [lost, research && one.verdict !== "best" ? figures(one) : ""];
    const counts = one.types.filter((type) => type.counts), clear = counts.filter((type) => type.verdict === "clear");
    const names = (some) => some.map((type) => type.name).join("; ");
    if (!research && one.agreement === "agreed") parts.push(say("That holds against all kinds of players."));
    else if (!research && one.agreement === "depends") parts.push(say("That holds against some players, not against others."));
    else if (one.agreement === "agreed") parts.push(several(one) ? say("That holds against all kinds of players.") : say("That holds if they play like {types}, and hardly anything else is likely.", { types: names(counts) }));
    else if (one.agreement === "depends") parts.push(say("That holds if they play like {some}; not if like {others}.", { some: names(clear), others: names(counts.filter((type) => type.verdict !== "clear")) }));
    else if (one.verdict === "shared") parts.push(say("That is more than sampling explains; but {also}.", { also: told.also }));
    else if (one.policy_agrees) parts.push(`${told.also[0].toUpperCase()}${told.also.slice(1)} (${word(one.action)})${say(".")}`);
    return parts.filter(Boolean).join(" ");
  }

  // For who does research: the range by type, from where on a loss is clear.
  function figures(one) {
    const by = several(one) ? ` ${say("By type: {range}.", { range: range(one.loss_range, (points) => points.toFixed(1)) })}` : "";
    return `${by} ${say("Clear from {n} on.", { n: (one.threshold * one.loss_error).toFixed(1) })}`.trim();
  }

  function worth(one) {
    const parts = [];
    if (one.value !== null && find("research").checked) parts.push(say("The network expected {n} points.", { n: signed(one.value) }));
    if (at.seen === OPEN && one.open_value !== null) {
      parts.push(say("Perfect play with all hands open makes {n} points.", { n: whole(one.open_value) }));
      parts.push(one.open_loss ? say("{action} gave away {n} of them, but nobody sees all hands during play.", { action: word(one.action), n: one.open_loss }) : say("{action} keeps them.", { action: word(one.action) }));
    }
    return parts.join(" ");
  }

  function belief(one) {
    const table = find("belief"), partner = one.knowledge[1];
    for (const part of [...table.tBodies, table.tHead].filter(Boolean)) part.remove();
    find("knowledge").hidden = at.seen !== OPEN || !partner;
    if (find("knowledge").hidden) return;
    find("knowledge").querySelector("summary").textContent = say(one.seat === data.viewer ? "What the move told of your hand" : "What the move told of the hand of {who}", { who: who(one.seat) });
    find("learned").replaceChildren(...[partner, one.knowledge[0], one.knowledge[2]].map((knowledge) => {
      const item = make("li"), text = knowledge === partner && data.viewer === null ? "the partner, {who}" : "{who}";
      const real = knowledge.log_probability.map((log) => (log === null ? "0 %" : `${(100 * Math.exp(log)).toPrecision(2)} %`));
      item.append(make("b", { textContent: say(text, { who: who(knowledge.seat) }) }), `${say(": ")}${learned(knowledge)}${say(".")}`);
      item.append(make("span", { className: "research", textContent: ` ${say("The move told {n} nats. Doubt: {before} nats before, {after} after. The real hand's chance: {from}, then {to}.", { n: knowledge.information.toFixed(2), before: knowledge.entropy[0].toFixed(1), after: knowledge.entropy[1].toFixed(1), from: real[0], to: real[1] })}` }));
      return item;
    }));
    table.caption.textContent = say("What {who} could know", { who: who(partner.seat) });
    head(table, [say("tile"), say("one or more"), say("dealt")]);
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

  // hidden: something better is asked for.
  function show(hidden) {
    const one = hidden ? null : decision(at.move), seen = one && known(one);
    const n = at.move, name = hidden ? say("an error") : seen ? heading(one) : "";
    find("verdict").textContent = !n ? say("Before the first move") : name ? say("Move {n}: {verdict}", { n, verdict: name }) : say("Move {n}", { n });
    find("verdict").className = seen ? one.agreement : "";
    find("judged").textContent = hidden ? say("Choose below the board.") : !n ? say("Each move is judged as it is made.") : !one ? say("It was not analysed.") : seen ? judged(one) : say("Decisions of others are judged with all hands open.");
    find("sure").hidden = !(seen && one.options.length);
    for (const id of ["options", "types"]) find(id).parentElement.hidden = !(seen && one.options.length);
    find("worth").textContent = seen ? worth(one) : "";
    find("whys").hidden = true;
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
    else find("tour").textContent = places.length ? say(by > 0 ? "No error after this move." : "No error before this move.") : say("No error.");
  }

  // Who does research sees errors of sampling, types and nats.
  const research = find("research"), paint = () => document.documentElement.classList.toggle("researcher", research.checked);
  research.checked = kept("research") === "yes";
  research.addEventListener("change", () => { keep("research", research.checked ? "yes" : "no"); again(); });

  const does = { before: () => tour(-1), after: () => tour(1) };
  return { show, deal, word, played, paint, does, keys: { ",": does.before, ".": does.after } };
}
