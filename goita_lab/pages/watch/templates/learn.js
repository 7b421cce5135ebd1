
// Learning: at each error of a seat, one after another, the page asks for a better action. It hides the move, and all that this
// seat did not see, until the answer is better. A wrong answer may be tried again.
function learning({ data, at, OPEN, find, make, tile, to, show, words, played, mark }) {
  const analysis = data.analysis, answers = new Map(), TOLERATED_LOSS = 1;
  let seat = null, first = null, tried = null;
  const decisionAt = (move = at.move, deal = at.deal) => analysis.deals[deal]?.[move];
  const key = () => `${at.deal}.${at.move}`;
  const reader = () => data.viewer ?? (at.seen === OPEN ? null : at.seen);
  const isQuestion = (decision) => decision && decision.seat === reader() && decision.size > 0;
  const hides = (move) => seat !== null && move === at.move && isQuestion(decisionAt(move)) && !answers.has(key());
  const points = (decision, action) => decision.options.find((option) => option.action === action).points;
  const loss = (decision, action) => Math.max(0, points(decision, decision.best) - points(decision, action));
  const isLargestFirst = () => find("order").value === "loss";
  const isHere = ([n, move]) => n === at.deal && move === at.move;
  function places() {
    const errors = analysis.deals.flatMap((moves, n) => Object.values(moves ?? {}).filter(isQuestion).map((decision) => [n, decision.move]));
    const lost = ([n, move]) => decisionAt(move, n).loss;
    return isLargestFirst() ? errors.sort((a, b) => lost(b) - lost(a)) : errors;
  }

  function choice(text, kinds, value, pressed = false) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.guess = value;
    button.setAttribute("aria-pressed", pressed);
    button.innerHTML = kinds.map((kind) => tile(kind, false)).join("");
    button.append(text);
    find("guess").append(button);
  }

  function question(decision) {
    if (first !== null) return say("And then?");
    if (tried !== null) return say("{action} loses {n} points, too. Try again, or see the answer.", { action: words(tried), n: loss(decision, tried).toFixed(1) });
    if (decision.action === "p") return say("You passed. What is better?");
    return say("You played {action}. What is better?", { action: words(decision.action) });
  }

  function outcome(decision) {
    const answered = answers.get(key());
    if (!answered) return say("The answer: {action}.", { action: words(decision.best) });
    return say("Yes: {action} makes {n} points more than what you played.", { action: words(answered), n: (points(decision, answered) - points(decision, decision.action)).toFixed(1) });
  }

  function draw() {
    const decision = decisionAt(), box = find("guess"), on = seat !== null, hidden = on && hides(at.move), errors = places();
    find("learning").hidden = !on;
    find("learn").hidden = on || !errors.length;
    find("learn").textContent = say("Learn from your errors ({n})", { n: errors.length });
    if (!on) return;
    const inside = find("learning").contains(document.activeElement), focused = document.activeElement?.dataset.guess;
    box.textContent = "";
    find("score").textContent = say("{found} of {n} found", { found: [...answers.values()].filter(Boolean).length, n: errors.length });
    find("answer").hidden = !hidden;
    const index = errors.findIndex(isHere), here = find("count-errors");
    here.textContent = "";
    if (index >= 0) {
      const size = make("b", { textContent: mark(decision) });
      size.setAttribute("aria-hidden", "true");
      here.append(size, make("span", { className: "hidden", textContent: `${analysis.error_names[decision.size]}${say(": ")}` }));
      here.append(" ", make("b", { textContent: say("{n} points", { n: decision.loss.toFixed(1) }) }), ` · ${say("error {n} of {all}", { n: index + 1, all: errors.length })}`);
    }
    if (hidden) {
      const codes = decision.options.map((option) => option.action), pairs = codes.filter((code) => played(code).length);
      if (first !== null && !pairs.some((code) => code[0] === first)) first = null;
      for (const code of pairs.filter((code, n) => pairs.findIndex((other) => other[0] === code[0]) === n)) {
        const [kind] = played(code);
        choice(analysis.kinds[kind], [kind], `first ${code[0]}`, code[0] === first);
      }
      for (const code of pairs.filter((code) => code[0] === first)) {
        const [, kind] = played(code);
        choice(say("then {attack}", { attack: analysis.kinds[kind] }), [kind], code);
      }
      for (const code of codes.filter((code) => !pairs.includes(code))) choice(words(code), [], code);
      ask(question(decision));
    } else ask(isQuestion(decision) ? outcome(decision) : "");
    if (inside) focus(focused);
  }

  // A live region: the same text is not written, and told, again.
  function ask(text) {
    if (find("asked").textContent !== text) find("asked").textContent = text;
  }

  // A player who chose by key continues by key.
  const focus = (value) => (find("guess").querySelector(`[data-guess="${value}"]`) ?? find("guess").querySelector("button") ?? find("learning").querySelector("[data-do=next]")).focus();

  function next() {
    const errors = places(), left = ([n, move]) => !answers.has(`${n}.${move}`);
    const isLater = ([n, move]) => n > at.deal || (n === at.deal && move > at.move);
    const ahead = isLargestFirst() ? errors.slice(errors.findIndex(isHere) + 1) : errors.filter(isLater);
    const place = ahead.find(left) ?? errors.find(left);
    first = tried = null;
    if (place) to({ deal: place[0], move: place[1], seen: seat });
    else ask(analysis.deals.every(Boolean) ? say("These were all your errors.") : say("These were all your errors so far."));
  }

  function leave() {
    seat = null;
    to({ seen: data.viewer === null ? at.seen : OPEN });
  }

  // Begins with the first error; returns false if there is no error.
  function begin() {
    if (!places().length) return false;
    seat = reader();
    answers.clear();
    at.move = at.deal = 0;
    next();
    return true;
  }

  function answer(value) {
    const decision = decisionAt();
    if (value !== null && loss(decision, value) > TOLERATED_LOSS) { tried = value; first = null; } else answers.set(key(), value);
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
