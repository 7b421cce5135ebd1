
// Guessing: a seat's moves are hidden, and so is all that this seat did not see, until they are guessed.
// Learning: only the seat's errors are asked for, and an answer that is no better may be tried again.
function guessing({ data, at, OPEN, find, tile, to, show, words, played }) {
  const told = data.analysis, given = new Map(), LESS = 1;
  let seat = null, first = null, learning = false, tried = null;
  const decision = (move = at.move, deal = at.deal) => told.deals[deal][move];
  const key = () => `${at.deal}.${at.move}`;
  const asked = (one) => one && one.seat === seat && one.options.length > 0 && (!learning || one.agreement === "agreed");
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

  function sum() {
    const all = [...given].filter(([, action]) => action).map(([place, action]) => [decision(...place.split(".").reverse()), action]);
    if (learning || !all.length) return learning ? say("{found} of {n} found", { found: all.length, n: places().length }) : "";
    const total = (pick) => all.reduce((before, [one, action]) => before + loss(one, pick(one, action)), 0).toFixed(1);
    const best = all.filter(([one, action]) => loss(one, action) === 0).length;
    return say("{n} guessed: {best} as good as the best; {own} points lost by you, {played} by who played.", { n: all.length, best, own: total((one, action) => action), played: total((one) => one.action) });
  }

  function question(one) {
    if (first !== null) return say("And then?");
    if (!learning) return say("What would you play?");
    if (tried !== null) return say("{action} loses {n} points, too. Try again, or see the answer.", { action: words(tried), n: loss(one, tried).toFixed(1) });
    return say("You played {action}, which lost {n} points. What is better?", { action: words(one.action), n: one.loss.toFixed(1) });
  }

  function outcome(one) {
    const own = given.get(key()), better = words(one.best);
    if (learning) return own ? say("Yes: {action} makes {n} points more than what you played.", { action: words(own), n: (points(one, own) - points(one, one.action)).toFixed(1) }) : say("The answer: {action}.", { action: better });
    const lost = loss(one, own).toFixed(1);
    const said = lost === "0.0" ? say("nothing is better") : say("{action} makes {n} points more", { action: better, n: lost });
    return say("You: {own}; {better}. Played: {played}.", { own: words(own), better: said, played: words(one.action) });
  }

  function draw() {
    const one = decision(), box = find("guess"), on = seat !== null, hidden = on && hides(at.move);
    find("guessing").hidden = !on;
    find("start-guess").setAttribute("aria-pressed", on && !learning);
    if (!on) return;
    const inside = find("guessing").contains(document.activeElement), all = places();
    box.textContent = "";
    find("score").textContent = sum();
    find("answer").hidden = !(learning && hidden);
    const number = all.findIndex(([n, move]) => n === at.deal && move === at.move);
    find("count-errors").textContent = learning && number >= 0 ? say("Error {n} of {all}", { n: number + 1, all: all.length }) : "";
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
    } else if (asked(one)) find("asked").textContent = outcome(one);
    else find("asked").textContent = at.move ? say("Nothing to choose here.") : say("You guess for {who}.", { who: data.names[seat] });
    if (inside) focus();
  }

  // Who has chosen by key goes on by key.
  const focus = () => (find("guess").querySelector("button") ?? find("guessing").querySelector("[data-do=next-guess]")).focus();

  function next() {
    const all = places(), left = ([n, move]) => !given.has(`${n}.${move}`);
    const ahead = all.filter(([n, move]) => n > at.deal || (n === at.deal && move > at.move));
    const place = ahead.find(left) ?? all.find(left);
    first = tried = null;
    if (place) to({ deal: place[0], move: place[1], seen: seat });
    else find("asked").textContent = learning ? say("These were all your errors.") : say("All moves are guessed.");
    return Boolean(place);
  }

  function end() {
    seat = tried = null;
    learning = false;
    to({ seen: OPEN });
  }

  function start() {
    if (seat !== null) { end(); return; }
    seat = at.seen === OPEN ? Number(find("start-guess").dataset.seat || 0) : at.seen;
    to({ seen: seat, move: at.move - 1 });
    next();
    focus();
  }

  // The errors of who reads a review; false: there are none.
  function begin() {
    seat = data.viewer;
    learning = true;
    at.move = at.deal = 0;
    if (places().length && next()) return true;
    seat = null;
    learning = false;
    return false;
  }

  function answer(value) {
    const one = decision();
    if (learning && value !== null && loss(one, value) > LESS) { tried = value; first = null; } else given.set(key(), value);
    show();
  }

  find("guess").addEventListener("click", (event) => {
    const value = event.target.closest("button")?.dataset.guess;
    if (!value) return;
    if (value.startsWith("first ")) { first = first === value[6] ? null : value[6]; show(); } else answer(value);
  });

  // Opening other hands ends the guessing.
  const seen = () => { if (seat !== null && at.seen !== seat) { learning = learning && at.seen !== OPEN; seat = at.seen === OPEN ? null : at.seen; } };
  const does = { guess: start, learn: () => { given.clear(); begin(); focus(); }, answer: () => answer(null), "next-guess": next, endguess: end };
  return { hides, draw, seen, begin, does, keys: { g: start, Enter: () => { if (seat !== null) next(); } } };
}
