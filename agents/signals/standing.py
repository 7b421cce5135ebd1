"""Rebuilds from a play where the tiles lay at its decisions, so that games can be played on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Int
from agents.signals.playing import Play
from goita_env.actions import CALL, PASS
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import NONE
from goita_env.worlds import Positions, Worlds, determinize

Int8 = npt.NDArray[np.int8]


def true_worlds(play: Play, index: Int) -> Worlds:
    """Returns where the hidden tiles really lay at some decisions, relative to who decided.

    Args:
        play: the play.
        index: [n] decisions of it.
    """
    hands, face_down, up = _tiles(play)
    relative = (play.seat[index][:, None].astype(np.int64) + np.arange(NUM_SEATS)) % NUM_SEATS
    rows = index[:, None]
    return Worlds(
        hands[rows, relative],
        face_down[rows, relative],
        np.ones(len(index)),
        up[rows, relative],
    )


def positions(play: Play, index: Int) -> Positions:
    """Returns where the games stood at some decisions, who decided at seat 0; ``index``: [n]."""
    return determinize(play.view(index), true_worlds(play, index))


def _tiles(play: Play) -> tuple[Int8, Int8, Int8]:
    """Returns what each seat held, had face down and face up before each decision, by seat.

    Returns:
        hands [D, 4, 8], face_down [D, 4, 4] kinds by play, face_up [D, 4, 8].
    """
    many = len(play.deal)
    hands, up = np.empty((2, many, NUM_SEATS, NUM_KINDS), np.int8)
    face_down = np.empty((many, NUM_SEATS, NUM_SEATS), np.int8)
    starts = play.starts
    deals = np.flatnonzero(np.diff(starts))
    held = play.hands.copy()
    shown = np.zeros_like(held)
    down = np.full((len(held), NUM_SEATS, NUM_SEATS), NONE, np.int8)
    made = np.zeros((len(held), NUM_SEATS), np.int64)
    attacker = np.full(len(held), NONE)
    time = 0
    while len(deals):
        rows = starts[deals] + time
        hands[rows], up[rows], face_down[rows] = held[deals], shown[deals], down[deals]
        action, seat = play.action[rows].astype(np.int64), play.seat[rows].astype(np.int64)
        plays = (action > PASS) & (action < CALL)
        d, s = deals[plays], seat[plays]
        block, attack = np.divmod(action[plays] - 1, NUM_KINDS)
        held[d, s, block] -= 1
        held[d, s, attack] -= 1
        shown[d, s, attack] += 1
        hidden = (attacker[d] == NONE) | (attacker[d] == s)
        shown[d[~hidden], s[~hidden], block[~hidden]] += 1
        down[d[hidden], s[hidden], made[d[hidden], s[hidden]]] = block[hidden]
        made[d, s] += 1
        attacker[d] = s
        time += 1
        deals = deals[starts[deals] + time < starts[deals + 1]]
    return hands, face_down, up
