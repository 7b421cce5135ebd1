"""Ratings of tournaments in tests draw few resamples: test_ratings.py checks intervals."""

from functools import partial

import pytest

from goita_lab.arena.statistics import ratings


@pytest.fixture(autouse=True)
def few_resamples(request, monkeypatch):
    if request.module.__name__.endswith("test_ratings"):
        return
    monkeypatch.setattr(ratings, "rate", partial(ratings.rate, resamples=20))
