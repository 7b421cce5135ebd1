
// How play may go on after each action: the commonest moves in the worlds of the search.
function continuing({ find, make, tile, told, word, played, percent }) {
  const ALL = ["p", "p", "p"], reviewed = document.querySelector("[data-review]");

  function name(move) {
    if (!/^x[1-8]$/.test(move)) return word(move);
    return `a face-down tile then ${told.kinds[Number(move[1]) - 1]}`;
  }

  function chip(line, who, tiles, text, share, ends) {
    const box = make("span", { className: "step" });
    box.append(make("b", { textContent: who }));
    box.insertAdjacentHTML("beforeend", tiles);
    box.append(make("span", { className: tiles ? "words" : "", textContent: ` ${text} ` }));
    if (ends) box.append(make("span", { textContent: " ends the deal " }));
    if (share) box.append(make("small", { textContent: share }));
    line.append(box, " ");
  }

  // The server of a match plays the action in the real deal.
  function attempt({ action }, seat) {
    const button = make("button", { type: "button", textContent: "try" });
    Object.assign(button.dataset, { do: "try", code: action, seat, name: word(action) });
    button.setAttribute("aria-label", `try ${word(action)}`);
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
    if (reviewed) item.append(attempt(option, seat), " ");
    for (let n = 0; n < steps.length; n++) {
      const step = steps[n], moves = steps.slice(n, n + 3).map((one) => one.move);
      if (String(moves) === String(ALL)) {
        chip(item, "", "", "all pass", share(steps[n += 2]));
        continue;
      }
      const pair = /^[x1-8][1-8]$/.test(step.move);
      const tiles = !pair ? "" : tile(step.move[0] === "x" ? null : step.move[0] - 1, false) + tile(step.move[1] - 1, false);
      chip(item, `seat ${step.seat}`, tiles, step.move === "p" ? "passes" : name(step.move), share(step), step.ends);
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
    box.querySelector("p").textContent = `The commonest next move, then the commonest after it, and so on, in hands that seat ${one.seat} could not rule out. A percentage says in how many of them all it went so.`;
    main.replaceChildren(...first.map((option) => line(option, one.seat)));
    other.replaceChildren(...rest.map((option) => line(option, one.seat)));
    more.hidden = !rest.length;
  };
}
