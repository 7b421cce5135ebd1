#!/usr/bin/env python3
"""A Goita bot in plain Python, over the bot protocol (docs/protocol.md).

Play it:  goita evaluate --agents "exec:./bot_python.py" greedy      (in this folder)

It stores its own hand and the seat of the last attack. It passes on its partner's attacks.
Otherwise it plays the pair with the attack of which it holds most, so that it can repeat it.
If it may send a message, it says whether it holds a king.
"""

import json
import sys

POINTS = dict(zip("12345678", (10, 20, 20, 30, 30, 40, 40, 50), strict=True))


class Game:
    """One deal as this seat knows it."""

    def __init__(self, seat: int, hand: str) -> None:
        self.seat, self.hand = seat, list(hand)
        self.attacker: int | None = None

    def happens(self, event: dict) -> None:
        """Takes in a public event, such as a play, our own plays included."""
        if event["event"] != "play":
            return
        self.attacker = event["seat"]
        if event["seat"] == self.seat:
            self.hand.remove(event["block"])
            self.hand.remove(event["attack"])

    def decide(self, legal: list[str]) -> str:
        """Chooses one of the legal actions."""
        if "say1" in legal:
            return "say1" if "8" in self.hand else "say0"
        if "call" in legal:
            return "call"
        if "continue" in legal:
            return "continue" if "8" in self.hand else "redeal"
        pairs = [action for action in legal if action != "p"]
        partners = self.attacker is not None and (self.attacker - self.seat) % 4 == 2
        if not pairs or ("p" in legal and partners and len(self.hand) > 2):
            return "p"
        return max(pairs, key=self.worth)

    def worth(self, pair: str) -> tuple:
        """Returns the worth of a pair: many of the attack's kind, a cheap block, no king spent."""
        block, attack = pair[0], pair[1]
        if len(self.hand) == 2:
            return (POINTS[attack],)
        return self.hand.count(attack) - 5 * (attack == "8"), -POINTS[block], attack


def main() -> None:
    games = {}
    for line in sys.stdin:
        message = json.loads(line)
        kind, game = message["type"], message.get("game")
        answer = None
        if kind == "hello":
            answer = {"type": "hello", "protocol": 1, "name": "example in Python"}
        elif kind == "deal":
            games[game] = Game(message["seat"], message["hand"])
        elif kind == "event":
            games[game].happens(message)
        elif kind == "act":
            action = games[game].decide(message["legal"])
            answer = {"type": "act", "game": game, "action": action}
        elif kind == "end":
            games.pop(game, None)
        elif kind == "bye":
            break
        if answer:
            print(json.dumps(answer), flush=True)  # without flush the answer waits in a buffer


if __name__ == "__main__":
    main()
