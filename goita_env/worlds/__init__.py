"""Draws and lists worlds: the ways in which the tiles that a view hides may lie.

``sample`` draws worlds exactly uniformly over the ways to put the distinct unseen tiles into the
hidden places, given all that ``hidden`` reads from a view; ``enumerate_worlds`` lists them, and
``determinize`` turns worlds into games that can be played on.

No view tells that another seat is asked before play, so one of a seat that waits meanwhile is taken
at the moment when all have answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env.actions import CALL, NUM_ACTIONS, SILENT
from goita_env.engine.state import State
from goita_env.engine.tables import ALL_TILES, CHOOSE, KING_PERMIT, RADIX
from goita_env.errors import HandsError, SettingError
from goita_env.tiles import HAND_SIZE, KING, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import View
from goita_env.views.fields import NONE
from goita_env.worlds.facts import Places, hidden
from goita_env.worlds.placing import Listing, draw
from goita_env.worlds.public import public_state

Int = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]

_KINDS: Final = np.arange(NUM_KINDS, dtype=np.int8)
_BYTE: Final = np.uint64(1) << np.arange(0, 64, 8, dtype=np.uint64)
"""One tile of each kind as a byte of counts."""

_FACTORIAL: Final = np.array([factorial(n) for n in range(HAND_SIZE + 1)], float)

_SLOTS: Final = np.arange(NUM_SEATS)[:, None]
_PLAYS: Final = np.arange(4)
_SEAT_BITS: Final = np.array([1, 2, 4, 8])
_RADIX: Final = np.array(RADIX)
_CODES: Final = np.array([*RADIX, 0])
"""Code of one tile, 0 for NONE, which is the last."""
_BLOCK_BITS: Final = np.array([[*(1 << 16 * n + kind for kind in range(8)), 0] for n in range(4)])
"""Bit of a block in its seat's word of plays: [4, 9] by play and kind, 0 for NONE."""


@dataclass(frozen=True)
class Worlds:
    """Holds n worlds: where the tiles lie that a viewer cannot see, and its own beside them.

    Seats are relative to the viewer: 0 itself, 1 the next, 2 the partner, 3 the previous.
    """

    hands: Int8
    """[n, 4, 8] Tiles of each kind that each seat holds now, the viewer included."""
    face_down: Int8
    """[n, 4, 4] Kind of each seat's face-down block by its play, as ``View.blocks`` is indexed;
    NONE where that play's block doesn't lie face down, or wasn't played."""
    weight: npt.NDArray[np.float64]
    """[n] Probability, every way to put the distinct unseen tiles being as likely; they sum to 1
    over the worlds drawn or listed for one view."""
    face_up: Int8
    """[n, 4, 8] Tiles of each kind that each seat has played face up: the same in all worlds."""

    def __len__(self) -> int:
        """Returns n."""
        return len(self.hands)

    def __getitem__(self, index: slice | Int | Bool) -> Self:
        """Returns the worlds of a slice, an index array or a mask; weights stay as they are."""
        return type(self)(
            self.hands[index], self.face_down[index], self.weight[index], self.face_up[index]
        )

    @property
    def dealt(self) -> Int8:
        """Returns the tiles of each kind that each seat was dealt: int8 [n, 4, 8]."""
        down = (self.face_down[..., None] == _KINDS).sum(axis=2, dtype=np.int8)
        dealt: Int8 = self.hands + self.face_up + down
        return dealt


