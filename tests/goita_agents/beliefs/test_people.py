"""The types that people are taken for, and worlds drawn for one type of opponents."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.beliefs.people import people
from goita_agents.beliefs.types import TypeListener
from goita_env import Game
from goita_env.errors import SettingError


@pytest.fixture(scope="module")
def types():
    return people()


@pytest.fixture(scope="module")
def listener(types):
    game, agent = Game(seed=4), load_agent("heuristic")
    while game.seat != 0 or game.view(0).num_plays[0] < 5:
        view = game.view(game.seat)
        game.play(int(agent.act(view, view.legal(), np.random.default_rng(0))[0]))
    return TypeListener(game.view(0), types)


def test_worlds_are_drawn_as_if_the_opponents_were_of_one_type(listener):
    found, partners = listener.probability(), len(listener.types.partners)
    for opponents in np.flatnonzero(found.sum(axis=1)).tolist()[:2]:
        worlds, pairs = listener.sample(400, np.random.default_rng(1), opponents)
        assert (pairs // partners == opponents).all()
        share = found[opponents] / found[opponents].sum()
        drawn = np.bincount(pairs % partners, minlength=partners) / 400
        np.testing.assert_allclose(drawn, share, atol=1 / 400)
        assert len(worlds) == 400
        for _, k, j, belief in listener.beliefs():
            if k == opponents and share[j] > 0.2:
                hands = worlds.dealt[pairs % partners == j, 2]
                expected = belief.marginals[1] @ belief.support.hands
                np.testing.assert_allclose(hands.mean(axis=0), expected, atol=0.2)
    with pytest.raises(SettingError, match="still possible, got 9"):
        listener.sample(4, np.random.default_rng(0), 9)
