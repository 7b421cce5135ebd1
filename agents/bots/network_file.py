"""Reads and writes tensors as safetensors files, in numpy alone.

Such a file is the length of its header in eight bytes, the header in JSON, and the numbers as they
lie in memory. Only float32 vectors and matrices are known here: networks hold nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.base import AgentError

Array = npt.NDArray[np.float32]

MAX_HEADER: Final = 1 << 20
"""Longest header in bytes; real ones have about a thousand."""

METADATA: Final = "__metadata__"


def write_tensors(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Returns a safetensors file; the same contents give the same bytes.

    Args:
        tensors: by name.
        metadata: texts about them.
    """
    header: dict[str, Any] = {METADATA: dict(metadata)}
    parts, end = [], 0
    for name, array in tensors.items():
        parts.append(array.astype("<f4").tobytes())
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": (start, end)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of eight
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))


def read_tensors(data: bytes) -> tuple[Any, dict[str, Array]]:
    """Reads a safetensors file of float32 tensors.

    Args:
        data: the whole file.

    Returns:
        The metadata (not checked) and the tensors by name.

    Raises:
        AgentError: if the file is truncated or corrupt, or holds anything else.
    """
    if len(data) < 8:
        raise AgentError(f"expected a safetensors file, got {len(data)} bytes")
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(MAX_HEADER, len(data) - 8):
        raise AgentError(
            f"expected a safetensors file, got {len(data)} bytes that announce a header of {length}"
        )
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise AgentError(f"expected a header in JSON, got {data[8:40]!r}...: {error}") from error
    if not isinstance(header, dict):
        raise AgentError(f"expected a table of tensors as header, got {header!r}")
    metadata = header.pop(METADATA, None)
    body, end = data[8 + length :], 0
    tensors: dict[str, Array] = {}
    for name, entry in sorted(header.items(), key=_offset):
        shape, start, stop = _entry(name, entry)
        # Tensors follow one another without gaps or overlaps, as the format demands.
        size = 4
        for width in shape:
            size *= width
        if start != end or stop - start != size or stop > len(body):
            raise AgentError(
                f"expected {size} bytes of {name!r} at {end} of {len(body)}, got {start} to {stop}"
            )
        array = np.frombuffer(body[start:stop], "<f4").reshape(shape).astype(np.float32)
        if not np.isfinite(array).all():
            raise AgentError(f"expected finite numbers in {name!r}, got others")
        tensors[name], end = array, stop
    if end != len(body):
        raise AgentError(f"expected {end} bytes of tensors, got {len(body)}")
    return metadata, tensors


def _offset(item: tuple[str, Any]) -> int:
    """Returns where a header's entry begins, to sort by; 0 for a malformed one."""
    try:
        return int(item[1]["data_offsets"][0])
    except (KeyError, IndexError, TypeError, ValueError):
        return 0


def _entry(name: str, entry: Any) -> tuple[tuple[int, ...], int, int]:
    """Returns shape, begin and end of a tensor.

    Raises:
        AgentError: if its entry is malformed, or it is no float32 vector or matrix.
    """
    fields = entry if isinstance(entry, dict) else {}
    shape, offsets = _whole_numbers(fields.get("shape")), _whole_numbers(fields.get("data_offsets"))
    if fields.get("dtype") != "F32" or len(shape) not in (1, 2) or len(offsets) != 2:
        raise AgentError(f"expected a float32 vector or matrix for {name!r}, got {entry!r}")
    return shape, offsets[0], offsets[1]


def _whole_numbers(value: Any) -> tuple[int, ...]:
    """Returns a list of whole numbers from 0 as a tuple, an empty one for anything else."""
    fine = isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)
    return tuple(value) if fine else ()
