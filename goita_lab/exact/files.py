"""Writes arrays of a small game to a file, and reads them back without unpickling anything."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt

from goita_agents.files import decode, write_whole
from goita_env.errors import SettingError
from goita_lab.exact.tree import Tree

Arrays = dict[str, npt.NDArray[Any]]

Shapes = Mapping[str, tuple[str, tuple[int | None, ...]]]
"""Arrays by name: kinds of their numbers (numpy's ``dtype.kind``), and shape; None: any length."""

MOST_BYTES: Final = 1 << 32
"""Largest size of all arrays of a file."""


def write(path: Path, kind: str, tree: Tree, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes arrays of a game whole or not at all; ``kind`` names what they are."""
    file, about = io.BytesIO(), np.array(json.dumps(_about(kind, tree)))
    np.savez_compressed(file, about=about, **arrays)  # type: ignore[arg-type]
    write_whole(path, file.getvalue())


def read(
    path: Path, kind: str, wanted: Shapes, tree: Tree | None = None
) -> tuple[dict[str, Any], Arrays]:
    """Returns what a file says of its game, and its arrays.

    Args:
        path: the file, which may come from somebody else.
        kind: as ``write`` takes it.
        wanted: the arrays that are read, by name; their numbers have to be finite.
        tree: the game; None: any.

    Raises:
        SettingError: if it is damaged, of another kind, or not of the game of ``tree``.
    """
    try:
        with ZipFile(path) as file:
            size = sum(one.file_size for one in file.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"expected at most {MOST_BYTES:,} bytes, got {size:,}")
        with np.load(path, allow_pickle=False) as file:
            about = decode(str(file["about"]), dict[str, Any], "JSON as 'about'")
            found = {name: file[name] for name in wanted if about.get("format") == kind}
    # What a damaged archive, a header or its numbers can raise; an array may declare any size.
    except (ValueError, LookupError, EOFError, BadZipFile, zlib.error, MemoryError) as error:
        raise SettingError(f"expected a file of {kind} in {str(path)!r}, got {error}") from error
    if about.get("format") != kind:
        raise SettingError(f"expected the format {kind!r} in {str(path)!r}")
    if tree is not None and about != _about(kind, tree):
        raise SettingError(f"expected {_about(kind, tree)} in {str(path)!r}, got {about}")
    for name, (types, shape) in wanted.items():
        one = found[name]
        same = len(one.shape) == len(shape) and all(
            want in (None, got) for want, got in zip(shape, one.shape, strict=True)
        )
        if one.dtype.kind not in types or not same or not np.isfinite(one).all():
            raise SettingError(
                f"expected finite numbers of shape {shape} as {name!r} in {str(path)!r}, got "
                f"{one.dtype} of shape {one.shape}"
            )
    return about, found


def _about(kind: str, tree: Tree) -> dict[str, Any]:
    return {"format": kind, "eyes": list(tree.eyes), **tree.rules.to_keys()}
