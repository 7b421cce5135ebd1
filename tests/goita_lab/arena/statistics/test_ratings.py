"""Ratings from win counts: Elo as the model says, intervals over deals, and what anchors them."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from goita_lab.arena.statistics import ratings
from goita_lab.arena.statistics.ratings import PairGames

rate = partial(ratings.rate, resamples=200)

TRUTH = {"random": 0, "greedy": 200, "strong": 350}


def chance(a, b):
    return 1 / (1 + 10 ** ((b - a) / 400))


def tournament(truth=TRUTH, deals=1500, seed=0):
    draws, games = np.random.default_rng(seed), []
    for a, b in combinations(truth, 2):
        won = draws.binomial(2, chance(truth[a], truth[b]), deals)
        games.append(PairGames(a, b, won.astype(float), np.full(deals, 2.0)))
    return games


@pytest.mark.parametrize(
    ("times", "wins", "losses"), [((400, 500, 100), 1300, 700), ((100, 0, 0), 200, 0)]
)
def test_two_agents_are_as_far_apart_as_their_win_rate_says(times, wins, losses):
    won = np.repeat([2.0, 1.0, 0.0], times)
    best, worst = rate([PairGames("a", "random", won, np.full(len(won), 2.0))])
    # The logistic curve by hand: 400 log10(wins / losses), half a win more for both.
    assert best.elo == pytest.approx(400 * np.log10((wins + 0.5) / (losses + 0.5)))
    assert (worst.agent, worst.elo, worst.ci95) == ("random", 0, (0, 0))


def swept(a, b, deals=12, lost=0):
    """Returns a pair of which a won all games but those of some deals."""
    won = np.full(deals, 2.0)
    won[:lost] = 1
    return PairGames(a, b, won, np.full(deals, 2.0))


def test_who_lost_nothing_has_no_upper_end_and_wilsons_lower_one():
    best, worst = rate([swept("a", "random")])
    assert best.ci95[1] == np.inf
    # Wilson's lower bound of 12 deals of 12 is 12 / (12 + z^2); in games, with half a win.
    assert best.ci95[0] == pytest.approx(400 * np.log10(24.5 / (2 * 1.959964**2)), abs=0.01)
    assert worst.ci95 == (0, 0)
    # Without an anchor who won nothing has no lower end.
    best, worst = rate([swept("a", "b")])
    assert best.ci95[1] == np.inf
    assert worst.ci95 == (-np.inf, -best.ci95[0])


def test_one_lost_game_which_many_resamples_lack_shows_no_upper_end_either():
    assert rate([swept("a", "random", lost=1)])[0].ci95[1] == np.inf
    assert rate([swept("a", "random", lost=8)])[0].ci95[1] < np.inf


def cancelling(deals, differing, draws):
    """Returns a pair whose wins cancel in all deals but a share of them."""
    won = draws.choice([0.0, 1.0, 2.0], deals, p=[differing / 2, 1 - differing, differing / 2])
    return PairGames("a", "b", won, np.full(deals, 2.0))


@pytest.mark.parametrize("deals", [10, 25])
def test_ratings_of_a_pair_whose_wins_cancel_cover_the_truth_and_are_marked(deals):
    draws = np.random.default_rng(deals)
    rated = [rate([cancelling(deals, 0.1, draws)])[0] for _ in range(100)]
    assert np.mean([one.ci95[0] <= 0 <= one.ci95[1] for one in rated]) > 0.92
    assert np.mean([one.few for one in rated]) > 0.9
    assert min(one.ci95[1] - one.ci95[0] for one in rated) > 10
    assert not rate([cancelling(400, 0.1, draws)])[0].few


def test_a_rating_at_the_anchor_has_no_mark():
    even = PairGames("a", "random", np.ones(30), np.full(30, 2.0))
    best, anchor = sorted(rate([even]), key=lambda one: one.agent)
    assert best.few
    # Wilson's ends of 15 of 30, by hand.
    assert best.ci95[1] == pytest.approx(400 * np.log10(0.6685 / 0.3315), abs=4)
    assert (anchor.ci95, anchor.few) == ((0, 0), False)


def test_chains_of_wins_bound_a_rating():
    # a lost nothing to c, but b, who lost to c, beat a.
    games = [swept("a", "c"), swept("a", "b", 40, 20), swept("b", "c", 40, 20)]
    assert all(np.isfinite(one.ci95).all() for one in rate(games))
    open_above = [swept("a", "c"), swept("a", "b"), swept("b", "c", 40, 20)]
    found = {one.agent: one.ci95 for one in rate([*open_above, swept("c", "random", 40, 20)])}
    assert found["a"][1] == np.inf
    assert np.isfinite([found["b"], found["c"]]).all()


def test_the_fit_is_where_the_expected_wins_are_those_that_were_counted():
    games = tournament()
    elo = {rating.agent: rating.elo for rating in rate(games, resamples=2)}
    for name in TRUTH:
        mine = [game for game in games if name in (game.a, game.b)]
        counted = sum(
            (g.won if g.a == name else g.played - g.won).sum() + 0.5 for g in mine
        )  # half a win more against each
        expected = sum(
            (g.played.sum() + 1) * chance(elo[name], elo[g.b if g.a == name else g.a]) for g in mine
        )
        assert expected == pytest.approx(counted, rel=1e-6)


@pytest.mark.slow
def test_intervals_cover_the_truth_about_95_times_in_100():
    covered = []
    for seed in range(40):
        for rating in rate(tournament(deals=200, seed=seed), seed=seed, resamples=120)[:2]:
            low, high = rating.ci95
            covered.append(low < TRUTH[rating.agent] < high)
    assert len(covered) == 80
    assert np.mean(covered) > 0.87


def test_ratings_are_sorted_repeat_and_hold_random_at_zero():
    found = rate(tournament())
    assert [rating.agent for rating in found] == ["strong", "greedy", "random"]
    assert found == rate(tournament())
    assert all(r.ci95[0] <= r.elo <= r.ci95[1] for r in found)
    assert found[-1].elo == 0
    # Without random the mean is zero.
    found = rate(tournament({"a": 0, "b": 100, "c": 50}))
    assert sum(rating.elo for rating in found) == pytest.approx(0, abs=1e-6)


def test_agents_that_cannot_be_compared_are_not_rated():
    one, other = tournament()[0], tournament({"x": 0, "y": 10})[0]
    assert rate([one, other]) == []
    assert rate([]) == []


def test_games_of_an_agent_against_itself_say_nothing():
    same = PairGames("greedy", "greedy", np.ones(50), np.full(50, 2.0))
    assert rate([same])[0].elo == 0
    games = tournament()
    alone, beside = rate(games, resamples=20), rate([*games, same], resamples=20)
    assert alone == beside


def test_pairs_may_have_different_numbers_of_deals_and_very_many():
    games = tournament(deals=12_345)
    short = PairGames(games[1].a, games[1].b, games[1].won[:7], games[1].played[:7])
    found = {r.agent: r for r in rate([games[0], short, games[2]], resamples=50)}
    for name, elo in TRUTH.items():
        assert found[name].elo == pytest.approx(elo, abs=25)
