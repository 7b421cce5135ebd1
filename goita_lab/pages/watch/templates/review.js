
// What the server of a match adds: the rounds can be played again, and figures get better.
// moved: which move is made anew in the position that is shown.
function reviewing({ at, moved, find, make, tile, draw, dark }) {
  // Milliseconds between questions whether a better analysis is there.
  const AGAIN = 1500;

  async function ask(path, body) {
    try {
      const look = `theme=${dark() ? "dark" : "light"}&faces=${find("faces").value}`;
      const answer = await fetch(`${path}?${look}`, { method: "POST", body: JSON.stringify(body) });
      return await answer.json();
    } catch {
      return { away: true, error: "The server doesn't answer. Start it again with --resume." };
    }
  }

  async function again() {
    const told = await ask("again", { deal: at.deal + 1, move: moved() });
    if (told.error) find("problem").textContent = told.error;
    else location.href = "./";
  }

  // The page is loaded anew when more rounds are analysed, unless its reader is trying moves.
  const { ready, refined } = document.querySelector("[data-review]").dataset;
  async function refine() {
    const told = await ask("analyse", {});
    if (told.error && !told.away) { find("refining").textContent = told.error; return; }
    const more = !told.away && (told.ready.length > ready || told.refined > refined);
    if (more && told.ready.length > ready && !busy()) location.reload();
    else if (more && told.refined === told.rounds) {
      const link = make("a", { href: "", textContent: "show it" });
      link.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
      find("refining").replaceChildren("A better analysis is ready: ", link, ".");
    } else setTimeout(refine, AGAIN);
  }

  // A variation: moves that were not made, from a position of the page, with all hands open.
  let line = null, from = "";
  const busy = () => line !== null || !find("guessing").hidden || find("help").open;
  const here = () => `${at.deal}.${moved()}`;

  async function vary(actions) {
    const inside = !line || find("variation").contains(document.activeElement);
    from = here();
    const told = await ask("variation", { deal: at.deal + 1, move: moved(), line: actions.map((one) => one.code) });
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
    if (inside) (find("vary-options").querySelector("button") ?? find("variation").querySelector("[data-do=unvary]")).focus();
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

  function leave() {
    if (!line) return;
    const inside = find("variation").contains(document.activeElement);
    line = null;
    draw();
    if (inside) document.querySelector("[data-do=vary]").focus();
  }

  const does = {
    again,
    vary: () => vary(line ?? []),
    try: ({ dataset }) => vary([{ code: dataset.code, seat: dataset.seat, name: dataset.name, points: null }]),
    unvary: () => { if (line?.length) vary(line.slice(0, -1)); else leave(); },
    endvary: leave,
  };
  // Where the page opens: at the costliest move, else at the last deal.
  const first = () => document.querySelector("[data-review] a[href^='#']")?.hash ?? `#${find("deal").options.length}.0`;

  if (document.getElementById("refining").textContent) refine();
  return { show, first, does, keys: { t: again, x: does.vary, Escape: leave } };
}
