"""Tells what players lose against perfect play: ``python -m agents.grading``."""

from agents.grading.grades import Grade, grade

__all__ = ["Grade", "grade"]
