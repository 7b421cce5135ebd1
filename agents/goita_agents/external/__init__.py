"""Plays with any program, and hosts our bots for others: ``goita bot NAME``."""
