"use strict";
// Returns a text in the language of the page: its table has the English texts as keys.
const say = (() => {
  const table = document.getElementById("texts").textContent, texts = table ? JSON.parse(table) : {};
  return (text, values = {}) => (texts[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
})();

// An action within a sentence, by the names of its two tiles.
const shortly = ([block, attack]) => say("{block}–{attack}", { block, attack });

// A number of points, whose word is in the singular for one.
const pointsOf = (n) => say(n === "1" ? "{n} point" : "{n} points", { n });

// What a choice depends on, in a sentence for each tile. best and rival are actions in words (shortly), who names a player.
function dependsOn({ held, missing, probability, kind }, who, best, rival) {
  const lead = (points) => say("{action} is better by {points}", { action: points > 0 ? best : rival, points: pointsOf(Math.abs(points).toFixed(0)) });
  const part = Math.round(10 * probability);
  const often = probability > 0.95 ? say("in nearly all hands that are possible") : probability < 0.05 ? say("in hardly any hand that is possible") : part === 5 ? say("in about half of the hands that are possible") : say("in about {n} of 10 hands that are possible", { n: Math.max(1, Math.min(9, part)) });
  return say("{who} has a {kind} {often}. If so, {held}; if not, {missing}.", { who, kind, often, held: lead(held), missing: lead(missing) });
}
