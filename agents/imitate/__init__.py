"""Learns how somebody plays from recorded games: a network that predicts the next action."""

from agents.imitate.clone import Clone, imitate
from agents.imitate.examples import Examples, Split, split_games
from agents.imitate.reading import Reading, read_examples
from agents.imitate.scores import Calibration, Score, compare

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
