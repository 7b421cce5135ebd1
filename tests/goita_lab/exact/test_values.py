"""Best responses and solutions: nothing does better, and bounds hold."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_lab.exact.team import Ruler, alternating, team_response
from goita_lab.exact.tree import enumerate_game
from goita_lab.exact.values import Learner, best_response, gains, reached, sign, value, worths


def any_policy(tree, seed):
    weights = np.random.default_rng(seed).exponential(size=len(tree.action)) ** 2
    return weights / np.add.reduceat(weights, tree.starts[:-1])[tree.owner]


def with_seats(tree, policy, other, seats):
    """Returns a policy with other probabilities at some seats."""
    found, own = policy.copy(), np.isin(tree.seat[tree.owner], seats)
    found[own] = other[own]
    return found


@pytest.mark.parametrize("seat", range(4))
def test_no_policy_of_a_seat_does_better_than_its_best_response(tiny, seat):
    policy = any_policy(tiny, 0)
    best = best_response(tiny, policy, seat)
    assert value(tiny, best.policy) == pytest.approx(best.value)
    assert (
        best.policy[tiny.seat[tiny.owner] != seat] == policy[tiny.seat[tiny.owner] != seat]
    ).all()
    for seed in range(1, 20):
        other = with_seats(tiny, policy, any_policy(tiny, seed), [seat])
        assert sign(seat) * value(tiny, other) <= sign(seat) * best.value
    # No other action at a single information set is better either.
    worth = sign(seat) * worths(tiny, best.policy, seat)
    mine = tiny.seat == seat
    most = np.maximum.reduceat(worth, tiny.starts[:-1])[mine]
    taken = np.add.reduceat(worth * best.policy, tiny.starts[:-1])[mine]
    assert taken == pytest.approx(most, abs=1e-12)


def test_learners_come_near_a_policy_from_which_no_seat_gains(tiny):
    learner = Learner(tiny)
    first = max(gains(tiny, learner.average()).values())
    for _ in range(60):
        learner.learn()
    assert max(gains(tiny, learner.average()).values()) < min(0.05, first / 100)


def test_teams_that_see_their_tiles_play_a_game_of_two_with_one_value(tiny):
    tree = enumerate_game(tiny.rules, "partner")
    learner = Learner(tree)
    for _ in range(100):
        learner.learn()
    found, known = gains(tree, learner.average()), value(tree, learner.average())
    assert sum(found.values()) < 0.1
    # Whatever another policy of one team is, it makes no more than the value and the gap.
    other = any_policy(tree, 3)
    for player in (0, 1):
        mixed = learner.average()
        own = tree.player[tree.owner] == player
        mixed[own] = other[own]
        assert sign(player) * (value(tree, mixed) - known) <= found[player] + 1e-9


@pytest.mark.parametrize("team", [0, 1])
def test_a_team_gains_what_its_bounds_say(tiny, team):
    policy = tiny.policy_of([load_agent("greedy")] * 4)
    found, points = team_response(tiny, policy, team, seconds=60), sign(team)
    assert found.proven
    assert value(tiny, found.policy) == pytest.approx(found.value)
    alone = [points * best_response(tiny, policy, seat).value for seat in (team, team + 2)]
    eyes = ("partner", "own") if team == 0 else ("own", "partner")
    seeing = enumerate_game(tiny.rules, eyes)
    most = points * best_response(seeing, seeing.carry(policy, tiny), team).value
    assert max(alone) < points * found.value < most
    # Plans that respond to each other from elsewhere do no better.
    for seed in range(5):
        others = reached(tiny, policy, team, whole_team=True)
        value_of, _ = alternating(tiny, policy, team, others, starts=3, seed=seed)[0]
        assert points * value_of <= points * found.bound + 1e-6


def test_the_linear_program_bounds_a_team_that_is_not_searched_for_long(tiny):
    policy = tiny.policy_of([load_agent("heuristic")] * 4)
    loose, tight = (team_response(tiny, policy, 1, seconds) for seconds in (0, 60))
    assert -loose.value < -tight.value + 1e-6
    assert -tight.bound < -loose.bound + 1e-6
    assert abs(tight.bound - tight.value) < 1e-6


def test_a_ruler_orders_its_figures(tiny):
    found = Ruler(tiny.rules).measure(tiny.policy_of([load_agent("greedy")] * 4), seconds=0)
    assert 0 < found.alone < found.team[0] <= found.team[1] < found.open
    assert max(found.seats) < max(found.seen)
