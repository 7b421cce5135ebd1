"""Keeps plays in Parquet files and reads them again; ``schema`` says what the columns mean."""

from goita_lab.signals.log.reader import read
from goita_lab.signals.log.schema import FORMAT, LogError
from goita_lab.signals.log.writer import PART_ROUNDS, write

__all__ = ["FORMAT", "PART_ROUNDS", "LogError", "read", "write"]
