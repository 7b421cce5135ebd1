"""Encodes hands, statuses and public history as integers, and expands ``rulebook`` over them.

A *code* is a multiset of tiles as a mixed-radix integer, one digit a kind (pawns up to 10, lance to
gold up to 4, bishop to king up to 2), so that codes are added and subtracted like the multisets.

A *status* is the public part of the moment, as one small integer: the dealer's first turn; an
attack, the passes since and whether a king lies face up; a pre-play decision; waiting; over.
With ``key = status * 69 + action`` every public consequence of an action is one lookup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Final, get_args

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.arrays import U64, Int
from goita_env.engine import rulebook
from goita_env.engine.rulebook import Ending, Question
from goita_env.information import MAX_BITS, InformationStructure
from goita_env.rules import Rules
from goita_env.tiles import (
    HAND_SIZE,
    KING,
    LANCE,
    MATCH_POINTS,
    MAX_PLAYS,
    NUM_KINDS,
    NUM_SEATS,
    PAWN,
    POINTS,
)

RADIX: Final = (1, 11, 55, 275, 1_375, 6_875, 20_625, 61_875)
"""Weight of one tile of each kind in a code."""
NUM_CODES: Final = 185_625
PAWN_DIGITS: Final = 11
"""code % PAWN_DIGITS is the number of pawns."""
KING_PERMIT: Final = 1 << 18
"""Flag added to a hand's code: this seat may attack with a king whatever lies on the table."""
CODE_MASK: Final = KING_PERMIT - 1


def codes_of(kinds: Int) -> Int:
    """Returns the codes of tiles given as kinds: int64 [...] of int64 [..., n]."""
    return np.asarray(np.array(RADIX)[kinds].sum(axis=-1))


def code_of(counts: Sequence[int]) -> int:
    """Returns the code of a hand, given as the number of tiles of each kind, [8]."""
    return sum(count * radix for count, radix in zip(counts, RADIX, strict=True))


