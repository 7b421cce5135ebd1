"""Writes figures deal by deal beside a summary, from which anybody computes another interval."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from goita_agents.base import Float
from goita_agents.files import write_whole


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
