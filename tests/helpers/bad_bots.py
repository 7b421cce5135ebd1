"""Starts the misbehaving bots of tests/bots, and finds what they leave in the process table."""

import os
import sys
import time
from pathlib import Path

from goita_agents.external.agent import ExternalAgent

BAD = Path(__file__).parent / "bots" / "bad.py"


def command(behaviour: str, *marks: object) -> str:
    """Returns the command of a misbehaving bot; its marks stand in the process table."""
    words = [sys.executable, "-I", "-S", BAD, behaviour, *marks]
    return " ".join(f"'{word}'" for word in words)


def bad(behaviour: str, *marks: object, ms: int = 5000, start_ms: int = 5000) -> ExternalAgent:
    """Returns a misbehaving bot."""
    return ExternalAgent(command(behaviour, *marks), ms=ms, start_ms=start_ms)


def alive(mark: object) -> list[str]:
    """Lists the processes that carry a mark on their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(mark).encode() in line and int(folder.name) != os.getpid():
            found.append(line.decode())
    return found


def gone(mark: object, seconds: float = 4) -> bool:
    """Waits until no process carries a mark."""
    deadline = time.monotonic() + seconds
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(mark)
