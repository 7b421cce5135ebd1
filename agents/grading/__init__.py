"""Grades play against perfect play; ``python -m agents.grading`` sums up losses."""

from agents.grading.grades import Grade, grade

__all__ = ["Grade", "grade"]
