"""Tells whether views are possible: whether a deal can show an acting seat exactly this.

Each view is held against a replay of a deal that it allows.
"""

from __future__ import annotations

import numpy as np

from goita_agents.base import Bool, Int
from goita_env.actions import CALL, SILENT
from goita_env.errors import GoitaError
from goita_env.tiles import FACE_DOWN, NONE, NUM_KINDS, NUM_SEATS
from goita_env.views import Replay, View
from goita_env.worlds import Worlds, sample


def are_possible(view: View, legal: Bool) -> bool:
    """Tells whether acting seats may see these N positions, with these legal actions [N, 69].

    Each row's hidden tiles are dealt in a way that it allows, and its round is replayed with them.
    """
    if not _adds_up(view).all() or not np.array_equal(view.legal(), legal):
        return False
    try:
        worlds = sample(view, 1, np.random.default_rng(0))
    except GoitaError:  # no deal fits
        return False
    return _shows_the_same(view, worlds)


def _adds_up(view: View) -> Bool:
    """Tells in which rows plays are whole and tiles as many as places for them: bool [N]."""
    seat, down = view.event_seat, view.event_face_down & (view.event_seat != 0)
    played = np.stack([np.count_nonzero(seat == one, axis=1) for one in range(NUM_SEATS)], axis=1)
    found = (view.dealer != NONE) & (view.hand_sizes >= 0).all(axis=1)
    found &= (np.count_nonzero(view.attacks != NONE, axis=2) == played).all(axis=1)
    found &= ((view.event_attack == NONE) == (seat == NONE)).all(axis=1)
    found &= ((view.event_block == NONE) == (seat == NONE)).all(axis=1)
    found &= ((view.event_block == FACE_DOWN) == down).all(axis=1)
    hidden = view.hand_sizes[:, 1:].sum(axis=1) + np.count_nonzero(down, axis=1)
    found &= view.hand.sum(axis=1) == view.hand_sizes[:, 0]
    return np.asarray(found & (view.unseen.sum(axis=1) == hidden))


def _shows_the_same(view: View, worlds: Worlds) -> bool:
    """Replays each row with its world; tells whether the viewer sees the row's very bits."""
    replay = Replay.of_deals(view.rules, worlds.dealt, view.dealer, view.scores)
    actions, length = _actions(view, worlds)
    made = np.zeros(len(view), np.int64)
    while True:
        row, seat = replay.game, replay.seat
        asking = np.isin(np.arange(len(replay)), replay.asking)
        choice = asking & replay.asked_choice
        asked = np.where(choice, view.asked_choice[row], view.asked_call[row]) & (seat == 0)
        there = np.where(asking, asked, made[row] == length[row])
        if (there & (seat != 0)).any():
            return False
        if there.any():
            seen = np.flatnonzero(there)
            if not np.array_equal(replay.view(0).words[seen], view.words[row[seen]]):
                return False
            replay.select(np.flatnonzero(~there))
            if not len(replay):
                return True
            continue
        call = np.where(view.called[row, seat] > 0, CALL, SILENT)
        answer = np.where(choice, view.choices[row, seat], call)
        action = np.where(asking, answer, actions[row, made[row]])
        if (seat < 0).any() or not replay.choices().allow(action).all():
            return False
        made[row] += ~asking
        replay.step(action)


def _actions(view: View, worlds: Worlds) -> tuple[Int, Int]:
    """Returns plays and passes [N, 46], face-down blocks as in the worlds, and how many [N]."""
    decided = view.decisions()
    actions = decided.action.astype(np.int64)
    row, time = np.nonzero(decided.hidden)
    seat, play = decided.seat[row, time], decided.play[row, time]
    actions[row, time] += NUM_KINDS * worlds.face_down[row, seat, play]
    return actions, decided.length.astype(np.int64)
