
// What the server of a match adds: the rounds can be played again, and figures get better.
function reviewing({ at, find, make, tile, draw, dark }) {
  // Milliseconds between questions whether a better analysis is there.
  const AGAIN = 1500;

  async function ask(path, body) {
    try {
      const look = `theme=${dark() ? "dark" : "light"}&faces=${find("faces").value}`;
      const answer = await fetch(`${path}?${look}`, { method: "POST", body: JSON.stringify(body) });
      return await answer.json();
    } catch {
      return { error: "The server doesn't answer. Start it again with --resume." };
    }
  }

  async function again() {
    const told = await ask("again", { deal: at.deal + 1, move: Math.max(1, at.move) });
    if (told.error) find("problem").textContent = told.error;
    else location.href = "./";
  }

  async function refine() {
    const told = await ask("analyse", {});
    const best = told.done && told.done.at(-1) === told.deals;
    if (!told.error && !best) { setTimeout(refine, AGAIN); return; }
    const link = make("a", { href: "", textContent: "show it" });
    link.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
    if (told.error) find("refining").textContent = "";
    else find("refining").replaceChildren(" A better analysis is ready: ", link, ".");
  }

  // A variation: moves that were not made, from a position of the page, with all hands open.
  let line = null, from = "";
  const here = () => `${at.deal}.${at.move}`;

  async function vary(actions) {
    if (!at.move) return;
    from = here();
    const told = await ask("variation", { deal: at.deal + 1, move: at.move, line: actions.map((one) => one.action) });
    if (told.error) { find("problem").textContent = told.error; return; }
    if (from !== here()) return;
    line = actions;
    find("problem").textContent = "";
    find("varied").innerHTML = told.svg;
    find("varied").setAttribute("aria-hidden", "true");
    find("said").textContent = actions.length ? "your variation" : "your variation begins here";
    find("words").replaceChildren(...told.words.map((sentence) => make("li", { textContent: sentence })));
    find("line").replaceChildren(...actions.map((one) => make("li", { textContent: `seat ${one.seat}: ${one.name}${one.points === null ? "" : `, ${one.points} points`}` })));
    find("vary-asked").textContent = told.end || `Seat ${told.seat} is to move. Points are those of its team, by what it could know:`;
    find("vary-options").replaceChildren(...told.options.map((one) => {
      const button = make("button", { type: "button" });
      button.innerHTML = (one.pair ?? []).map((kind) => tile(kind, false)).join("");
      button.append(one.name, one.points === null ? "" : make("b", { textContent: ` ${one.points}` }));
      button.addEventListener("click", () => vary([...actions, { ...one, seat: told.seat }]));
      return button;
    }));
    shown(true);
  }

  function shown(on) {
    find("variation").hidden = find("varied").hidden = !on;
    find("picture").toggleAttribute("hidden", on);
  }

  // Going to another position of the record leaves the variation.
  function show() {
    if (line && from !== here()) line = null;
    if (!line) shown(false);
  }

  const leave = () => { if (line) { line = null; draw(); } };
  const does = {
    again,
    vary: () => vary(line ?? []),
    unvary: () => { if (line?.length) vary(line.slice(0, -1)); else leave(); },
    endvary: leave,
  };
  if (document.querySelector("[data-review]").dataset.refines) refine();
  return { show, does, keys: { t: again, x: does.vary, Escape: leave } };
}
