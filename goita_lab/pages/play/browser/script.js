(() => {
  const find = (id) => document.getElementById(id);
  const NAMES = ["pawn", "lance", "knight", "silver", "gold", "bishop", "rook", "king"].map((name) => say(name));
  const KING = NAMES.length - 1;
  const PLACES = [say("you"), say("Right"), say("Partner"), say("Left")];
  const KEYS = { pass: "p", call: "c", silent: "s", redeal: "r", continue: "o" };
  const LABELS = { pass: say("pass"), call: say("call"), silent: say("keep silent"), redeal: say("redeal"), continue: say("continue") };
  // What can be done when a round, the match, or a round that is tried again is over.
  const ANALYSIS = [say("analysis"), "v", "analysis"], SAME = [say("same deal again"), "d", "same"];
  const MORE = {
    round: [[say("next round"), "n", "next"], ANALYSIS, SAME],
    match: [ANALYSIS, [say("new match"), "m", "match"], SAME],
    trial: [[say("back to the match"), "b", "leave"], [say("try again"), "t", "again"], ANALYSIS],
  };
  let state = null, block = null, busy = false, skip = null;

  function make(tag, text, attributes = {}) {
    const element = document.createElement(tag);
    if (text !== null) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  // Kinds are numbers; the definitions of the tiles come from the server.
  function tile(kind) {
    const box = document.createElement("span");
    box.innerHTML = `<svg class="tile" viewBox="-22 -26 44 52" aria-hidden="true"><use href="#wt${Number(kind)}"/></svg>`;
    return box.firstChild;
  }

  function row(body, cells, heads = 0) {
    const line = body.insertRow();
    cells.forEach((cell, n) => {
      const box = n < heads ? line.appendChild(make("th", null, { scope: "row" })) : line.insertCell();
      box.append(cell);
    });
    return line;
  }

  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const look = () => `theme=${darkness.matches ? "dark" : "light"}&faces=${find("faces").value}`;

  async function ask(path, body = null) {
    const options = body === null ? {} : { method: "POST", body: JSON.stringify(body) };
    let reply;
    try {
      const answer = await fetch(`${path}?${look()}`, options);
      reply = answer.headers.get("content-type")?.startsWith("application/json") ? await answer.json() : { error: say("The server answers {status}.", { status: answer.status }) };
    } catch {
      reply = { error: say("The server doesn't answer. Start it again with --resume.") };
    }
    problem(reply.error ?? "");
    return reply;
  }

  // The same text is not written again, because a screen reader would read it out each time.
  function problem(text) {
    if (find("problem").textContent !== text) find("problem").textContent = text;
  }

  // While work is under way, no other work begins.
  async function exclusively(work) {
    if (busy) return;
    busy = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      await work();
    } finally {
      busy = false;
      document.body.removeAttribute("aria-busy");
    }
  }

  async function change(path, body = {}) {
    await exclusively(async () => {
      const inside = document.activeElement.closest("#hand, #answers"), read = lessonShown();
      offer(false);
      const reply = await ask(path, { ...body, mark: state.mark });
      if (!reply.error) {
        find("advice").textContent = "";
        learn(read);
        await show(reply, true);
      } else if (!(await refresh())) offer(true);
      if (inside) document.querySelector("#hand button:enabled, #answers button")?.focus();
    });
  }

  async function refresh() {
    const before = find("problem").textContent, reply = await ask("state");
    if (reply.error) return false;
    problem(before);
    await show(reply, false);
    return true;
  }

  function draw(frame) {
    find("picture").innerHTML = frame.svg;
    find("words").replaceChildren(...frame.words.map((sentence) => make("li", sentence)));
    hand(frame.hand);
  }

  function hand(kinds) {
    find("hand").hidden = kinds === null;
    find("hand").replaceChildren(...(kinds ?? []).map((kind, place) => {
      const button = make("button", null, { type: "button", "data-kind": kind, "data-place": place, "aria-label": say("{kind}, {points} points, key {key}", { kind: NAMES[kind], points: state.points[kind], key: kind + 1 }), title: say("{kind}, {points} points", { kind: NAMES[kind], points: state.points[kind] }) });
      button.append(tile(kind), make("span", String(state.points[kind]), { class: "points" }), make("kbd", String(kind + 1)));
      button.disabled = true;
      return button;
    }));
  }

  // moving: the moves of others are shown one after another.
  async function show(newState, moving) {
    state = newState;
    block = null;
    if (find("welcome").open) {
      draw(newState.frames[0]);
      kinds();
      while (find("welcome").open) await new Promise((done) => setTimeout(done, 50));
      moving = true;
    }
    const frames = newState.frames, past = frames.slice(0, -1), time = Number(find("speed").value);
    const log = find("log"), begin = newState.log.length - past.filter((frame) => frame.said).length;
    log.replaceChildren(...newState.log.slice(0, moving ? begin : undefined).map((said) => make("li", said)));
    let hurry = !moving || time === 0;
    for (const frame of moving ? past : []) {
      if (frame.said) log.append(make("li", frame.said));
      log.parentElement.scrollTop = log.parentElement.scrollHeight;
      if (hurry) continue;
      draw(frame);
      find("question").textContent = frame.said || say("The tiles are dealt.");
      await new Promise((done) => {
        skip = () => { hurry = true; done(); };
        setTimeout(done, time);
      });
    }
    skip = null;
    draw(frames.at(-1));
    log.parentElement.scrollTop = log.parentElement.scrollHeight;
    match();
    offer(true);
  }

  function match() {
    const { names, scores, rounds, rules, match_points: total } = state;
    find("facts").textContent = say("You and Partner {own}, opponents {others}; {total} points win. {rules}.", { own: scores[0], others: scores[1], total, rules });
    find("total").textContent = say("{total} points win.", { total });
    kinds();
    const seats = find("seats").tBodies[0], body = find("rounds").tBodies[0];
    seats.replaceChildren();
    PLACES.forEach((place, n) => { if (names[n] !== place) row(seats, [place, names[n]], 1); });
    body.replaceChildren();
    rounds.forEach(([who, team, points], n) => row(body, [String(n + 1), who, team ? "" : String(points), team ? String(points) : ""]));
    row(body, [say("all"), "", String(scores[0]), String(scores[1])]).className = "total";
  }

  // The tiles of the game: drawn, with name, points and number.
  function kinds() {
    const [body] = document.querySelector(".kinds").tBodies;
    body.replaceChildren();
    state.deck.forEach((number, kind) => {
      if (!number) return;
      const line = row(body, [tile(kind), NAMES[kind], String(state.points[kind]), String(number)]);
      line.cells[2].className = line.cells[3].className = "number";
    });
  }

  // A rule is explained once, when it first matters.
  const lessons = () => (kept("lessons") ?? "").split(" ");
  function lesson(on) {
    const newLessons = on ? state.lessons.filter(([name]) => !lessons().includes(name)).slice(0, 2) : [];
    const names = newLessons.map(([name]) => name).join(" ");
    find("lesson").replaceChildren(...(names ? [...newLessons.map(([, text]) => `${text} `), make("button", say("I see"), { type: "button", "data-do": "learned", "data-lesson": names })] : []));
  }

  // A player who moves has read the lesson.
  const lessonShown = () => find("lesson").querySelector("[data-lesson]")?.dataset.lesson;
  function learn(names) {
    if (names) keep("lessons", `${lessons().join(" ")} ${names}`.trim());
  }

  const pairs = () => state.actions.filter((option) => option.pair);
  const others = () => state.actions.filter((option) => !option.pair);

  // Shows what may be done now, or nothing while others move.
  function offer(on) {
    const asked = on && state.asks === "move", buttons = [...find("hand").children];
    const chosen = block === null ? null : Number(buttons[block].dataset.kind);
    for (const button of buttons) {
      const kind = Number(button.dataset.kind), own = Number(button.dataset.place) === block;
      const fits = pairs().some(({ pair }) => (chosen === null ? pair[0] === kind : pair[0] === chosen && pair[1] === kind));
      button.disabled = !asked || !(fits || own);
      button.setAttribute("aria-pressed", own ? "true" : "false");
    }
    find("answers").replaceChildren();
    if (asked) {
      for (const { action, code } of others()) answer(LABELS[code], KEYS[code], { "data-action": action });
      if (chosen !== null) answer(say("another tile"), "Esc", { "data-do": "clear" });
    }
    for (const [text, key, what] of on ? MORE[state.asks] ?? [] : []) {
      answer(text, key, { "data-do": what, ...(find("answers").children.length ? {} : { class: "main" }) });
    }
    find("trial").hidden = state.trial === null;
    find("trial-facts").textContent = state.trial ? say("You try round {round} again from move {move}. It does not count.", state.trial) : "";
    const receive = chosen === KING ? say("You receive with the king. Now the attack.") : say("You receive with the {kind}. Now the attack.", { kind: NAMES[chosen] });
    const first = state.leads ? say("You lay a {kind} face down. Now the attack.", { kind: NAMES[chosen] }) : receive;
    const question = asked && chosen !== null ? first : state.question;
    lesson(asked);
    find("question").textContent = on ? question : "";
    for (const button of document.querySelectorAll(".side .bar button[data-do]")) {
      const { do: what } = button.dataset;
      if (what === "hint" || what === "partner") button.disabled = !asked;
      if (what === "back") button.disabled = !on || !state.may_take_back;
    }
  }

  function answer(text, key, attributes) {
    const button = make("button", text, { type: "button", ...attributes });
    button.append(make("kbd", key, { "aria-hidden": "true" }));
    find("answers").append(button);
  }

  function choose(button) {
    if (!button || button.disabled || busy) return;
    const place = Number(button.dataset.place), kind = Number(button.dataset.kind);
    if (block === null || block === place) {
      block = block === null ? place : null;
      offer(true);
      return;
    }
    const first = Number(find("hand").children[block].dataset.kind);
    const option = pairs().find(({ pair }) => pair[0] === first && pair[1] === kind);
    change("move", { action: option.action });
  }

  function key(kind) {
    const own = [...find("hand").children].filter((button) => Number(button.dataset.kind) === kind);
    const fits = own.filter((button) => !button.disabled);
    const why = own.length ? say("You can't play the {kind} now.", { kind: NAMES[kind] }) : say("You have no {kind}.", { kind: NAMES[kind] });
    problem(state.asks === "move" && !fits.length ? why : "");
    choose(fits.find((button) => Number(button.dataset.place) !== block));
  }

  function reply(code) {
    const option = state.asks === "move" && others().find((candidate) => candidate.code === code);
    if (option) change("move", { action: option.action });
  }

  // before: what is shown until the advice is there; it may ask the server itself.
  async function advise(path, write, before = async () => {}) {
    if (state.asks !== "move" || busy) return;
    await exclusively(async () => {
      const box = find("advice");
      box.replaceChildren(make("p", say("Thinking …")));
      await before(box);
      const reply = await ask(path, {});
      box.replaceChildren();
      if (reply.error) return;
      write(box, reply);
      if (matchMedia("(max-width: 52rem)").matches) find("picture").scrollIntoView();
      box.append(make("button", say("Close"), { type: "button", class: "close", "data-do": "close" }));
    });
  }

  // The champion's first choice needs no search, so it shows at once.
  async function glance(box) {
    const first = await ask("glance", {});
    if (!first.error) box.prepend(make("p", say("The champion's first choice: {action}", { action: first.said }), { class: "best" }));
  }

  function folded(box, title) {
    const details = box.appendChild(make("details", null));
    details.append(make("summary", title));
    return details;
  }

  const cap = (text) => text.charAt(0).toUpperCase() + text.slice(1);

  function head(box, texts) {
    const table = box.appendChild(make("table", null)), line = table.createTHead().insertRow();
    for (const text of texts) line.append(make("th", text, { scope: "col" }));
    return table.createTBody();
  }

  function hint(box, advice) {
    const optionOf = (action) => advice.options.find((option) => option.action === action);
    const short = (action) => (optionOf(action).pair ? shortly(optionOf(action).pair.map((kind) => NAMES[kind])) : LABELS[optionOf(action).code]);
    box.append(make("p", advice.said, { class: "best" }));
    if (advice.principle) box.append(make("p", advice.principle));
    if (advice.worth) box.append(make("p", say("It is worth {points} more than {action}.", { points: pointsOf(advice.worth), action: short(advice.rival) })));
    const reasons = folded(box, say("What it depends on"));
    for (const condition of advice.deciding) reasons.append(make("p", dependsOn({ ...condition, kind: NAMES[condition.kind] }, PLACES[condition.place], short(advice.best), short(advice.rival))));
    if (!advice.deciding.length) reasons.append(make("p", advice.worth ? say("It was better in all cases that were tried.") : say("On no single tile that another player may have.")));
    const all = folded(box, say("All actions"));
    const body = head(all, [say("Action"), say("First choice"), say("Points"), "±"]);
    for (const option of advice.options.slice(0, 8)) {
      const name = make("span", null);
      if (option.pair) name.append(...option.pair.map(tile), " ");
      name.append(option.pair ? option.name : LABELS[option.code]);
      const line = row(body, [name, option.chance, option.points ?? "–", option.error ?? ""]);
      if (option.action === advice.action) line.className = "best";
      for (const cell of [...line.cells].slice(1)) cell.className = "number";
    }
    all.append(make("p", say("First choice: how often the champion plays it without looking ahead. Points: of the round for your team, on average over hands that are possible, in which the others play on like people and bots that they may be. ± is one standard error of that sampling; how the others play is the larger uncertainty."), { class: "small" }));
  }

  function partner(box, advice) {
    box.append(make("p", say("What your partner has not shown yet, in its hand or face down:"), { class: "best" }));
    const body = head(box, [say("Tile"), say("At least one"), say("Expected")]);
    box.querySelectorAll("th")[1].colSpan = 2; /* a bar and a figure */
    for (const { kind, chance, expected } of advice.kinds) {
      const first = make("span", null);
      first.append(tile(kind), ` ${NAMES[kind]}`);
      const bar = make("meter", null, { min: 0, max: 1, value: chance, "aria-label": say("{kind}, at least one", { kind: NAMES[kind] }) });
      row(body, [first, bar, `${Math.round(100 * chance)} %`, expected]).lastChild.className = "number";
    }
    const likely = box.appendChild(make("p", say("Likeliest hands as dealt:")));
    for (const { hand: kinds, chance } of advice.likely) {
      const hand = likely.appendChild(make("span", null));
      hand.append(document.createElement("br"), ...kinds.map(tile), ` ${chance}`, make("span", ` ${kinds.map((kind) => NAMES[kind]).join(say(", "))}`, { class: "hidden" }));
    }
    box.append(make("p", say("Models of Right, Partner, Left: {models}.", { models: advice.models.join("; ") }), { class: "small" }));
  }

  // The matches that the folder keeps.
  async function matches() {
    const reply = await ask("matches");
    if (reply.error) return;
    find("kept").tBodies[0].replaceChildren();
    for (const match of reply.kept) {
      const open = make("button", match.file, { type: "button", "data-do": "open", "data-file": match.file });
      open.disabled = match.file === reply.file;
      row(find("kept").tBodies[0], [open, match.players, match.result]).lastChild.className = "number";
    }
    find("matches").showModal();
  }

  const during = (asks, path, body = () => ({})) => () => { if (state.asks === asks) change(path, body()); };

  const does = {
    analysis: () => { if (MORE[state.asks]) location.href = "analysis"; },
    same: () => { if (MORE[state.asks]) change("again", { deal: 0, move: 1 }); },
    match: during("match", "match"),
    leave: () => { if (state.trial) change("leave"); },
    again: during("trial", "again", () => state.trial),
    hint: () => advise("hint", hint, glance),
    partner: () => advise("partner", partner),
    matches,
    open: ({ dataset }) => { find("matches").close(); change("open", { file: dataset.file }); },
    learned: () => { learn(lessonShown()); lesson(true); },
    back: () => { if (state.may_take_back) change("back"); },
    next: during("round", "next"),
    close: () => find("advice").replaceChildren(),
    clear: () => { if (block !== null && !busy) { block = null; offer(true); } },
    help: () => find("welcome").showModal(),
    faces: () => { const box = find("faces"); box.selectedIndex = (box.selectedIndex + 1) % 3; box.dispatchEvent(new Event("change")); },
  };
  const keys = {
    p: () => reply("pass"), c: () => reply("call"), s: () => reply("silent"), r: () => reply("redeal"), o: () => reply("continue"),
    n: does.next, v: does.analysis, d: does.same, m: does.match, b: does.leave, t: does.again, u: does.back, h: does.hint, w: does.partner, f: does.faces, "?": does.help, Escape: does.clear,
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, textarea, dialog");
    if (event.ctrlKey || event.altKey || event.metaKey || field || state === null) return;
    const act = keys[event.key] ?? keys[event.key.toLowerCase()]; /* Shift and Caps Lock change nothing */
    if (event.key === " " && !event.target.closest("button, summary, a")) {
      event.preventDefault();
      skip?.();
    } else if (!busy && event.key >= "1" && event.key <= "8" && event.key.length === 1) key(Number(event.key) - 1);
    else if (!busy && act) {
      event.preventDefault();
      act();
    }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (event.target.closest("#picture")) skip?.();
    if (!button || busy || state === null) return;
    if (button.dataset.place !== undefined) choose(button);
    else if (button.dataset.action !== undefined) change("move", { action: Number(button.dataset.action) });
    else if (button.dataset.do) does[button.dataset.do](button);
  });

  const kept = (name) => { try { return localStorage.getItem(`goita-${name}`); } catch { return null; } };
  const keep = (name, value) => { try { localStorage.setItem(`goita-${name}`, value); } catch { /* forbidden */ } };

  async function paint() {
    const answer = await fetch(`tiles?${look()}`).catch(() => null);
    if (answer?.ok) find("tiles").innerHTML = await answer.text();
    return refresh();
  }

  if (matchMedia("(prefers-reduced-motion: reduce)").matches) find("speed").value = "0";
  // The server writes its texts in the language that a cookie names, or else in the language of the browser.
  find("language").value = document.documentElement.lang;
  find("language").addEventListener("change", ({ target }) => {
    document.cookie = `language=${target.value}; path=${location.pathname}; max-age=31536000; samesite=strict`;
    location.reload();
  });
  for (const name of ["faces", "speed"]) {
    const value = kept(name), box = find(name);
    if ([...box.options].some((option) => option.value === value)) box.value = value;
    box.addEventListener("change", () => {
      keep(name, box.value);
      if (name !== "speed") exclusively(paint);
    });
  }
  darkness.addEventListener("change", () => exclusively(paint));
  if (!kept("welcomed")) find("welcome").showModal();
  find("welcome").addEventListener("close", () => keep("welcomed", "yes"));
  exclusively(paint);
})();
