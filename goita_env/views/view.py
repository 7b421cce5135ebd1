"""Defines ``View``: what a seat may know, as named fields.

A view reads the same packed words that the observation expands, so the two carry the same
information. Seats in a view are relative to the viewer: 0 itself, 1 the next seat, 2 the partner,
3 the previous.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.arrays import U64, Bool
from goita_env.engine.core import unpack_legal
from goita_env.engine.state import State
from goita_env.engine.tables import (
    CHOOSE,
    FRESH,
    KING_PERMIT,
    MESSAGE_CHOICE,
    RADIX,
    attack_status,
    tables,
    tables_of,
)
from goita_env.information import PLAIN, InformationStructure, check_information
from goita_env.render import ansi, svg
from goita_env.render.scene import Scene
from goita_env.rules import JGA, Rules
from goita_env.seeds import mix
from goita_env.tiles import KING, NONE, PAWN
from goita_env.views import observation as packing
from goita_env.views import scenes
from goita_env.views.fields import ViewFields

_OWN_KINGS: Final = U64(0x8080808080808080)
"""Bits of kings in a word of plays: the highest bit of each block's and each attack's byte."""


class View(ViewFields):
    """N positions, each as one seat may know it.

    The fields are read from ``words`` at their first use; see ``ViewFields``.
    """

    def __repr__(self) -> str:
        return f"View({len(self)} positions, {self.rules.name})"

    def __str__(self) -> str:
        """Draws the first position as its seat knows it, and says how many there are."""
        if len(self) == 0:
            return repr(self)
        note = f"\nthe first of {len(self)} positions" if len(self) > 1 else ""
        return ansi.render(self) + note

    def _repr_svg_(self) -> str | None:
        return svg.render(self) if len(self) else None

    def scene(self, viewer: int | None = None) -> Scene:
        """Describes the first position as ``goita_env.render`` draws it.

        Args:
            viewer: the viewer's seat, to name seats by their numbers; None: "you", "next" and so
                on.

        Raises:
            SettingError: if there is no position or no such seat.
        """
        return scenes.of_view(self, viewer)

    def unique(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Groups rows with the same view; a seat sees the same in many worlds.

        Returns:
            The first row of each group, int64 [m], and each row's group, int64 [N].
        """
        _, first, group = np.unique(self.digest(), return_index=True, return_inverse=True)
        return first, group

    def digest(self) -> packing.Words:
        """Returns a hash of 64 bits for each row, different for different views: [N]."""
        mixed = self.words[:, 0].copy()
        for word in range(1, self.words.shape[1]):
            mixed = mix(mixed)
            mixed ^= self.words[:, word]
        return mix(mixed)

    def observation(self) -> packing.Observation:
        """Returns the flat observation: uint8 [N, 512], more where tiles of others are shown."""
        return packing.expand(self.words)

    def plain(self) -> View:
        """Returns what a seat would know in the base game: no message, no tiles of others.

        Where the viewer sends a message, it seems to wait for the dealer.
        """
        words = self.words[:, : packing.NUM_WORDS].copy()
        words[:, packing.TABLE_WORD] &= packing.NO_MESSAGES
        return View(words, self.game, self.rules)

    def legal(self) -> Bool:
        """Returns the viewer's legal actions if it acts now: bool [N, 69], with messages [N, 77].

        It equals the action mask of an acting seat: a seat knows all that its mask depends on.
        """
        t, status = tables_of(self.rules, self.information), status_of(self)
        status[self.asked_choice] = CHOOSE
        status[self.asked_message] = MESSAGE_CHOICE
        # The rows of ``Tables.pairs``: the hand's code, and KING_PERMIT where the seat may attack
        # with a king even if it holds only one: as in the engine, if it was dealt both kings, or
        # (``permit``) a king lies face up.
        code = self.hand @ np.array(RADIX)
        if self.rules.second_king_after_own_face_down:
            kings_played = np.bitwise_count(self.words[:, packing.PLAYS_WORD] & _OWN_KINGS)
            code |= np.where(kings_played + self.hand[:, KING] == 2, KING_PERMIT, 0)
        blocks, permit, may_pass = t.asks[:, status]
        pairs = t.pairs[code | permit] & blocks
        # As ``core.legal_actions``: bit a of the two words is action a. A pass is bit 0, pair p is
        # bit p + 1, so that the last pair, 63, is bit 0 of the high word; answers follow there.
        low, high = (pairs << 1) | may_pass, (pairs.view(U64) >> U64(63)) | t.answers[status]
        return unpack_legal(low.view(U64), high, self.information.num_actions)


def status_of(view: View) -> npt.NDArray[np.int64]:
    """Returns the engine's status of each row as far as the viewer knows it, except CHOOSE: [N]."""
    status, has_attack = np.full(len(view), FRESH), view.attack != NONE
    attack, passes = view.attack[has_attack].astype(np.int64), view.passes[has_attack]
    status[has_attack] = attack_status(attack, passes, view.king_up[has_attack])
    calls = view.asked_call
    status[calls] = tables(view.rules).question[view.hand[:, PAWN][calls]]
    return status


def from_observation(
    array: npt.ArrayLike,
    game: npt.NDArray[np.int64] | None = None,
    rules: str | Rules = JGA,
    information: InformationStructure = PLAIN,
) -> View:
    """Returns the views of observations: [N, D] or [D] zeros and ones; D is 512 in the base game.

    Args:
        array: the observations.
        game: [N] numbers of the games; None: 0 to N - 1.
        rules: the rule set that is played; it isn't in the bits, and ``View.legal`` depends on it.
        information: the options of the game, likewise.

    Raises:
        ObservationError: if it is not an observation of this layout.
        SettingError: if there is no such rule set, or the options are not such a value.
    """
    words = packing.compress(array, check_information(information))
    return View(words, game, rules, information)


def acting_view(
    state: State,
    game: npt.NDArray[np.int64] | None = None,
    rows: npt.NDArray[np.int64] | None = None,
) -> View:
    """Returns the views of the acting seats, in all games or in the games of ``rows``."""
    return View(packing.pack(state, rows), game, state.rules, state.information)


def seat_view(
    state: State,
    seat: int | npt.NDArray[np.int64],
    game: npt.NDArray[np.int64] | None = None,
    *,
    hide_question: bool = False,
) -> View:
    """Returns the views of given seats (one for all games, or [N]), whether they act or not.

    With ``hide_question`` a view does not reveal that its seat acts before play.
    """
    words = packing.pack_seat(state, seat, hide_question=hide_question)
    return View(words, game, state.rules, state.information)
