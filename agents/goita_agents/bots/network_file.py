"""Reads and writes tensors as safetensors files, without torch.

The library reads a file and checks the format. It writes metadata in another order each time, so
the writer is our own. It knows float32 and float16, in which a file is half as large; networks
compute in float32 either way. A file may be somebody else's, so its size and its header's are
limited.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import AgentError
from goita_env.errors import GoitaError

Array = npt.NDArray[np.float32]

MAX_BYTES: Final = 1 << 30
MAX_HEADER: Final = 1 << 20
"""Bytes of a network's file, and of its header: names, shapes and metadata."""

KINDS: Final = {"F32": "<f4", "F16": "<f2"}
"""Numbers that a file may hold: the format's name and numpy's."""

HALF_MAX: Final = float(np.finfo(np.float16).max)


def write_tensors(
    tensors: Mapping[str, Array], metadata: Mapping[str, str], *, half: bool = False
) -> bytes:
    """Returns a safetensors file; the same contents give the same bytes.

    Args:
        tensors: the numbers, by name.
        metadata: texts, by name.
        half: write float16.

    Raises:
        AgentError: if a number is too large for float16.
    """
    kind = "F16" if half else "F32"
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    parts, end = [], 0
    for name, array in tensors.items():
        if half and np.abs(array).max(initial=0) > HALF_MAX:
            raise AgentError(f"expected numbers up to {HALF_MAX:g} for float16 in {name!r}")
        parts.append(array.astype(KINDS[kind]).tobytes())
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (start, end)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of eight
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))


def tensor_digest(description: Any, tensors: Mapping[str, Array]) -> str:
    """Returns a SHA-256 of tensors and of what JSON says of them, whatever file they are read from.

    Hashed are the description, then each tensor in the order of their names: name, shape and the
    numbers as little-endian float32.
    """
    found = sha256(json.dumps(description, sort_keys=True).encode())
    for name in sorted(tensors):
        found.update(f"{name} {tensors[name].shape}".encode())
        found.update(np.ascontiguousarray(tensors[name], "<f4").tobytes())
    return found.hexdigest()


@contextmanager
def open_tensors(
    path: str | Path, most: int = MAX_BYTES, header: int = MAX_HEADER
) -> Iterator[Any]:
    """Opens a safetensors file that may be somebody else's; yields the library's ``safe_open``.

    Raises:
        AgentError: if the file has more than ``most`` bytes, or ``header`` in its header, is
            truncated or corrupt, or holds numbers unknown to numpy.
    """
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    if path.exists() and not path.is_file():
        raise AgentError(f"expected a safetensors file, got {str(path)!r}, which is no file")
    with path.open("rb") as file:
        start, size = file.read(8), path.stat().st_size
    if start.startswith(b"PK\3\4"):
        raise AgentError(
            "expected a safetensors file, got a zip file, as model.save() of stable-baselines3 "
            "writes. A SelfPlayPPO's policy is written by "
            "goita_lab.learning.save_policy(model, path, rules); any other model plays in a class of your own, MODULE:CLASS, which loads it"
        )
    length = int.from_bytes(start, "little")
    if size > most or length > min(header, size):
        raise AgentError(
            f"expected a safetensors file of at most {most} bytes, {header} of them in its header, "
            f"got {size} and {length}"
        )
    try:
        with safe_open(path, framework="numpy") as tensors:
            yield tensors
    except GoitaError:
        raise
    except (SafetensorError, AttributeError, TypeError, ValueError) as error:
        raise AgentError(f"expected a safetensors file, got another: {error}") from error


def read_tensors(
    path: str | Path, dimensions: Container[int] = (1, 2)
) -> tuple[Any, dict[str, Array]]:
    """Reads the metadata, not checked, and the tensors of a safetensors file, as float32.

    It raises as ``open_tensors`` does, also if the file holds anything but float32 or float16.
    """
    tensors: dict[str, Array] = {}
    with open_tensors(path) as file:
        for name in file.keys():  # noqa: SIM118  # the file itself cannot be iterated
            entry = file.get_slice(name)
            kind, shape = entry.get_dtype(), entry.get_shape()
            if kind not in KINDS or len(shape) not in dimensions:
                raise AgentError(
                    f"expected a float32 or float16 vector or matrix for {name!r}, "
                    f"got {kind} of {shape}"
                )
            tensors[name] = file.get_tensor(name).astype(np.float32, copy=False)
            if not np.isfinite(tensors[name]).all():
                raise AgentError(f"expected finite numbers in {name!r}, got others")
        return file.metadata(), tensors
