"""Grades play against perfect play; ``goita grade`` sums up losses."""

from goita_lab.arena.grading.grades import Grade, grade

__all__ = ["Grade", "grade"]
