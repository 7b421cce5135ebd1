
// How play may go on after each action: the commonest moves in the worlds of the search.
function continuing({ find, make, tile, told, names, word, played, percent }) {
  const ALL = ["p", "p", "p"], served = document.querySelector("[data-do=vary]");

  function name(move) {
    if (!/^x[1-8]$/.test(move)) return word(move);
    return say("{block} then {attack}", { block: say("face-down tile"), attack: told.kinds[Number(move[1]) - 1] });
  }

  function chip(line, who, tiles, text, share, ends) {
    const box = make("span", { className: "step" });
    box.append(make("b", { textContent: who }));
    box.insertAdjacentHTML("beforeend", tiles);
    box.append(make("span", { className: tiles ? "words" : "", textContent: ` ${text} ` }));
    if (ends) box.append(make("span", { textContent: ` ${say("ends the deal")} ` }));
    if (share) box.append(make("small", { textContent: share }));
    line.append(box, " ");
  }

  // The server of a match plays the action in the real deal.
  function attempt({ action }, seat) {
    const button = make("button", { type: "button", textContent: say("try") });
    Object.assign(button.dataset, { do: "try", code: action, seat, name: word(action) });
    button.setAttribute("aria-label", say("try {action}", { action: word(action) }));
    return button;
  }

  // A share is told where it is another one than that before.
  function line(option, seat) {
    const item = make("li"), steps = option.continuation;
    let shown = "";
    const share = ({ share }) => {
      const text = percent(share), again = text === shown;
      shown = text;
      return again ? "" : text;
    };
    const first = item.appendChild(make("span", { className: "what" }));
    first.innerHTML = played(option.action).map((kind) => tile(kind, false)).join("");
    first.append(word(option.action));
    item.append(" ");
    if (served) item.append(attempt(option, seat), " ");
    for (let n = 0; n < steps.length; n++) {
      const step = steps[n], moves = steps.slice(n, n + 3).map((one) => one.move);
      if (String(moves) === String(ALL)) {
        chip(item, "", "", say("all pass"), share(steps[n += 2]));
        continue;
      }
      const pair = /^[x1-8][1-8]$/.test(step.move);
      const tiles = !pair ? "" : tile(step.move[0] === "x" ? null : step.move[0] - 1, false) + tile(step.move[1] - 1, false);
      chip(item, names[step.seat], tiles, name(step.move), share(step), step.ends);
    }
    return item;
  }

  return function show(one) {
    const box = find("lines"), [main, other] = box.querySelectorAll("ul"), more = box.querySelector("details");
    const options = one ? one.options.filter((option) => option.continuation.length) : [];
    box.hidden = !options.length;
    if (box.hidden) return;
    const is = (option) => option.action === one.action || option.action === one.best;
    const first = options.filter(is).sort((a) => (a.action === one.action ? -1 : 1));
    const rest = options.filter((option) => !is(option)).sort((a, b) => b.points - a.points);
    box.querySelector("p").textContent = say("The commonest next move, then the commonest after it, and so on, in hands that were possible for {who}. A percentage says in how many of them all it went so.", { who: names[one.seat] });
    main.replaceChildren(...first.map((option) => line(option, one.seat)));
    other.replaceChildren(...rest.map((option) => line(option, one.seat)));
    more.hidden = !rest.length;
  };
}
