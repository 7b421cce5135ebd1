"""Keeps arrays in .npz files, with a text that says what they are.

A file may come from somebody else: nothing is unpickled, and its size is checked first.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt

from goita_agents.files import decode, write_whole
from goita_env.errors import SettingError

Arrays = dict[str, npt.NDArray[Any]]

MOST_BYTES: Final = 1 << 32
"""Largest size of all arrays of a file."""


def write(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Writes arrays whole or not at all; ``about`` says as JSON what they are."""
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    write_whole(path, file.getvalue())


def read(
    path: Path, about: Mapping[str, Any], names: Iterable[str]
) -> tuple[dict[str, Any], Arrays]:
    """Returns what a file says of itself, and some of its arrays.

    Args:
        path: the file.
        about: what it must say, among other things.
        names: of the arrays.
    """
    try:
        with ZipFile(path) as file:
            size = sum(one.file_size for one in file.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"expected at most {MOST_BYTES:,} bytes, got {size:,}")
        with np.load(path, allow_pickle=False) as file:
            said = decode(str(file["about"]), dict[str, Any], "JSON as 'about'")
            found = {name: file[name] for name in names}
        if said != {**said, **about}:
            raise ValueError(f"expected {dict(about)}, got {said}")
    # What a damaged archive or its headers can raise; an array may declare any size.
    except (ValueError, LookupError, EOFError, BadZipFile, zlib.error, MemoryError) as error:
        kind = about.get("format", "arrays")
        raise SettingError(f"expected a file of {kind} in {str(path)!r}: {error}") from error
    return said, found