def sample(view: View, worlds: int, rng: np.random.Generator) -> Worlds:
    """Draws worlds uniformly over the ways to put the distinct unseen tiles.

    A row's worlds depend on the generator's state and on the row, not on the rows that follow it.

    Args:
        view: N positions, each in a round under way.
        worlds: how many to draw for each.
        rng: source of randomness.

    Returns:
        N * ``worlds`` worlds, row after row, each with the weight 1 / ``worlds``.

    Raises:
        SettingError: if the number is below 1, or a row shows the end of a round.
        HandsError: if no deal fits a row.
    """
    _check_number(worlds, "worlds")
    rows = len(view)
    hands, face_down = _own_tiles(view, worlds)
    for row, known in enumerate(hidden(view)):
        kinds = draw(known, worlds, rng)
        _lay(kinds, known.places, hands[row], face_down[row])
    return Worlds(
        hands.reshape(rows * worlds, NUM_SEATS, NUM_KINDS),
        face_down.reshape(rows * worlds, NUM_SEATS, 4),
        np.full(rows * worlds, 1 / worlds),
        view.face_up.repeat(worlds, axis=0),
    )


def _check_number(number: object, what: str) -> None:
    """Checks that a number is a whole number from 1 on."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise SettingError(f"expected a whole number of {what} from 1 on, got {number!r}")


def _own_tiles(view: View, worlds: int) -> tuple[Int8, Int8]:
    """Returns hands [N, worlds, 4, 8] and blocks [N, worlds, 16], the viewer's filled in."""
    hands = np.empty((len(view), worlds, NUM_SEATS, NUM_KINDS), np.int8)
    hands[:, :, 0] = view.hand[:, None]
    face_down = np.full((len(view), worlds, 4 * NUM_SEATS), NONE, np.int8)
    own = np.where(view.face_down[:, 0], view.blocks[:, 0], np.int8(NONE))
    face_down[:, :, :4] = own[:, None]
    return hands, face_down


def _lay(kinds: Int8, places: Places, hands: Int8, face_down: Int8) -> None:
    """Puts the tiles of one row's worlds into hands and under blocks, in place.

    Args:
        kinds: [W, U] kind in each place.
        places: the places.
        hands: [W, 4, 8] to write the others' hands into.
        face_down: [W, 16] to write the others' blocks into.
    """
    tiles = np.add.reduceat(_BYTE[kinds], places.hand_starts, axis=1)[:, :3]
    hands[:, 1:] = np.ascontiguousarray(tiles).view(np.int8).reshape(-1, 3, NUM_KINDS)
    face_down[:, places.down] = kinds[:, places.num_hand :]


def enumerate_worlds(view: View, limit: int) -> Worlds | None:
    """Lists all worlds of a view of one row, each once.

    Args:
        view: one position in a round under way.
        limit: most worlds to list.

    Returns:
        The worlds; None if there are more than ``limit``.

    Raises:
        SettingError: if the view is not one row in a round under way, or the limit is below 1.
        HandsError: if no deal fits.
    """
    _check_number(limit, "worlds as limit")
    if len(view) != 1:
        raise SettingError(f"expected a view of one row, got {len(view)} rows")
    known = next(hidden(view))
    found = Listing(known, limit).run()
    if found is None:
        return None
    number, places = len(found), known.places
    hands, face_down = _own_tiles(view, number)
    hands[0, :, 1:] = found[:, :3]
    # A place under a block holds one tile.
    face_down[0][:, places.down] = found[:, 3:].argmax(axis=2)
    # Ways to put distinct tiles: the same for all worlds, but for the order of equal tiles in hand.
    weight = 1 / _FACTORIAL[found[:, :3]].prod(axis=(1, 2))
    return Worlds(
        hands[0],
        face_down[0].reshape(number, NUM_SEATS, 4),
        weight / weight.sum(),
        view.face_up.repeat(number, axis=0),
    )


# ------------------------------------------------------------------------------------ determinizing


