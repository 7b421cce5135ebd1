"""Writes figures deal by deal beside a summary, from which anybody computes another interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.base import Float
from goita_agents.files import write_whole
from goita_lab.arena.statistics.intervals import Interval

LABELS: Final = ("agent", "name", "model", "group")
"""Fields that name an item of a list, the first that it has."""


def write_summary(path: Path, summary: str, deals: Mapping[str, Float]) -> None:
    """Writes a summary as JSON, and beside it as NAME.npz the figures of each deal, compressed.

    Args:
        path: the file of the summary; where it is a pipe, nothing is written beside it.
        summary: the JSON.
        deals: totals and counts of each deal, [2, n], by name: the mean is the sum of the totals
            over the sum of the counts.

    Raises:
        OSError: if a file cannot be written.
    """
    write_whole(path, summary)
    if deals and path.is_file():
        data = BytesIO()
        arrays: dict[str, Any] = dict(deals)
        np.savez_compressed(data, **arrays)
        write_whole(path.with_suffix(".npz"), data.getvalue())


def by_deal(found: object) -> dict[str, Float]:
    """Returns totals and counts [2, n] of each interval over deals in results, by its place.

    A place is the names of fields and keys down to the interval, as in the JSON, joined by "/". An
    item of a list has the name that its ``LABELS`` give it, else its number.
    """
    return dict(_walk(found, ""))


def _walk(found: Any, place: str) -> Iterator[tuple[str, Float]]:
    parts: Mapping[Any, Any] = {}
    if isinstance(found, Interval):
        if found.by_deal is not None:
            yield place, found.by_deal
    elif is_dataclass(found):
        parts = {field.name: getattr(found, field.name) for field in fields(found)}
    elif isinstance(found, Mapping):
        parts = {k if isinstance(k, str) else " | ".join(k): one for k, one in found.items()}
    elif isinstance(found, list | tuple):
        parts = {_label(number, one): one for number, one in enumerate(found)}
    for name, part in parts.items():
        yield from _walk(part, f"{place}/{name}".removeprefix("/"))


def _label(number: int, item: object) -> str:
    names = (getattr(item, label, None) for label in LABELS)
    return next((name for name in names if isinstance(name, str)), str(number))
