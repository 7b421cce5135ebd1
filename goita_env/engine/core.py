"""Plays N games at once: what is legal, and one decision in every game a step.

How games lie in a ``State`` is told in ``state``. There is no randomness inside: a state after a
redeal waits for a deal, a finished game stays still. Actions are trusted here; the environments
check them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.history import NOTE_CALLED, NOTE_CONTINUE, NOTE_REDEAL
from goita_env.engine.questions import CALLED, REDEALT
from goita_env.engine.state import OWN, SHOWN, Int, State, in_question
from goita_env.engine.tables import (
    CALL_CHOICE,
    CODE_MASK,
    OVER,
    OWN_BITS,
    PLAYED,
    SHOWN_BITS,
    WAITING,
)
from goita_env.tiles import MATCH_POINTS, NUM_SEATS

U64 = np.uint64
Bits = npt.NDArray[np.uint64]

_SLOTS: Final = np.arange(NUM_SEATS, dtype=np.int64)[:, None]
_NOTE: Final = np.zeros(actions.NUM_ACTIONS, np.int64)
_NOTE[[actions.CALL, actions.REDEAL, actions.CONTINUE]] = (
    1 << NOTE_CALLED,
    1 << NOTE_REDEAL,
    1 << NOTE_CONTINUE,
)
# Arrays without a dimension: numpy takes them in half the time of a scalar.
_LAST_PLAY: Final = -1 << 48
_NUM_ACTIONS: Final = np.array(actions.NUM_ACTIONS)
_CODE_MASK: Final = np.array(CODE_MASK)
_ZERO: Final = np.array(0)
_ONE: Final = np.array(1)
_THREE: Final = np.array(3)
_FOUR: Final = np.array(4)
_SIXTY_THREE: Final = np.array(63, U64)


def legal_actions(state: State) -> tuple[Bits, Bits]:
    """Returns what each asked seat may do, as bits: two uint64 [N], actions 0-63 and 64-68."""
    t, status = state.tables, state.status
    pairs, permit, low = t.asks.take(status, axis=1)
    permit |= state.hand[state.clock]
    pairs &= t.pairs.take(permit)
    low |= pairs << _ONE
    high = pairs.view(U64) >> _SIXTY_THREE
    asking = state.asking
    if len(asking):
        high[asking] = t.answers[status[asking]]
    return low.view(U64), high


def step(state: State, chosen: Int) -> None:
    """Makes one decision in every game, in place, and moves the clock.

    Args:
        state: the games.
        chosen: [N] a legal action of each asked seat; where nobody is asked it does nothing.
    """
    t, clock, status, event = state.tables, state.clock, state.status, state.event
    hand, notes, shift = state.hand[clock], state.notes[clock], state.shift[clock]
    key = status * _NUM_ACTIONS
    key += chosen
    moves = t.moves.take(key, axis=1)
    played, face_up, _, _, is_play, pass_bits, after = moves

    hand -= played
    state.up += face_up
    played -= face_up
    down = state.down[clock]
    down += played
    bits = moves[OWN_BITS : SHOWN_BITS + 1]
    bits <<= shift
    plays = state.slots[OWN : SHOWN + 1, clock]
    plays |= bits
    pass_bits |= event * is_play
    notes |= pass_bits
    event <<= is_play
    is_play <<= _FOUR
    shift += is_play

    ended = ((hand & _CODE_MASK) == _ZERO).nonzero()[0]
    if len(ended):
        ended = ended[status[ended] < CALL_CHOICE]
        after[ended] = OVER
        state.points[ended] = t.points[key[ended]]
        state.winner[ended] = (clock - state.offset[ended]) & 3
        doubled = ended[t.doubled[key[ended]]]
        if len(doubled):
            seventh = t.moves[PLAYED, key[doubled]] - face_up[doubled]
            show_seventh(state, clock, doubled, seventh)
    status[:] = after
    state.ended = ended
    if len(state.asking):
        _answer(state, state.asking, chosen[state.asking])
    state.clock = (clock + 1) & 3


def show_seventh(state: State, slot: int, rows: Int, seventh: Int) -> None:
    """Turns the seventh tile of doubled finishes over: at scoring it is shown.

    Args:
        state: the games, in place.
        slot: where the seats that finished sit.
        rows: [n] the games.
        seventh: [n] code of that tile.
    """
    state.shown[slot][rows] |= state.own[slot][rows] & _LAST_PLAY
    state.down[slot][rows] -= seventh
    state.up[rows] += seventh


def _answer(state: State, rows: Int, answers: Int) -> None:
    """Takes the answers to questions before play and turns the games to the seat asked next.

    Args:
        state: the games, their clock not moved yet.
        rows: [n] the games in which a question is open.
        answers: [n] their actions.
    """
    entries, clock = state.questions, state.clock
    state.notes[clock][rows] |= _NOTE[answers]
    query = entries.next[state.query[rows] * _NUM_ACTIONS + answers]
    status = entries.status[query]
    state.query[rows], state.status[rows] = query, status
    # Turn the games, of which only hands, notes and frames are not bare yet.
    turn = (clock + 1 - entries.asked[query] - state.dealer[rows] - state.offset[rows]) & _THREE
    state.offset[rows] += turn
    state.offset[rows] &= _THREE
    flat = state.data.reshape(-1)
    data = flat.take(state.asked_places + rows)
    place = (_SLOTS + turn) & _THREE
    place *= state.num_games
    place += rows
    flat[state.asked_places[:, :1] + place] = data
    closed = (status >= WAITING).nonzero()[0]
    if len(closed):
        ended = rows[closed]
        state.ended = np.concatenate((state.ended, ended))
        _close(state, ended, query[closed], (clock + turn[closed]) & _THREE)
    state.asking = rows[in_question(status)]


def _close(state: State, rows: Int, query: Int, slot: Int) -> None:
    """Scores the rounds that an answer ended: two fives of partners, or a call of six or more.

    Args:
        state: the games.
        rows: [n] the games, among them those that will be dealt again.
        query: [n] how the questions ended.
        slot: [n] where the seat that answered last sits.
    """
    scored = query != REDEALT
    state.winner[rows[scored]] = (slot[scored] - state.offset[rows[scored]]) & _THREE
    state.points[rows[scored]] = MATCH_POINTS
    many = query == CALLED
    if not np.count_nonzero(many):
        return
    called, slot = rows[many], slot[many]
    # The caller of six or more lays its hand open, as four plays that are no events.
    hand = state.hand[slot, called] & CODE_MASK
    state.points[called] = state.tables.call_points[hand]
    state.slots[OWN : SHOWN + 1, slot, called] = state.tables.call_bits[hand]
    state.hand[slot, called] = 0
    state.up[called] = hand


def note(state: State, action: int) -> None:
    """Writes a call or choice of all asked seats into their public notes, in place."""
    state.notes[state.clock] |= _NOTE[action]
