
// What the server of a match adds: the rounds can be played again, and figures get better.
function reviewing({ at, find, make }) {
  // Milliseconds between questions whether a better analysis is there.
  const AGAIN = 1500;

  async function ask(path, body) {
    try {
      const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
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

  if (document.querySelector("[data-review]").dataset.refines) refine();
  return { does: { again }, keys: { t: again } };
}
