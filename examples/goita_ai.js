// Puts the engine of GOITA_AI (github.com/asdicsonar-jpg/GOITA_AI) behind the bot protocol.
//
// Play it:  GOITA_AI=FOLDER goita evaluate --one champion --deals 300 --seed 6103 \
//               --agents "goita-ai=exec:[ms=20000,start_ms=20000]node examples/goita_ai.js strong"
//
// The engine is not here. It is two objects in the page of that project: `G`, the game with its
// policy, and what `G` calls. Copy both into FOLDER/G.js and end it with `module.exports = G;`. It
// never sees a hidden tile: "?" stands for each.
"use strict";

const path = require("node:path");
const readline = require("node:readline");

const G = require(path.resolve(process.env.GOITA_AI, "G.js"));
const TILES = { 1: "し", 2: "香", 3: "馬", 4: "銀", 5: "金", 6: "角", 7: "飛", 8: "王", x: "?" };
const DIGITS = Object.fromEntries(Object.entries(TILES).map(([digit, tile]) => [tile, digit]));
const SEATS = ["N", "W", "S", "E"];
const STRONG = {
  mc: true,
  mcDets: 96,
  attackMC: true,
  matchEq: true,
  dd: true,
  ddLimit: 16,
  ddDets: 16,
  wSample: true,
  danger: true,
};

const games = new Map();
let rounds = 0;
G.setOuSignal(true);

function options(round) {
  const base = { mc: false, solver: true, mcDets: 24, mcSeed: round };
  return process.argv[2] === "strong" ? { ...base, ...STRONG } : base;
}

function deal({ game, seat, hand, dealer, scores }) {
  const hands = {};
  SEATS.forEach((name, i) => {
    hands[name] = i === seat ? [...hand].map((digit) => TILES[digit]) : Array(8).fill("?");
  });
  const state = G.newGameState(hands, SEATS[dealer]);
  state.matchScores = { NS: scores[0], EW: scores[1] };
  rounds += 1;
  games.set(game, { state, seat: SEATS[seat], round: rounds });
}

// Plays a tile; one that nobody had seen takes the place of a "?".
function play(state, type, tile) {
  const hand = state.hands[state.actor];
  if (!hand.includes(tile)) hand[hand.indexOf("?")] = tile;
  G.advance(state, { type, koma: tile });
}

function event({ game, event, block, attack, face_down: faceDown }) {
  const { state } = games.get(game);
  if (event === "pass") G.advance(state, { type: "pass" });
  if (event !== "play") return;
  play(state, faceDown ? "bury" : "receive", TILES[block]);
  play(state, "attack", TILES[attack]);
}

function choose({ game, legal }) {
  if (legal.includes("call")) return "call";
  if (legal.includes("redeal")) return "redeal";
  const { state, seat, round } = games.get(game);
  const now = structuredClone(state);
  const first = G.policyAction(now, seat, options(round));
  if (first.type === "pass") return "p";
  G.advance(now, first);
  return DIGITS[first.koma] + DIGITS[G.policyAction(now, seat, options(round)).koma];
}

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") send({ type: "hello", protocol: 1, name: "GOITA_AI" });
  if (message.type === "deal") deal(message);
  if (message.type === "event") event(message);
  if (message.type === "act") {
    send({ type: "act", game: message.game, action: choose(message) });
  }
  if (message.type === "end") games.delete(message.game);
  if (message.type === "bye") process.exit(0);
});
