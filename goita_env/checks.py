"""Reads arrays that a user handed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def integers(values: npt.ArrayLike) -> npt.NDArray[np.integer[Any]] | None:
    """Returns values as an array of integers, None if they are none (ragged lists included)."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array if array.dtype.kind in "iu" else None


def came(values: npt.ArrayLike) -> str:
    """Says in an error what came: shape and type of an array."""
    try:
        array = np.asarray(values)
    except ValueError:
        return "rows of different lengths"
    return f"shape {array.shape!r} of {array.dtype}"
