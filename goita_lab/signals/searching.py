"""Searches by an exact belief whose sources of information are chosen seat by seat.

The search is that of ``goita_agents.search``. It draws worlds from a belief, which for each other
seat uses either a model of the seat's actions or the hand that the seat was dealt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int, Policy
from goita_agents.beliefs import DealBelief, Listener, OpponentModel
from goita_agents.beliefs.summing import PerSeat, sum_by_hand
from goita_agents.beliefs.unheard_messages import product_of
from goita_agents.search.action_values import SEARCH_BUDGET, evaluate_actions
from goita_agents.search.playout import Keys, PlayoutPolicy
from goita_agents.search.sampling import TypedWorlds, sample_worlds
from goita_env import View
from goita_env.errors import SettingError
from goita_env.rounds import PendingDecisions, Rounds
from goita_env.seeds import deal_keys
from goita_lab.signals.listening import UNIFORM, cached_model

SHOWN: Final = "shown"
"""In place of a model's name: the listener knows the hand that the seat was dealt."""
SEARCHED_POSITIONS: Final = 64
"""Positions that are searched at once."""


@dataclass(frozen=True)
class InformationSources:
    """The model of each other seat's actions, or ``SHOWN``."""

    next: str = UNIFORM
    partner: str = UNIFORM
    previous: str = UNIFORM
    deaf_opponents: bool = field(default=False, kw_only=True)
    """The opponents search as well, and model all others as uniformly random players; otherwise
    the opponents play the policy."""

    @property
    def names(self) -> tuple[str, str, str]:
        return self.next, self.partner, self.previous


class BeliefCache:
    """One seat's listeners in several games of one deal; games with the same view share them."""

    def __init__(self, models: Mapping[str, OpponentModel]) -> None:
        self._models = {name: cached_model(model) for name, model in models.items()}
        self._listeners: dict[bytes, dict[str, Listener]] = {}  # by view, then by model

    def beliefs(
        self, views: Sequence[View], names: Sequence[set[str]]
    ) -> list[dict[str, DealBelief]]:
        """Returns each game's beliefs under the models ``names``; each view has one row."""
        keys = [view.words.tobytes() for view in views]
        names_by_key: dict[bytes, set[str]] = {}
        for key, game_names in zip(keys, names, strict=True):
            names_by_key.setdefault(key, set()).update(game_names)
        earlier, self._listeners, beliefs = list(self._listeners.values()), {}, {}
        for key, model_names in names_by_key.items():
            view = views[keys.index(key)]
            listeners = next((group for group in earlier if _continues(group, view)), {})
            # They follow this view now, so no other view of this step can continue theirs.
            earlier = [group for group in earlier if group is not listeners]
            for name in sorted(model_names - listeners.keys()):
                listeners[name] = Listener(view, self._models[name])
            self._listeners[key] = listeners
            beliefs[key] = {name: product_of(listeners[name].deals()) for name in model_names}
        return [beliefs[key] for key in keys]


def mixed(beliefs: Mapping[str, DealBelief], sources: InformationSources, hands: Int) -> DealBelief:
    """Returns the belief that takes each other seat's factor from its source.

        b(d) ~ prior(d) * product over the other seats p of Lambda_p^source(h_p)

    ``beliefs`` has a belief for each model that ``sources`` names, and the one of "uniform" if
    ``sources`` names ``SHOWN``; ``hands`` [4, 8] were dealt to the relative seats. It is a
    SettingError if the sources leave no deal.
    """
    first = next(iter(beliefs.values()))
    parts = [beliefs[UNIFORM if name == SHOWN else name] for name in sources.names]
    weights = [part.weights[seat] for seat, part in enumerate(parts)]
    for seat, name in enumerate(sources.names):
        if name == SHOWN:
            is_dealt = np.zeros_like(weights[seat])  # [M] 1 for the hand that the seat was dealt
            is_dealt[first.support.find(hands[seat + 1].astype(np.int64))] = 1
            weights[seat] = weights[seat] * is_dealt
    if (belief := reweighted(first, (weights[0], weights[1], weights[2]))) is None:
        raise SettingError(f"expected sources that explain what happened, got {sources!r}")
    states = parts[0].states[0], parts[1].states[1], parts[2].states[2]
    return replace(belief, states=states, models=sources.names)


