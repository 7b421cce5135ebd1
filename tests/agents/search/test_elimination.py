"""Which actions a race by elimination drops, where it stops, and what it need not play twice."""

import numpy as np
import pytest

from agents import AgentError, load_agent
from agents.search.drawing import TREMBLE, draw
from agents.search.elimination import FIRST, Elimination
from agents.search.hearing import Hearing
from agents.search.playout import Player
from agents.search.pricing import set_up
from goita_env import Game

WORLDS = 128


def rng(seed=0):
    return np.random.default_rng(seed)


def race(points, favourite, budget=1e9, worlds=None, alike=None, weight=None):
    """Returns a race of rows of known points [R, A, W], and the worlds played of each pair."""
    rows, actions, most = points.shape
    legal = np.zeros((rows, 69), bool)
    legal[:, :actions] = True
    worlds = np.full(rows, most) if worlds is None else np.array(worlds)
    if weight is None:
        weight = (np.arange(most) < worlds[:, None]) / worlds[:, None]
    one = Elimination(legal, np.array(favourite), weight, worlds, alike, budget)
    seen = np.zeros((len(one.row), most), int)

    def play(pair, world):
        np.add.at(seen, (pair, world), 1)
        return points[one.row[pair], one.action[pair], world]

    return one, play, seen


