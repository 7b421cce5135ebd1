"""Learns how somebody plays from recorded games: a network that predicts the next action."""

from goita_env.errors import naming_extras

with naming_extras():
    from goita_lab.imitate.clone import Clone, imitate
    from goita_lab.imitate.examples import (
        Calibration,
        Examples,
        Score,
        Split,
        compare,
        split_games,
    )
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
