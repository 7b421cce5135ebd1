"""Plays the action with the highest score; the rules are in ``rules.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int, certain
from goita_agents.bots.heuristic.weights import CONVENTIONS, weigh
from goita_agents.registry import Entry
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.rules import JGA
from goita_env.tiles import NUM_KINDS, NUM_SEATS

_NO_BONUS: Final = np.zeros((0, NUM_ACTIONS))
_NO_FACTORS: Final = np.ones((0, NUM_SEATS - 1, NUM_KINDS))


class HeuristicAgent:
    """A bot of skills and conventions, without random numbers.

    Frozen: a changed one gets a new name. docs/strength.md describes each switch. A subclass adds
    a convention of its own by ``speak`` and ``listen``.

    Args:
        conventions: off turns off all the following options, whatever their values.
        pair_lead: attack with knight, silver and gold from two.
        answer: attack with the kind that the partner led.
        lance_lead: attack with lance from two, and continue with lances.
        false_lance: hide two kings behind a lance.
        pawn_lead: lead, join and decline the pawn attack.
        scattered_lead: a pawn or the biggest first from a hand without pairs.
        king_signal: a pawn as third attack shows a king.
        king_attack: an early king attack shows the other king.
        pass_partner: leave the partner its attack.
        hold_back: pass on an opponent's first attack, cut with a king late.
        bury: lay face down the tile that narrows the hand least.
        reading: infer holdings from the tiles that the others showed and the attacks they passed.
    """

    deterministic: Final = True

    def __init__(
        self,
        conventions: bool = True,
        pair_lead: bool = True,
        answer: bool = True,
        lance_lead: bool = True,
        false_lance: bool = True,
        pawn_lead: bool = True,
        scattered_lead: bool = True,
        king_signal: bool = True,
        king_attack: bool = True,
        pass_partner: bool = True,
        hold_back: bool = True,
        bury: bool = True,
        reading: bool = True,
    ) -> None:
        switches = dict(locals())  # the arguments by name
        self.name, self.trusted_class = "heuristic", HeuristicAgent
        enabled = [name for name in CONVENTIONS if conventions and switches[name]]
        self._weights = weigh(enabled, conventions and reading)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        return self._choose(view, legal)

    def probabilities(self, view: View, legal: Bool) -> Float:
        return certain(self._choose(view, legal))

    def speak(self, view: View) -> Float | None:
        """Returns the amounts that a subclass's convention adds to the scores of actions.

        Scores are relative preferences: the weights of the bot's own rules lie between -50 and 50.

        Returns:
            float64 [N, 69]; None: nothing.
        """
        return None

    def listen(self, view: View) -> Float | None:
        """Returns what a convention of a subclass reveals about the others' hands.

        Returns:
            float64 [N, 3, 8], above 0: factors on the odds that the next seat, the partner and the
            previous seat hold a tile of each kind; None: 1 everywhere.
        """
        return None

    def _choose(self, view: View, legal: Bool) -> Int:
        bonus, factors = self.speak(view), self.listen(view)
        # Copies, so that numba meets only the array layouts that are compiled.
        return _load()(
            np.array(view.words.view(np.int64), order="C"),
            np.array(legal, order="C"),
            view.rules,
            self._weights,
            _NO_BONUS if bonus is None else np.array(bonus, np.float64),
            _NO_FACTORS if factors is None else np.array(factors, np.float64),
        )


@cache
def _load() -> Callable[..., Int]:
    """Loads the rules from numba's cache, or compiles them and says so; once."""
    from goita_agents.bots.heuristic.rules import choose
    from goita_agents.compiling import announced

    with announced("the rules of heuristic"):
        nothing = np.zeros((0, NUM_ACTIONS), bool)
        choose(
            np.zeros((0, 8), np.int64),
            nothing,
            JGA,
            weigh((), reading=False),
            _NO_BONUS,
            _NO_FACTORS,
        )
    return choose


ENTRY = Entry(HeuristicAgent)
"""``heuristic``, as texts name it."""
