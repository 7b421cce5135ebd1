"""What every action is worth by search: averages of its playouts, and errors that are honest."""

import numpy as np
import pytest

from goita_agents import AgentError, load_agent
from goita_agents.search.action_values import evaluate_actions
from goita_agents.search.playout import Playouts
from goita_agents.search.playout_budget import ELIMINATION_FIRST
from goita_agents.search.sampling import PosteriorSampler, SampledWorlds, lay_out, sample_worlds
from goita_env import Game
from goita_env.actions import CALL
from goita_env.seeds import deal_keys
from raising import refuses

WORLDS = 64
SEEDS = np.array([8], np.uint64)


def rng(seed=0):
    return np.random.default_rng(seed)


def decision(moves: int = 0, seed: int = 3, unseen: int = 32):
    """A view with three choices at least, what is legal there, and what greedy plays: [1]."""
    agent, game = load_agent("greedy"), Game(seed=seed)
    view = game.view(game.seat)
    while len(game.moves) < moves or len(game.legal_actions()) < 3 or view.unseen.sum() > unseen:
        game.play(int(agent.act(view, view.legal(), rng())[0]))
        game = Game(seed=(seed := seed + 1)) if game.done else game
        view = game.view(game.seat)
    return view, view.legal(), agent.act(view, view.legal(), rng())


def worlds_of(view, seeds=SEEDS, count=WORLDS):
    """Worlds of one view by a listener, in the order of drawing."""
    sampler = PosteriorSampler(load_agent("greedy"))
    return sample_worlds(view, seeds, np.array([count]), sampler, shuffled=False)


def evaluate(view, legal, prior, models="greedy", worlds=None, seeds=SEEDS, **options):
    models = load_agent(models) if isinstance(models, str) else models
    drawn = worlds or worlds_of(view, seeds)
    options = {"allocation": "halving", "min_z": 0.0} | options
    return evaluate_actions(view, legal, models, drawn, prior_action=prior, seeds=seeds, **options)


def gains_of(view, worlds, models, action, seeds=SEEDS):
    """Points [W] of an action in each world."""
    places, keys = np.arange(WORLDS), deal_keys(np.repeat(seeds, WORLDS), np.arange(WORLDS), 0)
    positions, owners = lay_out(view, worlds.worlds), np.zeros(WORLDS, np.int64)
    return Playouts(models).finish(positions, places, np.full(WORLDS, action), keys, owners)


@pytest.mark.parametrize(
    ("moves", "allocation"), [(0, "elimination"), (5, "halving"), (9, "halving"), (9, "uniform")]
)
def test_points_are_averages_of_playouts_in_the_same_worlds(moves, allocation):
    view, legal, prior = decision(moves)
    worlds, greedy = worlds_of(view), load_agent("greedy")
    found = evaluate(view, legal, prior, worlds=worlds, allocation=allocation)
    gains = {action: gains_of(view, worlds, greedy, action) for action in found.action.tolist()}
    assert found.row.tolist() == [0] * int(legal.sum())
    assert found.action.tolist() == np.flatnonzero(legal[0]).tolist()
    for number, action in enumerate(found.action.tolist()):
        told = gains[action][: found.worlds[number]]
        assert found.points[number] == pytest.approx(told.mean())
        assert found.error[number] == pytest.approx(told.std() / np.sqrt(len(told)))
    played = dict(zip(found.action.tolist(), found.worlds.tolist(), strict=True))
    (best,) = found.best.tolist()
    assert played[best] == played[int(prior[0])] == max(played.values())
    for action in gains:
        both = min(played[best], played[action])
        ahead = (gains[best] - gains[action])[:both]
        (lead,), (error,) = found.lead(found.best, np.array([action]))
        assert lead == pytest.approx(ahead.mean())
        assert error == pytest.approx(ahead.std() / np.sqrt(both))
    expected = {
        "halving": {16, 32, 64},
        "uniform": {64},
        "elimination": {ELIMINATION_FIRST, 32, 64},
    }
    assert set(played.values()) <= expected[allocation]
    assert played[best] == WORLDS or allocation == "elimination"


