"""Plays one game for people, notebooks and records: a batch of one with simple names."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, Unpack

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.checks import check_action, check_seed, illegal_action
from goita_env.engine import core
from goita_env.engine.episodes import Episode, Match
from goita_env.engine.state import State
from goita_env.engine.tables import WAITING
from goita_env.errors import EpisodeOverError, SettingError
from goita_env.hands import format_hand
from goita_env.information import PLAIN, InformationStructure
from goita_env.render import ansi, svg
from goita_env.render.scene import Scene
from goita_env.render.svg import Options
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View, seat_view
from goita_env.views.scenes import of_state


@dataclass(frozen=True)
class PlayedDeal:
    """One deal of a game: how it began and every decision since."""

    hands: npt.NDArray[np.int8]
    """[4, 8] Tiles of each kind dealt to each seat."""
    dealer: int
    scores: tuple[int, int]
    """Points of the two teams before it."""
    moves: list[tuple[int, int]] = field(default_factory=list)
    """(seat, action) of every decision so far, passes and pre-play decisions included."""


class Game:
    """A game: one round, or a match of several rounds.

    Args:
        rules: a rule set or its name.
        hands: the hands of the first deal by seat: four strings of digits ("11235578", ...) or
            kinds, int [4, 8]; None: dealt at random.
        dealer: seat of the first dealer; None: drawn at random.
        scores: points of seats 0 and 2, and of seats 1 and 3, before the first round, multiples of
            ten below the rules' total.
        episode: "round" or "match". In a match the winner of a round deals the next one at once.
        seed: seed of the deals, 0 to 2**64 - 1; None: drawn at random.
        information: shown tiles and messages (``goita_env.InformationStructure``).

    Raises:
        HandsError, SettingError: if an option is impossible.

    Attributes:
        seed: the seed of the deals, given or drawn: ``Game(seed=game.seed)`` has the same deals.
        scores: points of seats 0 and 2, and of seats 1 and 3, with every scored round.
        winner: the seat that ended the last round; None before, and again from the next action on.
        points: the points of that round; 0 if ``winner`` is None.
        deals: all deals so far, the present one last; a redeal begins a new deal.
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
        information: InformationStructure = PLAIN,
    ) -> None:
        self.seed = secrets.randbits(63) if seed is None else check_seed(seed)
        self._match = Match(1, rules, episode, self.seed, auto_reset=False, information=information)
        self._match.reset(hands, dealer, scores)
        even, odd = self._state.scores[:, 0].tolist()
        self.scores: tuple[int, int] = (even, odd)
        self.winner: int | None = None
        self.points = 0
        self.deals: list[PlayedDeal] = []
        self._new_deal()

    @property
    def rules(self) -> Rules:
        return self._match.rules

    @property
    def information(self) -> InformationStructure:
        return self._match.information

    @property
    def _state(self) -> State:
        return self._match.state

    @property
    def dealer(self) -> int:
        """Seat of the dealer of the present deal."""
        return int(self._state.dealer[0])

    @property
    def seat(self) -> int | None:
        """The acting seat, None at the end."""
        return None if self.done else int(self._state.seat[0])

    @property
    def done(self) -> bool:
        """Whether the round, or the match, is over."""
        return bool(self._state.status[0] >= WAITING)

    @property
    def hands(self) -> npt.NDArray[np.int8]:
        """Tiles of each kind that each seat holds now: int8 [4, 8]."""
        return np.asarray(self._state.hand_counts()[0])

    @property
    def dealt(self) -> npt.NDArray[np.int8]:
        """Tiles of each kind dealt to each seat in the present deal: int8 [4, 8]."""
        return self.deals[-1].hands

    @property
    def moves(self) -> list[tuple[int, int]]:
        """(seat, action) of every decision of the present deal."""
        return self.deals[-1].moves

    def legal_actions(self) -> list[int]:
        """Lists the legal actions of the acting seat in order; none at the end."""
        return np.flatnonzero(self._legal()).tolist()

    def play(self, action: int | str) -> None:
        """Makes the decision of the acting seat.

        Args:
            action: the number or the name of the action (``actions.name``): "52" lays the block 5
                and attacks with 2, "p" passes, "call", "silent", "redeal" and "continue" are
                pre-play decisions, and "say0" to "say7" send a message in games with messages.

        Raises:
            EpisodeOverError: if the round, or the match, is over.
            ActionError: if it is not an action.
            IllegalActionError: if the rules forbid it here. All errors leave the game as it was.
        """
        if (seat := self.seat) is None:
            raise EpisodeOverError(f"expected no action after the end, got {action!r}\n{self}")
        chosen = actions.parse(action) if isinstance(action, str) else action
        chosen = check_action(chosen, self.information.num_actions)
        legal = self._legal()
        if not legal[chosen]:
            came = action if isinstance(action, str) else ""
            raise illegal_action(chosen, legal, f" from seat {seat}", f"\n{self}", came)
        self.moves.append((seat, chosen))
        self.winner, self.points = None, 0
        if (outcome := self._match.step(np.array([chosen]))) is not None:
            self.winner, self.points = int(outcome.winner[0]), int(outcome.points[0])
            even, odd = self.scores
            gained = (0, self.points) if self.winner & 1 else (self.points, 0)
            self.scores = (even + gained[0], odd + gained[1])
        if len(self._state.ended) and not self.done:
            self._new_deal()

    def copy(self) -> Self:
        """Copies the game; both continue independently, with the same deals to come."""
        return copy.deepcopy(self)

    def view(self, seat: int) -> View:
        """Returns what a seat may know, acting or not: a view of one position.

        Raises:
            SettingError: if there is no such seat.
        """
        if seat not in range(NUM_SEATS):
            raise SettingError(f"expected a seat 0..3, got {seat!r}")
        return seat_view(self._state, seat)

    def scene(self, viewer: int = 0) -> Scene:
        """Describes the whole table as ``goita_env.render`` draws it, ``viewer`` at the bottom."""
        return of_state(self._state, viewer)

    def svg(self, viewer: int = 0, **options: Unpack[Options]) -> str:
        """Draws the whole table, all tiles open, as SVG text; what a seat sees: ``view``.

        Args:
            viewer: the seat at the bottom.
            options: how, and the panels below it (``goita_env.render.svg.Options``).

        Raises:
            SettingError: if there is no such seat, or an option is impossible.
        """
        return svg.render(self.scene(viewer), **options)

    def __str__(self) -> str:
        """Draws the whole table."""
        return ansi.render(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        hands = ",".join(format_hand(hand) for hand in self.dealt)
        size = self.information.num_actions
        moves = " ".join(f"{seat}:{actions.name(action, size)}" for seat, action in self.moves)
        return f"<Game {self.rules.name} {hands} dealer {self.dealer} {list(self.scores)} {moves}>"

    def _legal(self) -> npt.NDArray[np.bool_]:
        low, high = core.legal_actions(self._state)
        return np.asarray(core.unpack_legal(low, high, self.information.num_actions)[0])

    def _new_deal(self) -> None:
        self.deals.append(PlayedDeal(self.hands, self.dealer, self.scores))
