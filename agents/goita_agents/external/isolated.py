"""Hosts an agent in processes of its own, one for each seat.

Exceptions, endless loops and memory use of the agent stay in its process, and it cannot share what
it knows between seats. It is no sandbox: the agent's code runs with all rights of the user.
"""

from __future__ import annotations

import shlex
import sys
from typing import Final

from goita_agents.external.agent import ExternalAgent
from goita_agents.registry import short_name

MEMORY: Final = 2 << 30  # Bytes of memory for an agent's process.

START_MS: Final = 60_000  # Milliseconds to import and build an agent, which may import torch.

_HOST: Final = """
import os, sys
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
sys.path[:] = {path!r}
from goita_agents.external.host import serve
sys.exit(serve(sys.argv[1]))
"""
"""Finds modules where this process does. Agents have one thread in a tournament, and each further
thread would take its share of the memory."""


def isolated(
    spec: str,
    *,
    ms: int = 1000,
    start_ms: int = START_MS,
    memory: int | None = MEMORY,
    seed: int | None = None,
) -> ExternalAgent:
    """Returns an agent that plays like ``load_agent(spec)``, in a process for each seat.

    The hosted agent is built in the process alone, gets one row at a time and draws from
    ``np.random.default_rng(seed)``. Times are in milliseconds, memory in bytes of address space for
    each process (None: no limit).

    Raises:
        AgentError: if a limit is impossible.
    """
    command = shlex.join([sys.executable, "-P", "-c", _HOST.format(path=sys.path), spec])
    agent = ExternalAgent(command, ms=ms, start_ms=start_ms, memory=memory, seed=seed)
    agent.name = short_name(spec)
    return agent
