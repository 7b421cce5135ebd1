"""Weighs worlds by how well they explain what the other seats were seen to do.

A world's weight is the product, over the decisions of the other seats, of the probability with
which a policy would have decided so, had the world's tiles been dealt. The round is replayed in all
worlds at once, so each seat sees at each decision what it would have seen there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.base import Bool, Float, Int, Policy
from goita_env import View
from goita_env.actions import CALL, PASS, SILENT
from goita_env.tiles import MAX_DECISIONS, NUM_KINDS, NUM_SEATS
from goita_env.views import NONE, Replay
from goita_env.worlds import Worlds

HOPELESS: Final = 1e-4
"""Worlds that fall below this share of the weight of their row's best world are given up."""

_NOWHERE: Final = 4 * NUM_SEATS
_SEATS: Final = np.arange(NUM_SEATS)


@dataclass(frozen=True)
class Script:
    """Tells what has been decided in R rows; seats are relative to the viewers."""

    plays: Int
    """[R, 46] Action of each play-or-pass decision, with 0 for a block that is hidden."""
    hidden: Int
    """[R, 46] Where ``Worlds.face_down`` has that block (4 * seat + play), 16 if not hidden."""
    length: Int
    """[R] How many there were."""
    calls: Int
    """[R, 4] Each seat's answer, should it have been asked whether it calls."""
    choices: Int
    """[R, 4] Each seat's answer as a caller's partner."""
    own_call: Bool
    """[R] The viewer is asked whether it calls."""
    own_choice: Bool
    """[R] The viewer is asked to choose."""

    @classmethod
    def read(cls, view: View) -> Script:
        """Reads what has been decided from a view of R rows."""
        decided = view.decisions()
        seat, rows = np.maximum(view.event_seat, 0), np.arange(len(view))[:, None]
        count = (seat[:, :, None] == _SEATS).cumsum(axis=1)
        number = np.take_along_axis(count, seat[:, :, None].astype(np.int64), axis=2)[:, :, 0] - 1
        block = np.where(view.event_face_down, 0, view.event_block)
        pairs = 1 + NUM_KINDS * block.astype(np.int64) + view.event_attack
        places = np.where(view.event_face_down, 4 * seat + number, _NOWHERE)
        event = np.maximum(decided.event, 0)
        return cls(
            np.where(decided.event == NONE, 0, pairs[rows, event]),
            np.where(decided.event == NONE, _NOWHERE, places[rows, event]),
            decided.length.astype(np.int64),
            np.where(view.called > 0, CALL, SILENT),
            view.choices.astype(np.int64),
            view.asked_call,
            view.asked_choice,
        )


class Retelling:
    """Plays a round again as scripts say, in worlds that fall out one by one.

    Args:
        view: R positions.
        worlds: n worlds.
        row: [n] the position that each world belongs to.

    Attributes:
        replay: m games as far as they have been replayed, the viewers at seat 0; they are numbered
            as the worlds are.
    """

    def __init__(self, view: View, worlds: Worlds, row: Int) -> None:
        self.replay = Replay.of_deals(view.rules, worlds.dealt, view.dealer[row], view.scores[row])
        self._script, self._row = Script.read(view), row
        self._hidden = np.zeros((len(worlds), _NOWHERE + 1), np.int64)
        self._hidden[:, :_NOWHERE] = worlds.face_down.reshape(-1, _NOWHERE)
        self._time = np.zeros(len(worlds), np.int64)

    def keep(self, kept: Bool) -> None:
        """Keeps some games; ``kept``: bool [m]."""
        if not kept.all():
            index = np.flatnonzero(kept)
            self.replay.select(index)
            self._time = self._time[index]

    def over(self, seat: Int) -> Bool:
        """Tells which games have come to the moment of their view: bool [m].

        Args:
            seat: [m] who is asked.
        """
        replay, script = self.replay, self._script
        reached: Bool = self._time == script.length[self._row[replay.game]]
        reached &= seat >= 0
        asking = replay.asking
        if len(asking):
            rows, choosing = self._row[replay.game[asking]], replay.asked_choice[asking]
            own = np.where(choosing, script.own_choice[rows], script.own_call[rows])
            reached[asking] = own & (seat[asking] == 0)
        return reached

    def decided(self, seat: Int) -> Int:
        """Returns what the asked seats decided, and goes on to the next decision: int64 [m].

        Args:
            seat: [m] who is asked.
        """
        replay, script = self.replay, self._script
        games, moment = replay.game, np.minimum(self._time, MAX_DECISIONS - 1)
        rows = self._row[games]
        decided = script.plays[rows, moment]
        decided += NUM_KINDS * self._hidden[games, script.hidden[rows, moment]]
        self._time += 1
        asking = replay.asking
        if len(asking):
            rows, whose, choosing = rows[asking], seat[asking], replay.asked_choice[asking]
            decided[asking] = np.where(
                choosing, script.choices[rows, whose], script.calls[rows, whose]
            )
            self._time[asking] -= 1
        return decided


