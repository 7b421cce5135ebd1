"""Writes files such that they are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PART: Final = ".*.part"
"""Names of files that are being written, or were when the program was killed."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file whose path shows the old content or the new, even if the power fails.

    Args:
        path: where it goes; its folder exists.
        content: text, written as UTF-8, or bytes.

    Raises:
        OSError: if it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
