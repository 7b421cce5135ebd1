"""The shipped policy: what it is, that it plays by its name, alone and with search."""

import numpy as np
import pytest

from agents import load_agent, play_pair
from agents.base import AgentError, Policy
from agents.champion.agent import WEIGHTS
from goita_env.rounds import Rounds


def test_its_weights_are_small_enough_to_live_in_the_repository():
    assert WEIGHTS.stat().st_size <= 8_000_000


def test_it_is_a_policy_with_values():
    agent, tick = load_agent("champion"), Rounds(20, seed=1).tick
    assert isinstance(agent, Policy)
    probabilities = agent.probabilities(tick.view, tick.legal)
    assert (probabilities.sum(axis=1) == 1).all()
    assert (probabilities.argmax(axis=1) == agent.act(tick.view, tick.legal, None)).all()
    soft = load_agent("champion:temperature=1").probabilities(tick.view, tick.legal)
    assert ((soft > 0) == tick.legal).all()
    assert np.isfinite(agent.values(tick.view)).all()


def test_it_beats_greedy():
    assert play_pair("champion", "greedy", 200, seed=3).ci95[0] > 12


def test_search_is_an_option():
    agent = load_agent("champion:search=on,worlds=4,ms=2,unseen=32")
    tick = Rounds(2, seed=1).tick
    chosen = agent.act(tick.view, tick.legal, np.random.default_rng(0))
    assert tick.legal[np.arange(2), chosen].all()
    with pytest.raises(AgentError, match="worlds"):
        load_agent("champion:search=on,worlds=0")
