"""Plays the action with the highest score, summed over the rules."""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int, certain
from goita_agents.bots.heuristic.board import Board
from goita_agents.bots.heuristic.conventions import CONVENTIONS
from goita_agents.bots.heuristic.reading import COUNTS_ONLY
from goita_agents.bots.heuristic.skills import SKILLS
from goita_agents.bots.heuristic.tally import Tally
from goita_agents.bots.heuristic.weights import READING, WEIGHTS
from goita_agents.registry import Entry
from goita_env import View
from goita_env.actions import CALL, CONTINUE, REDEAL
from goita_env.tiles import KING


class HeuristicAgent:
    """A bot of skills and conventions, without random numbers.

    Frozen: a changed one gets a new name. docs/heuristic.md describes each switch. A subclass adds
    a convention of its own by ``speak`` and ``listen``.

    Args:
        conventions: off turns off all the others, whatever they say.
        pair_lead: attack with knight, silver and gold from two.
        answer: return what the partner led.
        lance_lead: attack with lance from two, and go on.
        false_lance: hide two kings behind a lance.
        pawn_lead: lead, join and decline the pawn attack.
        scattered_lead: a pawn or the biggest first from a hand without pairs.
        king_signal: a pawn as third attack shows a king.
        king_attack: an early king attack shows the other king.
        pass_partner: leave the partner its attack.
        hold_back: pass on an opponent's first attack, cut with a king late.
        bury: lay face down what narrows the hand least.
        reading: infer holdings from what the others showed and passed.
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
        self.name = "heuristic"
        self._rules = [rule for name, rule in CONVENTIONS.items() if conventions and switches[name]]
        self._reading = READING if conventions and reading else COUNTS_ONLY

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        return self._choose(view, legal)

    def probabilities(self, view: View, legal: Bool) -> Float:
        return certain(self._choose(view, legal))

    def speak(self, view: View) -> Float | None:
        """Returns what a convention of a subclass adds to the score of each action.

        Scores are relative preferences: the weights of the bot's own rules lie between -50 and 50.

        Returns:
            float64 [N, 69]; None: nothing.
        """
        return None

    def listen(self, view: View) -> Float | None:
        """Returns what a convention of a subclass tells of the others' hands.

        Returns:
            float64 [N, 3, 8], above 0: factors on the odds that the next seat, the partner and the
            previous seat hold a tile of each kind; None: 1 everywhere.
        """
        return None

    def _choose(self, view: View, legal: Bool) -> Int:
        board, tally = Board(view, self._reading, self.listen(view)), Tally(len(view), WEIGHTS)
        for rule in (*SKILLS, *self._rules):
            rule(board, tally)
        chosen: Int = tally.scores(legal, self.speak(view)).argmax(axis=1)
        # It calls whatever it may; as a caller's partner it redeals unless it holds both kings.
        chosen = np.where(legal[:, CALL], CALL, chosen)
        answer = np.where(board.hand[:, KING] == 2, CONTINUE, REDEAL)
        return np.where(legal[:, REDEAL], answer, chosen)


ENTRY = Entry(HeuristicAgent)
"""``heuristic``, as texts name it."""
