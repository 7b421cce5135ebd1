"""The shipped policy: what it is, that it plays by its name, alone and with search."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import AgentError, Policy
from goita_env.rounds import Rounds
from goita_lab.arena import play_pair


def test_it_is_a_policy_with_values():
    agent, decisions = load_agent("champion"), Rounds(20, seed=1).decisions
    assert isinstance(agent, Policy)
    probabilities = agent.probabilities(decisions.view, decisions.legal)
    assert (probabilities.sum(axis=1) == 1).all()
    assert (probabilities.argmax(axis=1) == agent.act(decisions.view, decisions.legal, None)).all()
    soft = load_agent("champion:temperature=1").probabilities(decisions.view, decisions.legal)
    assert ((soft > 0) == decisions.legal).all()
    assert np.isfinite(agent.values(decisions.view)).all()


def test_it_beats_greedy():
    assert play_pair("champion", "greedy", 200, seed=3).ci95[0] > 12


def test_search_is_an_option():
    agent = load_agent("champion:search=on,worlds=2,budget=20,max_unseen_tiles=32")
    decisions = Rounds(2, seed=1).decisions
    chosen = agent.act(decisions.view, decisions.legal, np.random.default_rng(0))
    assert decisions.legal[np.arange(2), chosen].all()
    with pytest.raises(AgentError, match="worlds"):
        load_agent("champion:search=on,worlds=0")
