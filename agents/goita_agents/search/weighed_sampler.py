"""Draws worlds as they were dealt and weighs them by how well a policy explains the play so far.

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
from goita_agents.models import TYPE_EPSILONS, OpponentModel, PolicyModel
from goita_agents.search.sampling import TypedWorlds
from goita_env import View
from goita_env.actions import CALL, PASS, SILENT
from goita_env.tiles import HAND_SIZE, MAX_DECISIONS, NUM_KINDS
from goita_env.views import Replay
from goita_env.worlds import Worlds, enumerate_worlds, sample

WEIGHED_PER_WORLD: Final = 16  #: Worlds that are weighed for each world that is searched.
LISTED_TILES: Final = 10  #: With at most so many unseen tiles all worlds are listed, if few enough.
ENOUGH_WORLDS: Final = 32  #: Effective number of worlds below which weights are levelled.
LEVELLING_POWERS: Final = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Powers of the weights that are tried in order until enough worlds count."""
HOPELESS_SHARE: Final = 1e-4
"""Worlds that fall below this share of the weight of their row's best world are given up."""

_FACTORIAL: Final = np.array([factorial(n) for n in range(HAND_SIZE + 1)], np.float64)


class WeighedSampler:
    """A sampler that draws worlds as dealt, and weighs them by how a policy explains the play.

    Args:
        policy: how the others play; None: worlds are not weighed.
    """

    def __init__(self, policy: Policy | None) -> None:
        self._models = (
            [] if policy is None else [PolicyModel(policy, epsilon=e) for e in TYPE_EPSILONS]
        )

    def sample(
        self, view: View, count: Int, rngs: Sequence[np.random.Generator]
    ) -> list[TypedWorlds]:
        """Returns at most ``count`` [R] worlds of each row, with their weights."""
        listed = view.unseen.sum(axis=1) <= LISTED_TILES
        sizes = count * (WEIGHED_PER_WORLD if self._models else 1)
        candidates = [
            _candidates(view[row : row + 1], int(sizes[row]), rng, listed=bool(listed[row]))
            for row, rng in enumerate(rngs)
        ]
        weights = [worlds.weight for worlds in candidates]
        if self._models:
            # The worlds of all rows are weighed together, and their weights split by row again.
            lengths = [len(worlds) for worlds in candidates]
            worlds, row = Worlds.join(candidates), np.repeat(np.arange(len(view)), lengths)
            weight = worlds.weight * _dealt_prior(worlds)
            weight *= likelihood(self._models, view, worlds, row)
            weights = [_levelled(part) for part in np.split(weight, np.cumsum(lengths)[:-1])]
        rows = zip(candidates, weights, count.tolist(), rngs, strict=True)
        return [_thin_out(worlds, weight, n, rng.random()) for worlds, weight, n, rng in rows]


def _candidates(view: View, count: int, rng: np.random.Generator, *, listed: bool) -> Worlds:
    """Returns all worlds of a row in random order if they are few, else ``count`` drawn worlds."""
    if listed and (worlds := enumerate_worlds(view, count)) is not None:
        return worlds[rng.permutation(len(worlds))]
    return sample(view, count, rng)


def _dealt_prior(worlds: Worlds) -> Float:
    """Returns the factor that turns a world's weight into the chance of its deal: float64 [n].

    The weights of worlds count the ways to put distinct tiles, as if it were known which of several
    equal tiles a seat has played. But a policy chooses kinds: a hand with more tiles of a played
    kind does not explain the play better.
    """
    in_hand, dealt = worlds.hands[:, 1:], worlds.dealt[:, 1:]
    return np.asarray((_FACTORIAL[in_hand] / _FACTORIAL[dealt]).prod(axis=(1, 2)))


def _levelled(weight: Float) -> Float:
    """Returns weights [m] raised to a power at most 1 that lets enough worlds count.

    How many count is measured by the effective sample size (sum squared over sum of squares).
    """
    for power in LEVELLING_POWERS:
        levelled: Float = weight**power * (weight > 0)
        if levelled.sum() ** 2 >= ENOUGH_WORLDS * (levelled**2).sum():
            break
    return levelled


def _thin_out(worlds: Worlds, weight: Float, count: int, uniform: float) -> TypedWorlds:
    """Returns at most ``count`` worlds with their weights [m], the heavy ones first.

    Where more are possible, they are resampled by a random number below 1, with equal weights.
    """
    index = np.flatnonzero(weight)
    if 0 < len(index) <= count:
        index = index[np.argsort(-weight[index], kind="stable")]
        return TypedWorlds.alike(replace(worlds[index], weight=weight[index]))
    index = systematic_sample(weight, count, uniform)
    return TypedWorlds.alike(replace(worlds[index], weight=np.full(count, 1 / count)))


