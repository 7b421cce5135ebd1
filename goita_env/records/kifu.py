"""Reads and writes the YAML kifu of Goita Online: one match in a file, deals in order.

::

    version: 1.0
    p0: "north"
    p1: "east"
    p2: "south"
    p3: "west"
    log:
     - hand:
         p0: "ししし玉金金銀香"
         p1: "ししし銀飛香香馬"
         p2: "し角角金銀銀飛馬"
         p3: "ししし王金香馬馬"
       uchidashi: 2
       score: [0,0]
       game:
        - ["2","銀","角"]
        - ["3","王","馬"]

``uchidashi`` is the dealer, ``score`` the two teams' points before the deal, a row of ``game`` a
seat, its block and its attack. Passes are left out and follow from the next seat. Either king is
written 王 in a row. Deals that a special hand decided leave no entry. Quotes make no difference. A
``score`` that no game can have is read as 0:0 and becomes a note of the record; other keys are not
read.
Reading needs PyYAML, the extra ``goita-env[records]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from goita_env import actions
from goita_env.errors import RecordError, naming_extras
from goita_env.records.building import build_record, check_text, naming, score_notes, scores_of
from goita_env.records.model import (
    DealRecord,
    Move,
    Problem,
    Record,
    brief,
    check_plain,
    has_entry,
    mark_kings,
)
from goita_env.rules import Rules, get_rules
from goita_env.tiles import (
    CHARACTERS,
    DIGITS,
    KING,
    NUM_SEATS,
    SECOND_KING_CHARACTER,
    SECOND_KING_DIGIT,
)

_KIFU_VERSION: Final = "1.0"
_EMPTY_VALUES: Final = (None, "", "~", "null")
"""Values of an absent or empty key, and of YAML's null."""
_SEAT_DIGITS: Final = tuple(map(str, range(NUM_SEATS)))
_PLAYERS: Final = tuple(f"p{seat}" for seat in range(NUM_SEATS))
_TILES: Final = CHARACTERS + SECOND_KING_CHARACTER
_DIGITS: Final = DIGITS + SECOND_KING_DIGIT
_TO_DIGITS: Final = str.maketrans(_TILES, _DIGITS)
_TO_CHARACTERS: Final = str.maketrans(_DIGITS, _TILES)
_KINDS: Final = {tile: min(kind, KING) for kind, tile in enumerate(_TILES)}


def loads(
    text: str, *, rules: str | Rules = "jga", strict: bool = True, source: str = ""
) -> Record:
    """Reads a record: a match, one entry for each deal; arguments as in ``history.loads``.

    The text may begin with a byte order mark.

    Raises:
        RecordError: if it is not such a YAML text or, if strict, a deal is malformed. Illegal moves
            are found by ``replay``.
        SettingError: if the rule set is unknown.
        ImportError: if PyYAML is missing.
    """
    rule_set = get_rules(rules)
    with naming(source):
        root = _parse(check_text(text))
        players = tuple(_name(root, player) for player in _PLAYERS)
        entries = _entries(root)
    return build_record(
        entries,
        lambda entry: _read_deal(entry, rule_set),
        _read_moves,
        strict=strict,
        source=source,
        players=players,
        notes=score_notes(entries, "score", rule_set),
    )


def dumps(record: Record) -> str:
    """Writes a record; the tiles of a hand are sorted by the code points of their characters.

    Passes and pre-play decisions are left out, and so are deals that a special hand decided. The
    passes at the end of a deal that breaks off are lost. The text has no byte order mark, with
    which the original's files begin; write those with encoding "utf-8-sig".

    Raises:
        RecordError: if a deal's passes are not those between its plays, or if a deal is not of the
            base game.
    """
    check_plain(record, "the YAML kifu")
    names = (f"p{seat}: {_quoted(name)}" for seat, name in enumerate(record.players))
    deals = (_write_deal(deal, record.source) for deal in record.deals if has_entry(deal))
    return "\n".join([f"version: {_KIFU_VERSION}", *names, "log:", *deals, ""])


