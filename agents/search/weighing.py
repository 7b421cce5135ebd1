"""Weighs worlds by how well they explain what the other seats were seen to do.

A world's weight is the product, over the decisions of the other seats, of the probability with
which a policy would have decided so, had the world's tiles been dealt. The round is replayed in all
worlds at once, so each seat sees at each decision what it would have seen there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.base import Bool, Float, Int, Policy, only_action
from goita_env import View
from goita_env.actions import CALL, PASS, SILENT
from goita_env.engine import core
from goita_env.engine.deals import lay, prepare
from goita_env.engine.state import State, in_question
from goita_env.engine.tables import CHOOSE, RADIX, WAITING
from goita_env.seeds import mix
from goita_env.tiles import MAX_DECISIONS, NUM_KINDS, NUM_SEATS
from goita_env.views import NONE, asked_view, unpack_legal
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


class Replay:
    """Plays a round again as scripts say, in worlds that fall out one by one.

    Args:
        view: R positions.
        worlds: n worlds.
        row: [n] the position that each world belongs to.

    Attributes:
        state: m games as far as they have been replayed.
        games: [m] the world of each.
    """

    def __init__(self, view: View, worlds: Worlds, row: Int) -> None:
        self.state, self.games = _dealt(view[row], worlds), np.arange(len(worlds))
        self._script, self._row = Script.read(view), row
        self._hidden = np.zeros((len(worlds), _NOWHERE + 1), np.int64)
        self._hidden[:, :_NOWHERE] = worlds.face_down.reshape(-1, _NOWHERE)
        self._time = np.zeros(len(worlds), np.int64)

    def keep(self, kept: Bool) -> None:
        """Keeps some games; ``kept``: bool [m]."""
        if not kept.all():
            index = np.flatnonzero(kept)
            self.state = self.state.select(index)
            self.games, self._time = self.games[index], self._time[index]

    def over(self) -> Bool:
        """Tells which games have come to the moment of their view: bool [m]."""
        script, rows, status = self._script, self._row[self.games], self.state.status
        own = np.where(status == CHOOSE, script.own_choice[rows], script.own_call[rows])
        own &= self.state.seat == 0
        reached: Bool = np.where(in_question(status), own, self._time == script.length[rows])
        return reached & (status < WAITING)

    def decided(self) -> Int:
        """Returns what the asked seats decided, and goes on to the next decision: int64 [m]."""
        script, rows, status = self._script, self._row[self.games], self.state.status
        moment = np.minimum(self._time, MAX_DECISIONS - 1)
        played = script.plays[rows, moment]
        played += NUM_KINDS * self._hidden[self.games, script.hidden[rows, moment]]
        seat, asking = self.state.seat, in_question(status)
        answers = np.where(status == CHOOSE, script.choices[rows, seat], script.calls[rows, seat])
        self._time += ~asking
        return np.where(asking, answers, played)


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
    replay = Replay(view, worlds, row)
    weight, found = np.ones(len(worlds)), np.zeros(len(worlds))
    while len(replay.games):
        over, games = replay.over(), replay.games
        found[games[over]] = weight[games[over]]
        best, here = np.zeros(len(view)), weight[games]
        np.maximum.at(best, row[games], here)
        hopeful = (here > 0) & (here >= HOPELESS * best[row[games]])
        replay.keep(hopeful & ~over & (replay.state.status < WAITING))
        chosen = replay.decided()
        explained = _explained(policy, replay.state, chosen, trust)
        weight[replay.games] *= explained
        core.step(replay.state, np.where(explained > 0, chosen, PASS))
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


def alike(view: View) -> tuple[Int, Int]:
    """Returns one row of each kind of view, and of which kind each row is: int64 [m] and [N].

    A seat sees the same in many worlds, and a policy needs to be asked only once.
    """
    mixed = view.words[:, 0].copy()
    for word in range(1, view.words.shape[1]):
        mixed = mix(mixed)
        mixed ^= view.words[:, word]
    _, first, which = np.unique(mix(mixed), return_index=True, return_inverse=True)
    return first, which


def _dealt(view: View, worlds: Worlds) -> State:
    """Returns the games of n worlds as they were dealt, the viewer at seat 0; ``view``: [n]."""
    state = State.empty(len(view), view.rules)
    codes = worlds.dealt.astype(np.int64) @ np.array(RADIX)
    scores = view.scores.T.astype(np.int64)
    dealt = prepare(view.rules, codes, view.dealer.astype(np.int64), scores)
    lay(state, np.arange(len(view)), dealt)
    return state


def _explained(policy: Policy, state: State, chosen: Int, trust: Float) -> Float:
    """Returns the probability of one decision in each game: float64 [m], 0 where it is illegal."""
    low, high = core.legal_actions(state)
    number, seat = only_action(low, high)[1], state.seat
    word, place = np.where(chosen < 64, low, high), (chosen & 63).astype(np.uint64)
    explained = (word >> place & np.uint64(1)).astype(np.float64)
    asked = np.flatnonzero((number > 1) & (seat != 0) & (explained > 0))
    if len(asked):
        view, legal = asked_view(state)[asked], unpack_legal(low[asked], high[asked])
        first, which = alike(view)
        known = policy.probabilities(view[first], legal[first])
        likely = known[which, chosen[asked]]
        believed = trust[seat[asked]]
        explained[asked] = believed * likely + (1 - believed) / number[asked]
    return explained
