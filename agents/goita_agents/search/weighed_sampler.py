"""Draws worlds as they were dealt and weighs them by how well a policy explains what was done.

All worlds are taken where they are few, else a uniform sample. A world's weight is the product,
over the decisions of the other seats, of the probability that the seat's model gives to the
decision in that world. Many more worlds are weighed than are searched, since most of them turn out
hopeless; where too few count, their weights are levelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import factorial
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int, Policy
from goita_agents.beliefs.deal_belief import systematic_sample
from goita_agents.models import EPSILONS, OpponentModel, PolicyModel
from goita_agents.search.sampling import TypedWorlds
from goita_env import View
from goita_env.actions import CALL, PASS, SILENT
from goita_env.tiles import HAND_SIZE, MAX_DECISIONS, NUM_KINDS
from goita_env.views import Replay
from goita_env.worlds import Worlds, enumerate_worlds, sample

WEIGHED: Final = 16  # Worlds that are weighed for each world that is searched.
LISTED: Final = 10  # Most unseen tiles with which it is tried to list all worlds.
ENOUGH: Final = 32  # Effective number of worlds below which weights are levelled.
POWERS: Final = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3)  # Powers of the weights that are tried for it.
HOPELESS: Final = 1e-4
"""Worlds that fall below this share of the weight of their row's best world are given up."""

_FACTORIAL: Final = np.array([factorial(n) for n in range(HAND_SIZE + 1)], np.float64)


class WeighedSampler:
    """A sampler that draws worlds as dealt, and weighs them by how a policy explains the play.

    Args:
        policy: how the others play; None: worlds are not weighed.
    """

    def __init__(self, policy: Policy | None) -> None:
        self._models = [] if policy is None else [PolicyModel(policy, epsilon=e) for e in EPSILONS]

    def sample(
        self, view: View, count: Int, rngs: Sequence[np.random.Generator]
    ) -> list[TypedWorlds]:
        listed = view.unseen.sum(axis=1) <= LISTED
        many = count * (WEIGHED if self._models else 1)
        found = [
            _candidates(view[row : row + 1], int(many[row]), rng, listed=bool(listed[row]))
            for row, rng in enumerate(rngs)
        ]
        weights = [worlds.weight for worlds in found]
        if self._models:
            number = [len(worlds) for worlds in found]
            worlds, row = Worlds.join(found), np.repeat(np.arange(len(view)), number)
            weight = worlds.weight * _dealt_prior(worlds)
            weight *= likelihood(self._models, view, worlds, row)
            weights = [_levelled(part) for part in np.split(weight, np.cumsum(number)[:-1])]
        return [
            _thin_out(worlds, weight, most, rng.random())
            for worlds, weight, most, rng in zip(found, weights, count.tolist(), rngs, strict=True)
        ]


def _candidates(view: View, number: int, rng: np.random.Generator, *, listed: bool) -> Worlds:
    """Returns all worlds of one row in a random order if they are few, else so many drawn ones."""
    if listed and (worlds := enumerate_worlds(view, number)) is not None:
        return worlds[rng.permutation(len(worlds))]
    return sample(view, number, rng)


def _dealt_prior(worlds: Worlds) -> Float:
    """Returns what drawn or listed worlds count before a policy is asked, beside their weight: [n].

    Worlds count each way to lay distinct tiles as one, as if which of two tiles alike was shown
    were known. A policy chooses kinds: a hand with more tiles of a kind isn't likelier for it.
    """
    held, dealt = worlds.hands[:, 1:], worlds.dealt[:, 1:]
    return np.asarray((_FACTORIAL[held] / _FACTORIAL[dealt]).prod(axis=(1, 2)))


def _levelled(weight: Float) -> Float:
    """Returns weights [m] raised to a power at most 1 that lets enough worlds count.

    How many count is measured by the effective sample size (sum squared over sum of squares).
    """
    for power in POWERS:
        flat: Float = weight**power * (weight > 0)
        if flat.sum() ** 2 >= ENOUGH * (flat**2).sum():
            break
    return flat


def _thin_out(worlds: Worlds, weight: Float, count: int, number: float) -> TypedWorlds:
    """Returns at most so many worlds with their weights [m], the heavy ones first.

    Where more are possible, they are resampled by a random number below 1.
    """
    index, kept = np.flatnonzero(weight), np.full(count, 1 / count)
    if 0 < len(index) <= count:
        index = index[np.argsort(-weight[index], kind="stable")]
        kept = weight[index]
    else:
        index = systematic_sample(weight, count, number)
    return TypedWorlds.alike(replace(worlds[index], weight=kept))


