"""Says what a step of ``Rounds`` led to: a tick, the decisions made, what ended, what was dealt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from goita_env.engine import core
from goita_env.engine.state import State
from goita_env.errors import SettingError
from goita_env.views import View, asked_view, seat_view

Int = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint64]


class Games(Protocol):
    """Describes what is asked of the rounds that a tick belongs to.

    Attributes:
        numbers: int64 [N] by which views tell games apart.
        time: steps made so far.
        _legal: uint64 [h] and [h], what the asked seats may do now.
    """

    numbers: Int
    time: int
    _legal: tuple[Bits, Bits]

    def _numbered(self, places: Int) -> Int:
        """Returns the games that stand at places of the state: int64 [m]."""
        ...

    def _at(self, time: int) -> State:
        """Returns the games as they stood after so many steps, if none was made since."""
        ...


class Tick:
    """Tells what a step led to, and asks for the next decisions; ``m`` games.

    Attributes:
        rows: int64 [m] the games that are asked now, ascending: those with a real choice.
        seats: int64 [m] the seats that are asked in them.
        ended: the rounds that the step ended with a score; None: none.
        redealt: the deals that it ended with a redeal; None: none.
        dealt: the deals that were dealt since the last tick; None: none.
        made: every decision of the step, unasked ones among them; None unless ``log=True``.
    """

    __slots__ = (
        "_asked",
        "_legal",
        "_rounds",
        "_time",
        "_view",
        "dealt",
        "ended",
        "made",
        "redealt",
        "rows",
        "seats",
    )

    def __init__(self, rounds: Games, asked: Int) -> None:
        self._rounds, self._asked, self._time = rounds, asked, rounds.time
        self._view: View | None = None
        self._legal: Bool | None = None
        state = rounds._at(rounds.time)
        self.rows = rounds._numbered(asked)
        self.seats = (state.clock - state.offset[asked]) & 3
        self.ended: Ended | None = None
        self.redealt: Ended | None = None
        self.dealt: Dealt | None = None
        self.made: Made | None = None

    @property
    def view(self) -> View:
        """Returns what the asked seats may know: [m]; ``view.game`` is 4 * game number + seat.

        Raises:
            StaleTurnError: if it is first asked for after the next step.
        """
        if self._view is None:
            rounds = self._rounds
            games = 4 * rounds.numbers[self.rows] + self.seats
            self._view = asked_view(rounds._at(self._time), games, self._asked)
        return self._view

    @property
    def legal(self) -> Bool:
        """Returns what they may do: bool [m, 69].

        Raises:
            StaleTurnError: as ``view``.
        """
        if self._legal is None:
            self._rounds._at(self._time)
            low, high = self._rounds._legal
            self._legal = core.unpack_legal(low[self._asked], high[self._asked])
        return self._legal


@dataclass(frozen=True)
class Made:
    """Lists decisions that a step made, one in each of ``n`` games."""

    rows: Int
    """[n] The games, ascending."""
    seats: Int
    """[n] Who decided."""
    actions: Int
    """[n] What."""


@dataclass(frozen=True)
class Ended:
    """Holds deals that are over, with all they ended in; ``n`` games."""

    rows: Int
    """[n] The games, ascending."""
    points: Int
    """[n] Points of the round, to the winner's team; 0 where it is dealt again."""
    winner: Int
    """[n] Seat that ended the round; -1 where it is dealt again."""
    done: Bool
    """[n] The round also ended the episode."""
    _numbers: Int = field(repr=False)
    _state: State | None = field(repr=False)

    def view(self, index: Int, seats: Int) -> View:
        """Returns the table at the end as seats see it.

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

        After a redeal, too, when nobody at the table has seen them.

        Raises:
            SettingError: as ``view``.
        """
        return self._final.dealt_counts().astype(np.int64)

    @property
    def _final(self) -> State:
        """Returns the games as they ended."""
        if self._state is None:
            raise SettingError("expected finals=True where the ends of rounds are looked at")
        return self._state


class Dealt:
    """Holds deals in which nothing has been decided; ``n`` games.

    Attributes:
        rows: int64 [n] the games, ascending.
    """

    def __init__(self, rounds: Games, places: Int) -> None:
        self._rounds, self._places, self._time = rounds, places, rounds.time
        self.rows = rounds._numbered(places)

    def view(self, index: Int, seats: Int) -> View:
        """Returns deals as seats see them; who is asked before play is not told.

        Args:
            index: [k] places in ``rows``.
            seats: [k] the seats.

        Raises:
            StaleTurnError: after the next step.
        """
        state = self._present.select(self._places[index])
        games = 4 * self._rounds.numbers[self.rows[index]] + seats
        return seat_view(state, seats, games, hide_question=True)

    @property
    def hands(self) -> Int8:
        """Returns what each seat was dealt: int8 [n, 4, 8] tiles of each kind."""
        return self._present.hand_counts()[self._places]

    @property
    def dealer(self) -> Int:
        """Returns the dealers: int64 [n] seats."""
        return self._present.dealer[self._places]

    @property
    def scores(self) -> Int:
        """Returns the teams' points before the round: int64 [n, 2]."""
        return self._present.scores[:, self._places].T

    @property
    def _present(self) -> State:
        """Returns the games, as long as they stand at these deals."""
        return self._rounds._at(self._time)