def determinize(view: View, worlds: Worlds) -> State:
    """Returns games in which the hidden tiles lie as worlds say, ready to be played on.

    Seats are relative to the viewer: it sits on seat 0, and its team is team 0. A view whose seat
    isn't asked and that shows no play becomes the moment when all have said whether they call.

    Args:
        view: N positions, each in a round under way.
        worlds: as many for each row, row after row.

    Returns:
        A state of ``len(worlds)`` games.

    Raises:
        SettingError: if the worlds aren't as many for each row, or a row shows the end of a round.
        HandsError: if worlds don't put the tiles where their view says.
    """
    games = len(worlds)
    each = games // max(len(view), 1)
    if each * len(view) != games:
        raise SettingError(
            f"expected as many worlds for each of {len(view)} rows, got {games} in all"
        )
    state = public_state(view).repeat(each)
    hands, face_down = worlds.hands, worlds.face_down
    hand: Int = hands @ _RADIX
    down: Int = _CODES[face_down].sum(axis=2)
    state.up[:] = ALL_TILES - (hand + down).sum(axis=1)
    _check_tiles(view, worlds, hand[:, 0], state.up)
    if view.rules.second_king_after_own_face_down:
        kings = hands[..., KING] + (face_down == KING).sum(axis=2)
        kings += view.face_up[..., KING].repeat(each, axis=0)
        hand += (kings == 2) * KING_PERMIT
    place = ((_SLOTS - state.offset) & 3) + np.arange(0, 4 * games, 4)
    state.hand[:] = hand.take(place)
    state.down[:] = down.take(place)
    state.own |= _BLOCK_BITS[_PLAYS, face_down].sum(axis=2).take(place)
    if len(state.asking):
        _ask(view, state, hands[..., PAWN], each)
    return state


def _check_tiles(view: View, worlds: Worlds, own: Int, up: Int) -> None:
    """Checks that worlds put the tiles where their view says.

    Args:
        view: N positions.
        worlds: the worlds, row after row.
        own: [n] code of the viewer's hand in each.
        up: [n] code of the tiles that are neither in a hand nor under a block.
    """
    each = len(worlds) // max(len(view), 1)
    places = (worlds.face_down != NONE) != view.face_down.repeat(each, axis=0)
    sizes = worlds.hands.sum(axis=2) != view.hand_sizes.repeat(each, axis=0)
    held = view.hand @ _RADIX
    seen_up = ALL_TILES - view.unseen @ _RADIX - held - view.own_face_down @ _RADIX
    wrong = places.any(axis=(1, 2)) | sizes.any(axis=1)
    wrong |= (own != held.repeat(each)) | (up != seen_up.repeat(each))
    if wrong.any():
        raise HandsError(
            "expected worlds with the hand, hand sizes, face-down places and unseen tiles of "
            f"their view, got others in world {wrong.argmax()}"
        )


def _ask(view: View, state: State, pawns: Int8, each: int) -> None:
    """Numbers the questions that are open before play, by what has been answered, in place.

    Args:
        view: N positions.
        state: their worlds as games, each row's side by side.
        pawns: [n, 4] pawns that each seat was dealt, by seat.
        each: worlds of a row.
    """
    entries, games, row = state.questions, state.asking, state.asking // each
    dealer, called, choices = view.dealer[row], view.called[row] > 0, view.choices[row]
    pawns, one = pawns[games], np.arange(len(games))
    query = entries.first[32 * dealer + 2 * ((pawns >= 5) @ _SEAT_BITS) + (pawns > 5).any(axis=1)]
    for _ in range(4):  # two seats are asked whether they call, two partners choose
        asked, status = (entries.asked[query] + dealer) & 3, entries.status[query]
        choosing, choice = status == CHOOSE, choices[one, asked]
        answers = np.where(choosing, choice, np.where(called[one, asked], CALL, SILENT))
        stop = np.where(choosing, choice == 0, view.asked_call[row] & (asked == 0))
        query = np.where(stop, query, entries.next[query * NUM_ACTIONS + answers])
    wrong = (entries.status[query] != state.status[games]) | (
        (entries.asked[query] + dealer + state.offset[games]) & 3 != 0
    )
    if wrong.any():
        raise HandsError(
            "expected worlds in which the question that the view shows is asked, got another "
            f"one in world {games[wrong.argmax()]}"
        )
    state.query[games] = query
