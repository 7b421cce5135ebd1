"""Hosts an agent in processes of its own: what it breaks there, it breaks for itself.

This keeps an agent's exceptions, endless loops and hunger for memory away from whoever lets it
play, and its memories of seats apart. It is no sandbox: the agent's code runs with all rights of
the user, and can read and write whatever the user can.
"""

from __future__ import annotations

import shlex
import sys
from typing import Final

from agents.external.agent import ExternalAgent
from agents.registry import short_name

MEMORY: Final = 2 << 30
"""Bytes that an agent's process may take."""

START_MS: Final = 60_000
"""Milliseconds to import and build an agent: a class of one's own may want torch."""

_HOST: Final = """
import os, sys
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
sys.path[:] = {path!r}
from agents.external.host import serve
sys.exit(serve(sys.argv[1]))
"""
"""Modules are found where this process finds them. One thread is what agents have in a tournament,
and each more would take its share of the memory."""


def isolated(
    spec: str,
    *,
    ms: int = 1000,
    start_ms: int = START_MS,
    memory: int | None = MEMORY,
    seed: int | None = None,
) -> ExternalAgent:
    """Returns an agent that plays as ``load_agent(spec)`` would, in a process for each seat.

    It is asked for one row at a time, and draws from ``np.random.default_rng(seed)``.

    Args:
        spec: the agent's text; it is built in the process alone, the working directory searched
            first.
        ms: milliseconds for a decision.
        start_ms: milliseconds to import and build it.
        memory: bytes of address space for each process; None: no limit.
        seed: of its random numbers; None: each process has the same, whatever they are.

    Raises:
        AgentError: if a limit is impossible.
    """
    words = [sys.executable, "-P", "-c", _HOST.format(path=sys.path), spec]
    command = shlex.join(words)
    agent = ExternalAgent(command, ms=ms, start_ms=start_ms, memory=memory, seed=seed)
    agent.name = short_name(spec)
    return agent
