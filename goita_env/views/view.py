"""Defines ``View``: what a seat may know, as named fields.

A view reads the same packed words that the observation expands, so the two carry the same
information. Seats in a view are relative to the viewer: 0 itself, 1 the next seat, 2 the partner,
3 the previous.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env.engine.core import unpack_legal
from goita_env.engine.state import State
from goita_env.engine.tables import (
    CHOOSE,
    KING_PERMIT,
    RADIX,
    attack_status,
    tables,
)
from goita_env.rules import JGA, Rules, get_rules
from goita_env.seeds import mix
from goita_env.tiles import (
    KING,
    MAX_DECISIONS,
    NUM_SEATS,
    PAWN,
)
from goita_env.views import packing
from goita_env.views.fields import NONE, ViewFields
from goita_env.views.observation import PLAYS_WORD

U64 = np.uint64
Bool = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
_OWN_KINGS: Final = U64(0x8080808080808080)


@dataclass(frozen=True)
class Decisions:
    """Lists the round so far with one entry a play-or-pass decision; see ``View.decisions``."""

    seat: Int8
    """[N, 46] Relative seat that decided, NONE after the last decision."""
    event: Int8
    """[N, 46] Number of the play in the view's events, NONE for a pass and after the end."""
    length: Int8
    """[N] Decisions so far."""


class View(ViewFields):
    """Shows N positions as one seat each may know them.

    Attributes:
        words: uint64 [N, 8] the packed observation; all fields are read from it.
        game: int64 [N] tells games apart, for agents with a memory.
        rules: the rule set.
    """

    def __init__(
        self,
        words: packing.Words,
        game: npt.NDArray[np.int64] | None = None,
        rules: str | Rules = JGA,
    ) -> None:
        super().__init__(words)
        self.game = np.arange(len(words)) if game is None else game
        self.rules = get_rules(rules)

    def __getitem__(self, index: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        """Returns the views of a slice, an index array or a mask."""
        return type(self)(self.words[index], self.game[index], self.rules)

    def __repr__(self) -> str:
        """Shows the size and the rule set."""
        return f"View({len(self)} positions, {self.rules.name})"

    def __str__(self) -> str:
        """Draws the first position as its seat knows it, and says how many there are."""
        from goita_env.render import ansi

        if len(self) == 0:
            return repr(self)
        more = f"\nthe first of {len(self)} positions" if len(self) > 1 else ""
        return ansi.view(self) + more

    def _repr_svg_(self) -> str | None:
        """Draws the first position in notebooks, as its seat knows it."""
        from goita_env.render import svg

        return svg.view(self) if len(self) else None

    def unique(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Finds the rows that show the same; a seat sees the same in many worlds.

        Returns:
            One row of each kind of view, int64 [m], and of which kind each row is, int64 [N].
        """
        _, first, which = np.unique(self.digest(), return_index=True, return_inverse=True)
        return first, which

    def digest(self) -> packing.Words:
        """Returns a number of 64 bits by which rows that show different things differ: [N]."""
        mixed = self.words[:, 0].copy()
        for word in range(1, self.words.shape[1]):
            mixed = mix(mixed)
            mixed ^= self.words[:, word]
        return mix(mixed)

    def observation(self) -> packing.Observation:
        """Returns the flat observation: uint8 [N, 512]."""
        return packing.expand(self.words)

    def decisions(self) -> Decisions:
        """Returns the round so far with one entry a decision, passes included.

        Passes between plays follow from who plays next.
        """
        seat, plays = self.event_seat.astype(np.int64), self.num_plays
        gap = np.zeros(seat.shape, np.int64)
        gap[:, 1:] = (seat[:, 1:] - seat[:, :-1] - 1) % NUM_SEATS + 1
        place = gap.cumsum(axis=1)
        games = np.arange(len(self))
        last = np.where(plays > 0, place[games, np.maximum(plays, 1) - 1] + 1, 0)
        length = last + self.passes
        event = np.full((len(self), MAX_DECISIONS), NONE, np.int8)
        game, number = np.nonzero(seat != NONE)
        event[game, place[game, number]] = number
        clock = np.arange(MAX_DECISIONS)
        seats = (self.dealer[:, None] + clock) % NUM_SEATS
        seats[clock >= length[:, None]] = NONE
        return Decisions(seats.astype(np.int8), event, length.astype(np.int8))

    # --------------------------------------------------------------------------------------- acting

    def legal(self) -> Bool:
        """Returns what the viewer may do if it is asked now: bool [N, 69].

        It equals the action mask of an asked seat: what is legal depends on what the seat knows.
        """
        t = tables(self.rules)
        status = np.zeros(len(self), np.int64)
        turn = self.attack != NONE
        status[turn] = attack_status(
            self.attack[turn].astype(np.int64), self.passes[turn], self.king_up[turn]
        )
        pawns = self.hand[:, PAWN]
        status[self.asked_call] = t.question[pawns[self.asked_call]]
        status[self.asked_choice] = CHOOSE
        code = self.hand @ np.array(RADIX)
        if self.rules.second_king_after_own_face_down:
            own = np.bitwise_count(self.words[:, PLAYS_WORD] & _OWN_KINGS)
            code |= np.where(own + self.hand[:, KING] == 2, KING_PERMIT, 0)
        blocks, permit, low = t.asks[:, status]
        pairs = t.pairs[code | permit] & blocks
        return unpack_legal(
            ((pairs << 1) | low).view(U64), (pairs.view(U64) >> U64(63)) | t.answers[status]
        )


def from_observation(
    array: npt.ArrayLike,
    game: npt.NDArray[np.int64] | None = None,
    rules: str | Rules = JGA,
) -> View:
    """Returns the views of observations: [N, 512] or [512] zeros and ones.

    Args:
        array: the observations.
        game: [N] numbers that tell games apart; None: 0 to N - 1.
        rules: the rule set that is played; it isn't in the bits, and ``View.legal`` depends on it.

    Raises:
        ObservationError: if it is no observation of this layout.
    """
    return View(packing.compress(array), game, rules)


def asked_view(
    state: State,
    game: npt.NDArray[np.int64] | None = None,
    rows: npt.NDArray[np.int64] | None = None,
) -> View:
    """Returns what the asked seats may know, in all games or those of ``rows``."""
    return View(packing.pack(state, rows), game, state.rules)


def seat_view(
    state: State,
    seat: int | npt.NDArray[np.int64],
    game: npt.NDArray[np.int64] | None = None,
    *,
    hide_question: bool = False,
) -> View:
    """Returns what given seats (one for all games, or [N]) may know, asked or not.

    With ``hide_question`` a view doesn't tell that its seat is asked before play.
    """
    return View(packing.pack_seat(state, seat, hide_question=hide_question), game, state.rules)
