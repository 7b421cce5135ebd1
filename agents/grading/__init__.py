"""Tells what players lose against perfect play: ``python -m agents.grading``."""
