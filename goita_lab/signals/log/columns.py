"""Lists the columns of a log's two tables: name, type and meaning.

Deals and decisions are told apart by ``round`` and ``redeal``, the key of a deal.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from goita_env.errors import install
from goita_env.tiles import NUM_SEATS

SAFE_ARROW: Final = (14, 0, 1)
"""The first pyarrow that runs no code which a Parquet file holds (CVE-2023-47248)."""

DEALS: Final = "deals"
DECISIONS: Final = "decisions"
TABLES: Final = (DECISIONS, DEALS)
FOLDERS: Final = {DECISIONS: "decisions", DEALS: "_deals"}
"""Of the tables in a log. Who reads a whole log by pandas gets the decisions alone."""

FORMAT: Final = "goita-signals-3"
"""Names this kind of file; grows when a column or its meaning changes."""

WHO: Final = {"partner": 2, "next": 1, "previous": 3}
"""The other seats as columns name them, and as relative seats."""

TEXT: Final = "text"
"""A dictionary of text with int32 places; ``NAME`` has int8 ones."""
NAME: Final = "name"


class Column(NamedTuple):
    """A column.

    Attributes:
        name: of the column.
        type: of Arrow, or ``TEXT`` or ``NAME``. Of the entries where ``length`` is not 1.
        text: what it holds.
        length: entries of a row; 0: as many as the row has legal actions.
    """

    name: str
    type: str
    text: str
    length: int = 1


_KEY: Final = (
    Column("round", "int64", "number of the round in the log, from 0"),
    Column("redeal", "int8", "which deal of the round it is, from 0; with round the key of a deal"),
)


def columns(table: str, *, words: int = 8, belief: bool = False) -> tuple[Column, ...]:
    """Returns the columns of a table.

    Args:
        table: of ``TABLES``.
        words: of a packed view: 8, or 10 or 14 if tiles are shown.
        belief: whether the log says what deciding seats know of the others' hands.
    """
    if table == DEALS:
        seats = range(NUM_SEATS)
        return (
            *_KEY,
            *(
                Column(f"dealt_{s}", TEXT, f"hand dealt to seat {s}: eight digits, sorted")
                for s in seats
            ),
            *(Column(f"agent_{s}", NAME, f"name of the agent at seat {s}") for s in seats),
            Column("dealer", "int8", "seat of the dealer"),
            Column("score_0", "int16", "points of seats 0 and 2 before the round"),
            Column("score_1", "int16", "points of seats 1 and 3 before the round"),
            Column("winner", "int8", "seat that ended the round; -1: it is dealt again"),
            Column("won", "int16", "points of the round, to the winner's team"),
        )
    plain = (
        *_KEY,
        Column("move", "int16", "number of the decision in the deal, from 0"),
        Column("seat", "int8", "seat that decided"),
        Column("agent", NAME, "name of the agent that decided"),
        Column("method", TEXT, "how the agent was trained, by the population's name; else empty"),
        Column("split", TEXT, "part of the population that the agent is of; else empty"),
        Column(
            "words",
            "uint64",
            "the seat's packed view, View.words; bit b of word w is bit "
            "64 w + b of the observation",
            words,
        ),
        Column("mask_low", "uint64", "bit a: action a is legal"),
        Column("mask_high", "uint16", "bit a: action 64 + a is legal"),
        Column("action", "int8", "action taken"),
        Column("probabilities", "float32", "probabilities of the legal actions, ascending", 0),
        Column("points", "int16", "points of the round for the seat's team, below 0 if it lost"),
    )
    known = {
        "log_probability": "nats: log-probability that the seat's exact listener gives to the hand",
        "entropy": "nats: entropy of its belief about the hand",
    }
    beliefs = (
        Column(f"{what}_{who}", "float32", f"{text} of seat {who}")
        for who in WHO
        for what, text in known.items()
    )
    return (*plain, *(beliefs if belief else ()))


def arrow() -> Any:
    """Returns pyarrow.

    Raises:
        ImportError: if it is missing, or so old that a file can make it run code.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"a log needs pyarrow: {install('lab')}") from error
    version = tuple(int(part) for part in pyarrow.__version__.split(".")[:3] if part.isdecimal())
    if version < SAFE_ARROW:
        raise ImportError(
            f"expected pyarrow 14.0.1 or newer, which runs no code of a file's, got "
            f"{pyarrow.__version__}: pip install -U pyarrow"
        )
    return pyarrow


def arrow_type(column: Column) -> Any:
    """Returns a column's type in Arrow."""
    pa = arrow()
    if column.type in (TEXT, NAME):
        return pa.dictionary(pa.int32() if column.type == TEXT else pa.int8(), pa.string())
    one = getattr(pa, column.type)()
    if column.length == 1:
        return one
    return pa.list_(one, column.length) if column.length else pa.list_(one)
