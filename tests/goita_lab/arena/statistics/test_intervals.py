"""Intervals over deals: they cover the truth, and agree with formulas by others."""

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from goita_env.errors import SettingError
from goita_lab.arena.report.figures import interval
from goita_lab.arena.statistics import intervals


def test_the_interval_of_a_mean_covers_it_in_95_of_100_samples():
    draws = np.random.default_rng(4)
    samples = draws.choice([-30.0, -10.0, 0.0, 20.0, 25.0], size=(200, 100))
    found = [intervals.mean_interval(sample) for sample in samples]
    covered = np.mean([i.low < 1.0 < i.high for i in found])
    assert 0.91 < covered < 0.98


SHAPES = {
    "points": lambda draws, shape: draws.choice([-50, -30, -10, 20, 30, 40], shape),
    "normal": lambda draws, shape: draws.normal(size=shape),
    "lognormal": lambda draws, shape: draws.lognormal(size=shape),
    "6 % not zero": lambda draws, shape: (
        (draws.random(shape) < 0.06) * draws.normal(3, 1, size=shape)
    ),
}
TRUE = {"points": 0, "normal": 0, "lognormal": np.exp(0.5), "6 % not zero": 0.18}
COVERED = {
    "points": dict.fromkeys((5, 8, 12, 24, 62, 400), 0.93),
    "normal": dict.fromkeys((5, 8, 12, 24, 62, 400), 0.93),
    "lognormal": {5: 0.86, 8: 0.88, 12: 0.89, 24: 0.91, 62: 0.92, 400: 0.92},
    "6 % not zero": {62: 0.93, 400: 0.94},
}
"""Least coverage: what docs/reference/tournaments.md says, less what 4,000 samples may miss."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "n"), [(shape, n) for shape, least in COVERED.items() for n in least]
)
def test_intervals_cover_what_the_page_says(shape, n):
    samples = SHAPES[shape](np.random.default_rng(n), (4000, n))
    found = [intervals.mean_interval(sample) for sample in samples]
    covered = np.mean([one.low <= TRUE[shape] <= one.high for one in found])
    assert covered > COVERED[shape][n]


def test_few_values_that_differ_make_a_rough_interval():
    draws = np.random.default_rng(5)
    assert intervals.mean_interval(draws.normal(size=7)).few
    assert not intervals.mean_interval(draws.normal(size=9)).few
    assert intervals.mean_interval(np.r_[np.zeros(40), np.ones(7)]).few
    assert not intervals.mean_interval(np.r_[np.zeros(40), np.ones(8)]).few
    assert intervals.mean_interval(np.zeros(7)).few
    rough = interval(intervals.mean_interval(np.r_[np.zeros(40), 1.0]))
    assert rough.endswith("]?")


def test_skewness_moves_both_ends_towards_the_long_tail():
    values = np.random.default_rng(5).lognormal(size=40)
    found, turned = intervals.mean_interval(values), intervals.mean_interval(-values)
    assert found.high - found.mean > 1.2 * (found.mean - found.low)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    level = values - values.mean()
    even = intervals.mean_interval(np.r_[level, -level])  # no skewness: Student's t
    half = ttest_1samp(np.r_[level, -level], 0).confidence_interval()
    assert (even.low, even.high) == pytest.approx((half.low, half.high))


def test_the_interval_of_a_rate_is_wilsons_where_games_are_independent():
    wins = np.repeat([1.0, 0.0], [14, 6])
    wilson = binomtest(14, 20).proportion_ci(method="wilson")
    found = intervals.rate_interval(wins)
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))
    assert intervals.rate_interval(np.ones(20)).low == pytest.approx(
        binomtest(20, 20).proportion_ci(method="wilson").low
    )


def test_games_that_share_a_deal_count_less_if_they_agree_and_more_if_they_cancel():
    agree = np.repeat([1.0, 0.0], [60, 40])
    cancel = np.repeat([1.0, 0.5, 0.0], [15, 90, 5])
    assert intervals.rate_interval(agree).high - intervals.rate_interval(agree).low > 0.18
    assert intervals.rate_interval(cancel).high - intervals.rate_interval(cancel).low < 0.09


def test_an_interval_takes_two_deals():
    for interval_of in (intervals.mean_interval, intervals.rate_interval):
        with pytest.raises(SettingError, match="two"):
            interval_of([1.0])


def test_the_interval_of_a_ratio_counts_long_matches_as_long_ones():
    draws = np.random.default_rng(6)
    rounds = draws.integers(2, 12, 300)
    points = draws.normal(3 * rounds, 20 * np.sqrt(rounds))
    found = intervals.ratio_interval(points, rounds)
    assert found.mean == pytest.approx(points.sum() / rounds.sum())
    residuals = (points - found.mean * rounds) / rounds.mean()
    half = 1.96 * residuals.std(ddof=1) / np.sqrt(300)  # the delta method, by hand
    assert found.low == pytest.approx(found.mean - half, abs=0.2 * half)
    assert found.high == pytest.approx(found.mean + half, abs=0.2 * half)
    many = intervals.ratio_interval(np.tile(points, 40), np.tile(rounds, 40))
    assert many.high - many.mean == pytest.approx(half / np.sqrt(40), rel=0.01)
    assert intervals.ratio_interval(3 * rounds, rounds) == intervals.ratio_interval(
        [3] * 9, [1] * 9
    )


def test_the_rate_of_rounds_won_in_matches_is_that_of_all_rounds():
    won, games = np.repeat([[1.0, 2.0], [4.0, 4.0], [0.0, 3.0]], 30, axis=0).T
    found = intervals.rate_interval(won, games)
    assert found.mean == pytest.approx(5 / 9)
    assert found.low < 5 / 9 < found.high
    shares = intervals.rate_interval(won / 4, np.full(90, 1.0))
    assert shares == intervals.rate_interval(won / 4)


def test_the_variance_removed_is_all_if_games_cancel_and_none_if_they_are_independent():
    points = np.random.default_rng(7).normal(0, 25, 20_000)
    assert intervals.variance_removed([points, -points]) == 1
    assert intervals.variance_removed(points.reshape(2, -1)) == pytest.approx(0, abs=0.03)
    assert intervals.variance_removed([points, points]) == pytest.approx(-1, abs=0.01)
    luck = np.random.default_rng(8).normal(0, 25, 20_000)
    half = np.array([luck + points, -luck + np.roll(points, 1)])
    assert intervals.variance_removed(half) == pytest.approx(0.5, abs=0.03)
    assert intervals.variance_removed(np.zeros((2, 5))) == 0


def test_a_higher_level_widens_an_interval():
    draws = np.random.default_rng(8)
    for many in (200, 10_000):
        values, ones = draws.normal(size=many), np.ones(many)
        usual, wide = (
            intervals.ratio_interval(values, ones),
            intervals.ratio_interval(values, ones, level=0.99),
        )
        assert wide.low < usual.low < usual.high < wide.high
        ratio = (wide.high - wide.low) / (usual.high - usual.low)
        assert ratio == pytest.approx(2.576 / 1.96, rel=0.07)
