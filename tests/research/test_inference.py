"""What the champion's search gains: its points where the other agent plays further deals."""

import numpy as np
import pytest

from goita_lab.arena.statistics.intervals import mean_interval
from research.search.inference import intervals


def played(seed, deals, second_deals):
    """Draws the points of two agents whose luck in a deal is the same."""
    rng = np.random.default_rng(seed)
    second = rng.normal(7, 18, second_deals)
    return second[:deals] + rng.normal(4, 11, deals), second


def test_without_further_deals_the_points_are_the_plain_mean_and_its_interval():
    first, second = played(0, 400, 400)
    for found, plain in zip(
        intervals(first, second), map(mean_interval, (first, second, first - second)), strict=True
    ):
        ends = (found.mean, found.low, found.high)
        assert ends == pytest.approx((plain.mean, plain.low, plain.high))


def test_further_deals_of_the_second_agent_narrow_the_interval_of_the_first_and_it_still_covers():
    covered, widths = 0, []
    for seed in range(1000):
        first, second = played(seed, 100, 1_000)
        found, _, gain = intervals(first, second)
        assert found.mean == pytest.approx(gain.mean + second.mean())
        covered += found.low <= 11 <= found.high
        plain = mean_interval(first)
        widths.append((found.high - found.low) / (plain.high - plain.low))
    assert 0.93 < covered / 1000 < 0.97
    assert np.mean(widths) < 0.7
