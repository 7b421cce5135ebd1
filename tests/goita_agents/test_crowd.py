"""The shipped model of an unknown bot: it predicts players that it was not learned from."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import Policy
from goita_agents.champion.agent import FIRST, first_types
from goita_agents.champion.crowd import WEIGHTS
from goita_env.rounds import Rounds
from goita_lab.commands import evaluate
from goita_lab.imitate.reading import read_examples


def test_it_is_small_and_plays_with_its_own_probabilities_unless_told_otherwise():
    assert WEIGHTS.stat().st_size <= 500_000
    agent, decisions = load_agent("crowd"), Rounds(20, seed=1).decisions
    assert isinstance(agent, Policy)
    assert ((agent.probabilities(decisions.view, decisions.legal) > 0) == decisions.legal).all()
    sure = load_agent("crowd:temperature=0")
    chosen = sure.act(decisions.view, decisions.legal, None)
    assert (agent.probabilities(decisions.view, decisions.legal).argmax(axis=1) == chosen).all()


def test_the_search_takes_it_for_opponents_who_are_not_known():
    agent = load_agent("champion:search=on,carry=off")
    opponents = agent._sampler.types.opponents
    assert [one.agent.name for one in opponents[:-1]] == ["network", "heuristic", "network"]
    assert opponents[-1].agent == opponents[-2].agent == load_agent(FIRST[-1])
    assert opponents[-1].epsilon > opponents[-2].epsilon


@pytest.mark.parametrize("stranger", ["random", "rollout:worlds=4", "solver:worlds=1,budget=1000"])
def test_it_predicts_a_stranger_better_than_the_other_types_do(stranger, tmp_path):
    games = tmp_path / "games"
    words = ["--agents", f"p={stranger}", "champion", "--deals", "20", "--save-games", str(games)]
    assert evaluate.main(words) == 0
    examples = read_examples([games], "p").examples
    first = [
        examples.taken(one.probabilities(examples.view(), examples.legal))
        for one in first_types().opponents[:-1]
    ]
    champion, heuristic, crowd = np.log(first).mean(axis=1)
    assert crowd > max(champion, heuristic)