def likelihood(policy: Policy, view: View, worlds: Worlds, row: Int, trust: Float) -> Float:
    """Returns the probability of what the other seats did, as a policy sees it: float64 [n].

    Worlds that explain it far worse than the best one of their row get 0.

    Args:
        policy: how the others are supposed to play.
        view: R positions.
        worlds: n worlds.
        row: [n] the position that each world belongs to.
        trust: [4] by relative seat, from 0 to 1: how far the policy is believed. The rest of the
            probability is spread evenly over what was legal.
    """
    told = Retelling(view, worlds, row)
    replay = told.replay
    weight, found = np.ones(len(worlds)), np.zeros(len(worlds))
    while len(replay):
        games, seat = replay.game, replay.seat
        over = told.over(seat)
        found[games[over]] = weight[games[over]]
        best, here = np.zeros(len(view)), weight[games]
        np.maximum.at(best, row[games], here)
        hopeful = (here > 0) & (here >= HOPELESS * best[row[games]])
        kept = hopeful & ~over & (seat >= 0)
        told.keep(kept)
        seat = seat[kept]
        chosen = told.decided(seat)
        explained = _explained(policy, replay, seat, chosen, trust)
        weight[replay.game] *= explained
        replay.step(np.where(explained > 0, chosen, PASS))
    return found


def resample(weight: Float, count: int, number: float) -> Int:
    """Draws worlds with probabilities in proportion to their weights: int64 [count].

    Systematic resampling: one random number for all. Each quarter of the answer is a systematic
    sample by itself.

    Args:
        weight: [n] at least 0; all of them 0 counts as all alike.
        count: how many are drawn.
        number: from 0 to below 1.
    """
    summed = (weight if weight.any() else np.ones(len(weight))).cumsum()
    places = (np.arange(count) + number) / count * summed[-1]
    drawn: Int = np.minimum(summed.searchsorted(places, side="right"), len(weight) - 1)
    return drawn[np.argsort(np.arange(count) % 4, kind="stable")]


def _explained(policy: Policy, replay: Replay, seat: Int, chosen: Int, trust: Float) -> Float:
    """Returns the probability of one decision in each game: float64 [m], 0 where it is illegal.

    Args:
        policy: how the others are supposed to play.
        replay: m games.
        seat: [m] who is asked.
        chosen: [m] the decisions.
        trust: [4] how far the policy is believed, by seat.
    """
    choices = replay.choices()
    explained = choices.allow(chosen).astype(np.float64)
    asked = np.flatnonzero((choices.number > 1) & (seat != 0) & (explained > 0))
    if len(asked):
        view, legal = replay.view()[asked], choices.legal(asked)
        first, which = view.unique()
        known = policy.probabilities(view[first], legal[first])
        likely = known[which, chosen[asked]]
        believed = trust[seat[asked]]
        explained[asked] = believed * likely + (1 - believed) / choices.number[asked]
    return explained
