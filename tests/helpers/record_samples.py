"""Shares sample records between the tests of records."""

import re
from pathlib import Path

import pytest

from goita_env import Game, errors
from goita_env.records import Record

NOTATION = Path(__file__).resolve().parents[2] / "docs" / "notation.md"

LINE = "11124559,11122347,13445667,11123358,s3,346,483,194,243,336,4p,1p,2p,351,4p,112,227,374"
"""A whole deal: seat 3 (2 in the API) leads and goes out with a silver."""

FIVE = ["11111238", "11112337", "12344456", "24555679"]
SIX = ["11111138", "11112334", "22444567", "23555679"]
PARTNERS = ["11111238", "22344567", "11111337", "24455569"]


def quoted(kind: str) -> str:
    """The example of a kind in the page on the notations."""
    return re.findall(rf"```{kind}\n(.*?)```", NOTATION.read_text(encoding="utf-8"), re.DOTALL)[0]


YAML = quoted("yaml")
"""The same deal as a YAML kifu."""


def message(call: object, *args: object, **options: object) -> str:
    """What the RecordError says that a call must raise."""
    with pytest.raises(errors.RecordError) as caught:
        call(*args, **options)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


def replayed(record: Record) -> list[Game]:
    """The games that a replay yields."""
    return list(record.replay())
