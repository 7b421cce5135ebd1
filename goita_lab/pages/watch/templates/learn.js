
// Learning: the errors of a seat are asked for, one by one. The move is hidden, and so is all that this seat did not see, until
// something better is found; an answer that is no better may be tried again.
function learning({ data, at, OPEN, find, tile, to, show, words, played }) {
  const told = data.analysis, given = new Map(), LESS = 1;
  let seat = null, first = null, tried = null;
  const decision = (move = at.move, deal = at.deal) => told.deals[deal][move];
  const key = () => `${at.deal}.${at.move}`;
  const reader = () => data.viewer ?? (at.seen === OPEN ? null : at.seen);
  const asked = (one) => one && one.seat === reader() && one.verdict === "clear";
  const hides = (move) => seat !== null && move === at.move && asked(decision(move)) && !given.has(key());
  const points = (one, action) => one.options.find((option) => option.action === action).points;
  const loss = (one, action) => Math.max(0, points(one, one.best) - points(one, action));
  const places = () => told.deals.flatMap((moves, n) => Object.values(moves).filter(asked).map((one) => [n, one.move]));

  function choice(text, kinds, value, pressed = false) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.guess = value;
    button.setAttribute("aria-pressed", pressed);
    button.innerHTML = kinds.map((kind) => tile(kind, false)).join("");
    button.append(text);
    find("guess").append(button);
  }

  function question(one) {
    if (first !== null) return say("And then?");
    if (tried !== null) return say("{action} loses {n} points, too. Try again, or see the answer.", { action: words(tried), n: loss(one, tried).toFixed(1) });
    return say("You played {action}, which lost {n} points. What is better?", { action: words(one.action), n: one.loss.toFixed(1) });
  }

  function outcome(one) {
    const own = given.get(key());
    if (!own) return say("The answer: {action}.", { action: words(one.best) });
    return say("Yes: {action} makes {n} points more than what you played.", { action: words(own), n: (points(one, own) - points(one, one.action)).toFixed(1) });
  }

  function draw() {
    const one = decision(), box = find("guess"), on = seat !== null, hidden = on && hides(at.move), all = places();
    find("learning").hidden = !on;
    find("learn").hidden = on || !all.length;
    find("learn").textContent = say("Learn from your errors ({n})", { n: all.length });
    if (!on) return;
    const inside = find("learning").contains(document.activeElement);
    box.textContent = "";
    find("score").textContent = say("{found} of {n} found", { found: [...given.values()].filter(Boolean).length, n: all.length });
    find("answer").hidden = !hidden;
    const number = all.findIndex(([n, move]) => n === at.deal && move === at.move);
    find("count-errors").textContent = number >= 0 ? say("Error {n} of {all}", { n: number + 1, all: all.length }) : "";
    if (hidden) {
      const codes = one.options.map((option) => option.action), pairs = codes.filter((code) => played(code).length);
      if (first !== null && !pairs.some((code) => code[0] === first)) first = null;
      for (const code of pairs.filter((code, n) => pairs.findIndex((other) => other[0] === code[0]) === n)) {
        const [kind] = played(code);
        choice(told.kinds[kind], [kind], `first ${code[0]}`, code[0] === first);
      }
      for (const code of pairs.filter((code) => code[0] === first)) {
        const [, kind] = played(code);
        choice(say("then {attack}", { attack: told.kinds[kind] }), [kind], code);
      }
      for (const code of codes.filter((code) => !pairs.includes(code))) choice(words(code), [], code);
      find("asked").textContent = question(one);
    } else find("asked").textContent = asked(one) ? outcome(one) : "";
    if (inside) focus();
  }

  // Who has chosen by key goes on by key.
  const focus = () => (find("guess").querySelector("button") ?? find("learning").querySelector("[data-do=next]")).focus();

  function next() {
    const all = places(), left = ([n, move]) => !given.has(`${n}.${move}`);
    const ahead = all.filter(([n, move]) => n > at.deal || (n === at.deal && move > at.move));
    const place = ahead.find(left) ?? all.find(left);
    first = tried = null;
    if (place) to({ deal: place[0], move: place[1], seen: seat });
    else find("asked").textContent = say("These were all your errors.");
  }

  function leave() {
    seat = null;
    to({ seen: data.viewer === null ? at.seen : OPEN });
  }

  // Begins with the first error; false: there is none.
  function begin() {
    if (!places().length) return false;
    seat = reader();
    given.clear();
    at.move = at.deal = 0;
    next();
    return true;
  }

  function answer(value) {
    const one = decision();
    if (value !== null && loss(one, value) > LESS) { tried = value; first = null; } else given.set(key(), value);
    show();
  }

  find("guess").addEventListener("click", (event) => {
    const value = event.target.closest("button")?.dataset.guess;
    if (!value) return;
    if (value.startsWith("first ")) { first = first === value[6] ? null : value[6]; show(); } else answer(value);
  });

  // Opening other hands ends the questions.
  const seen = () => { if (seat !== null && at.seen !== seat) seat = null; };
  const learn = () => { if (begin()) focus(); };
  const does = { learn, answer: () => answer(null), next, leave };
  return { hides, draw, seen, begin, does, keys: { l: () => (seat === null ? learn() : leave()), Enter: () => { if (seat !== null) next(); } } };
}
