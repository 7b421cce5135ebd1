"""Scores answers to an exam: points lost, beliefs about hands, and intervals over tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_env import View
from goita_lab.arena.statistics.intervals import Interval, mean_interval, ratio_interval

PROBABILITY_CLIP: Final = 0.01
"""Probabilities are clipped to this number and 1 minus this number."""
EQUAL_POINTS: Final = 1e-6
"""Points by which an action may be behind the best one and still be a best answer."""
FEWEST_TABLES: Final = 3
"""Fewest tables over which an interval is computed."""


def score_interval(values: Float, table: Int) -> Interval:
    """Returns the mean over positions, with the wider of two intervals.

    One is over positions, the other over tables, because positions of the same players are alike.

    Args:
        values: [n] one value a position.
        table: [n] the table of each position.
    """
    by_position = mean_interval(values)
    counts = np.bincount(table)
    totals = np.bincount(table, weights=values)[counts > 0]
    if len(totals) < FEWEST_TABLES:
        return by_position
    by_table = ratio_interval(totals, counts[counts > 0])
    wider = max(by_position, by_table, key=lambda interval: interval.high - interval.low)
    return replace(wider, few=by_position.few)


def points_lost(points: Float, best: Int) -> tuple[Float, Bool]:
    """Returns what each action loses against the best one, and whether it is a best one: [N, 69].

    Points of illegal actions are NaN; they lose 0 here, because their probability is 0.
    """
    lost = points[np.arange(len(points)), best][:, None] - points
    legal = ~np.isnan(points)
    return np.where(legal, lost, 0), legal & (np.abs(lost) < EQUAL_POINTS)


def score(believed: Float, exact: Float) -> Float:
    """Returns the expected log score of beliefs [N, 3, 8], summed over kinds: [N, 3]."""
    return np.asarray(scores(believed, exact).sum(axis=2))


def scores(believed: Float, exact: Float) -> Float:
    """Returns the expected log score of each belief: float64 [N, 3, 8]."""
    clipped = believed.clip(PROBABILITY_CLIP, 1 - PROBABILITY_CLIP)
    return np.asarray(exact * np.log(clipped) + (1 - exact) * np.log(1 - clipped))


def brier(believed: Float, exact: Float) -> Float:
    """Returns minus the expected Brier score of beliefs [N, 3, 8], summed over kinds: [N, 3]."""
    return np.asarray(-(exact * (1 - believed) ** 2 + (1 - exact) * believed**2).sum(axis=2))


SCORING_RULES: Final[dict[str, Callable[[Float, Float], Float]]] = {"log": score, "Brier": brier}
"""The scores of beliefs, by the names that tables show: higher is better."""


BINOMIALS: Final = np.array([[comb(n, k) for k in range(33)] for n in range(33)], np.float64)
"""Number of ways to choose k of n tiles, for n and k up to the 32 tiles of a game."""


def counted(view: View) -> Float:
    """Returns beliefs for which every unseen tile is equally likely in every place: [N, 3, 8].

    A place is in a hand or under a block. Treating all deals as equally likely gives other beliefs:
    there a shown tile counts as drawn from the hand at random.
    """
    places = view.hand_sizes + view.face_down.sum(axis=2)
    unseen = view.unseen.astype(np.int64)
    # Axes: position, seat, kind.
    total, places = unseen.sum(axis=1)[:, None, None], places[:, 1:, None]
    # A seat without the kind got all its tiles from the other unseen ones: hypergeometric.
    lacks = BINOMIALS[total - unseen[:, None, :], places] / BINOMIALS[total, places]
    return np.asarray(1 - lacks)
