"""What every action is worth by search: averages of its playouts, and errors that are honest."""

import numpy as np
import pytest

from agents import load_agent
from agents.search.drawing import TREMBLE, draw, lay_out
from agents.search.hearing import Hearing
from agents.search.playout import Player
from agents.search.pricing import price
from goita_env import Game
from goita_env.seeds import deal_keys

WORLDS = 64


def decision(moves: int, seed: int = 3):
    """A view with a choice, what is legal there, and what greedy plays."""
    agent, game = load_agent("greedy"), Game(seed=seed)
    rng = np.random.default_rng(0)
    while len(game.moves) < moves or len(game.legal_actions()) < 3:
        view = game.view(game.seat)
        game.play(int(agent.act(view, view.legal(), rng)[0]))
    view = game.view(game.seat)
    return view, view.legal(), int(agent.act(view, view.legal(), rng)[0])


def hearing():
    return Hearing(load_agent("greedy"), TREMBLE)


@pytest.mark.parametrize("moves", [0, 5, 9])
def test_points_are_averages_of_playouts_in_the_same_worlds(moves):
    view, legal, played = decision(moves)
    agent = load_agent("greedy")
    found = price(agent, view, legal, played, worlds=WORLDS, seed=8, hearing=hearing())

    seeds = np.array([8], np.uint64)
    drawn = draw(view, seeds, np.array([WORLDS]), WORLDS, agent, hearing())
    games, keys = lay_out(view, drawn.worlds), deal_keys(np.repeat(seeds, 64), np.arange(64), 0)
    gains = {}
    for number, action in enumerate(found.action):
        chosen = np.full(WORLDS, action)
        owners = np.zeros(WORLDS, np.int64)
        gains[action] = Player(agent).finish(games, np.arange(WORLDS), chosen, keys, owners)
        told = gains[action][: found.worlds[number]]
        assert found.points[number] == pytest.approx(told.mean())
        assert found.error[number] == pytest.approx(told.std() / np.sqrt(len(told)))
    ahead = gains[found.best] - gains[played]
    assert found.loss == pytest.approx(ahead.mean())
    assert found.loss >= 0
    assert found.loss_error == pytest.approx(ahead.std() / np.sqrt(WORLDS))
    # The best and the one that was played have seen all worlds, the others a quarter at least.
    assert found.worlds[np.isin(found.action, [found.best, played])].tolist().count(WORLDS) >= 1
    assert set(found.worlds.tolist()) <= {16, 32, 64}


def test_errors_are_as_large_as_what_other_seeds_change():
    view, legal, played = decision(6)
    agent, ear = load_agent("greedy"), hearing()
    settings = {"worlds": WORLDS, "hearing": ear}
    found = [price(agent, view, legal, played, seed=seed, **settings) for seed in range(40)]
    place = found[0].action.tolist().index(played)
    points = np.array([one.points[place] for one in found])
    error = np.array([one.error[place] for one in found])

    assert 0 < points.std(ddof=1) < 1.4 * error.mean()
    assert len({one.points[place] for one in found}) > 10


def test_the_action_that_was_played_is_never_dropped():
    view, legal, _ = decision(5)
    agent = load_agent("greedy")
    for played in np.flatnonzero(legal[0]):
        settings = {"worlds": 32, "seed": 2, "hearing": hearing()}
        found = price(agent, view, legal, int(played), **settings)
        assert found.worlds[found.action == played] == 32
        assert (found.loss == 0) == (found.best == played)
