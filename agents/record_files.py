"""Reads files of recorded games, in whichever notation of ``goita_env.records`` they are.

The content tells the notation, not the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agents.files import read_text
from goita_env.errors import RecordError
from goita_env.information import PLAIN
from goita_env.records import DealRecord, Record, complete, history, kifu
from goita_env.records.model import brief
from goita_env.rules import JGA, Rules

MOST_BYTES: Final = 4 * 10**7
"""Size of the longest text that a notation takes, in UTF-8."""

_HISTORY: Final = re.compile(r"\s*[0-9x]{8},")
_KIFU: Final = re.compile(r"^[ \t]*[\"']?(?:version|p[0-3]|log)[\"']?\s*:", re.MULTILINE)


def is_history(text: str) -> bool:
    """Tells whether a text begins like a history string."""
    return _HISTORY.match(text) is not None


def read_record(path: Path, rules: str | Rules = JGA, *, strict: bool = True) -> Record:
    """Reads history strings, a YAML kifu or a complete record from a file.

    Args:
        path: the file; its name is the source of the record.
        rules: the rule set of a kifu or of history strings; a complete record holds its own.
        strict: as in ``history.loads``.

    Raises:
        RecordError: if it is in no known notation or, if strict, a deal is malformed.
        SettingError: if it is too large or no text in UTF-8.
        ImportError: if a kifu lacks its extra.
        OSError: if it cannot be read.
    """
    text = read_text(path, MOST_BYTES)
    if is_history(text):
        return history.loads(text, rules=rules, strict=strict, source=path.name)
    if text.lstrip().startswith("{"):
        return complete.loads(text, strict=strict, source=path.name)
    if _KIFU.search(text):
        return kifu.loads(text, rules=rules, strict=strict, source=path.name)
    first = text.strip().partition("\n")[0]
    raise RecordError(
        f"{path.name}: expected history strings, a YAML kifu or a complete record in JSON, "
        f"got {brief(first)}"
    )


def check_plain(deals: Iterable[DealRecord], what: str) -> None:
    """Raises a RecordError where a deal is not of the plain game, all that ``what`` knows."""
    for deal in deals:
        if deal.information != PLAIN:
            raise RecordError(
                f"expected deals of the plain game, which is all that {what} knows, got deal "
                f"{deal.number} with {deal.information!r}"
            )
