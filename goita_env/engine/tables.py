"""Turns the rules into lookup tables: expands ``rulebook`` over hands, statuses and actions.

A *code* is a multiset of tiles as a mixed-radix integer, one digit a kind (pawns up to 10, lance to
gold up to 4, bishop to king up to 2), so that codes are added and subtracted like the multisets.

A *status* is what everybody knows of the moment, as one small integer: the dealer's first turn; an
attack, the passes since and whether a king lies face up; a question before play; waiting; over.
With ``key = status * 69 + action`` every public consequence of an action is one lookup.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.history import NOTE_PASSES_OPPONENT, NOTE_PASSES_PARTNER
from goita_env.engine.rulebook import (
    call_points,
    finish_points,
    king_may_attack,
    must_call,
    receives,
)
from goita_env.rules import Rules
from goita_env.tiles import COUNTS, HAND_SIZE, KING, LANCE, NUM_KINDS, PAWN, POINTS

U64 = np.uint64
I64 = np.int64

# ------------------------------------------------------------------------------------------- codes

RADIX: Final = (1, 11, 55, 275, 1_375, 6_875, 20_625, 61_875)
"""Weight of one tile of each kind in a code."""

NUM_CODES: Final = 185_625
PAWN_DIGITS: Final = 11
"""code % PAWN_DIGITS is the number of pawns."""

KING_PERMIT: Final = 1 << 18
"""Flag beside a hand's code: this seat may attack with a king whatever lies on the table."""

CODE_MASK: Final = KING_PERMIT - 1
ALL_TILES: Final = sum(count * radix for count, radix in zip(COUNTS, RADIX, strict=True))
"""Code of the whole set."""


