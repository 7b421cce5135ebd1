"""Builds games from all that their views show; what the views hide is left out."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.history import FRAME_DEALER, FRAME_OTHER_SCORE, FRAME_OWN_SCORE, SCORE_BITS
from goita_env.engine.state import State
from goita_env.engine.tables import CHOOSE, FRESH, attack_status, tables
from goita_env.tiles import MAX_PLAYS, NUM_SEATS, PAWN
from goita_env.views import View
from goita_env.views.fields import NONE
from goita_env.views.layout import NOTES_WORD, PLAYS_WORD, TABLE_WORD
from goita_env.worlds.facts import check_under_way

Int = npt.NDArray[np.int64]

_SEATS: Final = np.arange(NUM_SEATS)
_SLOTS: Final = _SEATS[:, None]
_BLOCKS: Final = np.array([0xFF << 16 * play for play in range(4)])
"""Bits of each play's block in a word of plays."""

_SCORE: Final = (1 << SCORE_BITS) - 1
_PLAY_BITS: Final = np.uint32((1 << MAX_PLAYS) - 1)


def public_state(view: View) -> State:
    """Returns games as views show them, the viewer on seat 0, the asked seat on slot 0.

    Hands, face-down tiles and face-up tiles are left empty, the number of a question 0, and the
    others' own plays as the viewer sees them. A view whose seat isn't asked and that shows no play
    becomes the moment when all have said whether they call.

    Args:
        view: N positions, each in a round under way.

    Raises:
        SettingError: if a row shows the end of a round.
    """
    check_under_way(view)
    state, games = State.empty(len(view), view.rules), np.arange(len(view))
    state.status[:], asked = _status_and_asked(view)
    state.offset[:] = -asked & 3
    place = ((_SLOTS - state.offset) & 3) + 4 * games

    plays = np.ascontiguousarray(view.words[:, PLAYS_WORD : PLAYS_WORD + NUM_SEATS]).view(np.int64)
    state.own[:] = plays.take(place)
    plays = plays.copy()
    plays[:, 0] &= ~(view.face_down[:, 0] @ _BLOCKS)
    state.shown[:] = plays.take(place)
    notes = np.ascontiguousarray(view.words[:, NOTES_WORD : NOTES_WORD + 2]).view(np.uint32)
    state.notes[:] = notes.take(place)
    state.shift[:] = 16 * np.bitwise_count(notes & _PLAY_BITS).take(place)

    table = view.words[:, TABLE_WORD].view(np.int64)[:, None]
    own, other = table >> FRAME_OWN_SCORE & _SCORE, table >> FRAME_OTHER_SCORE & _SCORE
    frame = np.where(
        _SEATS & 1,
        own << FRAME_OTHER_SCORE | other << FRAME_OWN_SCORE,
        own << FRAME_OWN_SCORE | other << FRAME_OTHER_SCORE,
    )
    frame |= 1 << FRAME_DEALER + (view.dealer[:, None] - _SEATS & 3)
    state.frame[:] = frame.take(place)
    state.event[:] = 1 << view.num_plays.astype(np.int64)
    state.dealer[:] = view.dealer
    state.scores[:] = view.scores.T
    return state


def _status_and_asked(view: View) -> tuple[Int, Int]:
    """Returns the status of each row and the seat that is asked: two arrays [N]."""
    status = np.full(len(view), FRESH)
    asked = view.dealer.astype(np.int64)
    turn = view.attack != NONE
    attack, passes = view.attack[turn].astype(np.int64), view.passes[turn]
    status[turn] = attack_status(attack, passes, view.king_up[turn])
    asked[turn] = (view.attacker[turn] + passes + 1) & 3

    called = view.called.any(axis=1) & (view.num_plays == 0)
    for row in np.flatnonzero(called & (view.choices != actions.CONTINUE).all(axis=1)).tolist():
        status[row], asked[row] = CHOOSE, _chooser(view[row : row + 1])
    calling = view.asked_call
    if calling.any():
        question = tables(view.rules).question
        status[calling], asked[calling] = question[view.hand[calling, PAWN]], 0
    return status, asked


def _chooser(view: View) -> int:
    """Returns who is asked to choose: the first caller's partner, after it the second's."""
    dealer, called, choices = int(view.dealer[0]), view.called[0], view.choices[0]
    callers = [seat & 3 for seat in range(dealer, dealer + NUM_SEATS) if called[seat & 3]]
    return next(seat ^ 2 for seat in callers if not choices[seat ^ 2])
