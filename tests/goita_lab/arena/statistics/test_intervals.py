"""Intervals over deals: they cover the truth, and agree with formulas by others."""

import numpy as np
import pytest
from scipy.stats import binomtest, t, ttest_1samp

from goita_env.errors import SettingError
from goita_lab.arena.report.figures import interval, percent
from goita_lab.arena.statistics import intervals


def test_the_interval_of_a_mean_covers_it_in_95_of_100_samples():
    draws = np.random.default_rng(4)
    samples = draws.choice([-30.0, -10.0, 0.0, 20.0, 25.0], size=(200, 100))
    found = [intervals.mean_interval(sample) for sample in samples]
    covered = np.mean([i.low < 1.0 < i.high for i in found])
    assert 0.91 < covered < 0.98


WINS = [-50.0, -30.0, -20.0, 20.0, 30.0, 50.0]


def _mostly_zeros(share):
    return lambda draws, shape: np.where(
        draws.random(shape) < share, 0.0, draws.choice(WINS, shape)
    )


SHAPES = {
    "normal": (lambda draws, shape: draws.normal(size=shape), 0.93),
    "points": (lambda draws, shape: draws.choice(WINS, shape), 0.93),
    "80 % zeros": (_mostly_zeros(0.8), 0.93),
    "90 % zeros": (_mostly_zeros(0.9), 0.93),
    "95 % zeros": (_mostly_zeros(0.95), 0.92),
}
"""Samples around 0, and how many of their intervals cover it at least."""


@pytest.mark.slow
@pytest.mark.parametrize("n", [24, 62, 100, 200, 400])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_without_a_question_mark_cover_what_they_say(shape, n):
    draw, least = SHAPES[shape]
    found = [intervals.mean_interval(row) for row in draw(np.random.default_rng(n), (10_000, n))]
    sure = [one for one in found if not one.few]
    if len(sure) >= 0.1 * len(found):
        assert least < np.mean([one.low <= 0 <= one.high for one in sure]) < 0.97


def test_the_ends_are_students():
    values = np.random.default_rng(5).lognormal(size=40)
    found, wide = (
        intervals.ratio_interval(values, np.ones(40), level=level) for level in (0.95, 0.99)
    )
    for one, level in ((found, 0.95), (wide, 0.99)):
        half = ttest_1samp(values, 0).confidence_interval(level)
        assert (one.low, one.high) == pytest.approx((half.low, half.high))


def test_one_outlier_leaves_the_lower_end_where_the_other_partners_are():
    partners = np.r_[1.21, np.linspace(4.42, 5.4, 14)]
    found = intervals.mean_interval(partners)
    assert found.low > 3
    assert found.high < 6
    assert found.high - found.mean == pytest.approx(found.mean - found.low)


def test_few_values_that_differ_make_a_rough_interval():
    draws = np.random.default_rng(5)
    assert intervals.mean_interval(draws.normal(size=7)).few
    assert not intervals.mean_interval(draws.normal(size=9)).few
    assert intervals.mean_interval(np.r_[np.zeros(40), np.ones(7)]).few
    assert not intervals.mean_interval(np.r_[np.zeros(40), np.ones(8)]).few
    assert intervals.mean_interval(np.zeros(400)).few
    rounds = np.arange(3, 53)
    assert intervals.ratio_interval(np.r_[np.ones(4), np.zeros(46)], rounds).few
    assert not intervals.ratio_interval(np.r_[np.ones(5), -np.ones(45)], rounds).few
    rough = interval(intervals.mean_interval(np.r_[np.zeros(40), 1.0]))
    assert rough.endswith("]?")


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


CANCELLING = {
    "two similar networks": [0.053, 0.894, 0.053],
    "two nearly equal rule bots": [0.013, 0.979, 0.008],
}
"""Shares of deals of which a team won none, one or both games: 8,000 deals of ``champion`` against
``champion:temperature=1``, and of ``heuristic`` against ``heuristic:false_lance=off``."""


@pytest.mark.parametrize("n", [10, 25, 50, 100, 400])
@pytest.mark.parametrize("pair", CANCELLING)
def test_the_interval_of_a_rate_covers_it_where_wins_cancel(pair, n):
    shares = np.array(CANCELLING[pair])
    truth = shares @ [0, 0.5, 1]
    samples = np.random.default_rng(n).choice([0.0, 1.0, 2.0], (1000, n), p=shares)
    found = [intervals.rate_interval(sample, np.full(n, 2.0)) for sample in samples]
    assert np.mean([one.low <= truth <= one.high for one in found]) > 0.93
    sure = [one for one in found if not one.few]
    if len(sure) > 300:
        assert np.mean([one.low <= truth <= one.high for one in sure]) > 0.93


def test_a_rate_of_deals_that_all_cancel_is_wilsons_of_the_deals_and_marked():
    found = intervals.rate_interval(np.ones(30), np.full(30, 2.0))
    wilson = binomtest(15, 30).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((wilson.low, wilson.high))
    assert found.few
    assert percent(found).endswith("]?")
    # As many wins as the rounds of each match allow: no variance either, whatever rounding leaves.
    matches = intervals.rate_interval(np.arange(1, 9), 3 * np.arange(1, 9))
    assert matches.high - matches.low > 0.5
    # Deals that are all won do not cancel.
    assert not intervals.rate_interval(np.full(30, 2.0), np.full(30, 2.0)).few


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
    half = t.ppf(0.975, 299) * residuals.std(ddof=1) / np.sqrt(300)  # the delta method, by hand
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half))
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
