"""Writes arrays of a small game to a file, and reads them back without unpickling anything."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from goita_agents.files import write_whole
from goita_env.errors import SettingError
from goita_lab.exact.tree import Tree

Arrays = dict[str, npt.NDArray[Any]]


def write(path: Path, kind: str, tree: Tree, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Writes arrays of a game whole or not at all; ``kind`` names what they are."""
    file, about = io.BytesIO(), np.array(json.dumps(_about(kind, tree)))
    np.savez_compressed(file, about=about, **arrays)  # type: ignore[arg-type]
    write_whole(path, file.getvalue())


def read(path: Path, kind: str, tree: Tree | None = None) -> tuple[dict[str, Any], Arrays]:
    """Returns what a file says of its game, and its arrays.

    Raises:
        SettingError: if it is damaged, of another kind, or not of the game of ``tree``.
    """
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
        about = json.loads(str(found.pop("about")))
    except (ValueError, KeyError, EOFError, BadZipFile) as error:
        raise SettingError(f"expected a file of {kind} in {str(path)!r}, got {error}") from error
    if not isinstance(about, dict) or about.get("format") != kind:
        raise SettingError(f"expected the format {kind!r} in {str(path)!r}")
    if tree is not None and about != _about(kind, tree):
        raise SettingError(f"expected {_about(kind, tree)} in {str(path)!r}, got {about}")
    return about, found


def _about(kind: str, tree: Tree) -> dict[str, Any]:
    return {"format": kind, "eyes": list(tree.eyes), **tree.rules.to_keys()}
