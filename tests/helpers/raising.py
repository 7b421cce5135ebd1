"""Calls that must raise an error."""

import pytest


def refuses(error, words, call, *given, **options):
    """Expects a call to raise an error in whose message a pattern is found."""
    with pytest.raises(error, match=words):
        call(*given, **options)