@cache
def code_counts() -> npt.NDArray[np.int8]:
    """[NUM_CODES, 8] How many tiles of each kind every code holds."""
    codes = np.arange(NUM_CODES)
    limits = (*RADIX[1:], NUM_CODES)
    digits = [codes % limit // radix for radix, limit in zip(RADIX, limits, strict=True)]
    return np.stack(digits, axis=1).astype(np.int8)


FRESH: Final = 0
"""The dealer's first turn."""
NUM_ATTACK_STATUSES: Final = 64
CALL_CHOICE: Final = 65
"""A seat with five or more pawns decides: call or silent. From here on: not play."""
CALL_DUTY: Final = 66
CHOOSE: Final = 67
"""The partner of a five-pawn caller decides: redeal or continue."""
WAITING: Final = 68
"""A redeal was decided; the state waits for a deal. From here on no seat acts."""
OVER: Final = 69
NUM_STATUSES: Final = 70
MESSAGE_CHOICE: Final = -1
"""A seat sends its message, in games with messages; a place from the end of the tables."""

QUESTION_ACTIONS: Final = {
    CALL_CHOICE: (actions.CALL, actions.SILENT),
    CALL_DUTY: (actions.CALL,),
    CHOOSE: (actions.REDEAL, actions.CONTINUE),
}


def attack_status(attack: int, passes: int, king_up: bool) -> int:
    """Returns the status after an attack and ``passes``; after three passes its seat leads anew."""
    return 1 + (attack * 4 + passes) * 2 + king_up


# For every seat the engine keeps public facts about it, in the form in which an observation shows
# them: ``notes`` grows bit by bit during the round, ``frame`` is set with the deal.

NOTE_PLAYS: Final = 0
"""Bit e of the notes: play e of the round was this seat's."""
NOTE_PASSES_OPPONENT: Final = NOTE_PLAYS + MAX_PLAYS
"""It passed on an opponent's attack of this kind; kings, which all pass on, are left out."""
NOTE_PASSES_PARTNER: Final = NOTE_PASSES_OPPONENT + NUM_KINDS - 1
"""It passed on its partner's attack of this kind."""
NOTE_CALLED: Final = NOTE_PASSES_PARTNER + NUM_KINDS - 1
NOTE_REDEAL: Final = NOTE_CALLED + 1
NOTE_CONTINUE: Final = NOTE_REDEAL + 1
NOTE_BITS: Final = 32

FRAME_DEALER: Final = 15
"""First of four bits of the frame: the seat of the dealer, counted from the viewer."""
FRAME_OWN_SCORE: Final = 22
"""A thermometer of tens: the points of the viewer's team before the round."""
FRAME_OTHER_SCORE: Final = FRAME_OWN_SCORE + MATCH_POINTS // 10 - 1
SCORE_BITS: Final = MATCH_POINTS // 10 - 1
"""A score before a round is a multiple of ten below 150, whatever a match goes to."""
FRAME_MESSAGES: Final = FRAME_OTHER_SCORE + SCORE_BITS
"""First of three bits a seat, counted from the viewer: its message, if the viewer observes it. They
grow with the messages, before play; in the base game they are zero."""
MESSAGE_BITS: Final = MAX_BITS

# Rows of Tables.moves: what an action does, by key.
PLAYED, FACE_UP, OWN_BITS, SHOWN_BITS, IS_PLAY, PASS_BITS, NEXT = range(7)
# Rows of Tables.asks: what a status lets the acting seat do.
BLOCKS, PERMIT, MAY_PASS = range(3)


@dataclass(frozen=True)
class Tables:
    """The rules of one rule set as arrays; ``K`` = 70 * 69 keys, ``S`` = 70 statuses."""

    pairs: Int
    """[2 * 2**18] Bit 8 * block + attack: the hand (index: code, and KING_PERMIT if a king may
    attack) can play the pair, if the block is allowed."""
    asks: Int
    """[3, S] By status: bits of the pairs whose block is allowed; KING_PERMIT where a king lies
    face up; 1 where the seat may pass."""
    answers: npt.NDArray[np.uint64]
    """[S] Bits of the legal answers to a question, action - 64."""
    moves: Int
    """[7, K] By key: code of the tiles that leave the hand; code of those that come to lie face up;
    the play in 16 bits (block, then attack, one-hot) as its seat sees it; the same as the others
    see it (no block bit where the block lies face down); 1 for a play; a pass as bits of the
    seat's notes; the status after it (questions are left to ``core``)."""
    points: npt.NDArray[np.int16]
    """[K] Points of the round if the hand is now empty."""
    doubled: npt.NDArray[np.bool_]
    """[K] These points are doubled."""
    question: Int
    """[11] Status of the question to a seat, by its number of pawns; 0: it does not act."""
    call_points: npt.NDArray[np.int16]
    """[NUM_CODES] Points of calling this hand of six or more pawns; 0 for all others."""
    call_bits: Int
    """[NUM_CODES] Such a hand laid open as four plays, one-hot; 0 for all others."""
    questions: QuestionTables
    all_tiles: Int
    """[] Code of the deck."""
    last_play: int
    """Shift of a seat's word of plays before its last play, the one that empties its hand."""
    bits: int = 0
    """Bits of a message that each seat sends before the questions, 0: none."""


def tables_of(rules: Rules, information: InformationStructure) -> Tables:
    """Returns the tables of games with these options."""
    bits = information.bits
    return _message_tables(rules, bits) if bits else tables(rules)


@cache
def _message_tables(rules: Rules, bits: int) -> Tables:
    """Puts four questions for a message before all others; a message moves no tile."""
    plain = tables(rules)
    messages = np.array([((1 << (1 << bits)) - 1) << (actions.MESSAGE - 64)], U64)
    return replace(
        plain,
        answers=np.concatenate((plain.answers, messages)),
        questions=_message_questions(plain.questions),
        bits=bits,
    )


@cache
def tables(rules: Rules) -> Tables:
    """Returns the tables of a rule set, built on first use (under 0.2 s) and kept."""
    keys = NUM_STATUSES * actions.NUM_ACTIONS
    blocks, permit, may_pass = asks = np.zeros((3, NUM_STATUSES), np.int64)
    answers = np.zeros(NUM_STATUSES, U64)
    played, face_up, own_bits, shown_bits, is_play, pass_bits, following = moves = np.zeros(
        (7, keys), np.int64
    )
    following[:] = np.repeat(np.arange(NUM_STATUSES), actions.NUM_ACTIONS)  # the status stays
    points, doubled = np.zeros(keys, np.int16), np.zeros(keys, bool)

    def add_plays(status: int, attack: int | None, king_up: bool) -> None:
        """Fills in every pair that may be played; ``attack`` None: the seat leads, face down.

        Whether the hand holds a pair, and may attack with a king, is in ``_pairs``.
        """
        face_down = attack is None
        for block in range(NUM_KINDS):
            if attack is not None and not rulebook.receives(block, attack):
                continue
            # All eight pairs with this block; as uint64, since bit 63 is the sign of an int64.
            blocks[status] |= np.array(0xFF << (8 * block), U64).view(np.int64)
            for new_attack in range(NUM_KINDS):
                key = status * actions.NUM_ACTIONS + actions.encode(block, new_attack)
                up = king_up or new_attack == KING or (block == KING and not face_down)
                following[key] = attack_status(new_attack, 0, up)
                played[key] = RADIX[block] + RADIX[new_attack]
                face_up[key] = RADIX[new_attack] + (0 if face_down else RADIX[block])
                is_play[key] = 1
                own_bits[key] = 1 << block | 1 << (8 + new_attack)
                shown_bits[key] = (0 if face_down else 1 << block) | 1 << (8 + new_attack)
                points[key] = rulebook.finish_points(rules, block, new_attack, face_down)
                doubled[key] = points[key] > POINTS[new_attack]

    add_plays(FRESH, None, False)
    for attack, passes, king_up in product(range(NUM_KINDS), range(4), (False, True)):
        status = attack_status(attack, passes, king_up)
        permit[status] = KING_PERMIT * king_up
        # "If you played an attacking piece and no player played a defense piece, you must play your
        # next defense piece facing down" (booklet C); no pass: pagat, nine-kinds page.
        if passes == 3:
            add_plays(status, None, king_up)
            continue
        may_pass[status] = 1
        key = status * actions.NUM_ACTIONS + actions.PASS
        following[key] = attack_status(attack, passes + 1, king_up)
        if attack != KING:
            note = NOTE_PASSES_PARTNER if passes == 1 else NOTE_PASSES_OPPONENT
            pass_bits[key] = 1 << (note + attack)
        add_plays(status, attack, king_up)
    for status, choices in QUESTION_ACTIONS.items():
        answers[status] = sum(1 << (choice - 64) for choice in choices)

    question = np.zeros(PAWN_DIGITS, np.int64)
    for pawns in range(5, HAND_SIZE + 1):
        question[pawns] = CALL_DUTY if rulebook.must_call(rules, pawns) else CALL_CHOICE
    call_points, call_bits = _calls(rules)
    return Tables(
        pairs=_pairs(rules),
        asks=asks,
        answers=answers,
        moves=moves,
        points=points,
        doubled=doubled,
        question=question,
        call_points=call_points,
        call_bits=call_bits,
        questions=_questions(rules, question),
        all_tiles=np.array(code_of(rules.deck)),
        last_play=8 * (rules.hand_size - 2),  # a tile has eight bits
    )


def _pairs(rules: Rules) -> Int:
    """Returns the bits of the pairs that each hand can play, [2 * 2**18] as ``Tables.pairs``."""
    counts = code_counts()
    size = np.minimum(counts.sum(axis=1), HAND_SIZE)
    pairs = np.zeros((2, KING_PERMIT), U64)
    for permitted in (False, True):
        kings_and_tiles = np.ogrid[:3, : HAND_SIZE + 1]
        may_attack = np.vectorize(rulebook.king_may_attack, excluded={0})
        king_ok = may_attack(rules, *kings_and_tiles, permitted)[counts[:, KING], size]
        for block, attack in product(range(NUM_KINDS), repeat=2):
            playable = counts[:, attack] >= (2 if block == attack else 1)
            playable &= counts[:, block] >= 1
            if attack == KING:
                playable &= king_ok
            pairs[int(permitted), :NUM_CODES] |= playable.astype(U64) << U64(8 * block + attack)
    return pairs.reshape(-1).view(np.int64)


def _calls(rules: Rules) -> tuple[npt.NDArray[np.int16], Int]:
    """Lists points and tiles of the 36 hands of six or more pawns, by code."""
    points, bits = np.zeros(NUM_CODES, np.int16), np.zeros(NUM_CODES, U64)
    for num_others in range(3):
        for other_tiles in combinations_with_replacement(range(LANCE, NUM_KINDS), num_others):
            tiles = [PAWN] * (HAND_SIZE - num_others) + list(other_tiles)
            code = sum(RADIX[tile] for tile in tiles)
            points[code] = rulebook.call_points(rules, HAND_SIZE - num_others, other_tiles)
            bits[code] = sum(1 << (8 * place + tile) for place, tile in enumerate(tiles))
    return points, bits.view(np.int64)


PLAY, REDEALT, CALLED, FIVES = range(4)
"""Numbers of the four endings of the questions; the questions follow."""

_ENDINGS: Final[tuple[Ending, ...]] = get_args(Ending)
_SEAT_BITS: Final = np.array([1, 2, 4, 8], dtype=np.int64)


@dataclass(frozen=True)
class QuestionTables:
    """Every question of a rule set by number; ``Q`` numbers, the endings among them."""

    first: Int
    """[4 * 32] Number by 32 * dealer + 2 * (bits of the seats with five or more) + (any six)."""
    next: Int
    """[Q * 69] Number after an answer."""
    status: Int
    """[Q] Status of the tables."""
    seat: Int
    """[Q] The acting seat, counted from the dealer; 0, the dealer, where play begins."""
    num_actions: int = actions.NUM_ACTIONS
    """Numbers after answers are listed by ``question * num_actions + action``."""
    always: bool = False
    """Every deal has a question."""

    def opening(self, dealer: Int, pawns: Int) -> Int:
        """[n] Number of each deal's first question, PLAY for none; ``pawns``: [n, 4] by seat."""
        holders = 2 * ((pawns >= 5) @ _SEAT_BITS) + (pawns > 5).any(axis=1)
        return np.asarray(self.first[32 * dealer + holders])


def _questions(rules: Rules, status_of: Int) -> QuestionTables:
    """Numbers the questions of a rule set; ``status_of``: [11] as ``Tables.question``.

    The endings have the numbers 0 to 3. Each question gets its number when an answer first leads
    to it.
    """
    statuses = {PLAY: FRESH, REDEALT: WAITING, CALLED: OVER, FIVES: OVER}
    numbers: dict[Question, int] = {}
    following: dict[tuple[int, int], int] = {}

    def number(result: Question | Ending) -> int:
        """Returns the number of a question or ending; a new question is listed with its answers."""
        if not isinstance(result, Question):
            return _ENDINGS.index(result)
        if result not in numbers:
            here = numbers[result] = len(_ENDINGS) + len(numbers)
            statuses[here] = CHOOSE if result.choosing else int(status_of[5 + result.six_or_more])
            for action in QUESTION_ACTIONS[statuses[here]]:
                following[here, action] = number(rulebook.answer(rules, result, action))
        return numbers[result]

    first = np.zeros(NUM_SEATS * 32, np.int64)
    for size in (1, 2):
        for holders in combinations(range(NUM_SEATS), size):
            for six_or_more in (False, True) if size == 1 else (False,):
                start = number(Question(holders, six_or_more, (), holders[0]))
                for dealer in range(NUM_SEATS):
                    # ``holders`` count from the dealer, the bits from seat 0.
                    bits = sum(1 << (dealer + seat) % NUM_SEATS for seat in holders)
                    first[32 * dealer + 2 * bits + six_or_more] = start
    after = np.repeat(np.arange(len(statuses)), actions.NUM_ACTIONS)
    for (here, action), next_number in following.items():
        after[here * actions.NUM_ACTIONS + action] = next_number
    # Both by number: the endings come first, then the questions in the order of ``numbers``.
    seats = [0] * len(_ENDINGS) + [question.seat for question in numbers]
    status = [statuses[here] for here in range(len(statuses))]
    return QuestionTables(first=first, next=after, status=np.array(status), seat=np.array(seats))


def _message_questions(plain: QuestionTables) -> QuestionTables:
    """Puts four questions, for a message of each seat, before the first question or before play.

    While m messages are still to come, the numbers of ``plain`` are raised by m * Q. Each message
    takes Q away, until the deal's first question, or play, is reached.
    """
    size, levels = len(plain.status), NUM_SEATS + 1
    # An action that does not answer the question leaves its number as it is.
    after = np.arange(levels * size)[:, None].repeat(actions.MAX_ACTIONS, axis=1)
    after[:size, : actions.NUM_ACTIONS] = plain.next.reshape(size, actions.NUM_ACTIONS)
    after[size:, actions.MESSAGE :] -= size
    senders = NUM_SEATS - np.arange(1, levels)  # by m, counted from the dealer, who is the first
    return QuestionTables(
        first=plain.first + NUM_SEATS * size,
        next=after.reshape(-1),
        status=np.concatenate((plain.status, np.full(NUM_SEATS * size, MESSAGE_CHOICE))),
        seat=np.concatenate((plain.seat, senders.repeat(size))),
        num_actions=actions.MAX_ACTIONS,
        always=True,
    )
