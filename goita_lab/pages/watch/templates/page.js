(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const make = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);
  const OPEN = 4, RENEW_MS = 2000, at = { deal: 0, move: 0, seen: OPEN };
  let dark = false, analysis = null, learn = null;

  const colored = (text) => (dark ? text.replace(/#[0-9a-f]{6}\b/g, (color) => data.dark[color] || color) : text);

  function draw(svg, frame) {
    svg.setAttribute("fill", colored(data.fill));
    svg.innerHTML = colored(frame[0].map((line) => data.lines[line]).join(""));
  }

  const said = (frame) => frame[1].map((sentence) => data.sentences[sentence]);
  const tile = (kind, down) => `<svg class="tile" viewBox="-22 -26 44 52" aria-hidden="true"><use href="#w${kind === null ? "b" : `t${kind}${down ? "d" : ""}`}"/></svg>`;

  const deal = () => data.deals[at.deal];
  const title = (n) => data.rounds[n] ?? say("Deal {n}", { n: n + 1 });
  const named = (seat) => [data.names[seat], data.viewer === null ? deal().players[seat] : ""].filter(Boolean).join(" ");

  // What a seat may know of a move: others' face-down blocks, and who kept silent, stay hidden.
  const hides = (move) => at.seen !== OPEN && move.seat !== at.seen;

  function cell(move, index) {
    const link = make("a", { href: address(index) });
    link.dataset.move = index;
    if (move.pair) {
      const back = move.down && hides(move), code = back ? `x${move.name[1]}` : move.name;
      link.innerHTML = `${tile(back ? null : move.pair[0], move.down)}${tile(move.pair[1], false)}<span class="code" aria-hidden="true">${code}</span>`;
    } else {
      const text = move.name === "p" ? say("pass") : move.hidden || move.said;
      link.innerHTML = `<span class="pass" aria-hidden="true">${text}</span>`;
    }
    link.append(make("span", { className: "hidden", textContent: `${index}${say(": ")}${hides(move) ? move.hidden : move.said}` }));
    return link;
  }

  function list() {
    const { moves, dealer, players } = deal(), table = find("moves"), questions = find("questions");
    table.textContent = questions.textContent = "";
    const head = table.createTHead().insertRow();
    for (let n = 0; n < 4; n++) {
      const seat = (dealer + n) % 4, name = named(seat);
      head.append(make("th", { scope: "col", textContent: n ? name : say("{who}, dealer", { who: name }) }));
    }
    const body = table.createTBody();
    let row = null, turn = 0;
    moves.forEach((move, n) => {
      if (!move.pair && move.name !== "p") {
        if (!(hides(move) && !move.hidden)) questions.append(cell(move, n + 1));
        return;
      }
      if (turn++ % 4 === 0) row = body.insertRow();
      row.insertCell().append(cell(move, n + 1));
    });
    const result = deal().result;
    find("result").textContent = [result && say("Result: {result}.", { result }), deal().note && `${deal().note}${say(".")}`].filter(Boolean).join(" ");
  }

  function facts() {
    const { dealer, scores, rules } = deal();
    const [points, otherPoints] = data.viewer % 2 ? [scores[1], scores[0]] : scores, [team, others] = data.teams;
    const sentences = [`${title(at.deal)}${say(", ")}${rules}${say(".")}`, say("Dealer: {who}.", { who: data.names[dealer] }), say("Points before it: {one} of {team}, {other} of {others}.", { one: points, team, other: otherPoints, others })];
    find("facts").textContent = sentences.join(" ");
    const { players } = deal(), names = find("players");
    names.hidden = data.viewer !== null || !players.some(Boolean);
    names.replaceChildren(...players.map((player, seat) => make("li", { textContent: named(seat) })));
    for (const option of find("seen").options) {
      if (option.value < OPEN) option.text = named(Number(option.value));
    }
  }

  function show() {
    const { moves, frames } = deal();
    if (learn) learn.seen();
    const hidden = learn !== null && learn.hides(at.move);
    const frame = frames[hidden ? at.move - 1 : at.move][at.seen];
    draw(find("picture"), frame);
    const move = moves[at.move - 1];
    const description = move && (hides(move) ? move.hidden : move.said);
    const text = hidden ? say("{who}: to move", { who: data.names[at.seen] }) : move ? [description, move.end].filter(Boolean).join(say("; ")) : say("the deal");
    find("said").textContent = text;
    find("words").replaceChildren(...said(frame).map((sentence) => make("li", { textContent: sentence })));
    find("seek").max = moves.length;
    find("seek").value = at.move;
    find("seek").setAttribute("aria-valuetext", text);
    find("count").textContent = `${at.move} / ${moves.length}`;
    for (const link of document.querySelectorAll("a[data-move]")) {
      const index = Number(link.dataset.move);
      link.classList.toggle("later", index > at.move || (hidden && index === at.move));
      if (index === at.move) {
        link.setAttribute("aria-current", "step");
        const box = find("moves").parentElement;
        if (box.scrollHeight > box.clientHeight) link.scrollIntoView({ block: "nearest" });
      } else link.removeAttribute("aria-current");
    }
    find("link").href = address();
    document.documentElement.classList.toggle("soon", hidden);
    if (analysis) analysis.show(hidden);
    if (learn) learn.draw();
  }

  function all() {
    find("deal").value = at.deal;
    find("seen").value = at.seen;
    find("definitions").innerHTML = colored(data.faces[find("faces").value]);
    list();
    facts();
    if (analysis) analysis.deal();
    show();
  }

  const address = (move = at.move) => `#${at.deal + 1}.${move}${at.seen === OPEN ? "" : `.${at.seen}`}`;

  function note() {
    try { history.replaceState(null, "", address()); } catch { location.hash = address(); }
  }

  function to(place) {
    const before = `${at.deal} ${at.seen}`;
    at.deal = Math.max(0, Math.min(data.deals.length - 1, place.deal ?? at.deal));
    at.seen = place.seen ?? at.seen;
    at.move = Math.max(0, Math.min(deal().moves.length, place.move ?? at.move));
    if (before === `${at.deal} ${at.seen}`) show(); else all();
    note();
  }

  function read() {
    const place = /^#(\d+)\.(\d+)(?:\.([0-3]))?$/.exec(location.hash);
    if (!place || location.hash === address()) return;
    const seen = place[3] === undefined ? OPEN : Number(place[3]);
    to({ deal: Number(place[1]) - 1, move: Number(place[2]), seen });
  }

  const does = {
    start: () => to({ move: 0 }),
    back: () => to({ move: at.move - 1 }),
    on: () => to({ move: at.move + 1 }),
    end: () => to({ move: Infinity }),
    deal: (by) => { if (data.deals[at.deal + by]) to({ deal: at.deal + by, move: 0 }); },
    seat: () => to({ seen: at.seen === OPEN ? 0 : (at.seen + 1) % 4 }),
    hands: () => to({ seen: OPEN }),
  };

  const keys = {
    ArrowLeft: does.back, ArrowRight: does.on, Home: does.start, End: does.end,
    p: () => does.deal(-1), n: () => does.deal(1),
    v: does.seat, h: does.hands,
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input:not([type=checkbox]), select");
    const pressed = [" ", "Enter"].includes(event.key) && event.target.closest("button, summary, a, input");
    const act = keys[event.key] ?? keys[event.key.toLowerCase()]; /* Shift and Caps Lock change nothing */
    if (event.ctrlKey || event.altKey || event.metaKey || field || pressed || !act) return;
    event.preventDefault();
    act();
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-do]");
    if (button) does[button.dataset.do](button);
  });

  const darkness = matchMedia("(prefers-color-scheme: dark)");

  function paint() {
    dark = darkness.matches;
    all();
  }

  data.deals.forEach((dealt, n) => {
    find("deal").add(new Option(`${title(n)}${say(": ")}${dealt.result || say("no result")}`, n));
  });
  find("faces").addEventListener("change", all);
  find("codes").addEventListener("change", (event) => document.documentElement.classList.toggle("codes", event.target.value !== ""));
  find("deal").addEventListener("change", (event) => to({ deal: Number(event.target.value), move: 0 }));
  find("seen").addEventListener("change", (event) => to({ seen: Number(event.target.value) }));
  find("seek").addEventListener("input", (event) => to({ move: Number(event.target.value) }));
  addEventListener("hashchange", read);
  darkness.addEventListener("change", paint);
  if (data.analysis) {
    analysis = analysing({ data, at, OPEN, find, make, tile, to });
    learn = learning({ data, at, OPEN, find, make, tile, to, show, words: analysis.word, played: analysis.played, mark: analysis.mark });
    Object.assign(does, analysis.does, learn.does);
    Object.assign(keys, learn.keys);
    find("order").addEventListener("change", () => { analysis.sort(); learn.draw(); });
  }
  // The server of the match plays on from before the move that is shown.
  async function again() {
    const body = JSON.stringify({ deal: at.deal + 1, move: Math.max(1, at.move) });
    const answer = await fetch("again", { method: "POST", body }).catch(() => null);
    const reply = answer ? await answer.json() : { error: say("The server doesn't answer. Start it again with --resume.") };
    if (reply.error) document.getElementById("problem").textContent = reply.error;
    else location.href = "./";
  }
  if (data.viewer !== null) does.again = keys.t = again;
  // Deals are analysed while the page is open. It asks for them, and keeps its place and the answers.
  async function renew() {
    const shown = data.analysis.deals.filter(Boolean).length;
    const answer = await fetch(`renewal?digest=${data.digest}&done=${shown}`).catch(() => null);
    const reply = answer ? await answer.json() : { error: say("The server doesn't answer. Start it again with --resume.") };
    if (reply.done === null) reply.error = say("The match has continued. Load this page again.");
    if (reply.error) { find("progress").textContent = reply.error; return; }
    if (reply.analysis) {
      const isNew = !data.analysis.deals[at.deal];
      Object.assign(data.analysis, reply.analysis);
      analysis.renew(reply.tables);
      if (isNew && data.analysis.deals[at.deal]) all(); else learn.draw();
    }
    if (analysis.renew()) setTimeout(renew, RENEW_MS);
  }

  // On a phone the settings would stand between the board and the moves.
  find("settings").open = !matchMedia("(max-width: 52rem)").matches;
  paint();
  read();
  if (data.viewer !== null) {
    if (analysis.renew()) setTimeout(renew, RENEW_MS);
    // A player begins with the own errors, each a question, and else with the last deal that is analysed.
    if (!location.hash && !learn.begin()) to({ deal: data.analysis.deals.findLastIndex(Boolean), move: 0 });
  }
})();
