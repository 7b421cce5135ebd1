"""Reads, writes and replays records of games: one file per notation."""
