"""Which actions a race by halving drops, and what is left to chance in it."""

import numpy as np
import pytest

from agents.search.halving import Halving, playouts


def rng(seed=0):
    return np.random.default_rng(seed)


def race(worth, worlds, noise, seed):
    """Races one row of actions of a known worth; returns the winner and what was played."""
    legal = np.zeros((1, 69), bool)
    legal[0, : len(worth)] = True
    luck, counts = rng(seed).normal(size=worlds), []

    def play(pair, world):
        counts.append(len(pair))
        return worth[pair] + luck[world] * noise + 0.1 * rng(seed + 1).normal(size=len(pair))

    one = Halving(legal, np.array([3]), np.ones((1, worlds)), np.array([worlds]))
    return int(one.run(play)[0]), counts, one


@pytest.mark.parametrize("seed", range(20))
def test_halving_keeps_the_best_however_lucky_the_common_worlds_are(seed):
    worth = rng(seed).permutation(20) / 2
    best, counts, one = race(worth, 32, 50.0, seed)
    assert best == worth.argmax()
    assert counts[0] == 20 * 8
    assert sum(counts) <= playouts(20, 32) < 20 * 32 * 0.7
    assert one.racing[3]


def test_among_equals_the_own_choice_of_the_base_is_played():
    legal = np.ones((5, 69), bool)
    favourite = np.arange(5) * 7
    one = Halving(legal, favourite, np.ones((5, 16)), np.full(5, 16))
    assert one.run(lambda pair, world: world * 10.0).tolist() == favourite.tolist()


@pytest.mark.parametrize(("caution", "chosen"), [(0.0, 1), (1.0, 1), (3.0, 0)])
def test_a_lead_within_the_error_is_no_reason_to_leave_the_base(caution, chosen):
    points = np.array([np.zeros(16), np.tile([-20.0, 40.0], 8)])  # ahead by 10, error 7.5
    one = Halving(np.ones((1, 2), bool), np.array([0]), np.ones((1, 16)), np.array([16]))
    assert one.run(lambda pair, world: points[pair, world], caution).tolist() == [chosen]


@pytest.mark.parametrize("worlds", [1, 2, 7, 9, 64])
def test_any_number_of_worlds_will_do(worlds):
    worth = np.arange(10.0)
    best, counts, one = race(worth, worlds, 3.0, 1)
    assert best == 9
    assert sum(counts) <= playouts(10, worlds)
    assert (one.points[9] != 0).sum() == worlds
