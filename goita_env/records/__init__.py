"""Reads, writes and replays records of games, in three notations.

``history``: the goita-core history string, a deal in each line. ``kifu``: YAML, a match in each
file (extra ``goita-env[records]``). ``complete``: JSON that leaves nothing out, questions before
play and redeals included. Each has ``loads`` and ``dumps``.
"""

from goita_env.records import complete, history, kifu
from goita_env.records.model import DealRecord, Problem, Record, Result, check, from_game

__all__ = [
    "DealRecord",
    "Problem",
    "Record",
    "Result",
    "check",
    "complete",
    "from_game",
    "history",
    "kifu",
]
