"""Turns worlds into positions of games that can be played on."""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np

from goita_env import actions
from goita_env.arrays import Bool, Int, Int8
from goita_env.engine import tables
from goita_env.engine.state import SLOTS, State
from goita_env.errors import HandsError, SettingError
from goita_env.information import InformationStructure, MessageChannel
from goita_env.render.scene import Scene
from goita_env.rules import Rules
from goita_env.tiles import KING, MAX_PLAYS, NUM_SEATS, PAWN
from goita_env.views import NONE, View
from goita_env.views.observation import NOTES_WORD, PLAYS_WORD, TABLE_WORD
from goita_env.views.scenes import of_state
from goita_env.views.view import status_of
from goita_env.worlds.constraints import check_in_play
from goita_env.worlds.worlds import Worlds

_RADIX: Final = np.array(tables.RADIX)
_TILE_CODES: Final = np.array([*tables.RADIX, 0])
"""Code of one tile, 0 for NONE, which is the last."""
_BLOCK_BITS: Final = np.array([[*(1 << (16 * n + k) for k in range(8)), 0] for n in range(4)])
"""Bit of a block in its seat's word of plays: [4, 9] by play and kind, 0 for NONE."""

_SEATS: Final = np.arange(NUM_SEATS)
_BLOCK_MASKS: Final = np.array([0xFF << (16 * play) for play in range(4)])
"""Bits of each play's block in a word of plays."""

_SCORE_MASK: Final = (1 << tables.SCORE_BITS) - 1
_EVENTS_MASK: Final = np.uint32((1 << MAX_PLAYS) - 1)


