"""Reads and checks the widths of a network's layers; imports no torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from reprlib import repr as shortened

from goita_agents.bots.network_file import MAX_BYTES, read_network
from goita_env.errors import SettingError


def check_widths(what: str, widths: Sequence[int]) -> None:
    """Checks that there are layers, all with a width, whose file would be read again."""
    if min(widths, default=0) < 1:
        raise SettingError(f"expected {what} of at least 1, got {widths!r}")
    if sum(first * second for first, second in pairwise((*widths, 1))) > MAX_BYTES // 4:
        raise SettingError(f"expected {what} of {MAX_BYTES:,} bytes at most, got {widths!r}")


def read_layer_widths(path: Path) -> tuple[int, ...]:
    """Returns the widths of the layers of a policy's file; a SettingError if there are none."""
    try:
        info, tensors = read_network(path)
    except OSError as error:
        raise SettingError(f"expected a policy's file: {error}") from error
    names = [f"layers.{number}.bias" for number in range(info.layers)]
    found = (
        info.settings.get("layers")
        if info.policy
        else [len(tensors[name]) for name in names if name in tensors]
    )
    if not isinstance(found, list) or not all(type(width) is int for width in found):
        raise SettingError(f"expected a policy with layers, got {shortened(found)} in {path}")
    check_widths("layers", found)
    return tuple(found)
