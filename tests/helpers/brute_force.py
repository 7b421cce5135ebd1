"""Values the last turns of a round by trying everything: what a perfect solver is checked against.

It is written from the text of the rules alone, and shares no code with the packages. All
four hands lie open here. Tiles are the digits of records: 1 pawn, 2 lance, 3 knight, 4 silver,
5 gold, 6 bishop, 7 rook, 8 king. There is no pruning; what has been valued once is only remembered.
"""

import itertools
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from oracle import Referee

DIGITS = "12345678"
KING = "8"
POINTS = dict(zip(DIGITS, (10, 20, 20, 30, 30, 40, 40, 50), strict=True))

RECEIVERS = {"1": "1", "2": "2", "3": "38", "4": "48", "5": "58", "6": "68", "7": "78", "8": ""}
"""What receives each attack: the same kind, or a king, but for pawn, lance and king."""

PASS = "p"
THREE_PASSES = 3

# A king may be the eighth tile; the second king goes after the first went face down; two kings are
# alike (the table of fields).
KING_MAY_BE_LAST = {"jga": True, "pagat": False, "nine": False}
SECOND_KING_AFTER_FACE_DOWN = {"jga": True, "pagat": False, "nine": False}
KINGS_ARE_ALIKE = {"jga": True, "pagat": True, "nine": False}


class Position(NamedTuple):
    """Holds what matters to the end of a round, seats counted from the one whose turn it is."""

    hands: tuple[str, str, str, str]
    """Digits in hand, sorted: the mover's, the next seat's, the partner's, the seat's before."""
    attack: str
    """The last attack; empty if the mover leads."""
    passes: int
    """Passes since; three if the mover leads, as the dealer does in the first turn."""
    king_up: bool
    """A king lies face up."""
    both_kings: int | None
    """The seat that was dealt both kings, counted from the mover; None: nobody was."""


def number(move: str) -> int:
    """Returns the action of a pass or of a block and an attack: 0, or 1 + 8 * block + attack."""
    return 0 if move == PASS else 1 + 8 * DIGITS.index(move[0]) + DIGITS.index(move[1])


def without(hand: str, tile: str) -> str:
    """Returns a hand less one tile."""
    return hand.replace(tile, "", 1)


class BruteForce:
    """Plays out everything under one rule set ("jga", "pagat", "nine")."""

    def __init__(self, rules: str) -> None:
        self.rules = rules
        self.known: dict[Position, int] = {}
        self.reached: dict[tuple[Position, int], bool] = {}

    def values(self, position: Position) -> dict[int, int]:
        """Returns the points of each legal action for the mover's team, all playing perfectly."""
        return {number(move): self.after(position, move) for move in self.moves(position)}

    def value(self, position: Position) -> int:
        """Returns the points of a position for the mover's team: those of its best move."""
        if position not in self.known:
            moves = self.moves(position)
            self.known[position] = max(self.after(position, move) for move in moves)
        return self.known[position]

    def moves(self, position: Position) -> list[str]:
        """Lists what the mover may do: a pass if it needn't lead, and every legal pair."""
        hand, leads = position.hands[0], position.passes == THREE_PASSES
        moves = [] if leads else [PASS]
        for block in sorted(set(hand)):
            if leads or block in RECEIVERS[position.attack]:
                rest = without(hand, block)
                king = KING in rest and self.king_may_attack(position, block)
                moves += [block + attack for attack in sorted(set(rest)) if attack != KING or king]
        return moves

    def king_may_attack(self, position: Position, block: str) -> bool:
        """Tells whether the mover may attack with a king after this block."""
        hand, leads = position.hands[0], position.passes == THREE_PASSES
        if position.king_up or (block == KING and not leads):
            return True  # one lies face up, if only since this block
        if position.both_kings == 0 and SECOND_KING_AFTER_FACE_DOWN[self.rules]:
            return True
        return hand.count(KING) == 2 or (len(hand) == 2 and KING_MAY_BE_LAST[self.rules])

    def play(self, position: Position, move: str) -> int | Position:
        """Returns the position after a move, the next seat's turn; the points if it ends here."""
        (hand, *others), attack, passes, king_up, both_kings = position
        if both_kings is not None:
            both_kings = (both_kings - 1) % 4
        if move == PASS:
            if passes == THREE_PASSES - 1:
                attack = ""  # it comes back to its seat, which leads: any block
            return Position((*others, hand), attack, passes + 1, king_up, both_kings)
        block, attack = move
        face_down = passes == THREE_PASSES
        hand = without(without(hand, block), attack)
        if not hand:
            alike = block == attack and (block != KING or KINGS_ARE_ALIKE[self.rules])
            return POINTS[attack] * (2 if face_down and alike else 1)
        king_up = king_up or attack == KING or (block == KING and not face_down)
        return Position((*others, hand), attack, 0, king_up, both_kings)

    def after(self, position: Position, move: str) -> int:
        """Returns the points for the mover's team once it has made a move."""
        result = self.play(position, move)
        # The next seat is an opponent: what it gains, the mover's team loses.
        return result if isinstance(result, int) else -self.value(result)

    def reaches(self, position: Position, points: int) -> bool:
        """Tells whether the mover's team can get so many points or more.

        This is the one short cut, for positions too large for ``value``: the first move that is
        good enough ends the search. Points are multiples of ten.
        """
        key = position, points
        if key not in self.reached:
            moves = reversed(self.moves(position))
            self.reached[key] = any(
                self.is_enough(self.play(position, move), points) for move in moves
            )
        return self.reached[key]

    def is_enough(self, result: int | Position, points: int) -> bool:
        """Tells whether a move that led to this result reaches so many points."""
        if isinstance(result, int):
            return result >= points
        return not self.reaches(result, 10 - points)  # more than -points for the opponents


