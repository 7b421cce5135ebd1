"""Keeps the pieces of a study in a file, and checks what comes out of it.

A file of pieces may be somebody else's. ``agents.parts`` makes sure of the types; here stands which
shapes belong together and what numbers can mean, so that no piece ends a study in a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import goita_env
from agents.parts import Parts
from agents.registry import content_hash
from agents.signals.listening import Heard, Known
from agents.signals.measures.shuffled import VARIANTS, Shuffled
from agents.signals.measures.value import Values
from agents.signals.playing import BY_DEAL, BY_DECISION, Play
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views.observation import NUM_WORDS

Axes = Mapping[str, tuple[str | int, ...]]

SHAPES: Final[Mapping[type, Axes]] = {
    Play: {
        **dict.fromkeys(BY_DEAL, ("R",)),
        **dict.fromkeys(BY_DECISION, ("D",)),
        "hands": ("R", NUM_SEATS, NUM_KINDS),
        "scores": ("R", 2),
        "seating": ("R", NUM_SEATS),
        "words": ("D", NUM_WORDS),
        "legal": ("D", NUM_ACTIONS),
        "probabilities": ("D", NUM_ACTIONS),
    },
    Heard: {
        **dict.fromkeys(("row", "listener", "speaker"), ("n",)),
        **dict.fromkeys(("content", "told", "gain"), ("n", "K")),
    },
    Known: {
        **dict.fromkeys(("row", "listener"), ("m",)),
        **dict.fromkeys(("log_probability", "entropy"), ("m", "K", 3)),
        "prior": ("m", 3),
        "holds": ("m", "K", 3, NUM_KINDS),
        "prior_holds": ("m", 3, NUM_KINDS),
    },
}
"""Shapes of arrays; what has the same letter is of the same length."""

BOUNDS: Final[Mapping[str, tuple[int, str | int]]] = {
    "hands": (0, 11),
    "dealer": (0, NUM_SEATS),
    "winner": (-1, NUM_SEATS),
    "deal": (0, "R"),
    "seat": (0, NUM_SEATS),
    "action": (0, NUM_ACTIONS),
    "row": (0, "D"),
    "listener": (0, NUM_SEATS),
    "speaker": (1, NUM_SEATS),
}
"""From which number up to below which; a letter is a length."""


def open_parts(
    path: Path | None, agents: Iterable[str], plan: Mapping[str, Any]
) -> AbstractContextManager[Parts | None]:
    """Opens the file in which the pieces of a study are kept, if there shall be one.

    What other code, other weights or another plan made is done anew.

    Args:
        path: the file; None: nothing is kept.
        agents: texts of the policies.
        plan: all else that the pieces depend on.

    Raises:
        SettingError: if it is something else, is damaged, or another program has it open.
        OSError: if it cannot be read or written.
    """
    if path is None:
        return nullcontext()
    if path.is_dir():
        raise SettingError(
            f"expected a file of parts of a study, got the folder {str(path)!r} of version 0.2.0, "
            "which is not read: remove it to begin anew"
        )
    files = {agent: content_hash(agent) for agent in agents}
    return Parts(path, "parts of a study", {"plan": plan, "files": files, "code": code()})


def code() -> str:
    """Returns a digest of all code and weights of the project, by which results may differ."""
    digest = sha256()
    for folder in (Path(__file__).parents[1], Path(goita_env.__file__).parent):
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".safetensors", ".json"):
                digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def check(piece: Any, deals: int) -> None:
    """Checks that the arrays of a piece of work fit each other.

    Args:
        piece: what one of ``study.WORK`` returned, or a file holds in its place.
        deals: of the piece.

    Raises:
        SettingError: if they do not.
    """
    if isinstance(piece, Values):
        _same_length(piece.points, deals)
    elif isinstance(piece, Shuffled):
        if set(piece.points) != set(VARIANTS):
            raise SettingError(f"expected the variants {VARIANTS}, got {sorted(piece.points)!r}")
        _same_length(piece.points, len(piece.points["V0"]))
    else:
        play, heard, known = piece
        sizes = {"K": len(heard.decoders)}
        if heard.decoders != known.decoders:
            raise SettingError(f"expected decoders {heard.decoders!r}, got {known.decoders!r}")
        for one in (play, heard, known):
            for name, axes in SHAPES[type(one)].items():
                _check_array(name, getattr(one, name), axes, sizes)


def _same_length(points: Mapping[str, Any], length: int) -> None:
    """Checks that arrays have one axis and a length.

    Raises:
        SettingError: if one has another.
    """
    for name, array in points.items():
        if array.shape != (length,):
            raise SettingError(f"expected {length} points of {name!r}, got {array.shape}")


def _check_array(name: str, array: Any, axes: tuple[str | int, ...], sizes: dict[str, int]) -> None:
    """Checks shape and bounds of an array; ``sizes``: of axes so far, new ones are added.

    Raises:
        SettingError: if it has others.
    """
    if array.ndim == len(axes):
        for axis, size in zip(axes, array.shape, strict=True):
            if isinstance(axis, str):
                sizes.setdefault(axis, size)
    wanted = tuple(sizes.get(axis, -1) if isinstance(axis, str) else axis for axis in axes)
    if array.shape != wanted:
        raise SettingError(f"expected {name} of shape {wanted}, got {array.shape}")
    if name in BOUNDS and array.size:
        low, below = BOUNDS[name]
        high = sizes[below] if isinstance(below, str) else below
        if not (array.min() >= low and array.max() < high):
            raise SettingError(f"expected {name} from {low} to below {high}, got others")
