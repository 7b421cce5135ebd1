"""Samples: a small one in every run, a long one where slow tests are asked for."""

from types import FunctionType

import pytest
from hypothesis import given, settings


def slow(*values):
    """Marks a parameter whose test is left out unless slow tests are asked for."""
    return pytest.param(*values, marks=pytest.mark.slow)


def only(values, *kept):
    """Marks all values as slow but those that stay in every run."""
    return [value if value in kept else slow(value) for value in values]


def rotating(rows, columns):
    """Pairs each row with one column in turn, and marks all other pairs as slow."""
    return [
        (row, column) if number % len(columns) == place else slow(row, column)
        for number, row in enumerate(rows)
        for place, column in enumerate(columns)
    ]


def longer(test, *strategies):
    """Repeats a test of drawn examples with many more of them, as a slow test."""
    inner = test.hypothesis.inner_test
    again = FunctionType(inner.__code__, inner.__globals__, inner.__name__)  # without its settings
    return pytest.mark.slow(settings(max_examples=400)(given(*strategies)(again)))
