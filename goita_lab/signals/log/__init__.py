"""Keeps plays in Parquet files and reads them again; ``schema`` says what the columns mean."""

from goita_lab.signals.log.files import PART_ROUNDS, read, write
from goita_lab.signals.log.schema import FORMAT, LogError

__all__ = ["FORMAT", "PART_ROUNDS", "LogError", "read", "write"]
