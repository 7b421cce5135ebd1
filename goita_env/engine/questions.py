"""Asks the questions before play: who calls five or more pawns, and whether a caller's deal stands.

No text gives an order, so it is ours: from the dealer on, each seat that was dealt five or more
pawns is asked once; then, where five were called, the caller's partner chooses. The rule is
``answer``, a function of one question; ``question_tables`` expands it for the batched core.
Seats are counted from the dealer here (0: the dealer).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.tables import CHOOSE, FRESH, OVER, QUESTION_ACTIONS, WAITING, tables
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS

Int = npt.NDArray[np.int64]
_SEAT_BITS: Final = np.array([1, 2, 4, 8], dtype=np.int64)


@dataclass(frozen=True)
class Question:
    """Holds one open question; seats are counted from the dealer."""

    holders: tuple[int, ...]
    """Seats that were dealt five or more pawns, in order; two at most."""
    many: bool
    """The one holder has six or more."""
    called: tuple[int, ...] = ()
    """Holders that have called five, in order."""
    asked: int = -1
    """The seat that is asked now."""
    choosing: bool = False
    """The asked seat chooses redeal or continue, as a caller's partner."""


Ending = Literal["play", "redeal", "call", "fives"]
"""How questions end: play begins; a redeal; six or more were called; two fives of partners."""


def answer(rules: Rules, question: Question, action: int) -> Question | Ending:
    """Returns the next question, or how the questions end."""
    q = question
    if q.choosing:
        if action == actions.CONTINUE:
            return "play"
        other_partner = partner(q.called[-1])
        if len(q.called) == 2 and q.asked != other_partner:
            # Only two "redeal" redeal: "if both partners choose to reshuffle" (booklet B).
            return Question(q.holders, q.many, q.called, other_partner, True)
        return "redeal"

    called = (*q.called, q.asked) if action == actions.CALL else q.called
    if called and q.many:
        return "call"
    later = [seat for seat in q.holders if seat > q.asked]
    if later:
        return Question(q.holders, q.many, called, later[0])
    winners = called if rules.partners_fives_win == "called" else q.holders
    if len(winners) == 2 and winners[1] == partner(winners[0]):
        return "fives"
    if not called:
        return "play"
    if len(called) == 2 and rules.opponents_fives == "redeal":
        return "redeal"
    return Question(q.holders, q.many, called, partner(called[0]), True)


def partner(seat: int) -> int:
    """Returns the seat opposite."""
    return (seat + 2) % NUM_SEATS


PLAY, REDEALT, CALLED, FIVES = range(4)
"""Numbers of the four endings; the questions follow."""

_ENDINGS: Final = {"play": PLAY, "redeal": REDEALT, "call": CALLED, "fives": FIVES}


@dataclass(frozen=True)
class QuestionTables:
    """Lists every question of a rule set by number; ``Q`` numbers, the endings among them."""

    first: Int
    """[4 * 32] Number by 32 * dealer + 2 * (bits of the seats with five or more) + (any six)."""
    next: Int
    """[Q * 69] Number after an answer."""
    status: Int
    """[Q] Status of the tables."""
    asked: Int
    """[Q] The asked seat, counted from the dealer; 0, the dealer, where play begins."""

    def opening(self, dealer: Int, pawns: Int) -> Int:
        """Returns the number of the first question of each deal, PLAY where nobody is asked.

        Args:
            dealer: int64 [n] seats.
            pawns: int64 [n, 4] pawns that each seat was dealt.
        """
        holders = 2 * ((pawns >= 5) @ _SEAT_BITS) + (pawns > 5).any(axis=1)
        found: Int = self.first[32 * dealer + holders]
        return found


@cache
def question_tables(rules: Rules) -> QuestionTables:
    """Returns the questions of a rule set, numbered; built on first use and kept."""
    numbers: dict[Question, int] = {}
    steps: list[tuple[int, int, Question | Ending]] = []

    def number(result: Question | Ending) -> int:
        """Returns the number of a question or ending, listing what it can lead to."""
        if not isinstance(result, Question):
            return _ENDINGS[result]
        if result not in numbers:
            numbers[result] = len(_ENDINGS) + len(numbers)
            for action in QUESTION_ACTIONS[_status(rules, result)]:
                after = answer(rules, result, action)
                number(after)
                steps.append((numbers[result], action, after))
        return numbers[result]

    first = np.zeros(NUM_SEATS * 32, np.int64)
    for size in (1, 2):
        for holders in combinations(range(NUM_SEATS), size):
            for many in (False, True) if size == 1 else (False,):
                start = number(Question(holders, many, (), holders[0]))
                for dealer in range(NUM_SEATS):
                    bits = sum(1 << (dealer + seat) % NUM_SEATS for seat in holders)
                    first[32 * dealer + 2 * bits + many] = start
    size = len(_ENDINGS) + len(numbers)
    following = np.repeat(np.arange(size), actions.NUM_ACTIONS)
    for one, action, after in steps:
        following[one * actions.NUM_ACTIONS + action] = number(after)
    status, asked = np.zeros(size, np.int64), np.zeros(size, np.int64)
    status[[PLAY, REDEALT, CALLED, FIVES]] = FRESH, WAITING, OVER, OVER
    for question, index in numbers.items():
        status[index], asked[index] = _status(rules, question), question.asked
    return QuestionTables(first, following, status, asked)


def _status(rules: Rules, question: Question) -> int:
    """Returns the status under which a question is asked."""
    if question.choosing:
        return CHOOSE
    return int(tables(rules).question[6 if question.many else 5])
