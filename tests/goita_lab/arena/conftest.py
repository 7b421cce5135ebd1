"""Fixtures of tournaments."""

from functools import partial

import pytest

from goita_lab.arena.statistics import ratings


@pytest.fixture
def few_resamples(monkeypatch):
    """Spares the ratings' resampling: not where a program of its own finds the same table."""
    monkeypatch.setattr(ratings, "rate", partial(ratings.rate, resamples=20))
