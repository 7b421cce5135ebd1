"""Keeps plays in Parquet files and reads them again; ``columns`` says what the columns mean."""

from agents.signals.log.columns import FORMAT
from agents.signals.log.reader import read, read_frame
from agents.signals.log.schema import LogError
from agents.signals.log.writer import PART_ROUNDS, write

__all__ = ["FORMAT", "PART_ROUNDS", "LogError", "read", "read_frame", "write"]