def codes_of(kinds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Returns the codes of tiles given as kinds: int64 [...] of int64 [..., n]."""
    codes: npt.NDArray[np.int64] = np.array(RADIX)[kinds].sum(axis=-1)
    return codes


# ------------------------------------------------------------------------------------------ status

FRESH: Final = 0
"""The dealer's first turn."""

NUM_ATTACK_STATUSES: Final = 64
CALL_CHOICE: Final = 65
"""A seat with five or more pawns is asked: call or silent. From here on: not play."""

CALL_DUTY: Final = 66
CHOOSE: Final = 67
"""The partner of a five-pawn caller is asked: redeal or continue."""

WAITING: Final = 68
"""A redeal was decided; the state waits for a deal. From here on nobody is asked."""

OVER: Final = 69
NUM_STATUSES: Final = 70

QUESTION_ACTIONS: Final = {
    CALL_CHOICE: (actions.CALL, actions.SILENT),
    CALL_DUTY: (actions.CALL,),
    CHOOSE: (actions.REDEAL, actions.CONTINUE),
}


def attack_status(attack: int, passes: int, king_up: bool) -> int:
    """Returns the status of an attack with so many passes since; three: its seat leads anew."""
    return 1 + (attack * 4 + passes) * 2 + king_up


Status = TypeVar("Status", int, npt.NDArray[np.int64])
"""One status of an attack, or many."""


def attack_of(status: Status) -> Status:
    """Returns the kind of the last attack, from a status of an attack."""
    return (status - 1) // 8


def passes_of(status: Status) -> Status:
    """Returns the passes since the last attack, 0 to 3."""
    return (status - 1) // 2 % 4


def king_up_of(status: Status) -> Status:
    """Returns 1 where a king lies face up, else 0."""
    return (status - 1) % 2


# Rows of Tables.moves: what an action does, by key.
PLAYED, FACE_UP, OWN_BITS, SHOWN_BITS, IS_PLAY, PASS_BITS, NEXT = range(7)
# Rows of Tables.asks: what a status lets the asked seat do.
BLOCKS, PERMIT, MAY_PASS = range(3)


@dataclass(frozen=True)
class Tables:
    """Holds the rules of one rule set as arrays; ``K`` = 70 * 69 keys, ``S`` = 70 statuses."""

    rules: Rules
    pairs: npt.NDArray[np.int64]
    """[2 * 2**18] Bit 8 * block + attack: the hand (index: code, and KING_PERMIT if a king may
    attack) can play the pair, if the block is allowed."""
    asks: npt.NDArray[np.int64]
    """[3, S] By status: bits of the pairs whose block is allowed; KING_PERMIT where a king lies
    face up; 1 where the seat may pass."""
    answers: npt.NDArray[np.uint64]
    """[S] Bits of the legal answers to a question, action - 64."""
    moves: npt.NDArray[np.int64]
    """[7, K] By key: code of the tiles that leave the hand; code of those that come to lie face up;
    the play in 16 bits (block, then attack, one-hot) as its seat sees it; the same as the others
    see it (no block bit where the block lies face down); 1 for a play; a pass as bits of the
    seat's notes; the status after it (questions are left to ``core``)."""
    points: npt.NDArray[np.int16]
    """[K] Points of the round if the hand is now empty."""
    doubled: npt.NDArray[np.bool_]
    """[K] These points are doubled."""
    question: npt.NDArray[np.int64]
    """[11] Status by which a seat with so many pawns is asked before play, 0: it is not."""
    call_points: npt.NDArray[np.int16]
    """[NUM_CODES] Points of calling this hand of six or more pawns; 0 for all others."""
    call_bits: npt.NDArray[np.int64]
    """[NUM_CODES] Such a hand laid open as four plays, one-hot; 0 for all others."""


@cache
def tables(rules: Rules) -> Tables:
    """Returns the tables of a rule set, built on first use (under 0.2 s) and kept."""
    keys = NUM_STATUSES * actions.NUM_ACTIONS
    blocks, permit, may_pass = asks = np.zeros((3, NUM_STATUSES), I64)
    answers = np.zeros(NUM_STATUSES, U64)
    played, face_up, own_bits, shown_bits, is_play, pass_bits, following = moves = np.zeros(
        (7, keys), I64
    )
    following[:] = np.repeat(np.arange(NUM_STATUSES), actions.NUM_ACTIONS)
    points, doubled = np.zeros(keys, np.int16), np.zeros(keys, bool)

    def add_plays(status: int, attack: int | None, king_up: bool) -> None:
        """Fills in every pair that may be played; ``attack`` None: the seat leads, face down."""
        for block in range(NUM_KINDS):
            if attack is not None and not receives(block, attack):
                continue
            blocks[status] |= np.array(0xFF << (8 * block), U64).view(I64)
            for new in range(NUM_KINDS):
                key = status * actions.NUM_ACTIONS + actions.encode(block, new)
                face_down = attack is None
                up = king_up or new == KING or (block == KING and not face_down)
                following[key] = attack_status(new, 0, up)
                played[key] = RADIX[block] + RADIX[new]
                face_up[key] = RADIX[new] + (0 if face_down else RADIX[block])
                is_play[key] = 1
                own_bits[key] = 1 << block | 1 << (8 + new)
                shown_bits[key] = (0 if face_down else 1 << block) | 1 << (8 + new)
                points[key] = finish_points(rules, block, new, face_down)
                doubled[key] = points[key] > POINTS[new]

    add_plays(FRESH, None, False)
    for attack in range(NUM_KINDS):
        for king_up in (False, True):
            for passes in range(3):
                status = attack_status(attack, passes, king_up)
                permit[status] = KING_PERMIT * king_up
                may_pass[status] = 1
                key = status * actions.NUM_ACTIONS + actions.PASS
                following[key] = attack_status(attack, passes + 1, king_up)
                if attack != KING:
                    note = NOTE_PASSES_PARTNER if passes == 1 else NOTE_PASSES_OPPONENT
                    pass_bits[key] = 1 << (note + attack)
                add_plays(status, attack, king_up)
            # "If you played an attacking piece and no player played a defense piece, you must play
            # your next defense piece facing down" (booklet C); no pass: pagat, nine-kinds page.
            status = attack_status(attack, 3, king_up)
            permit[status] = KING_PERMIT * king_up
            add_plays(status, None, king_up)
    for status, choices in QUESTION_ACTIONS.items():
        answers[status] = sum(1 << (answer - 64) for answer in choices)

    question = np.zeros(PAWN_DIGITS, I64)
    for pawns in range(5, HAND_SIZE + 1):
        question[pawns] = CALL_DUTY if must_call(rules, pawns) else CALL_CHOICE
    call_points, call_bits = _calls(rules)
    return Tables(
        rules,
        _pairs(rules),
        asks,
        answers,
        moves,
        points,
        doubled,
        question,
        call_points,
        call_bits,
    )


@cache
def code_counts() -> npt.NDArray[np.int8]:
    """Returns how many tiles of each kind every code holds: int8 [NUM_CODES, 8]."""
    codes = np.arange(NUM_CODES)
    limits = (*RADIX[1:], NUM_CODES)
    digits = [codes % limit // radix for radix, limit in zip(RADIX, limits, strict=True)]
    return np.stack(digits, axis=1).astype(np.int8)


def _pairs(rules: Rules) -> npt.NDArray[np.int64]:
    """Expands holding a pair, and ``king_may_attack``, over all hands."""
    counts = code_counts()
    size = counts.sum(axis=1)
    pairs = np.zeros((2, KING_PERMIT), U64)
    for permitted in (False, True):
        king = np.array(
            [
                [king_may_attack(rules, kings, tiles, permitted) for tiles in range(HAND_SIZE + 1)]
                for kings in range(3)
            ]
        )
        king_ok = king[counts[:, KING], np.minimum(size, HAND_SIZE)]
        bits = np.zeros(NUM_CODES, U64)
        for block in range(NUM_KINDS):
            for attack in range(NUM_KINDS):
                held = counts[:, attack] >= (2 if block == attack else 1)
                held &= counts[:, block] >= 1
                if attack == KING:
                    held &= king_ok
                bits |= held.astype(U64) << U64(8 * block + attack)
        pairs[int(permitted), :NUM_CODES] = bits
    return pairs.reshape(-1).view(I64)


def _calls(rules: Rules) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int64]]:
    """Lists points and tiles of the 36 hands of six or more pawns, by code."""
    points, bits = np.zeros(NUM_CODES, np.int16), np.zeros(NUM_CODES, I64)
    kinds = range(LANCE, NUM_KINDS)
    others: list[tuple[int, ...]] = [(), *((one,) for one in kinds)]
    others += [(one, two) for one in kinds for two in kinds if one <= two]
    for rest in others:
        pawns = HAND_SIZE - len(rest)
        code = pawns * RADIX[PAWN] + sum(RADIX[kind] for kind in rest)
        points[code] = call_points(rules, pawns, rest)
        tiles = [PAWN] * pawns + list(rest)
        bits[code] = np.array(sum(1 << (8 * n + tile) for n, tile in enumerate(tiles)), U64).view(
            I64
        )
    return points, bits
