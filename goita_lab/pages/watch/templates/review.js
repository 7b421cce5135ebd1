
// What the server of a match adds: the rounds can be played again, and figures get better.
// moved: which move is made anew in the position that is shown.
function reviewing({ data, at, moved, find, make, tile, draw, dark, signed }) {
  // Milliseconds between questions whether a better analysis is there.
  const AGAIN = 1500;

  async function ask(path, body) {
    try {
      const look = `theme=${dark() ? "dark" : "light"}&faces=${find("faces").value}`;
      const answer = await fetch(`${path}?${look}`, { method: "POST", body: JSON.stringify(body) });
      return await answer.json();
    } catch {
      return { away: true, error: say("The server doesn't answer. Start it again with --resume.") };
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
    if (more && !busy()) {
      if (active < 0) history.replaceState(null, "", location.pathname); /* nobody has gone anywhere yet */
      location.reload();
    }
    else if (more && told.refined === told.rounds) {
      const link = make("a", { href: "", textContent: say("show it") });
      link.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
      find("refining").replaceChildren(say("Better figures are ready:"), " ", link);
    } else setTimeout(refine, AGAIN);
  }

  // A variation: moves that were not made, from a position of the page, with all hands open.
  let line = null, from = "";
  // Who has just pressed something is not interrupted.
  const CALM = 5000;
  let active = -CALM;
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => { active = performance.now(); });
  const busy = () => performance.now() < active + CALM || line !== null || !find("guessing").hidden || find("help").open;
  const here = () => `${at.deal}.${moved()}`;

  // At a recorded position the review's own figures stand.
  function recorded() {
    const one = data.analysis.deals[at.deal][moved()];
    const rank = (option) => (option.action === one.best ? 1e6 : option.points);
    return one?.options.length ? [...one.options].sort((a, b) => rank(b) - rank(a)) : null;
  }

  // The position is there at once, and then what its actions are worth.
  async function vary(actions) {
    const inside = !line || find("variation").contains(document.activeElement);
    from = here();
    line = actions;
    const told = await position(actions, false);
    if (!told) return;
    const own = actions.length ? null : recorded();
    if (own) {
      const by = new Map(told.options.map((option) => [option.code, option]));
      told.options = own.map((option) => ({ ...by.get(option.action), points: signed(option.points), error: option.error.toFixed(1) }));
    }
    write(told, actions, inside);
    if (own || told.options.length < 2) return;
    find("vary-asked").setAttribute("aria-busy", "true");
    const valued = await position(actions, true);
    find("vary-asked").removeAttribute("aria-busy");
    if (valued) write(valued, actions, find("vary-options").contains(document.activeElement));
  }

  // What the server answers, unless its reader has gone on meanwhile.
  async function position(actions, valued) {
    const told = await ask("variation", { deal: at.deal + 1, move: moved(), line: actions.map((one) => one.code), valued });
    if (line !== actions || from !== here()) return null;
    find("problem").textContent = told.error ?? "";
    return told.error ? null : told;
  }

  function write(told, actions, focus) {
    find("varied").innerHTML = told.svg;
    find("varied").setAttribute("aria-hidden", "true");
    find("said").textContent = say(actions.length ? "your variation, all hands open" : "your variation begins here, all hands open");
    find("words").replaceChildren(...told.words.map((sentence) => make("li", { textContent: sentence })));
    find("line").replaceChildren(...actions.map((one) => make("li", { textContent: `${data.names[one.seat]}${say(": ")}${one.name}${one.points ? say(", {n} points", { n: one.points }) : ""}` })));
    const counted = told.options.some((one) => one.points !== null), waits = told.options.length > 1 && !counted;
    const asked = { who: data.names[told.seat] };
    find("vary-asked").textContent = told.end || (waits ? say("{who}: to move. What each move is worth is being computed …", asked) : say("{who}: to move. Points are those of that team, by what the player could know:", asked));
    find("vary-options").replaceChildren(...told.options.map((one) => {
      const button = make("button", { type: "button" });
      button.innerHTML = (one.pair ?? []).map((kind) => tile(kind, false)).join("");
      button.append(one.name, one.points === null ? "" : make("b", { textContent: ` ${one.points}` }), one.error === null ? "" : make("small", { className: "research", textContent: ` ± ${one.error}` }));
      button.addEventListener("click", () => vary([...actions, { ...one, seat: told.seat }]));
      return button;
    }));
    shown(true);
    if (focus) (find("vary-options").querySelector("button") ?? find("variation").querySelector("[data-do=unvary]")).focus();
  }

  function shown(on) {
    find("variation").hidden = find("varied").hidden = !on;
    find("picture").toggleAttribute("hidden", on);
    if (on) find("guessing").hidden = true;
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
    try: ({ dataset }) => vary([{ code: dataset.code, seat: Number(dataset.seat), name: dataset.name, points: null }]),
    unvary: () => { if (line?.length) vary(line.slice(0, -1)); else leave(); },
    endvary: leave,
  };
  if (document.getElementById("refining").textContent) refine();
  return { show, does, keys: { t: again, x: does.vary, Escape: leave } };
}
