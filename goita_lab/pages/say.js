"use strict";
// Returns a text in the language of the page: its table has the English texts as keys.
const say = (() => {
  const table = document.getElementById("texts").textContent, texts = table ? JSON.parse(table) : {};
  return (text, values = {}) => (texts[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
})();

// An action within a sentence, by the names of its two tiles.
const shortly = ([block, attack]) => say("{block}–{attack}", { block, attack });

// What a choice hangs on, in a sentence for each tile. best and rival are actions in words (shortly), who(seat) names a seat.
function hangsOn({ held, missing, probability, kind }, who, best, rival) {
  const lead = (points) => {
    if (Math.abs(points) < 0.5) return say("both are as good");
    return say("{action} is better by {n} points", { action: points > 0 ? best : rival, n: Math.abs(points).toFixed(0) });
  };
  const part = Math.round(10 * probability);
  const often = probability > 0.95 ? say("in nearly all hands that are possible") : probability < 0.05 ? say("in hardly any hand that is possible") : part === 5 ? say("in about half of the hands that are possible") : say("in about {n} of 10 hands that are possible", { n: Math.max(1, Math.min(9, part)) });
  return say("{who} has a {kind} {often}. If so, {held}; if not, {missing}.", { who, kind, often, held: lead(held), missing: lead(missing) });
}
