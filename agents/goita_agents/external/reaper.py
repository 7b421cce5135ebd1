"""Kills the programs that this process has started, if it dies before it could.

Nothing runs in a process that is killed with -9. So a small process waits at the end of a pipe:
when the pipe closes, for whatever reason, it kills the process groups that are still noted.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import weakref
from typing import Final

_PROGRAM: Final = """
import os, signal, sys, time
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
if groups:
    time.sleep(0.5)  # a well-behaved program has seen its input close
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class _Reaper:
    """Holds the waiting process, once there is something to wait for."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.owner = 0

    def tell(self, sign: str, group: int) -> None:
        """Adds a process group ("+") or removes it ("-")."""
        if self.process is None or self.owner != os.getpid():
            if sign == "-":
                return
            # A fork inherits the parent's reaper, which is not its own to talk to.
            self.process, self.owner = None, os.getpid()
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _PROGRAM],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    start_new_session=True,  # Ctrl-C at the terminal is not for it
                )
            except OSError:  # no more processes: the next program tries again
                return
        assert self.process.stdin is not None
        try:
            print(f"{sign}{group}", file=self.process.stdin, flush=True)
        except OSError:  # somebody killed it
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            self.process.wait()
            self.process = None

    def close(self) -> None:
        process, self.process = self.process, None
        if process is not None and self.owner == os.getpid():
            process.communicate()


_REAPER: Final = _Reaper()
# Finalizers run at exit in the reverse order of creation: this one after those of all agents.
weakref.finalize(_REAPER, _REAPER.close)


def watch(group: int) -> None:
    """Has a process group killed when this process is gone."""
    _REAPER.tell("+", group)


def forget(group: int) -> None:
    """Removes a process group that is gone."""
    _REAPER.tell("-", group)
