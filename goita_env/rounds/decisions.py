"""Holds the results of a step of ``Rounds``: decisions, ended deals, new deals, acting seats."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Bits, Bool, Int
from goita_env.engine.core import unpack_legal
from goita_env.engine.episodes import Outcome
from goita_env.engine.state import State
from goita_env.errors import SettingError, StaleTurnError
from goita_env.tiles import NONE
from goita_env.views import View, acting_view, seat_view


class Moment:
    """The games between two steps, until the next one closes it.

    Args:
        state: the games that are still played; released when the moment is closed.
        rows: int64 [h] which of all games these are, ascending; None: all.
        numbers: int64 [N] the numbers of the games in views.
    """

    def __init__(self, state: State, rows: Int | None, numbers: Int) -> None:
        self._state: State | None = state
        self.rows, self.numbers = rows, numbers

    @property
    def state(self) -> State:
        """Returns the games; a StaleTurnError after the next step."""
        if self._state is None:
            raise StaleTurnError("expected a look at the games before the next step, got one after")
        return self._state

    def close(self) -> None:
        self._state = None

    def games(self, places: Int) -> Int:
        """[m] The games, among all N, at ``places`` [m] of the state."""
        return places if self.rows is None else self.rows[places]


class PendingDecisions:
    """The result of a step, and the positions of the next decisions; ``m`` games.

    Args:
        moment: the h games that are still played.
        bits: their legal actions, two uint64 [h].
        choices: [m] the places, among them, of the games with a choice.

    Attributes:
        rows: int64 [m] the games to decide now, ascending: those with a real choice.
        seats: int64 [m] the acting seats in them.
        ended: the rounds that the step ended with a score; None: none.
        redealt: the deals that it ended with a redeal; None: none.
        dealt: the deals that were dealt since the last decisions; None: none.
        made: every decision of the step, also where one action was legal; None unless ``log=True``.
    """

    def __init__(self, moment: Moment, bits: tuple[Bits, Bits], choices: Int) -> None:
        self._moment, self._bits, self._choices = moment, bits, choices
        self._num_actions = moment.state.information.num_actions
        self.rows = moment.games(choices)
        self.seats = (moment.state.clock - moment.state.offset[choices]) & 3
        self.ended: FinishedDeals | None = None
        self.redealt: FinishedDeals | None = None
        self.dealt: NewDeals | None = None
        self.made: DecisionsMade | None = None

    @cached_property
    def view(self) -> View:
        """What the acting seats may know: [m]; ``view.game`` is 4 * game number + seat.

        Raises:
            StaleTurnError: if it is first read after the next step.
        """
        games = 4 * self._moment.numbers[self.rows] + self.seats
        return acting_view(self._moment.state, games, self._choices)

    @cached_property
    def legal(self) -> Bool:
        """Their legal actions: bool [m, 69], or with messages [m, 77]."""
        low, high = self._bits
        return unpack_legal(low[self._choices], high[self._choices], self._num_actions)


@dataclass(frozen=True)
class DecisionsMade:
    """The decisions that a step made, one in each of ``n`` games."""

    rows: Int
    """[n] The games, ascending."""
    seats: Int
    """[n] The seats that decided."""
    actions: Int
    """[n] Their actions."""


@dataclass(frozen=True)
class FinishedDeals:
    """Deals that are over, with their results and ends; ``n`` games."""

    rows: Int
    """[n] The games, ascending."""
    points: Int
    """[n] Points of the round, to the winner's team; 0 where it is dealt again."""
    winner: Int
    """[n] Seat that ended the round; -1 where it is dealt again."""
    done: Bool
    """[n] The round also ended the episode."""
    cost: Int
    """[n] Points of reward that seats 0 and 2 paid seats 1 and 3 for messages, minus what these
    paid, in all deals of the round; 0 where it is dealt again. No score holds them."""
    _numbers: Int = field(repr=False)
    _state: State | None = field(repr=False)

    @classmethod
    def scored(
        cls, rounds: Outcome, rows: Int, numbers: Int, final: State | None, cost: Int | None = None
    ) -> Self:
        """Holds rounds of games ``rows``.

        ``numbers``: [N] as ``Rounds`` takes them; ``cost``: [n], None: 0.
        """
        cost = np.zeros(len(rows), np.int64) if cost is None else cost
        return cls(
            rows=rows,
            points=rounds.points,
            winner=rounds.winner,
            done=rounds.done,
            cost=cost,
            _numbers=numbers[rows],
            _state=final,
        )

    @classmethod
    def redealt(cls, rows: Int, numbers: Int, final: State | None) -> Self:
        """Holds deals that ended in a redeal; arguments as ``scored``."""
        zeros = np.zeros(len(rows), np.int64)
        return cls(
            rows=rows,
            points=zeros,
            winner=np.full(len(rows), NONE),
            done=np.zeros(len(rows), bool),
            cost=zeros,
            _numbers=numbers[rows],
            _state=final,
        )

    @property
    def gained(self) -> Int:
        """[n] Points of seats 0 and 2, minus those of seats 1 and 3; ``cost`` is not in it."""
        return self.points * (1 - 2 * (self.winner & 1))

    def view(self, index: Int, seats: Int) -> View:
        """Returns the ends as seats see them.

        Args:
            index: [k] places in ``rows``.
            seats: [k] the seats.

        Raises:
            SettingError: if the rounds are played with ``finals=False``.
        """
        return seat_view(self._final.select(index), seats, 4 * self._numbers[index] + seats)

    @property
    def hands(self) -> Int:
        """Returns what each seat was dealt: int64 [n, 4, 8] tiles of each kind.

        After a redeal, too, though no player has seen them.

        Raises:
            SettingError: as ``view``.
        """
        return self._final.dealt_counts().astype(np.int64)

    @property
    def _final(self) -> State:
        if self._state is None:
            raise SettingError("expected finals=True where the ends of rounds are looked at")
        return self._state


class NewDeals:
    """Deals in which nothing has been decided; ``n`` games.

    Everything except ``rows`` raises a ``StaleTurnError`` after the next step.

    Attributes:
        rows: int64 [n] the games, ascending.
    """

    def __init__(self, moment: Moment, places: Int) -> None:
        self._moment, self._places = moment, places
        self.rows = moment.games(places)

    def view(self, index: Int, seats: Int) -> View:
        """Returns deals as seats see them, which does not show who acts before play.

        Args:
            index: [k] places in ``rows``.
            seats: [k] the seats.
        """
        state = self._moment.state.select(self._places[index])
        games = 4 * self._moment.numbers[self.rows[index]] + seats
        return seat_view(state, seats, games, hide_question=True)

    @property
    def hands(self) -> npt.NDArray[np.int8]:
        """Returns what each seat was dealt: int8 [n, 4, 8] tiles of each kind."""
        return self._moment.state.hand_counts()[self._places]

    @property
    def dealer(self) -> Int:
        """Returns the dealers: int64 [n] seats."""
        return self._moment.state.dealer[self._places]

    @property
    def scores(self) -> Int:
        """Returns the teams' points before the round: int64 [n, 2]."""
        return self._moment.state.scores[:, self._places].T