def _parse(text: str) -> dict[str, Any]:
    """Returns the mapping of a YAML text, all values as texts, lists and mappings."""
    with naming_extras():
        import yaml

    class Plain(yaml.BaseLoader):
        """A loader that reads texts, lists and mappings, without aliases."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            # Aliases of aliases can make a short text expand to any size.
            if self.check_event(yaml.AliasEvent):
                raise RecordError("expected plain YAML, got an alias")
            return super().compose_node(parent, index)

    try:
        root = yaml.load(text, Plain)
    except RecordError:
        raise
    except Exception as error:  # YAMLError, and other errors that odd directives cause
        raise RecordError(f"expected YAML, got: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(root, dict):
        raise RecordError(f"expected version, p0 to p3 and log, got {brief(root)}")
    return root


def _name(root: dict[str, Any], player: str) -> str:
    if (name := root.get(player)) in _EMPTY_VALUES:
        return ""
    if not isinstance(name, str):
        raise RecordError(f"expected the name {player}, got {brief(name)}")
    return name


def _entries(root: dict[str, Any]) -> list[Any]:
    version = root.get("version", _KIFU_VERSION)
    if version not in (_KIFU_VERSION, "1"):
        raise RecordError(f"expected version {_KIFU_VERSION}, got {brief(version)}")
    if "log" not in root:
        raise RecordError(f"expected log, a list of deals, got {brief(sorted(map(str, root)))}")
    log = [] if root["log"] in _EMPTY_VALUES else root["log"]
    if not isinstance(log, list):
        raise RecordError(f"expected log, a list of deals, got {brief(log)}")
    return log


def _read_deal(entry: object, rules: Rules) -> DealRecord:
    """Reads a deal without its moves."""
    if not isinstance(entry, dict):
        raise RecordError(
            f"expected a deal with hand, uchidashi, score and game, got {brief(entry)}"
        )
    hand = entry.get("hand")
    if not isinstance(hand, dict) or not all(isinstance(hand.get(p), str) for p in _PLAYERS):
        raise RecordError(f"expected hand with the tiles of p0 to p3, got {brief(hand)}")
    hands = []
    for player in _PLAYERS:
        if unknown := [tile for tile in hand[player] if tile not in _KINDS]:
            raise RecordError(
                f"expected tiles of {_TILES} for {player}, got {brief(unknown[0])} "
                f"in {brief(hand[player])}"
            )
        hands.append(hand[player].translate(_TO_DIGITS))
    if (dealer := entry.get("uchidashi")) not in _SEAT_DIGITS:
        raise RecordError(f"expected uchidashi, the dealer's seat 0 to 3, got {brief(dealer)}")
    scores = scores_of(entry.get("score"), rules) or (0, 0)
    return DealRecord(hands=tuple(hands), dealer=int(dealer), scores=scores, rules=rules)


def _read_moves(entry: dict[str, Any]) -> Iterator[Move]:
    rows = [] if entry.get("game") in _EMPTY_VALUES else entry["game"]
    if not isinstance(rows, list):
        raise RecordError(f"expected game, a list of plays, got {brief(rows)}")
    yield from _with_passes(map(_read_row, rows))


def _read_row(row: object) -> Move:
    if not isinstance(row, list) or len(row) != 3:
        raise RecordError(f"expected a seat, a block and an attack, got {brief(row)}")
    seat, *tiles = row
    if seat not in _SEAT_DIGITS:
        raise RecordError(f"expected a seat 0 to 3, got {brief(seat)} in {brief(row)}")
    for tile in tiles:
        if not isinstance(tile, str) or tile not in _KINDS:
            raise RecordError(f"expected a tile, got {brief(tile)} in {brief(row)}")
    block, attack = (_KINDS[tile] for tile in tiles)
    return int(seat), actions.encode(block, attack)


def _with_passes(plays: Iterable[Move]) -> Iterator[Move]:
    """Yields plays with the passes between them: all seats between one play's and the next's."""
    before: int | None = None
    for seat, action in plays:
        if before is not None:
            passes = (seat - before - 1) % NUM_SEATS
            yield from (((before + n) % NUM_SEATS, actions.PASS) for n in range(1, passes + 1))
        yield seat, action
        before = seat


def _write_deal(deal: DealRecord, source: str) -> str:
    """Returns the lines of a deal; a RecordError where its passes do not follow from its plays."""
    moves = [move for move in deal.moves if move[1] < actions.CALL]
    plays = [move for move in moves if move[1] != actions.PASS]
    inferred = list(_with_passes(plays))
    last_moves = moves[len(inferred) :]
    if moves[: len(inferred)] != inferred or any(
        action != actions.PASS for _, action in last_moves
    ):
        message = "expected passes of the seats between one play's and the next's, got others"
        raise RecordError(str(Problem(deal.number, message, source=source)))
    hands = ("".join(sorted(hand.translate(_TO_CHARACTERS))) for hand in mark_kings(deal.hands))
    even, odd = deal.scores
    lines = [
        " - hand:",
        *(f'     p{seat}: "{hand}"' for seat, hand in enumerate(hands)),
        f"   uchidashi: {deal.dealer}",
        f"   score: [{even},{odd}]",
        "   game:",
    ]
    for seat, action in plays:
        block, attack = list(actions.name(action).translate(_TO_CHARACTERS))
        lines.append(f'    - ["{seat}","{block}","{attack}"]')
    return "\n".join(lines)


def _quoted(name: str) -> str:
    plain = (f"\\{c}" if c in '"\\' else c if c.isprintable() else f"\\U{ord(c):08X}" for c in name)
    return f'"{"".join(plain)}"'