def likelihood(models: Sequence[OpponentModel], view: View, worlds: Worlds, row: Int) -> Float:
    """Returns the probability of the other seats' past decisions in each world: float64 [n].

    The rounds are replayed in all worlds at once, so each seat sees at each decision what it would
    have seen there. Worlds that explain the decisions far worse than the best world of their row
    get 0.

    Args:
        models: those of the relative seats 1, 2 and 3.
        view: R positions.
        worlds: n worlds of them.
        row: int64 [n] each world's position.
    """
    past = _ConditionedReplay(view, worlds, row)
    replay = past.replay
    weight, likelihoods = np.ones(len(worlds)), np.zeros(len(worlds))  # [n], [n]
    while len(replay):
        games, seat = replay.game, replay.seat  # [m] Worlds that are still replayed, acting seats.
        reached = past.reached(seat)
        likelihoods[games[reached]] = weight[games[reached]]
        best, current = np.zeros(len(view)), weight[games]  # [R] by position, [m]
        np.maximum.at(best, row[games], current)
        hopeful = (current > 0) & (current >= HOPELESS_SHARE * best[row[games]])
        unfinished = hopeful & ~reached & (seat >= 0)
        past.keep(unfinished)
        seat = seat[unfinished]
        chosen = past.next_decisions(seat)
        chances = _decision_chances(models, replay, seat, chosen)
        weight[replay.game] *= chances
        # A world of weight 0 is dropped at the next decision, so its action doesn't matter: a pass
        # takes the place of one that may be illegal there.
        replay.step(np.where(chances > 0, chosen, PASS))
    return likelihoods


class _ConditionedReplay:
    """The rounds of R views, played again in n worlds; ``row``: [n] the view of each world.

    Attributes:
        replay: the m games still replayed, at their present moments, with the viewers at seat 0;
            ``replay.game`` holds the indices of their worlds.
    """

    def __init__(self, view: View, worlds: Worlds, row: Int) -> None:
        self.replay = Replay.of_deals(view.rules, worlds.dealt, view.dealer[row], view.scores[row])
        self._view, self._row, self._past = view, row, view.decisions()
        self._face_down = worlds.face_down.astype(np.int64)
        self._calls = np.where(view.called > 0, CALL, SILENT)
        self._time = np.zeros(len(worlds), np.int64)

    def keep(self, mask: Bool) -> None:
        """Keeps the games of a mask [m]."""
        if not mask.all():
            index = np.flatnonzero(mask)
            self.replay.select(index)
            self._time = self._time[index]

    def reached(self, seat: Int) -> Bool:
        """Returns which games have come to the moment of their view, by acting seats: bool [m]."""
        replay, view = self.replay, self._view
        reached: Bool = self._time == self._past.length[self._row[replay.game]]
        reached &= seat >= 0
        asking = replay.asking
        if len(asking):
            rows, choosing = self._row[replay.game[asking]], replay.asked_choice[asking]
            viewer_asked = np.where(choosing, view.asked_choice[rows], view.asked_call[rows])
            reached[asking] = viewer_asked & (seat[asking] == 0)
        return reached

    def next_decisions(self, seat: Int) -> Int:
        """Returns the acting seats' next actions of the past, and moves beyond them: int64 [m]."""
        replay, past = self.replay, self._past
        games, moment = replay.game, np.minimum(self._time, MAX_DECISIONS - 1)
        rows = self._row[games]
        # A hidden play is recorded with block 0; its block is the one that the world laid there.
        # For other decisions the second term is 0.
        block = self._face_down[games, seat, past.play[rows, moment]]
        decisions = past.action[rows, moment] + NUM_KINDS * block * past.hidden[rows, moment]
        self._time += 1
        asking = replay.asking
        if len(asking):
            rows, seats, choosing = rows[asking], seat[asking], replay.asked_choice[asking]
            decisions[asking] = np.where(
                choosing, self._view.choices[rows, seats], self._calls[rows, seats]
            )
            self._time[asking] -= 1  # the time counts plays and passes only
        return decisions


def _decision_chances(
    models: Sequence[OpponentModel], replay: Replay, seat: Int, chosen: Int
) -> Float:
    """Returns the probability of one decision in each of m games: [m], 0 where it is illegal."""
    choices = replay.choices()
    chances = choices.allow(chosen).astype(np.float64)
    free = (choices.num_legal > 1) & (chances > 0)
    for model_seat, model in enumerate(models, start=1):
        games = np.flatnonzero(free & (seat == model_seat))
        if len(games):
            # The model is asked once about equal views; ``distinct`` is each game's view in them.
            view, legal = replay.view()[games], choices.legal(games)
            first, distinct = view.unique()
            model_chances = model.probabilities(view[first], legal[first])
            chances[games] = model_chances[distinct, chosen[games]]
    return chances
