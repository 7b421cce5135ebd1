"""Writes files atomically, locks them, and reads somebody else's files with limits."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from goita_env.checks import read_limited, unique_keys
from goita_env.errors import SettingError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")

PART: Final = ".*.part"
"""Pattern of files that are being written, or were when the program was killed."""


def is_stdout(path: Path) -> bool:
    """Returns whether a path means standard output: ``-`` or ``/dev/stdout``."""
    return str(path) in ("-", "/dev/stdout")


def write_whole(path: Path, content: str | bytes) -> None:
    """Replaces a file's content atomically, even if the power fails; or writes to standard output.

    On an error, such as a full disk, the old content stays and no other file is left. Text becomes
    UTF-8; half characters, as in a file name that is not UTF-8, become escapes that JSON knows.
    Links are followed.

    Raises:
        OSError: if the file cannot be written, or is not a regular file; the error names the path.
    """
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    if is_stdout(path):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a file would take its place
        raise OSError(errno.EINVAL, f"it is {kind_of(target)}", str(path))
    part = target.with_name(f".{target.name}.part")
    try:
        part.unlink(missing_ok=True)  # of a program that was killed, or somebody's link
        with part.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, what: str, *, wait: bool = False) -> Iterator[None]:
    """Keeps other processes out of a file, where the system and its file system can.

    The lock is a file next to it, since the file itself may be replaced meanwhile. It is removed at
    the end.

    Args:
        path: the file, in a folder that exists.
        what: the expected file, in words: "a match that nobody is playing".
        wait: wait until no other process has the file.
    """
    if fcntl is None:
        yield
        return
    target = path.resolve()
    file = target.with_name(f".{target.name}.lock")
    while True:
        with file.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError as error:
                raise SettingError(
                    f"expected {what}, got {str(path)!r}, which another process has open"
                ) from error
            except OSError:
                pass  # a file system without locks, as of some clusters
            if not _is_open(file, lock):
                continue  # the process that had it has just removed it
            try:
                yield
            finally:
                file.unlink(missing_ok=True)
            return


def _is_open(file: Path, lock: IO[str]) -> bool:
    try:
        return os.path.samestat(file.stat(), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False


def kind_of(path: str | Path) -> str:
    """Returns the kind of a path, in words: "a file", "a folder", "a device", "a fifo"."""
    mode = os.stat(path).st_mode
    kinds = {stat.S_IFREG: "a file", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a fifo"}
    kinds |= {stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a special file")


def check_writable(path: Path, *, folder: bool = False) -> None:
    """Raises a SettingError if a file, or a folder, cannot be written; touches nothing.

    A device, a fifo or a socket is not a file here.
    """
    expected = "a folder" if folder else "a file"
    target = Path(os.path.realpath(path))
    if target.exists() and kind_of(target) != expected:
        wrong = f"it is {kind_of(target)}"
    elif not target.parent.is_dir():
        folder_name = target.parent if path.is_symlink() else path.parent
        wrong = f"there is no folder {str(folder_name)!r}"
    elif not os.access(target if target.exists() else target.parent, os.W_OK):
        wrong = "it may not be written"
    else:
        return
    raise SettingError(f"expected {expected} for the results, got {str(path)!r}: {wrong}")


def json_text(value: object, *, escape: bool = True) -> str:
    """Returns plain values as JSON for a file; a number that isn't finite becomes null.

    ``escape``: write letters beyond ASCII as escapes, since some cannot be written as UTF-8.
    """
    written = _finite(value)
    return json.dumps(written, indent=1, ensure_ascii=escape, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(element) for element in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def read_text(path: Path, max_bytes: int) -> str:
    """Returns the UTF-8 text of a file, without a byte order mark; raises as ``read_limited``."""
    try:
        return read_limited(path, max_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingError(f"{path.name}: expected text in UTF-8, got {error.reason}") from error


def decode(content: bytes | str, kind: type[T], expected: str) -> T:
    """Parses JSON as a type that msgspec knows, without unknown keys; else raises a SettingError.

    Numbers are finite, and no key occurs twice. Half characters, as in a file name that is not
    UTF-8, are read as they were written.
    """
    import msgspec

    try:
        # By Python's own parser: only it accepts half characters, and msgspec would keep the last
        # of two equal keys.
        plain = json.loads(
            content,
            parse_float=_finite_number,
            parse_constant=_finite_number,
            object_pairs_hook=unique_keys,
        )
        return msgspec.convert(plain, kind)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"expected {expected}, got something else: {error}") from error


def _finite_number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError(f"expected a finite number, got {text}")
    return number
