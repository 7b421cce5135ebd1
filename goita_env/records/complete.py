"""Reads and writes a record whole, as JSON: pre-play decisions, redeals, names and rules too.

::

    {"format": "goita-record-1", "rules": "jga", "players": ["north", "east", "south", "west"],
     "deals": [{"hands": ["11124559", "11122347", "13445667", "11123358"], "dealer": 2,
                "scores": [0, 0], "moves": ["2:46", "3:83", "0:p", ...]}]}

A move is its seat, from 0, and the short name of its action; passes and pre-play decisions are
moves, too. Three more keys are read, if they are there: ``rules_fields``, the fields of a custom
rule set; ``information``, the options of ``goita_env.InformationStructure`` if the game is not the
base game, where messages are moves, too ("2:say3"); and ``second_king_first`` of a deal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from goita_env import actions
from goita_env.checks import unique_keys
from goita_env.errors import RecordError
from goita_env.information import PLAIN, InformationStructure
from goita_env.records.building import build_record, check_text, naming, score_notes, scores_of
from goita_env.records.model import DealRecord, Move, Record, brief
from goita_env.rules import JGA, Rules

FORMAT: Final = "goita-record-1"
"""Names this notation; grows when the meaning of a key changes."""


def loads(text: str, *, strict: bool = True, source: str = "") -> Record:
    """Reads a record; ``strict`` and ``source`` as in ``history.loads``.

    Raises:
        RecordError: if it is not such a text or, if strict, a deal is malformed. Illegal moves are
            found by ``replay``.
    """
    with naming(source):
        root = _parse(check_text(text))
        rules, information = Rules.from_keys(root), InformationStructure.from_keys(root)
        players = root.get("players", ["", "", "", ""])
        if not isinstance(players, list):
            raise RecordError(f"expected players, a list of four names, got {brief(players)}")
        entries = root.get("deals")
        if not isinstance(entries, list):
            raise RecordError(f"expected deals, a list, got {brief(entries)}")
    return build_record(
        entries,
        lambda entry: _read_deal(entry, rules, information),
        _read_moves,
        strict=strict,
        source=source,
        players=tuple(players),
        notes=score_notes(entries, "scores", rules),
    )


def dumps(record: Record, beside: Mapping[str, Any] | None = None) -> str:
    """Writes a record, a deal in each line.

    Args:
        record: the record.
        beside: further keys with JSON values; they are written and never read.

    Raises:
        RecordError: if its deals have different rule sets or options.
    """
    rules = {deal.rules for deal in record.deals} or {JGA}
    if len(rules) > 1:
        names = sorted(rule_set.name for rule_set in rules)
        raise RecordError(f"expected deals of one rule set, got {', '.join(names)}")
    options = {deal.information for deal in record.deals} or {PLAIN}
    if len(options) > 1:
        raise RecordError(f"expected deals of one game, got those of {[*map(repr, options)]}")
    keys = rules.pop().to_keys() | options.pop().to_keys()
    fields = {"format": FORMAT, **keys, "players": record.players, **(beside or {})}
    head = json.dumps(fields, ensure_ascii=False)[:-1]
    deals = ",\n".join(f" {_write_deal(deal)}" for deal in record.deals)
    return f'{head}, "deals": [\n{deals}\n]}}\n'


def _parse(text: str) -> dict[str, Any]:
    """Returns the object of a JSON text in this notation."""
    try:
        root = json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"expected JSON, got: {brief(str(error))}") from error
    if not isinstance(root, dict) or root.get("format") != FORMAT:
        stated = root.get("format") if isinstance(root, dict) else root
        raise RecordError(f"expected a record with format {FORMAT!r}, got {brief(stated)}")
    return root


def _read_deal(entry: object, rules: Rules, information: InformationStructure) -> DealRecord:
    """Reads a deal without its moves."""
    keys = ("hands", "dealer", "scores", "moves")
    if not isinstance(entry, dict) or any(key not in entry for key in keys):
        raise RecordError(f"expected a deal with {', '.join(keys)}, got {brief(entry)}")
    hands = entry["hands"]
    if not isinstance(hands, list) or [type(hand) for hand in hands] != [str] * 4:
        raise RecordError(f"expected four hands as texts, got {brief(hands)}")
    return DealRecord(
        hands=tuple(hands),
        dealer=entry["dealer"],
        scores=scores_of(entry["scores"], rules) or (0, 0),
        rules=rules,
        second_king_first=entry.get("second_king_first") is True,
        information=information,
    )


def _read_moves(entry: dict[str, Any]) -> Iterator[Move]:
    if not isinstance(entry["moves"], list):
        raise RecordError(f"expected moves, a list, got {brief(entry['moves'])}")
    for move in entry["moves"]:
        seat, colon, name = move.partition(":") if isinstance(move, str) else ("", "", "")
        if seat not in ("0", "1", "2", "3") or not colon:
            raise RecordError(f"expected a seat 0 to 3 and an action (2:46), got {brief(move)}")
        yield int(seat), actions.parse(name)


def _write_deal(deal: DealRecord) -> str:
    fields: dict[str, Any] = {"hands": deal.hands, "dealer": deal.dealer, "scores": deal.scores}
    if deal.second_king_first:
        fields["second_king_first"] = True
    num_actions = deal.information.num_actions
    fields["moves"] = [f"{seat}:{actions.name(action, num_actions)}" for seat, action in deal.moves]
    return json.dumps(fields)
