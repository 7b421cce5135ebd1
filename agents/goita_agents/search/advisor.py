"""Advises a player only from its view: the action of a policy, with the points of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

import numpy as np

from goita_agents.asking import ask_probabilities
from goita_agents.base import Float, Policy
from goita_agents.beliefs.match_priors import MatchPriors
from goita_agents.beliefs.types import Types
from goita_agents.principles import Principle, speaking
from goita_agents.search.typed_search import Comparison, TypedSearch, Valued, clear_min_z
from goita_env import View
from goita_env.records import DealRecord

AGREED_MIN_Z: Final = 2.0
"""Standard errors that make a lead clear where search and policy agree on the best action."""


@dataclass(frozen=True)
class HintOption:
    """An action in a hint."""

    action: int
    probability: float
    """Probability with which the displayed policy plays it."""
    points: float | None
    """Points of the round for the player's team minus the opponents', the mean over the worlds.
    None: the action was dropped early, behind others, after few worlds that happened to be good
    for all actions."""
    error: float
    """Standard error of that mean, by sampling only."""


@dataclass(frozen=True)
class Hint:
    """A suggested action."""

    action: int
    options: tuple[HintOption, ...]
    """The legal actions, the best by points first."""
    comparison: Comparison
    """Of the best action with the suggested one or, if that is the best one, with the next best."""
    likeliest: int
    """The action that the displayed policy plays most often."""
    principle: Principle | None
    """A principle for the suggested action; None: there is none, or the action is not clearly the
    best."""

    @property
    def best(self) -> int:
        return self.options[0].action

    @property
    def clear(self) -> bool:
        """Whether the suggested action is the best one and clearly better than the next best one.

        If it is not, the rival of the comparison or the best action is as good by these figures.
        """
        lead, error = self.comparison.lead, self.comparison.lead_error
        return self.action == self.best and lead > self.min_z * error

    @property
    def min_z(self) -> float:
        """Standard errors that make the lead of the best action clear.

        The policy's own choice needs ``AGREED_MIN_Z``, since it was named before the search.
        Another action was the best of many, one of which may look good by luck: ``clear_min_z``.
        """
        return AGREED_MIN_Z if self.best == self.likeliest else clear_min_z(len(self.options))


class Advisor:
    """Advises a player of one match.

    It is the search of an analysis (``typed_search``): the others may play like any of the types,
    and earlier rounds of the match count as evidence of their types. The policy's own choice is
    suggested unless another action leads it clearly (``clear_min_z``). The same view
    gives the same hint: the listeners that are kept from hint to hint only save time. Hints of the
    present round are kept by position. Several threads may use one advisor.

    Args:
        base: the policy that plays the player's seat in playouts.
        policy: the policy whose probabilities are displayed, and whose choice is the prior one.
        types: how the others may play.
        worlds: most worlds for each type.
        budget: playouts for each type, about: more actions are tried in fewer worlds.
    """

    def __init__(
        self, base: Policy, policy: Policy, types: Types, worlds: int, budget: int | None = None
    ) -> None:
        self._base, self._policy, self._types = base, policy, types
        self._worlds, self._budget = worlds, budget
        self._priors = MatchPriors(types)
        self._search: TypedSearch | None = None
        self._before: tuple[DealRecord, ...] = ()
        self._hints: dict[tuple[bytes, int], Hint] = {}
        self._lock = Lock()

    def glance(self, view: View) -> tuple[int, float]:
        """Returns the policy's likeliest action and its probability, without a search."""
        chances = self._chances(view)
        chosen = int(chances.argmax())
        return chosen, float(chances[chosen])

    def advise(self, view: View, seat: int, earlier: Sequence[DealRecord] = ()) -> Hint:
        """Returns the suggestion of the policy, with the points of a search.

        Args:
            view: of a seat that has a choice: one row.
            seat: its number, 0 to 3.
            earlier: the rounds of the match before this one.
        """
        with self._lock:
            self._begin(tuple(earlier))
            key = view.words.tobytes(), seat
            if key not in self._hints:
                self._hints[key] = self._computed(view, seat)
            return self._hints[key]

    def _chances(self, view: View) -> Float:
        return np.asarray(ask_probabilities(self._policy, view, view.legal())[0])

    def _begin(self, earlier: tuple[DealRecord, ...]) -> None:
        """Begins anew, with other priors of types, if the rounds before this one are others."""
        if self._search is None or self._before != earlier:
            priors, self._before = self._priors.after(earlier), earlier
            self._search = TypedSearch(self._base, self._types, self._worlds, priors, self._budget)
            self._hints = {}

    def _computed(self, view: View, seat: int) -> Hint:
        """Searches, if possible by the listeners that have followed the round so far."""
        assert self._search is not None
        chances = self._chances(view)
        chosen = int(chances.argmax())
        seed = int(np.random.default_rng(view.words[0]).integers(2**63))
        valued = self._search.value(view, seat, chosen, seed)
        leads = valued.loss > clear_min_z(len(valued.options)) * valued.loss_error
        action = valued.best if leads else chosen
        rival = valued.next_best if action == valued.best else action
        hint = Hint(
            action=action,
            options=_hint_options(valued, chances),
            comparison=valued.compared_with(rival),
            likeliest=chosen,
            principle=None,
        )
        if not hint.clear:
            return hint
        points = {option.action: option.points for option in valued.options}
        return replace(hint, principle=speaking(view, points, action))


def _hint_options(valued: Valued, chances: Float) -> tuple[HintOption, ...]:
    """Returns the valued actions, the best by points first and those without points last.

    ``chances``: [69] probabilities of the displayed policy.
    """
    options = [
        HintOption(
            action=option.action,
            probability=float(chances[option.action]),
            points=None if valued.was_dropped_early(option) else option.points,
            error=option.error,
        )
        for option in sorted(
            valued.options, key=lambda option: (option.action != valued.best, -option.points)
        )
    ]
    return tuple(sorted(options, key=lambda option: option.points is None))
