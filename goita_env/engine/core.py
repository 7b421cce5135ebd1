"""Plays N games at once: what is legal, and one decision in every game a step.

There is no randomness inside: a state after a redeal waits for a deal, a finished game stays still.
Actions are trusted here; the environments check them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_env.actions import CALL, CONTINUE, MAX_ACTIONS, MESSAGE, NUM_ACTIONS, REDEAL
from goita_env.arrays import U64, Bits, Bool, Int
from goita_env.engine import tables
from goita_env.engine.state import ONE, THREE, ZERO, State, in_question
from goita_env.information import Audience
from goita_env.tiles import MATCH_POINTS

_NOTE_OF_ANSWER: Final = np.zeros(MAX_ACTIONS, np.int64)
_NOTE_OF_ANSWER[[CALL, REDEAL, CONTINUE]] = 1 << np.array(
    [tables.NOTE_CALLED, tables.NOTE_REDEAL, tables.NOTE_CONTINUE]
)
_OBSERVERS: Final[dict[Audience, tuple[int, ...]]] = {"partner": (0, 2), "all": (0, 1, 2, 3)}
"""Seats, counted from the sender, that observe a message; the sender does, too."""

# Arrays without a dimension: numpy takes them in half the time of a scalar.
_NUM_ACTIONS: Final = np.array(NUM_ACTIONS)
_CODE_MASK: Final = np.array(tables.CODE_MASK)
_FOUR: Final = np.array(4)
_SIXTY_THREE: Final = np.array(63, U64)
_SIXTY_FOUR: Final = np.array(64, U64)
_ONE_BIT: Final = np.array(1, U64)


def legal_actions(state: State) -> tuple[Bits, Bits]:
    """Returns what each acting seat may do, as bits: two uint64 [N], actions 0-63 and from 64."""
    t, status = state.tables, state.status
    pairs, permit, low = t.asks.take(status, axis=1)  # low: 1 where the seat may pass
    permit |= state.hand[state.clock]
    pairs &= t.pairs.take(permit)  # ``permit`` is now the hand's code and KING_PERMIT, an index
    # Pair p is action p + 1, so that the last pair, 63, is bit 0 of the high word.
    low |= pairs << ONE
    high = pairs.view(U64) >> _SIXTY_THREE
    asking = state.asking
    if len(asking):
        high[asking] = t.answers[status[asking]]
    return low.view(U64), high


def unpack_legal(low: Bits, high: Bits, num_actions: int = NUM_ACTIONS) -> Bool:
    """Returns legal actions as bool [N, A]; ``low``, ``high``: [N] bits of 0-63 and from 64."""
    words = np.empty((len(low), 2), U64)
    words[:, 0] = low
    words[:, 1] = high
    # Whole bytes unpack twice as fast as 69 bits; the rows of the result are 72 bytes apart.
    num_bytes = (num_actions + 7) // 8
    bits = np.unpackbits(words.view(np.uint8)[:, :num_bytes], axis=1, bitorder="little")
    return bits.view(bool)[:, :num_actions]


def allowed(low: Bits, high: Bits, actions: Int) -> Bits:
    """Tells which actions are legal, each in its row: uint64 [N] of zeros and ones.

    Numbers that are not actions are not allowed.
    """
    unsigned = actions.view(U64)
    legal = low >> unsigned  # 0 for actions beyond the word
    legal |= high >> (unsigned - _SIXTY_FOUR)  # 0 for those below
    legal &= _ONE_BIT
    return legal


def step(state: State, actions: Int) -> None:
    """Makes one decision in every game, in place, and moves the clock.

    ``actions``: [N] a legal action of each acting seat; where no seat acts it does nothing.
    """
    t, clock, status, event = state.tables, state.clock, state.status, state.event
    asking = state.asking
    hand, notes, shift = state.hand[clock], state.notes[clock], state.shift[clock]
    key = status * _NUM_ACTIONS
    key += actions
    if t.bits:
        key[asking] = 0  # messages have no keys; key 0 moves no tiles, and no answer does
    moves = t.moves.take(key, axis=1)
    played, face_up, _, _, is_play, pass_bits, after = moves

    # ``hand``, ``down``, ``plays``, ``notes`` and ``shift`` are parts of the state. ``moves`` is a
    # copy whose rows are reused: ``played`` becomes what lies face down, ``pass_bits`` all notes.
    hand -= played
    state.up += face_up
    played -= face_up
    down = state.down[clock]
    down += played
    bits = moves[tables.OWN_BITS : tables.SHOWN_BITS + 1]  # [2, N], as ``plays``
    bits <<= shift
    plays = state.plays[:, clock]
    plays |= bits
    pass_bits |= event * is_play
    notes |= pass_bits
    event <<= is_play
    is_play <<= _FOUR  # 16 bits a play
    shift += is_play

    ended = ((hand & _CODE_MASK) == ZERO).nonzero()[0]
    if len(ended):
        ended = ended[status[ended] < tables.CALL_CHOICE]  # not those that were over before
        after[ended] = tables.OVER
        state.points[ended] = t.points[key[ended]]
        state.winner[ended] = (clock - state.offset[ended]) & 3
        doubled = ended[t.doubled[key[ended]]]
        if len(doubled):
            seventh = t.moves[tables.PLAYED, key[doubled]] - face_up[doubled]
            show_seventh(state, clock, doubled, seventh)
    status[:] = after
    state.ended = ended
    if len(asking):
        _answer(state, asking, actions[asking])
    state.clock = (clock + 1) & 3


def show_seventh(state: State, slot: int, rows: Int, seventh: Int) -> None:
    """Turns the seventh tile of doubled finishes over, in place: at scoring it is shown.

    The seats that finished sit on ``slot`` in games ``rows``; ``seventh``: [n] codes of the tiles,
    in small games the third ones.
    """
    state.shown[slot][rows] |= state.own[slot][rows] & (-1 << state.tables.last_play)
    state.down[slot][rows] -= seventh
    state.up[rows] += seventh


def _answer(state: State, rows: Int, answers: Int) -> None:
    """Takes answers to pre-play decisions, [n], and turns games to the seat that acts next.

    The clock has not moved yet.
    """
    entries, clock = state.tables.questions, state.clock
    state.notes[clock][rows] |= _NOTE_OF_ANSWER[answers]
    if state.tables.bits:
        _show_messages(state, rows, answers)
    query = entries.next[state.query[rows] * entries.num_actions + answers]  # endings, too
    status = entries.status[query]
    state.query[rows], state.status[rows] = query, status
    next_slot = entries.seat[query] + state.dealer[rows] + state.offset[rows]
    turned = (clock + 1 - next_slot) & THREE
    state.turn(rows, turned)
    closed = (status >= tables.WAITING).nonzero()[0]
    if len(closed):
        ended = rows[closed]
        state.ended = np.sort(np.concatenate((state.ended, ended)))
        # The seat that answered sat on slot ``clock`` and has been turned.
        _close(state, ended, ending=query[closed], slot=(clock + turned[closed]) & THREE)
    state.asking = rows[in_question(status)]


def _close(state: State, rows: Int, ending: Int, slot: Int) -> None:
    """Scores the rounds of games [n] that an answer ended, except redeals.

    ``ending``: [n] REDEALT, CALLED (six or more pawns) or FIVES (two fives of partners); ``slot``:
    [n] the slot of the seat that answered last.
    """
    scored = ending != tables.REDEALT
    state.winner[rows[scored]] = (slot[scored] - state.offset[rows[scored]]) & THREE
    state.points[rows[scored]] = MATCH_POINTS
    is_call = ending == tables.CALLED
    if not np.count_nonzero(is_call):
        return
    called, slot = rows[is_call], slot[is_call]
    # The caller of six or more lays its hand open, as four plays that are no events.
    hand = state.hand[slot, called] & tables.CODE_MASK
    state.points[called] = state.tables.call_points[hand]
    state.plays[:, slot, called] = state.tables.call_bits[hand]
    state.hand[slot, called] = 0
    state.up[called] = hand


def _show_messages(state: State, rows: Int, answers: Int) -> None:
    """Shows messages among answers [n] to their observers, in place, before the clock moves."""
    channel = state.information.channel
    sent = (answers > MESSAGE).nonzero()[0]  # message 0, silence, leaves the bits as they are
    if channel is None or len(sent) == 0:
        return
    rows, messages = rows[sent], answers[sent] - MESSAGE
    for observer in _OBSERVERS[channel.audience]:
        # It sits ``observer`` seats after the sender, which is at -observer seen from it.
        sender = tables.FRAME_MESSAGES + tables.MESSAGE_BITS * (-observer & 3)
        state.frame[(state.clock + observer) & 3][rows] |= messages << sender


def costs(state: State, actions: Int) -> Int | None:
    """[N] Points that seats 0 and 2 pay seats 1 and 3 for the messages among the next actions.

    None: messages are free.
    """
    cost = state.information.cost
    if cost == 0:
        return None
    odd = (state.clock - state.offset) & 1  # 1 where seat 1 or 3 sends
    return (actions > MESSAGE) * (cost - 2 * cost * odd)  # message 0, silence, is free


def note(state: State, action: int) -> None:
    """Writes an answer of all acting seats into the notes and messages that reveal it, in place."""
    state.notes[state.clock] |= _NOTE_OF_ANSWER[action]
    _show_messages(state, np.arange(state.num_games), np.full(state.num_games, action))
