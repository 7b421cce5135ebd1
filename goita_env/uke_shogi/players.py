"""Offers opponents for learners of Uke-Shogi: a random and a greedy player."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from goita_env.tiles import KING
from goita_env.uke_shogi.rules import PASS, POINTS
from goita_env.uke_shogi.view import UkeShogiView

Player = Callable[[UkeShogiView, np.random.Generator], int]
"""Takes a view of the acting seat and returns a legal action."""


def random_player(view: UkeShogiView, rng: np.random.Generator) -> int:
    """Returns a legal action, each with the same probability."""
    return int(rng.choice(view.legal_actions()))


def greedy_player(view: UkeShogiView, rng: np.random.Generator) -> int:  # noqa: ARG001  (a Player)
    """Returns the action of three rules; it never draws a random number.

    1. Match rather than pass, with the dearer tile where the rules make losers pay, else with the
       cheaper one: a king that matches everything is worth keeping.
    2. Lead the kind of which this hand holds the greatest share of the tiles still in hands,
       since the player of the last tile of a kind leads again. Where matching is a duty, a kind on
       which all other seats have passed is in no other hand.
    3. Among equals, lead the kind held most, then the dearest.
    """
    plays = [action - 1 for action in view.legal_actions() if action != PASS]
    if view.led is not None:
        plays.sort(key=lambda kind: (kind == KING) != view.rules.payment)
        return 1 + plays[0] if plays else PASS
    unseen = view.unseen()
    if view.rules.must_match:
        unseen = unseen * ~view.passed_on[1:].all(axis=0)

    def worth(kind: int) -> tuple[float, int, int]:
        count = int(view.hand[kind])
        return count / (count + int(unseen[kind])), count, POINTS[kind]

    return 1 + max(plays, key=worth)


PLAYERS: Final[dict[str, Player]] = {"random": random_player, "greedy": greedy_player}
"""The players by name."""
