
// Guessing: a seat's moves are hidden, and so is all that this seat did not see, until they are guessed.
function guessing({ data, at, OPEN, find, make, tile, to, show, words, played }) {
  const told = data.analysis, given = new Map();
  let seat = null, first = null;
  const decision = (move = at.move, deal = at.deal) => told.deals[deal][move];
  const key = () => `${at.deal}.${at.move}`;
  const asked = (one) => one && one.seat === seat && one.options.length > 0;
  const hides = (move) => seat !== null && move === at.move && asked(decision(move)) && !given.has(key());
  const points = (one, action) => one.options.find((option) => option.action === action).points;
  const loss = (one, action) => Math.max(0, points(one, one.best) - points(one, action));

  function choice(text, kinds, value, pressed = false) {
    const button = make("button", { type: "button" });
    button.dataset.guess = value;
    button.setAttribute("aria-pressed", pressed);
    button.innerHTML = kinds.map((kind) => tile(kind, false)).join("");
    button.append(text);
    find("guess").append(button);
  }

  function sum() {
    const all = [...given].map(([place, action]) => [decision(...place.split(".").reverse()), action]);
    const total = (pick) => all.reduce((before, [one, action]) => before + loss(one, pick(one, action)), 0).toFixed(1);
    const best = all.filter(([one, action]) => loss(one, action) === 0).length;
    return all.length ? `${all.length} guessed: ${best} as good as the best; ${total((one, action) => action)} points lost by you, ${total((one) => one.action)} by who played.` : "";
  }

  function draw() {
    const one = decision(), box = find("guess"), on = seat !== null;
    find("guessing").hidden = !on;
    find("start-guess").setAttribute("aria-pressed", on);
    if (!on) return;
    const inside = find("guessing").contains(document.activeElement);
    box.textContent = "";
    find("score").textContent = sum();
    if (hides(at.move)) {
      const codes = one.options.map((option) => option.action), pairs = codes.filter((code) => played(code).length);
      if (first !== null && !pairs.some((code) => code[0] === first)) first = null;
      for (const code of pairs.filter((code, n) => pairs.findIndex((other) => other[0] === code[0]) === n)) {
        const [kind] = played(code);
        choice(told.kinds[kind], [kind], `first ${code[0]}`, code[0] === first);
      }
      for (const code of pairs.filter((code) => code[0] === first)) {
        const [, kind] = played(code);
        choice(`then ${told.kinds[kind]}`, [kind], code);
      }
      for (const code of codes.filter((code) => !pairs.includes(code))) choice(words(code), [], code);
      find("asked").textContent = first === null ? "What would you play?" : "And then?";
    } else if (asked(one)) {
      const own = given.get(key()), lost = loss(one, own).toFixed(1);
      const better = lost === "0.0" ? "nothing is better" : `${words(one.best)} makes ${lost} points more`;
      find("asked").textContent = `You: ${words(own)}; ${better}. Played: ${words(one.action)}.`;
    } else find("asked").textContent = at.move ? "Nothing to choose here." : `You guess for seat ${seat}.`;
    if (inside) focus();
  }

  // Who has chosen by key goes on by key.
  const focus = () => (find("guess").querySelector("button") ?? find("guessing").querySelector("[data-do=next-guess]")).focus();

  function next() {
    const places = told.deals.flatMap((moves, n) => Object.values(moves).filter(asked).map((one) => [n, one.move]));
    const ahead = places.filter(([n, move]) => n > at.deal || (n === at.deal && move > at.move));
    const found = ahead.find(([n, move]) => !given.has(`${n}.${move}`)) ?? places.find(([n, move]) => !given.has(`${n}.${move}`));
    first = null;
    if (found) to({ deal: found[0], move: found[1], seen: seat });
    else find("asked").textContent = "All moves are guessed.";
  }

  function start() {
    seat = seat === null ? (at.seen === OPEN ? Number(find("start-guess").dataset.seat || 0) : at.seen) : null;
    if (seat === null) to({ seen: OPEN });
    else { to({ seen: seat, move: at.move - 1 }); next(); focus(); }
  }

  find("guess").addEventListener("click", (event) => {
    const value = event.target.closest("button")?.dataset.guess;
    if (!value) return;
    if (value.startsWith("first ")) first = first === value[6] ? null : value[6];
    else given.set(key(), value);
    show();
  });

  // Opening other hands ends the guessing.
  const seen = () => { if (seat !== null && at.seen !== seat) seat = at.seen === OPEN ? null : at.seen; };
  return { hides, draw, seen, does: { guess: start, "next-guess": next }, keys: { g: start, Enter: () => { if (seat !== null) next(); } } };
}
