"""Writes files atomically; reads somebody else's files with limits."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from goita_env.errors import SettingError

T = TypeVar("T")

PART: Final = ".*.part"
"""Pattern of files that are being written, or were when the program was killed."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Replaces a file's content atomically, even if the power fails.

    On an error, such as a full disk, the old content stays and nothing else is left. Text becomes
    UTF-8. Links are followed; a pipe or a device is written directly.

    Raises:
        OSError: if it cannot be written; names the path.
    """
    try:
        _write(path, content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _write(path: Path, data: bytes) -> None:
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


def check_writable(path: Path, *, folder: bool = False) -> None:
    """Raises a SettingError if a file, or a folder, cannot be written; touches nothing."""
    wanted, other = ("folder", "file") if folder else ("file", "folder")
    if path.exists() and path.is_dir() != folder:
        wrong = f"it is a {other}"
    elif not path.parent.is_dir():
        wrong = f"there is no folder {str(path.parent)!r}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        wrong = "it may not be written"
    else:
        return
    raise SettingError(f"expected a {wanted} for the results, got {str(path)!r}: {wrong}")


def read_limited(path: Path, most: int) -> bytes:
    """Returns the content of a file; a SettingError if it has more than ``most`` bytes."""
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise SettingError(f"expected at most {most:,} bytes in {str(path)!r}, got more")
    return content


def read_text(path: Path, most: int) -> str:
    """Returns the UTF-8 text of a file, without a byte order mark; raises as ``read_limited``."""
    try:
        return read_limited(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingError(f"{path.name}: expected text in UTF-8, got {error.reason}") from error


def decode(content: bytes | str, kind: type[T], expected: str) -> T:
    """Parses JSON as a value of a type that msgspec knows; unknown keys are ignored.

    Raises:
        SettingError: if it is not what ``expected`` says, or nested too deep.
        ImportError: if msgspec is missing (extra ``goita-env[eval]``).
    """
    import msgspec

    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SettingError(f"expected {expected}, got something else: {error}") from error