def reweighted(belief: DealBelief, weights: PerSeat) -> DealBelief | None:
    """Returns a belief with other weights [M] of seats 1 to 3; None if no deal has a weight."""
    # Three times the same total, split by the hand of seat 1, of seat 2 and of seat 3.
    by_next, by_partner, by_previous = sum_by_hand(belief.support, weights, belief.apart)
    total = float(by_next.sum())
    if not total > 0:
        return None
    marginals = by_next / total, by_partner / total, by_previous / total
    return replace(belief, weights=weights, marginals=marginals, total=total)


def _continues(listeners: dict[str, Listener], view: View) -> bool:
    """Updates listeners with a view; returns whether the view is later in the listeners' round.

    Otherwise the listeners are as they were: all follow the same round, so the first of them
    refuses the view, and it does so before it changes.
    """
    try:
        for listener in listeners.values():
            listener.update(view)
    except SettingError:
        return False
    return bool(listeners)


@dataclass(frozen=True)
class BeliefSampler:
    """A ``Sampler`` of worlds from beliefs, one for each position."""

    beliefs: Sequence[DealBelief]

    def sample(
        self, view: View, count: Int, rngs: Sequence[np.random.Generator]
    ) -> list[TypedWorlds]:
        positions = zip(self.beliefs, count.tolist(), rngs, strict=True)
        return [TypedWorlds.alike(belief.sample(worlds, rng)) for belief, worlds, rng in positions]


@dataclass(frozen=True)
class BeliefSearch:
    """A policy's search in worlds of a belief."""

    policy: Policy
    worlds: int
    """Worlds a decision."""
    min_z: float
    """Standard errors by which another action than the policy's must lead it."""

    def choose(
        self,
        view: View,
        legal: Bool,
        beliefs: Sequence[DealBelief],
        seeds: Keys,
        prior_action: Int,
    ) -> Int:
        """Returns the actions of n decisions; ``prior_action``: [n] those of the policy."""
        chosen = prior_action.copy()
        for rows in (
            slice(start, start + SEARCHED_POSITIONS)
            for start in range(0, len(view), SEARCHED_POSITIONS)
        ):
            sampler, count = BeliefSampler(beliefs[rows]), np.full(len(seeds[rows]), self.worlds)
            chosen[rows] = evaluate_actions(
                view[rows],
                legal[rows],
                self.policy,
                sample_worlds(view[rows], seeds[rows], count, sampler),
                prior_action=prior_action[rows],
                seeds=seeds[rows],
                budget=SEARCH_BUDGET,
                min_z=self.min_z,
            ).chosen
        return chosen


def play_searching(
    rounds: Rounds,
    search: BeliefSearch,
    keys: Keys,
    beliefs: Callable[[PendingDecisions], tuple[Int, list[DealBelief]]],
) -> Float:
    """Plays N rounds to their end; some decisions are searched, the policy takes the others.

    ``keys`` [N] seed the random numbers of each round. ``beliefs`` is called at each step; it
    returns the indices of the decisions to search, and a belief for each. With an infinite
    ``min_z`` nothing is searched. Returns [N] points of seats 0 and 2 minus those of seats 1 and 3.
    """
    player, points = PlayoutPolicy(search.policy), np.zeros(len(keys))
    decisions = rounds.decisions
    while True:
        if decisions.ended is not None:
            points[decisions.ended.rows] = decisions.ended.gained
        if rounds.over:
            return points
        (searched, search_beliefs), actions = beliefs(decisions), decisions.rows
        if len(actions):
            view, legal, key, time = decisions.view, decisions.legal, keys[actions], rounds.time
            actions = player.choose(view, legal, key, np.arange(len(key)), time)
            if len(searched) and not np.isinf(search.min_z):
                seeds = deal_keys(key[searched], np.full(len(searched), time), 1)
                actions[searched] = search.choose(
                    view[searched], legal[searched], search_beliefs, seeds, actions[searched]
                )
        decisions = rounds.step(actions)
