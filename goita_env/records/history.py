"""Reads and writes the history string of goita-core: one deal a line, passes included.

::

    11124559,11122347,13445667,11123358,s3,346,483,194,243,336,4p,1p,2p,351,4p,112,227,374

Four hands, the dealer after an ``s``, then the moves: a seat with ``p`` for a pass, or with a block
and an attack. Seats are counted from 1 here, and tiles are digits, 8 and 9 the two kings 王 and 玉.
A hand with six pawns or more and no moves: its call ended the round. Names, scores and all other
pre-play decisions are not stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from goita_env import actions
from goita_env.errors import RecordError
from goita_env.records.building import build_record, check_text, naming
from goita_env.records.model import (
    DealRecord,
    Move,
    Record,
    brief,
    check_plain,
    has_entry,
    mark_kings,
)
from goita_env.rules import Rules, get_rules
from goita_env.tiles import DIGITS, KING, NUM_SEATS, PAWN, SECOND_KING_DIGIT

_KINGS: Final = (DIGITS[KING], SECOND_KING_DIGIT)
_TILES: Final = DIGITS + SECOND_KING_DIGIT
_SEAT_DIGITS: Final = "1234"
_LINE_FORM: Final = "four hands, s with the dealer's seat, and moves"


def loads(
    text: str, *, rules: str | Rules = "jga", strict: bool = True, source: str = ""
) -> Record:
    """Reads a record, a deal in each line.

    Args:
        text: the lines; empty ones are skipped.
        rules: the rule set under which the record is replayed.
        strict: raise at the first malformed deal. False: collect malformed deals and illegal moves
            in ``Record.problems``, and keep the moves before them in the deal.
        source: name of the file for messages.

    Raises:
        RecordError: if there is no line or, if strict, a malformed one. Illegal moves are found by
            ``replay``.
        SettingError: if the rule set is unknown.
    """
    rule_set = get_rules(rules)
    with naming(source):
        lines = (line.strip() for line in check_text(text).splitlines())
        entries = [line for line in lines if line]
        if not entries:
            raise RecordError("expected a deal in each line, got no line")
    return build_record(
        entries,
        lambda line: _read_deal(_fields(line), rule_set),
        lambda line: _read_moves(_fields(line)),
        strict=strict,
        source=source,
    )


def dumps(record: Record) -> str:
    """Writes a record, a deal in each line, hands sorted.

    Names, scores and pre-play decisions are left out, and so are deals that a special hand
    decided, except by six pawns or more: such a hand without plays reads as called. If no deal is
    left the text is empty, which ``loads`` refuses. A king is written as that of the seat's hand.

    Raises:
        RecordError: if a move before play is illegal, or a deal is not of the base game.
    """
    check_plain(record, "the history string")
    return "\n".join(
        _write_deal(deal)
        for deal in record.deals
        if has_entry(deal) or any(map(_many_pawns, deal.hands))
    )


def _fields(line: str) -> list[str]:
    """Returns the fields of a line without blanks; commas at its end begin no field."""
    return [field.strip() for field in line.rstrip(", ").split(",")]


def _read_deal(fields: list[str], rules: Rules) -> DealRecord:
    """Reads a deal without its moves."""
    if len(fields) <= NUM_SEATS:
        raise RecordError(f"expected {_LINE_FORM}, got {brief(','.join(fields))}")
    *hands, dealer = fields[: NUM_SEATS + 1]
    if len(dealer) != 2 or dealer[0] != "s" or dealer[1] not in _SEAT_DIGITS:
        raise RecordError(f"expected the dealer as s1 to s4, got {brief(dealer)}")
    return DealRecord(
        hands=tuple(hands),
        dealer=_SEAT_DIGITS.index(dealer[1]),
        rules=rules,
        second_king_first=_second_king_first(hands, fields[NUM_SEATS + 1 :]),
    )


def _many_pawns(hand: str) -> bool:
    return hand.count(DIGITS[PAWN]) > 5


def _second_king_first(hands: list[str], moves: list[str]) -> bool:
    for seat, hand in zip(_SEAT_DIGITS, hands, strict=True):
        if all(king in hand for king in _KINGS):
            played = "".join(move[1:] for move in moves if move.startswith(seat))
            return [tile for tile in played if tile in _KINGS][:1] == [SECOND_KING_DIGIT]
    return False


def _read_moves(fields: list[str]) -> Iterator[Move]:
    if len(fields) == NUM_SEATS + 1:  # hands and dealer only: a call of six or more pawns
        yield from ((seat, actions.CALL) for seat, hand in enumerate(fields) if _many_pawns(hand))
    for move in fields[NUM_SEATS + 1 :]:
        seat, tiles = move[:1], move[1:]
        if not seat or seat not in _SEAT_DIGITS:
            raise RecordError(f"expected a move of a seat 1 to 4, got {brief(move)}")
        if tiles != "p" and (len(tiles) != 2 or not set(tiles) <= set(_TILES)):
            raise RecordError(
                f"expected a pass ({seat}p) or a block and an attack ({seat}52), got {brief(move)}"
            )
        yield _SEAT_DIGITS.index(seat), actions.parse(tiles)


def _write_deal(deal: DealRecord) -> str:
    """Returns the line of a deal."""
    hands = mark_kings(deal.hands)
    kings = [[tile for tile in _KINGS if tile in hand] for hand in hands]
    fields = [*("".join(sorted(hand)) for hand in hands), f"s{_SEAT_DIGITS[deal.dealer]}"]
    for seat, action in deal.moves:
        if action >= actions.CALL:  # a pre-play decision, which the notation does not store
            continue
        tiles = ""
        for tile in actions.name(action):
            # Each king of the seat is written once; the record says which of two comes first.
            unwritten = kings[seat] if tile in _KINGS else []
            tiles += unwritten.pop(-1 if deal.second_king_first else 0) if unwritten else tile
        fields.append(_SEAT_DIGITS[seat] + tiles)
    return ",".join(fields)
