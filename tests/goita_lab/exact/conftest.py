"""The smallest games, enumerated once."""

import pytest

from goita_env import Rules
from goita_lab.exact.tree import enumerate_game

TINY = Rules(name="tiny", deck=(10, 2, 0, 0, 4, 0, 0, 0))


@pytest.fixture(scope="session")
def tree():
    """Returns the named game with the fewest histories."""
    return enumerate_game("mini_3")


@pytest.fixture(scope="session")
def tiny():
    """Returns a game with fewer still."""
    return enumerate_game(TINY)
