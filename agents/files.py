"""Writes files such that they are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

PART: Final = ".*.part"
"""Names of files that are being written, or were when the program was killed."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file whose path shows the old content or the new, even if the power fails.

    Where it fails, on a full disk for example, what was there stays and nothing else is left. A
    link stays one, and the file that it names is written; a pipe or a device is written directly.

    Args:
        path: where it goes; its folder exists.
        content: text, written as UTF-8, or bytes.

    Raises:
        OSError: if it cannot be written; it names the path.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        _write(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write(path: Path, data: bytes) -> None:
    """Writes a file under another name, then gives it its own."""
    whole = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    part = whole.with_name(f".{whole.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            shutil.copymode(whole, part)  # who may read it, if it was there
        part.replace(whole)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
