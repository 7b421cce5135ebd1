"""Fixtures of the laboratory."""

from functools import partial

import pytest

from goita_lab.arena.statistics import ratings


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """Spares the resampling of ratings, which takes longer than most tournaments here."""
    monkeypatch.setattr(ratings, "rate", partial(ratings.rate, resamples=20))