def likelihood(models: Sequence[OpponentModel], view: View, worlds: Worlds, row: Int) -> Float:
    """Returns the probability of what the other seats did in each world: float64 [n].

    The rounds are replayed in all worlds at once, so each seat sees at each decision what it would
    have seen there. Worlds that explain it far worse than the best one of their row get 0.
    ``models`` are those of the relative seats 1, 2 and 3; ``row`` [n] is each world's position.
    """
    past = _ConditionedReplay(view, worlds, row)
    replay = past.replay
    weight, found = np.ones(len(worlds)), np.zeros(len(worlds))
    while len(replay):
        games, seat = replay.game, replay.seat
        reached = past.reached(seat)
        found[games[reached]] = weight[games[reached]]
        best, here = np.zeros(len(view)), weight[games]
        np.maximum.at(best, row[games], here)
        hopeful = (here > 0) & (here >= HOPELESS * best[row[games]])
        kept = hopeful & ~reached & (seat >= 0)
        past.keep(kept)
        seat = seat[kept]
        chosen = past.decided(seat)
        explained = _explained(models, replay, seat, chosen)
        weight[replay.game] *= explained
        replay.step(np.where(explained > 0, chosen, PASS))
    return found


class _ConditionedReplay:
    """The rounds of R views, played again in n worlds; ``row``: [n] the view of each world.

    Attributes:
        replay: the m games that are left as far as they have been replayed, the viewers at seat 0;
            they are numbered as the worlds are.
    """

    def __init__(self, view: View, worlds: Worlds, row: Int) -> None:
        self.replay = Replay.of_deals(view.rules, worlds.dealt, view.dealer[row], view.scores[row])
        self._view, self._row, self._past = view, row, view.decisions()
        self._face_down = worlds.face_down.astype(np.int64)
        self._calls = np.where(view.called > 0, CALL, SILENT)
        self._time = np.zeros(len(worlds), np.int64)

    def keep(self, kept: Bool) -> None:
        """Keeps some games; ``kept``: bool [m]."""
        if not kept.all():
            index = np.flatnonzero(kept)
            self.replay.select(index)
            self._time = self._time[index]

    def reached(self, seat: Int) -> Bool:
        """Tells which games have come to the moment of their view: bool [m]; ``seat``: asked."""
        replay, view = self.replay, self._view
        reached: Bool = self._time == self._past.length[self._row[replay.game]]
        reached &= seat >= 0
        asking = replay.asking
        if len(asking):
            rows, choosing = self._row[replay.game[asking]], replay.asked_choice[asking]
            own = np.where(choosing, view.asked_choice[rows], view.asked_call[rows])
            reached[asking] = own & (seat[asking] == 0)
        return reached

    def decided(self, seat: Int) -> Int:
        """Returns what the acting seats decided, and goes on to the next decision: int64 [m]."""
        replay, past = self.replay, self._past
        games, moment = replay.game, np.minimum(self._time, MAX_DECISIONS - 1)
        rows = self._row[games]
        block = self._face_down[games, seat, past.play[rows, moment]]
        decided = past.action[rows, moment] + NUM_KINDS * block * past.hidden[rows, moment]
        self._time += 1
        asking = replay.asking
        if len(asking):
            rows, whose, choosing = rows[asking], seat[asking], replay.asked_choice[asking]
            decided[asking] = np.where(
                choosing, self._view.choices[rows, whose], self._calls[rows, whose]
            )
            self._time[asking] -= 1
        return decided


def _explained(models: Sequence[OpponentModel], replay: Replay, seat: Int, chosen: Int) -> Float:
    """Returns the probability of one decision in each of m games: [m], 0 where it is illegal."""
    choices = replay.choices()
    explained = choices.allow(chosen).astype(np.float64)
    free = (choices.number > 1) & (explained > 0)
    for number, model in enumerate(models, start=1):
        asked = np.flatnonzero(free & (seat == number))
        if len(asked):
            view, legal = replay.view()[asked], choices.legal(asked)
            first, which = view.unique()
            known = model.probabilities(view[first], legal[first])
            explained[asked] = known[which, chosen[asked]]
    return explained