class Positions:
    """N positions with all hands known: ``Rounds`` plays them on, the solver solves them.

    Args:
        state: the games as the engine holds them.

    Attributes:
        _state: the same; only ``Rounds`` and ``engine.solver_api`` read it.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    def __len__(self) -> int:
        return self._state.num_games

    def __getitem__(self, index: slice | Int | Bool) -> Positions:
        """Returns the positions of a slice, an index array (they may repeat) or a mask."""
        return Positions(self._state.select(np.arange(len(self))[index]))

    def __repr__(self) -> str:
        return f"Positions({len(self)}, {self.rules.name})"

    def scene(self, viewer: int = 0) -> Scene:
        """Describes the first position as ``render`` draws it, ``viewer`` at the bottom."""
        return of_state(self._state, viewer)

    @property
    def rules(self) -> Rules:
        return self._state.rules

    @property
    def information(self) -> InformationStructure:
        return self._state.information

    @property
    def seat(self) -> Int:
        """Returns the acting seat in each, -1 where there is none: int64 [n]."""
        return self._state.seat

    def repeat(self, times: int | Int) -> Positions:
        """Returns each position ``times`` times in succession, as ``numpy.repeat`` does."""
        return Positions(self._state.repeat(times))


def determinize(view: View, worlds: Worlds) -> Positions:
    """Returns positions in which the hidden tiles lie as worlds say, ready to be played on.

    Seats are relative to the viewer: it sits on seat 0, and its team is team 0. A view whose seat
    does not act and that shows no play becomes the moment when all have answered whether they call.
    Messages that the viewer does not observe count as silence.

    Args:
        view: N positions, each in a round under way.
        worlds: the same number for each row, row after row.

    Returns:
        ``len(worlds)`` positions.

    Raises:
        SettingError: if rows have different numbers of worlds, or a row shows the end of a round.
        HandsError: if worlds don't put the tiles where their view says.
    """
    games = len(worlds)
    worlds_a_row = games // max(len(view), 1)
    if worlds_a_row * len(view) != games:
        raise SettingError(
            f"expected as many worlds for each of {len(view)} rows, got {games} in all"
        )
    state = _public_state(view).repeat(worlds_a_row)
    hands, face_down = worlds.hands, worlds.face_down
    hand: Int = hands @ _RADIX
    down: Int = _TILE_CODES[face_down].sum(axis=2)
    state.up[:] = state.tables.all_tiles - (hand + down).sum(axis=1)
    _check_tiles(view, worlds, own_code=hand[:, 0], up_code=state.up)
    if view.rules.second_king_after_own_face_down:
        kings = hands[..., KING] + (face_down == KING).sum(axis=2)
        kings += view.face_up[..., KING].repeat(worlds_a_row, axis=0)
        hand += (kings == 2) * tables.KING_PERMIT
    # Flat indices: arrays [n, 4] by seat become rows by slot, as the state holds them.
    place = ((SLOTS - state.offset) & 3) + np.arange(0, 4 * games, 4)
    state.hand[:] = hand.take(place)
    state.down[:] = down.take(place)
    state.own |= _BLOCK_BITS[np.arange(4), face_down].sum(axis=2).take(place)
    if len(state.asking):
        _number_questions(view, state, hands[..., PAWN], worlds_a_row)
    return Positions(state)


def _check_tiles(view: View, worlds: Worlds, own_code: Int, up_code: Int) -> None:
    """Raises a HandsError for the first world whose tiles don't lie where its view says.

    ``own_code``, ``up_code``: [n] codes of the viewer's hand and of the face-up tiles, by world.
    """
    worlds_a_row = len(worlds) // max(len(view), 1)
    wrong_places = (worlds.face_down != NONE) != view.face_down.repeat(worlds_a_row, axis=0)
    wrong_sizes = worlds.hands.sum(axis=2) != view.hand_sizes.repeat(worlds_a_row, axis=0)
    hand_code = view.hand @ _RADIX
    seen_up_code = (
        tables.code_of(view.rules.deck)
        - view.unseen @ _RADIX
        - hand_code
        - view.own_face_down @ _RADIX
    )
    wrong = wrong_places.any(axis=(1, 2)) | wrong_sizes.any(axis=1)
    wrong |= own_code != hand_code.repeat(worlds_a_row)
    wrong |= up_code != seen_up_code.repeat(worlds_a_row)
    if wrong.any():
        raise HandsError(
            "expected worlds with the hand, hand sizes, face-down places and unseen tiles of "
            f"their view, got others in world {wrong.argmax()}"
        )


def _number_questions(view: View, state: State, pawns: Int8, worlds_a_row: int) -> None:
    """Sets ``state.query`` where a pre-play decision is open; ``pawns``: [n, 4] dealt, by seat."""
    # [q] The games with a question, and the row of the view of each.
    entries, games, row = state.tables.questions, state.asking, state.asking // worlds_a_row
    dealer = view.dealer[row].astype(np.int64)
    called, choices, every_row = view.called[row] > 0, view.choices[row], np.arange(len(games))
    query = entries.opening(dealer, pawns[games].astype(np.int64))
    # At most eight questions: four messages, two calls, two choices. Each game follows the answers
    # that its view shows and stops at the question that is open in it.
    for _ in range(8):
        asked_seat, status = (entries.seat[query] + dealer) & 3, entries.status[query]
        choosing, choice = status == tables.CHOOSE, choices[every_row, asked_seat]
        call = np.where(called[every_row, asked_seat], actions.CALL, actions.SILENT)
        sending = status == tables.MESSAGE_CHOICE
        answers = np.where(sending, actions.MESSAGE, np.where(choosing, choice, call))
        is_viewers = asked_seat == 0
        is_viewers &= np.where(sending, view.asked_message[row], view.asked_call[row])
        is_open = np.where(choosing, choice == 0, is_viewers)
        query = np.where(is_open, query, entries.next[query * entries.num_actions + answers])
    wrong = (entries.status[query] != state.status[games]) | (
        (entries.seat[query] + dealer + state.offset[games]) & 3 != 0
    )
    if wrong.any():
        raise HandsError(
            "expected worlds in which the question that the view shows is asked, got another "
            f"one in world {games[wrong.argmax()]}"
        )
    state.query[games] = query


def _public_state(view: View) -> State:
    """Returns games as views show them, the viewer on seat 0, the acting seat on slot 0.

    Hands, face-down tiles and face-up tiles are left empty, the number of a question 0, and the
    others' own plays as the viewer sees them.
    """
    check_in_play(view)
    state, games = State.empty(len(view), view.rules, view.information), np.arange(len(view))
    state.status[:], acting_seat = _status_and_acting_seat(view)
    state.offset[:] = (-acting_seat) & 3
    place = ((SLOTS - state.offset) & 3) + 4 * games  # by slot, into flat arrays [N, 4] by seat

    plays = np.ascontiguousarray(view.words[:, PLAYS_WORD : PLAYS_WORD + NUM_SEATS]).view(np.int64)
    state.own[:] = plays.take(place)
    plays = plays.copy()
    plays[:, 0] &= ~(view.face_down[:, 0] @ _BLOCK_MASKS)
    state.shown[:] = plays.take(place)
    notes = np.ascontiguousarray(view.words[:, NOTES_WORD : NOTES_WORD + 2]).view(np.uint32)
    state.notes[:] = notes.take(place)
    state.shift[:] = 16 * np.bitwise_count(notes & _EVENTS_MASK).take(place)

    table = view.words[:, TABLE_WORD].view(np.int64)[:, None]
    own = (table >> tables.FRAME_OWN_SCORE) & _SCORE_MASK
    theirs = (table >> tables.FRAME_OTHER_SCORE) & _SCORE_MASK
    frame = np.where(
        _SEATS & 1,
        (own << tables.FRAME_OTHER_SCORE) | (theirs << tables.FRAME_OWN_SCORE),
        (own << tables.FRAME_OWN_SCORE) | (theirs << tables.FRAME_OTHER_SCORE),
    )
    frame |= 1 << (tables.FRAME_DEALER + ((view.dealer[:, None] - _SEATS) & 3))
    if view.information.channel is not None:
        frame |= _observed_messages(view, view.information.channel)
    state.frame[:] = frame.take(place)
    state.event[:] = 1 << view.num_plays.astype(np.int64)
    state.dealer[:] = view.dealer
    state.scores[:] = view.scores.T
    return state


def _observed_messages(view: View, channel: MessageChannel) -> Int:
    """[N, 4] Bits of the messages that each seat observes, as far as the viewer does."""
    frames = np.zeros((len(view), NUM_SEATS), np.int64)
    messages = view.messages.astype(np.int64)
    for seat, sender in product(range(NUM_SEATS), repeat=2):
        if channel.audience == "all" or (seat - sender) % 2 == 0:
            place = tables.FRAME_MESSAGES + tables.MESSAGE_BITS * ((sender - seat) & 3)
            frames[:, seat] |= messages[:, sender] << place
    return frames


def _status_and_acting_seat(view: View) -> tuple[Int, Int]:
    """Returns the status of each row and the acting seat: two arrays [N]."""
    status, acting_seat = status_of(view), view.mover.astype(np.int64)
    called = view.called.any(axis=1) & (view.num_plays == 0) & ~view.asked_call
    for row in np.flatnonzero(called & (view.choices != actions.CONTINUE).all(axis=1)).tolist():
        status[row], acting_seat[row] = tables.CHOOSE, _choosing_partner(view[row : row + 1])
    acting_seat[view.asked_call | view.asked_message] = 0
    status[view.asked_message] = tables.MESSAGE_CHOICE
    return status, acting_seat


def _choosing_partner(view: View) -> int:
    """Returns the seat that chooses: the first caller's partner, after it the second's."""
    dealer, called, choices = int(view.dealer[0]), view.called[0], view.choices[0]
    callers = [seat & 3 for seat in range(dealer, dealer + NUM_SEATS) if called[seat & 3]]
    return next(seat ^ 2 for seat in callers if not choices[seat ^ 2])
