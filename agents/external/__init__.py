"""Plays with any program, and hosts our bots for others: ``python -m agents.external NAME``."""
