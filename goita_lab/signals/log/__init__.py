"""Keeps plays in Parquet files and reads them again; ``columns`` says what the columns mean."""

from goita_lab.signals.log.columns import FORMAT
from goita_lab.signals.log.reader import read, read_frame
from goita_lab.signals.log.schema import LogError
from goita_lab.signals.log.writer import PART_ROUNDS, write

__all__ = ["FORMAT", "PART_ROUNDS", "LogError", "read", "read_frame", "write"]