def level(worlds=WORLDS):
    """Returns points [2, W] of two actions whose difference stays within its error."""
    return np.array([np.zeros(worlds), np.tile([-20.0, 20.5], worlds // 2)])


def noisy(worth, spread, seed=0, rows=1, worlds=WORLDS):
    """Returns points [R, A, W] of actions of a known worth in worlds of good and bad luck."""
    luck = rng(seed).normal(size=(rows, 1, worlds)) * 50.0
    own = rng(seed + 1).normal(size=(rows, len(worth), worlds)) * spread
    return np.array(worth, float)[:, None] + luck + own


@pytest.mark.parametrize("seed", range(20))
def test_the_best_wins_however_lucky_the_common_worlds_are(seed):
    worth = rng(seed).permutation(20)
    one, play, seen = race(noisy(worth, 0.5, seed), [3])
    assert one.run(play).tolist() == [worth.argmax()]
    assert seen.max() == 1
    assert seen[3].sum() == seen.sum(axis=1).max()


def test_a_clear_decision_stops_after_the_first_stage_and_a_close_one_goes_on():
    clear, close = noisy([0, 20, -20], 2.0), np.append(level(), np.full((1, WORLDS), -50.0), axis=0)
    one, play, seen = race(np.array([clear[0], close]), [1, 0])
    assert one.run(play, 3.0).tolist() == [1, 0]
    assert seen.sum(axis=1)[:3].tolist() == [FIRST] * 3
    assert seen.sum(axis=1)[3:].tolist() == [WORLDS, WORLDS, FIRST]


def test_what_only_equals_the_favourite_is_dropped_and_the_favourite_played():
    one, play, seen = race(noisy([1, 1, 1], 0.0), [2])
    assert one.run(play).tolist() == [2]
    assert seen.sum(axis=1).tolist() == [FIRST] * 3


def test_rows_do_not_know_of_each_other():
    points, favourite = noisy([0, 1, 2, 1.5], 8.0, rows=6, seed=5), [0, 1, 2, 3, 0, 1]
    worlds = [128, 40, 1, 16, 17, 100]
    together, play, seen = race(points, favourite, 700, worlds)
    chosen = together.run(play, 1.0)
    assert len(set(seen.sum(axis=1).tolist())) > 3
    for row in range(6):
        alone, play, own = race(points[[row]], favourite[row : row + 1], 700, [worlds[row]])
        assert alone.run(play, 1.0)[0] == chosen[row]
        assert (own == seen[4 * row : 4 * row + 4]).all()
        assert own[:, worlds[row] :].sum() == 0


@pytest.mark.parametrize("budget", [1, 5, 60, 100, 300, 10_000])
def test_a_budget_is_kept_whatever_is_close(budget):
    one, play, seen = race(noisy([0, 0.1, 0.2, 0.1, 0], 30.0), [0], budget)
    one.run(play)
    assert seen.sum() <= max(budget, 5)
    assert (seen[:, 0] == 1).all()
    assert one.points[seen == 0].tolist() == [0] * int((seen == 0).sum())


def test_a_world_alike_costs_nothing_and_counts():
    points, alike = level()[None], np.arange(WORLDS)[None] % 4
    one, play, seen = race(points, [0], 16, alike=alike)
    one.run(play)
    assert np.argwhere(seen).tolist() == [[pair, world] for pair in (0, 1) for world in range(4)]
    assert (one.points == np.tile(points[0, :, :4], WORLDS // 4)).all()
    one, play, seen = race(points, [0], 16)
    one.run(play)
    assert seen.sum() == 16


@pytest.mark.parametrize(("behind", "worlds"), [(0.8, 2 * FIRST), (1.2, FIRST)])
@pytest.mark.parametrize("to", ["the favourite", "the best"])
def test_an_action_goes_that_is_behind_by_more_than_a_standard_error(behind, worlds, to):
    swing = np.tile([-1.0, 1.0], WORLDS // 2)  # in 16 worlds its error is a quarter
    rival = np.full(WORLDS, 0.0 if to == "the favourite" else 30.0)
    one, play, seen = race(np.array([[np.zeros(WORLDS), rival, rival + swing - behind / 4]]), [0])
    one.run(play)
    assert seen[2].sum() == worlds


def test_worlds_count_by_their_weight():
    weight = np.array([[0.7, 0.1, 0.1, 0.1]])
    points = np.array([[np.zeros(4), [4.0, -10.0, -10.0, -6.0], [-4.0, 10.0, 10.0, 8.0]]])
    one, play, _ = race(points, [0], weight=weight)
    assert one.run(play).tolist() == [1]
    lead, error = one._lead(np.array([1]), np.array([0]), np.array([4]))
    assert lead == pytest.approx(0.7 * 4 - 0.1 * 26)
    assert error == pytest.approx(np.sqrt(0.49 * 3.8**2 + 0.01 * (10.2**2 * 2 + 6.2**2)))
    one, play, _ = race(points, [0])
    assert one.run(play).tolist() == [2]


@pytest.mark.parametrize(("caution", "chosen"), [(0.0, 1), (1.0, 1), (3.0, 0)])
def test_a_lead_within_the_error_is_no_reason_to_leave_the_base(caution, chosen):
    points = np.array([[np.zeros(16), np.tile([-20.0, 40.0], 8)]])  # ahead by 10, error 7.5
    one, play, _ = race(points, [0])
    assert one.run(play, caution).tolist() == [chosen]


# ------------------------------------------------------------------------------------ worlds twice


def late():
    """A view of a round that is nearly over: few worlds are left; and what is legal there."""
    return decision(0, 10)


def early():
    """A view of a round that has begun, and what is legal there."""
    return decision(20, 23)


def decision(fewest, most):
    """A view with so many tiles unseen and three choices at least, and what is legal there."""
    agent = load_agent("greedy")
    for seed in range(100):
        game = Game(seed=seed)
        while not game.done:
            view = game.view(game.seat)
            if fewest <= view.unseen.sum() <= most and len(game.legal_actions()) >= 3:
                return view, view.legal()
            game.play(int(agent.act(view, view.legal(), rng())[0]))
    raise AssertionError("expected such a choice among a hundred rounds")


@pytest.mark.parametrize("base", ["champion", "champion:temperature=1", "greedy"])
def test_a_world_drawn_twice_is_played_once_where_there_is_surely_no_luck(base, monkeypatch):
    view, legal = late()
    seeds, hearing = np.array([8], np.uint64), Hearing(load_agent("greedy"), TREMBLE)
    drawn = draw(view, seeds, np.array([WORLDS]), WORLDS, None, hearing, mixed=True)
    worlds = {
        (hands.tobytes(), blocks.tobytes())
        for hands, blocks in zip(drawn.worlds.hands, drawn.worlds.face_down, strict=True)
    }
    assert 1 < len(worlds) < FIRST
    player, played, finish = Player(load_agent(base)), [], Player.finish
    favourite = player.choose(view, legal, seeds, np.arange(1), 0)

    def counting(self, positions, places, actions, keys, owners):
        played.append(len(places))
        return finish(self, positions, places, actions, keys, owners)

    monkeypatch.setattr(Player, "finish", counting)
    found, play = set_up(player, view, legal, favourite, drawn, seeds, 1e9)
    found._drop = lambda until: None
    found.run(play)
    many = len(worlds) if base == "champion" else WORLDS
    assert sum(played) == len(found.action) * many
    pair, world = (np.ravel(x) for x in np.indices(found.points.shape))
    assert found.points.ravel().tolist() == play(pair, world).tolist()


def test_the_first_of_a_listeners_worlds_are_a_sample_of_all():
    view, _ = early()
    hearing, means = Hearing(load_agent("greedy"), TREMBLE), {}
    for mixed in (False, True):
        found = [
            draw(view, np.array([seed], np.uint64), np.array([256]), 256, None, hearing, mixed)
            for seed in range(24)
        ]
        hands = np.stack([drawn.worlds.hands[:, 2] for drawn in found]).astype(float)
        error = hands.std(axis=(0, 1)) / np.sqrt(24 * FIRST)
        means[mixed] = (hands[:, :FIRST].mean(axis=(0, 1)) - hands.mean(axis=(0, 1))) / error
    assert abs(means[True]).max() < 4
    assert abs(means[False]).max() > 8


def test_what_is_dropped_must_be_known():
    with pytest.raises(AgentError, match=r"expected drop=half or behind, got 'worst'"):
        load_agent("rollout:drop=worst")
