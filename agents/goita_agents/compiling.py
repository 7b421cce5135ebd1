"""Compiles functions with numba, keeps them on disk, and says when that takes time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from goita_env.errors import naming_extras

with naming_extras():
    from numba import njit
    from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compiles a function that needs no Python, and keeps it on disk if there is a place for it."""
    try:
        return cast("F", njit(cache=True, nogil=True)(function))
    except RuntimeError:  # numba found no folder to write to
        return cast("F", njit(nogil=True)(function))


def inlined(function: F) -> F:
    """Copies a function's code to the places where compiled code calls it."""
    return cast("F", njit(inline="always")(function))


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Notes on stderr, once, that functions called inside have to be compiled first."""

    class Announcement(event.Listener):
        is_written = False

        def on_start(self, event: event.Event) -> None:
            if not self.is_written:
                self.is_written = True
                sys.stderr.write(f"compiling {what}, once; this takes ten seconds or so\n")

        def on_end(self, event: event.Event) -> None: ...

    with event.install_listener("numba:compile", Announcement()):
        yield
