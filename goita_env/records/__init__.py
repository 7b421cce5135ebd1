"""Reads, writes and replays records of games, in two notations.

``history``: the goita-core history string, a deal in each line. ``kifu``: YAML, a match in each
file (extra ``goita-env[records]``). Each has ``loads`` and ``dumps``.
"""

from goita_env.records import history, kifu
from goita_env.records.model import DealRecord, Problem, Record, Result, check, from_game

__all__ = [
    "DealRecord",
    "Problem",
    "Record",
    "Result",
    "check",
    "from_game",
    "history",
    "kifu",
]
