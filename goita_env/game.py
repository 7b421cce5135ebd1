"""Plays one game for people, notebooks and records: a batch of one with names one remembers."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.checks import check_action
from goita_env.engine import core
from goita_env.engine.match import Episode, Match
from goita_env.engine.state import State
from goita_env.engine.tables import WAITING
from goita_env.errors import EpisodeOverError, IllegalActionError, SettingError
from goita_env.hands import format_hand
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View, seat_view

if TYPE_CHECKING:
    from goita_env.render.svg import Options


@dataclass(frozen=True)
class PlayedDeal:
    """Notes one deal of a game: how it began and every decision since."""

    hands: npt.NDArray[np.int8]
    """[4, 8] Tiles of each kind dealt to each seat."""
    dealer: int
    """Seat of the dealer."""
    scores: tuple[int, int]
    """Points of the two teams before it."""
    moves: list[tuple[int, int]] = field(default_factory=list)
    """(seat, action) of every decision so far, passes and questions included."""


class Game:
    """Plays one round, or a match round after round.

    Args:
        rules: a rule set or its name.
        hands: of the first deal: four strings of digits ("11235578", ...) or kinds, int [4, 8], by
            seat; None: dealt.
        dealer: seat of the first dealer; None: drawn.
        scores: points of seats 0 and 2, and of seats 1 and 3, before the first round, multiples of
            ten.
        episode: "round", or "match", where the winner of a round deals the next at once.
        seed: of the deals; None: unpredictable.

    Raises:
        HandsError, SettingError: if an option is impossible.

    Attributes:
        winner: seat that ended the last round, None from the next action on and before.
        points: points of that round, 0 else.
        deals: every deal so far, the present one last; a redeal begins a new one.
    """

    def __init__(
        self,
        rules: str | Rules = "jga",
        *,
        hands: npt.ArrayLike | None = None,
        dealer: int | None = None,
        scores: Sequence[int] = (0, 0),
        episode: Episode = "round",
        seed: int | None = None,
    ) -> None:
        seed = secrets.randbits(63) if seed is None else seed
        self._match = Match(1, rules, episode, seed, auto_reset=False)
        self._match.reset(hands, dealer, scores)
        self._scores: list[int] = self._state.scores[:, 0].tolist()
        self.winner: int | None = None
        self.points = 0
        self.deals: list[PlayedDeal] = []
        self._new_deal()

    @property
    def rules(self) -> Rules:
        """Returns the rule set."""
        return self._match.rules

    @property
    def _state(self) -> State:
        """Returns the core's state of this game, a batch of one."""
        return self._match.state

    @property
    def dealer(self) -> int:
        """Returns the seat that deals the present deal."""
        return int(self._state.dealer[0])

    @property
    def seat(self) -> int | None:
        """Returns the seat that is asked now, None at the end."""
        return None if self.done else int(self._state.seat[0])

    @property
    def done(self) -> bool:
        """Tells whether the round, or the match, is over."""
        return bool(self._state.status[0] >= WAITING)

    @property
    def scores(self) -> tuple[int, int]:
        """Returns the points of seats 0 and 2, and of seats 1 and 3, with every scored round."""
        return self._scores[0], self._scores[1]

    @property
    def hands(self) -> npt.NDArray[np.int8]:
        """Returns what each seat holds now: int8 [4, 8] tiles of each kind."""
        hands: npt.NDArray[np.int8] = self._state.hand_counts()[0]
        return hands

    @property
    def dealt(self) -> npt.NDArray[np.int8]:
        """Returns the hands of the present deal: int8 [4, 8] tiles of each kind by seat."""
        return self.deals[-1].hands

    @property
    def moves(self) -> list[tuple[int, int]]:
        """Returns (seat, action) of every decision of the present deal."""
        return self.deals[-1].moves

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of the asked seat in order; none at the end."""
        low, high = core.legal_actions(self._state)
        return np.flatnonzero(core.unpack_legal(low, high)[0]).tolist()

    def play(self, action: int) -> None:
        """Makes the decision of the asked seat.

        Raises:
            EpisodeOverError: if the round, or the match, is over.
            ActionError: if it is not an action.
            IllegalActionError: if the rules forbid it here. Nothing has changed in each case.
        """
        seat = self.seat
        if seat is None:
            raise EpisodeOverError(f"expected no action after the end, got {action!r}\n{self}")
        check_action(action)
        legal = self.legal_actions()
        if action not in legal:
            names = " ".join(actions.name(one) for one in legal)
            raise IllegalActionError(
                f"expected one of {names} from seat {seat}, "
                f"got {actions.name(int(action))!r}\n{self}"
            )
        self.moves.append((seat, int(action)))
        self.winner, self.points = None, 0
        outcome = self._match.step(np.array([action]))
        if outcome is not None:
            self.winner, self.points = int(outcome.winner[0]), int(outcome.points[0])
            self._scores[self.winner & 1] += self.points
        if len(self._state.ended) and not self.done:
            self._new_deal()

    def view(self, seat: int) -> View:
        """Returns what a seat may know, asked or not: a view of one position.

        Raises:
            SettingError: if it is no seat.
        """
        if seat not in range(NUM_SEATS):
            raise SettingError(f"expected a seat 0..3, got {seat!r}")
        return seat_view(self._state, seat)

    def svg(self, viewer: int = 0, **options: Unpack[Options]) -> str:
        """Draws the whole table, all tiles open, as SVG text; what a seat sees: ``view``.

        Args:
            viewer: the seat at the bottom.
            options: how, and what beside it (``goita_env.render.svg.Options``).

        Raises:
            SettingError: if there is no such seat, or an option is impossible.
        """
        from goita_env.render import svg

        return svg.table(self._state, 0, viewer, **options)

    def sheet(self, **options: Unpack[Options]) -> str:
        """Draws the present deal as SVG text: the hands as dealt, then every play in a table.

        Args:
            options: theme, faces and size (``goita_env.render.svg.Options``).

        Raises:
            SettingError: if an option is impossible.
        """
        from goita_env.render import sheet

        return sheet.deal(self._state, **options)

    def __str__(self) -> str:
        """Draws the whole table."""
        from goita_env.render import ansi

        return ansi.table(self._state)

    def _repr_svg_(self) -> str:
        """Draws the whole table in notebooks."""
        return self.svg()

    def __repr__(self) -> str:
        """Shows hands, dealer and moves so far in short."""
        hands = ",".join(format_hand(hand) for hand in self.dealt)
        moves = " ".join(f"{seat}:{actions.name(action)}" for seat, action in self.moves)
        return f"<Game {self.rules.name} {hands} dealer {self.dealer} {list(self.scores)} {moves}>"

    def _new_deal(self) -> None:
        """Notes what has been dealt."""
        self.deals.append(PlayedDeal(self.hands, self.dealer, self.scores))