@dataclass(frozen=True)
class Late:
    """Holds a position late in a round, and how it came about."""

    rules: str
    hands: tuple[tuple[int, ...], ...]
    """Kinds dealt to each seat."""
    dealer: int
    log: tuple[tuple[int, int], ...]
    """(seat, action) of every decision so far, pre-play decisions included."""
    seat: int
    """The seat whose turn it is."""
    position: Position


def position_of(referee: Referee) -> Position:
    """Returns the position of a referee who waits for a turn."""
    seat = referee.seat
    order = [(seat + step) % 4 for step in range(4)]
    leads = referee.attacker in (None, seat)
    return Position(
        hands=tuple("".join(sorted(DIGITS[kind] for kind in referee.hands[i])) for i in order),
        attack="" if leads else DIGITS[referee.attack],
        passes=THREE_PASSES if leads else (seat - referee.attacker - 1) % 4,
        king_up=any(DIGITS.index(KING) in tiles for tiles in referee.table_up),
        both_kings=next((i for i in range(4) if referee.dealt_both_kings[order[i]]), None),
    )


def late_positions(
    rules: str, count: int, seed: int, tiles: Collection[int], each: int = 3
) -> Iterator[Late]:
    """Yields positions from rounds of random deals and random legal moves.

    So that the rules on kings come to matter late, in two rounds of three kings are only laid face
    down as long as there is anything else to do, and in one of these two a seat is dealt both.

    Args:
        rules: the rule set.
        count: how many.
        seed: of deals and moves.
        tiles: how many tiles are left in all.
        each: most positions of a round.
    """
    rng = random.Random(seed)
    pack = [kind for kind, many in enumerate((10, 4, 4, 4, 4, 2, 2, 2)) for _ in range(many)]
    for turn in itertools.cycle(range(3)):
        if count <= 0:
            return
        rng.shuffle(pack)
        if turn == 0:
            one, other = (place for place in range(32) if pack[place] == 7)
            beside = one // 8 * 8 + (one + rng.randrange(1, 8)) % 8  # another place in that hand
            pack[beside], pack[other] = pack[other], pack[beside]
        hands = tuple(tuple(pack[8 * seat : 8 * seat + 8]) for seat in range(4))
        found = list(_late_in_a_round(rules, hands, rng, tiles, turn < 2))
        for late in rng.sample(found, min(each, count, len(found))):
            count -= 1
            yield late


def _late_in_a_round(
    rules: str,
    hands: tuple[tuple[int, ...], ...],
    rng: random.Random,
    tiles: Collection[int],
    spare_kings: bool,
) -> Iterator[Late]:
    """Plays a round at random and yields its late positions."""
    referee = Referee(rules, hands, dealer := rng.randrange(4))
    while referee.seat is not None:
        legal = referee.legal_actions()
        if referee.phase == "play":
            if sum(map(len, referee.hands)) in tiles:
                log = tuple(referee.log)
                yield Late(rules, hands, dealer, log, referee.seat, position_of(referee))
            if spare_kings:
                leads = legal[0] != number(PASS)
                legal = [a for a in legal if not _shows_a_king(a, leads)] or legal
        referee.play(rng.choice(legal))


def _shows_a_king(action: int, leads: bool) -> bool:
    """Tells whether a king comes to lie face up, the block being face down if the mover leads."""
    block, attack = divmod(action - 1, 8)
    return action != number(PASS) and 7 in ((attack,) if leads else (block, attack))
