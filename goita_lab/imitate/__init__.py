"""Learns how somebody plays from recorded games: a network that predicts the next action."""

import goita_lab.installed  # noqa: F401
from goita_lab.imitate.clone import Clone, imitate
from goita_lab.imitate.examples import Calibration, Examples, Score, Split, compare, split_games
from goita_lab.imitate.reading import Reading, read_examples

__all__ = [
    "Calibration",
    "Clone",
    "Examples",
    "Reading",
    "Score",
    "Split",
    "compare",
    "imitate",
    "read_examples",
    "split_games",
]
