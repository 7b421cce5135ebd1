#!/usr/bin/env node
// A Goita bot in plain JavaScript, over the bot protocol (docs/protocol.md).
//
// Play it:  goita evaluate --agents "exec:./bot_node.js" greedy      (in this folder)
//
// It counts what it has not seen: its own hand, and all that lies face up, is out. It attacks with
// the kind that the others can receive least, and leaves its partner's attacks alone.
"use strict";

const readline = require("node:readline");

const COUNTS = { 1: 10, 2: 4, 3: 4, 4: 4, 5: 4, 6: 2, 7: 2, 8: 2 };
const POINTS = { 1: 10, 2: 20, 3: 20, 4: 30, 5: 30, 6: 40, 7: 40, 8: 50 };

const games = new Map();

function deal({ game, seat, hand }) {
  const unseen = { ...COUNTS };
  for (const tile of hand) unseen[tile] -= 1;
  games.set(game, { seat, tiles: 8, unseen, attacker: null });
}

function happens(table, { event, seat, block, attack }) {
  if (event !== "play") return;
  table.attacker = seat;
  if (seat === table.seat) {
    table.tiles -= 2; // our own tiles were never unseen
    return;
  }
  table.unseen[attack] -= 1;
  if (block !== "x") table.unseen[block] -= 1;
}

function worth(table, [block, attack]) {
  if (table.tiles === 2) return POINTS[attack];
  const kings = attack < "3" ? 0 : table.unseen[8]; // kings receive neither pawn nor lance
  return -10 * (table.unseen[attack] + kings) - POINTS[block] / 10 - (attack === "8" ? 100 : 0);
}

function decide(table, legal) {
  if (legal.includes("call")) return "call";
  if (legal.includes("redeal")) return "redeal";
  const pairs = legal.filter((action) => action !== "p");
  const partners = table.attacker === (table.seat + 2) % 4;
  if (pairs.length === 0 || (legal.includes("p") && partners && table.tiles > 2)) return "p";
  return pairs.reduce((a, b) => (worth(table, b) > worth(table, a) ? b : a));
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  const table = games.get(message.game);
  switch (message.type) {
    case "hello":
      say({ type: "hello", protocol: 1, name: "example in JavaScript" });
      break;
    case "deal":
      deal(message);
      break;
    case "event":
      happens(table, message);
      break;
    case "act":
      say({ type: "act", game: message.game, action: decide(table, message.legal) });
      break;
    case "end":
      games.delete(message.game);
      break;
    case "bye":
      process.exit(0);
  }
});