def test_each_type_of_world_is_played_by_its_own_models():
    view, legal, prior = decision(5)
    worlds, who = worlds_of(view), [load_agent(name) for name in ("greedy", "random", "heuristic")]
    models = [[who[0], one, two, one] for one in who[1:] for two in who[:2]]
    worlds.players[0] = np.arange(WORLDS) % 4
    found = evaluate(view, legal, prior, models, worlds, allocation="uniform")
    for action, points in zip(found.action.tolist(), found.points.tolist(), strict=True):
        gains = np.array([gains_of(view, worlds, four, action) for four in models])
        assert points == pytest.approx(gains[np.arange(WORLDS) % 4, np.arange(WORLDS)].mean())


def test_what_cannot_be_evaluated_is_refused():
    view, legal, prior = decision(5)
    for options, message in (
        ({"allocation": "all"}, "expected allocation of .*'all'"),
        ({"budget": 0}, "budget of at least 1"),
        ({"prior": np.array([CALL])}, "legal prior action, got 65 in row 0"),
        ({"models": [load_agent("greedy")] * 3}, "expected 4 agents, one for each seat, got 3"),
    ):
        refuses(AgentError, message, evaluate, view, legal, **{"prior": prior, **options})


@pytest.mark.slow
def test_errors_are_as_large_as_what_other_seeds_change():
    view, legal, prior = decision(6)
    found = [evaluate(view, legal, prior, seeds=np.array([seed], np.uint64)) for seed in range(14)]
    place = found[0].action.tolist().index(prior[0])
    points = np.array([one.points[place] for one in found])
    error = np.array([one.error[place] for one in found])
    assert 0 < points.std(ddof=1) < 1.4 * error.mean()
    assert len({one.points[place] for one in found}) > 5


@pytest.mark.parametrize("allocation", ["halving", "uniform", "elimination"])
def test_a_row_gets_the_same_alone_and_in_a_batch(allocation):
    some = [decision(moves, seed) for moves, seed in ((0, 3), (5, 4), (9, 5))]
    seeds, counts = np.array([4, 5, 6], np.uint64), [40, 64, 8]
    rows = [
        PosteriorSampler(load_agent("greedy")).sample(view, np.array([count]), [rng(count)])[0]
        for (view, _, _), count in zip(some, counts, strict=True)
    ]
    view = type(some[0][0])(np.concatenate([view.words for view, _, _ in some]))
    legal, prior = (np.concatenate(parts) for parts in list(zip(*some, strict=True))[1:])
    settings = {"allocation": allocation, "budget": 500, "models": "random"}
    found = evaluate(view, legal, prior, worlds=SampledWorlds.join(rows), seeds=seeds, **settings)
    for row, (one, mask, action) in enumerate(some):
        worlds = SampledWorlds.join(rows[row : row + 1], WORLDS)
        alone = evaluate(one, mask, action, worlds=worlds, seeds=seeds[row : row + 1], **settings)
        mine = found.row == row
        for field in ("action", "points", "error", "worlds"):
            assert getattr(alone, field).tolist() == getattr(found, field)[mine].tolist()
        assert (alone.best[0], alone.chosen[0]) == (found.best[row], found.chosen[row])


def test_the_first_of_shuffled_worlds_are_a_sample_of_all():
    view, _, _ = decision(1)
    sampler, means = PosteriorSampler(load_agent("greedy")), {}
    for shuffled in (False, True):
        found = [
            sample_worlds(view, SEEDS + np.uint64(n), np.array([256]), sampler, shuffled=shuffled)
            for n in range(24)
        ]
        hands = np.stack([drawn.worlds.hands[:, 2] for drawn in found]).astype(float)
        error = hands.std(axis=(0, 1)) / np.sqrt(24 * ELIMINATION_FIRST)
        means[shuffled] = (
            hands[:, :ELIMINATION_FIRST].mean(axis=(0, 1)) - hands.mean(axis=(0, 1))
        ) / error
    assert abs(means[True]).max() < 4
    assert abs(means[False]).max() > 8
