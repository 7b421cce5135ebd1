"""Writes files such that they are there whole or not at all; reads those of others with limits."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from goita_env.errors import SettingError

T = TypeVar("T")

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
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write(path: Path, data: bytes) -> None:
    """Writes a file under another name, then gives it its own."""
    whole = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    part = whole.with_name(f".{whole.name}.part")
    try:
        part.unlink(missing_ok=True)  # of a program that was killed, or somebody's link
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            shutil.copymode(whole, part)  # who may read it, if it was there
        part.replace(whole)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_limited(path: Path, most: int) -> bytes:
    """Returns what a file holds that somebody else may have written.

    Args:
        path: the file.
        most: bytes, at most; of a longer one, or one that never ends, no more are read.

    Raises:
        SettingError: if it holds more.
        OSError: if it cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise SettingError(f"expected at most {most:,} bytes in {str(path)!r}, got more")
    return content


def read_text(path: Path, most: int) -> str:
    """Returns the text of a file that somebody else may have written, without a byte order mark.

    Args:
        path: the file, in UTF-8.
        most: bytes, at most.

    Raises:
        SettingError: if it holds more, or no such text.
        OSError: if it cannot be read.
    """
    try:
        return read_limited(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingError(f"{path.name}: expected text in UTF-8, got {error.reason}") from error


def decode(content: bytes | str, kind: type[T], expected: str) -> T:
    """Returns JSON as a value of a type, which says all that may be in it.

    Args:
        content: the JSON text.
        kind: a type that msgspec knows, such as a dataclass; keys that it doesn't have are left
            out.
        expected: what it is to be, and in which file, for the error.

    Raises:
        SettingError: if it is something else, or too deep.
        ImportError: if msgspec is missing (extra ``goita-env[eval]``).
    """
    import msgspec

    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SettingError(f"expected {expected}, got something else: {error}") from error
