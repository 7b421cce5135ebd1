"""Reads and writes tensors as safetensors files, without torch.

Such a file is the length of its header in eight bytes, the header in JSON, and the numbers as they
lie in memory. The library reads it and checks the format; it writes the metadata in another order
each time, so the writer is our own. Only float32 vectors and matrices are known here: networks hold
nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import AgentError

Array = npt.NDArray[np.float32]


def write_tensors(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Returns a safetensors file; the same contents give the same bytes.

    Args:
        tensors: by name.
        metadata: texts about them.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    parts, end = [], 0
    for name, array in tensors.items():
        parts.append(array.astype("<f4").tobytes())
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": (start, end)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of eight
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))


def read_tensors(path: str | Path) -> tuple[Any, dict[str, Array]]:
    """Reads a safetensors file of float32 tensors.

    Args:
        path: of the file.

    Returns:
        The metadata (not checked) and the tensors by name.

    Raises:
        AgentError: if the file is truncated or corrupt, or holds anything else.
        OSError: if it cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    tensors: dict[str, Array] = {}
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118  # the file itself cannot be iterated
                entry = file.get_slice(name)
                kind, shape = entry.get_dtype(), entry.get_shape()
                if kind != "F32" or len(shape) not in (1, 2):
                    raise AgentError(
                        f"expected a float32 vector or matrix for {name!r}, got {kind} of {shape}"
                    )
                tensors[name] = file.get_tensor(name)
                if not np.isfinite(tensors[name]).all():
                    raise AgentError(f"expected finite numbers in {name!r}, got others")
            return file.metadata(), tensors
    except SafetensorError as error:
        raise AgentError(f"expected a safetensors file, got another: {error}") from error
