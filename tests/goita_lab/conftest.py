"""Fixtures of the laboratory."""

from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial

import pytest

from goita_lab import work
from goita_lab.arena.statistics import ratings


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """Spares the resampling of ratings, which takes longer than most tournaments here."""
    monkeypatch.setattr(ratings, "rate", partial(ratings.rate, resamples=20))


@pytest.fixture
def no_children(monkeypatch):
    """Does the work of child processes in this one, for tests in which no process ends.

    Starting a child takes longer than what most tests do there.
    """

    def submit(done):
        future = Future()
        try:
            future.set_result(done())
        except Exception as error:
            future.set_exception(error)
        return future

    monkeypatch.setattr(work, "_processes", lambda _: nullcontext(submit))
