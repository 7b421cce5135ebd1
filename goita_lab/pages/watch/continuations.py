"""Follows how play may go on after an action: the commonest moves in the playouts of a search.

A line is no principal variation. Nobody in it knows the hidden hands, and nobody looks ahead: in
each sampled world the seats play on as in the search that valued the action, by their types and
the analysed agent. Of the next moves the commonest is taken, then the commonest of those that may
follow it, and so on. The moves are those that the mover would see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.search.action_values import world_keys
from goita_agents.search.playout import Playouts
from goita_agents.search.sampling import TypedWorlds, lay_out
from goita_env import View, actions
from goita_env.rounds import PendingDecisions
from goita_env.tiles import NONE, NUM_KINDS, NUM_SEATS
from goita_env.worlds import Worlds
from goita_lab.pages.watch.decisions import Step

MOST_CONTINUED: Final = 7
"""Actions of a decision that are followed, beside the best and the one that was played."""

LENGTH: Final = 8
"""Moves that are followed, at most."""

LEAST: Final = 0.1
"""A line ends before a move that less than this share of the worlds has."""

FOLLOWED: Final = 64
"""Most worlds of a type in which actions are followed. They lie evenly among the first quarter of
those of the search, in which it plays all actions."""

_HIDDEN: Final = actions.NUM_ACTIONS
"""Code of a play with a face-down block and the first kind of attack; the other kinds follow."""

MOVES: Final = (
    *map(actions.name, range(actions.NUM_ACTIONS)),
    *(f"x{kind + 1}" for kind in range(NUM_KINDS)),
)
"""Names of moves as a seat sees them; "x" is another seat's face-down block."""


def continuations(
    view: View,
    seat: int,
    playouts: Playouts,
    worlds: Sequence[TypedWorlds],
    share: Float,
    wanted: Sequence[int],
    seed: int,
) -> dict[int, tuple[Step, ...]]:
    """Returns the commonest moves after some actions.

    Args:
        view: of the mover: one row.
        seat: its number, 0 to 3.
        playouts: the playouts of the search.
        worlds: those of the search, by type.
        share: [T] probabilities of the types.
        wanted: the actions.
        seed: that of the search: the same games are played.
    """
    which = [_evenly(len(one)) for one in worlds]
    some = [one[index] for one, index in zip(worlds, which, strict=True)]
    seeds = np.array([seed], np.uint64)
    keys = np.concatenate([world_keys(seeds, int(index[-1]) + 1)[index] for index in which])
    weight = np.repeat(share / [len(one) for one in some], [len(one) for one in some])
    types = np.concatenate([one.players for one in some])
    many, number = len(weight), len(wanted)
    steps = playouts.steps(
        lay_out(view, Worlds.join([one.worlds for one in some])),
        np.tile(np.arange(many), number),
        np.repeat(wanted, many),
        np.tile(keys, number),
        np.zeros(many * number, np.int64),
        np.tile(types, number),
        log=True,
    )
    seen = _seen(steps, many * number, int(view.attacker[0])).reshape(number, many, LENGTH)
    return {
        action: _commonest(codes, weight / weight.sum(), seat)
        for action, codes in zip(wanted, seen, strict=True)
    }


def _evenly(worlds: int) -> Int:
    """Returns which of some worlds are followed, ascending."""
    quarter = max(1, worlds // 4)
    return np.arange(0, quarter, -(-quarter // FOLLOWED))


def _seen(steps: Iterator[PendingDecisions], games: int, attacker: int) -> Int:
    """Returns codes of the moves after the first that seat 0 sees: int64 [N, LENGTH].

    A code is ``2 * (4 * move + seat)``, one more where the move ends the deal; -1: there is none.
    ``attacker``: seat of the last attack, NONE before the first.
    """
    codes, length = np.full((games, LENGTH), -1), np.zeros(games, np.int64)
    last, over = np.full(games, attacker), np.zeros(games, bool)
    for time, decisions in enumerate(steps):
        assert decisions.made is not None
        some = ~over[decisions.made.rows]
        rows, seats, moves = (
            each[some]
            for each in (decisions.made.rows, decisions.made.seats, decisions.made.actions)
        )
        plays = (moves != actions.PASS) & (moves < actions.CALL)
        hidden = plays & (seats != 0) & ((last[rows] == seats) | (last[rows] == NONE))
        told = np.where(hidden, _HIDDEN + (moves - 1) % NUM_KINDS, moves)
        last[rows[plays]] = seats[plays]
        # Nobody learns that another seat was asked and kept silent.
        shown = (length[rows] < LENGTH) & ((moves != actions.SILENT) | (seats == 0)) & (time > 0)
        codes[rows[shown], length[rows[shown]]] = 2 * (NUM_SEATS * told + seats)[shown]
        length[rows[shown]] += 1
        for end in filter(None, (decisions.ended, decisions.redealt)):
            ended = end.rows[~over[end.rows]]
            known = ended[np.isin(ended, rows[shown])]
            codes[known, length[known] - 1] += 1
            over[ended] = True
        if (over | (length == LENGTH)).all():
            break
    return codes


def _commonest(codes: Int, weight: Float, viewer: int) -> tuple[Step, ...]:
    """Returns the commonest first move, the commonest that follows it, and so on.

    Args:
        codes: [W, LENGTH] of the moves in each world.
        weight: [W] of the worlds, with sum 1.
        viewer: number of the seat that codes call 0.
    """
    found: list[Step] = []
    alike = np.ones(len(codes), bool)
    for column in codes.T:
        each, which = np.unique(column[alike], return_inverse=True)
        shares = np.bincount(which, weight[alike])
        code, share = int(each[shares.argmax()]), float(shares.max())
        if code < 0 or (found and share < LEAST):
            break
        move, seat = divmod(code // 2, NUM_SEATS)
        found.append(Step((viewer + seat) % NUM_SEATS, MOVES[move], share, bool(code & 1)))
        alike &= column == code
    return tuple(found)
