"""Which actions an allocation drops, where it stops, and what it need not play twice."""

import numpy as np
import pytest

from goita_agents.search.playout_budget import (
    ELIMINATION_FIRST,
    UNLIMITED,
    Outcomes,
    allocate,
    halving_playouts,
    worlds_within,
)

WORLDS = 128
ALLOCATIONS = "halving", "elimination", "uniform"


def rng(seed=0):
    return np.random.default_rng(seed)


class Race:
    """Actions of known points [R, A, W], and which of their worlds were played.

    Attributes:
        chosen: the action of each row by its average.
        seen: [P, W] how often each pair was played in each world.
    """

    def __init__(self, points, prior, allocation, budget=UNLIMITED, *, min_z=0, **given):
        rows, actions, most = points.shape
        legal = np.zeros((rows, 69), bool)
        legal[:, :actions] = True
        worlds = np.array(given.get("worlds", np.full(rows, most)))
        weight = given.get("weight", (np.arange(most) < worlds[:, None]) / worlds[:, None])
        alike = given.get("alike", np.broadcast_to(np.arange(most), (rows, most)))
        self.seen = np.zeros((rows * actions, most), int)

        def play(pair, world):
            np.add.at(self.seen, (pair, world), 1)
            return points[pair // actions, pair % actions, world]

        self.outcomes = Outcomes(legal, np.array(prior), weight, worlds, play, alike)
        allocate(self.outcomes, allocation, budget)
        self.chosen = self.outcomes.action[self.outcomes.chosen(min_z)].tolist()


def level(worlds=WORLDS):
    """Returns points [2, W] of two actions whose difference stays within its error."""
    return np.array([np.zeros(worlds), np.tile([-20.0, 20.5], worlds // 2)])


def noisy(worth, spread, seed=0, rows=1, worlds=WORLDS):
    """Returns points [R, A, W] of actions of a known worth in worlds of good and bad luck."""
    luck = rng(seed).normal(size=(rows, 1, worlds)) * 50.0
    own = rng(seed + 1).normal(size=(rows, len(worth), worlds)) * spread
    return np.array(worth, float)[:, None] + luck + own


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("seed", range(6))
def test_the_best_wins_however_lucky_the_common_worlds_are(seed, allocation):
    worth = rng(seed).permutation(20)
    race = Race(noisy(worth, 0.5, seed), [3], allocation)
    assert race.chosen == [worth.argmax()]
    assert race.seen.max() == 1
    assert race.seen[3].sum() == race.seen.sum(axis=1).max()  # the prior action stays
    assert race.outcomes.worlds.tolist() == race.seen.sum(axis=1).tolist()
    played = {"halving": 0.7, "elimination": 0.3, "uniform": 1}
    assert race.seen.mean() <= played[allocation]


@pytest.mark.parametrize("allocation", ALLOCATIONS)
def test_among_equals_the_prior_action_is_played(allocation):
    prior = np.arange(5) * 7
    luck = np.broadcast_to(10.0 * np.arange(16), (5, 69, 16))
    assert Race(luck, prior, allocation).chosen == prior.tolist()


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize(("min_z", "chosen"), [(0, 1), (1, 1), (3, 0), (np.inf, 0)])
def test_a_lead_within_the_error_is_no_reason_to_leave_the_prior_action(min_z, chosen, allocation):
    points = np.array([[np.zeros(16), np.tile([-20.0, 40.0], 8)]])  # ahead by 10, error 7.5
    assert Race(points, [0], allocation, min_z=min_z).chosen == [chosen]


@pytest.mark.parametrize("allocation", ALLOCATIONS)
def test_rows_do_not_know_of_each_other(allocation):
    points, prior = noisy([0, 1, 2, 1.5], 8.0, rows=6, seed=5), [0, 1, 2, 3, 0, 1]
    worlds = [128, 40, 1, 16, 17, 100]
    together = Race(points, prior, allocation, 700, min_z=1, worlds=worlds)
    assert len(set(together.seen.sum(axis=1).tolist())) > 3
    for row in range(6):
        alone = Race(points[[row]], [prior[row]], allocation, 700, min_z=1, worlds=[worlds[row]])
        assert alone.chosen == [together.chosen[row]]
        assert (alone.seen == together.seen[4 * row : 4 * row + 4]).all()
        assert alone.seen[:, worlds[row] :].sum() == 0


@pytest.mark.parametrize("allocation", ALLOCATIONS)
@pytest.mark.parametrize("budget", [1, 60, 300, 10_000])
def test_a_budget_is_kept_whatever_is_close(budget, allocation):
    race = Race(noisy([0, 0.1, 0.2, 0.1, 0], 30.0), [0], allocation, budget)
    assert race.seen.sum() <= max(budget, 5)
    assert (race.seen[:, 0] == 1).all()
    assert race.outcomes.points[race.seen == 0].tolist() == [0] * int((race.seen == 0).sum())


def test_worlds_count_by_their_weight():
    weight = np.array([[0.7, 0.1, 0.1, 0.1]])
    points = np.array([[np.zeros(4), [4.0, -10.0, -10.0, -6.0], [-4.0, 10.0, 10.0, 8.0]]])
    race = Race(points, [0], "elimination", weight=weight)
    assert race.chosen == [1]
    lead, error = race.outcomes.lead(np.array([1]), np.array([0]))
    assert lead == pytest.approx(0.7 * 4 - 0.1 * 26)
    assert error == pytest.approx(np.sqrt(0.49 * 3.8**2 + 0.01 * (10.2**2 * 2 + 6.2**2)))
    assert Race(points, [0], "elimination").chosen == [2]


def test_halving_fits_its_worlds_to_the_budget():
    counts = worlds_within(500, 256, "halving")
    for actions in range(2, 70):
        assert halving_playouts(actions, counts[actions]) <= 500
        assert counts[actions] == 256 or halving_playouts(actions, counts[actions] + 1) > 500
    assert worlds_within(1, 64, "halving")[1:].tolist() == [1] * 69
    assert (worlds_within(3_750, 64, "halving")[1:] == 64).all()
    race = Race(noisy(np.arange(20), 0.5, worlds=32), [3], "halving")
    assert race.seen.sum() <= halving_playouts(20, 32) < 20 * 32 * 0.7


def test_elimination_stops_a_clear_decision_early_and_goes_on_with_a_close_one():
    clear, close = noisy([0, 20, -20], 2.0), np.append(level(), np.full((1, WORLDS), -50.0), axis=0)
    race = Race(np.array([clear[0], close]), [1, 0], "elimination", min_z=3)
    assert race.chosen == [1, 0]
    assert race.seen.sum(axis=1)[:3].tolist() == [ELIMINATION_FIRST] * 3
    assert race.seen.sum(axis=1)[3:].tolist() == [WORLDS, WORLDS, ELIMINATION_FIRST]


def test_a_world_alike_costs_nothing_and_counts():
    points, alike = level()[None], np.arange(WORLDS)[None] % 4
    race = Race(points, [0], "elimination", 16, alike=alike)
    every = [[pair, world] for pair in (0, 1) for world in range(4)]
    assert np.argwhere(race.seen).tolist() == every
    assert (race.outcomes.points == np.tile(points[0, :, :4], WORLDS // 4)).all()
    assert Race(points, [0], "elimination", 16).seen.sum() == 16


@pytest.mark.parametrize(
    ("behind", "worlds"), [(0.8, 2 * ELIMINATION_FIRST), (1.2, ELIMINATION_FIRST)]
)
@pytest.mark.parametrize("to", ["the prior action", "the best"])
def test_elimination_drops_an_action_behind_by_more_than_a_standard_error(behind, worlds, to):
    swing = np.tile([-1.0, 1.0], WORLDS // 2)  # in 16 worlds its error is a quarter
    rival = np.full(WORLDS, 0.0 if to == "the prior action" else 30.0)
    points = np.array([[np.zeros(WORLDS), rival, rival + swing - behind / 4]])
    assert Race(points, [0], "elimination").seen[2].sum() == worlds
