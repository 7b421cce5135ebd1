"""Measures how well an agent plays with partners that it does not know.

The agent is the partner of each held-out player, against opponents that it does not know either,
over duplicate deals. ``docs/coordination.md`` describes the task.
"""

from goita_lab.arena.coordination.benchmark import Benchmark
from goita_lab.arena.coordination.results import Results
from goita_lab.arena.coordination.task import VALIDATION, CoordinationTask, Partner

__all__ = ["VALIDATION", "Benchmark", "CoordinationTask", "Partner", "Results"]
