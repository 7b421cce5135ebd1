"""What may be assumed: agents whose answers depend on the view alone, tested before they count."""

import numpy as np
import pytest

from goita_agents.base import AgentError
from goita_agents.beliefs import PolicyModel
from goita_agents.bots.network import NetworkAgent
from goita_agents.registry import load_agent
from goita_env import JGA, PAGAT, Game, Rules
from inconsistent_agents import BAD, ActsByGame, Honest

HANDS = ["11122335", "11256678", "11334457", "11124459"]


@pytest.mark.parametrize("kind", BAD, ids=lambda kind: kind.__name__)
def test_an_agent_that_is_not_what_it_claims_is_refused(kind):
    with pytest.raises(AgentError) as error:
        PolicyModel(kind())
    text = str(error.value)
    assert text.startswith(f"{kind.name!r} cannot be a model: expected ")
    assert BAD[kind] in text
    assert "\n" not in text


def test_a_network_is_tested_at_the_temperature_that_is_assumed():
    class Proud(NetworkAgent):
        """Claims more than it may, but only where it is warm."""

        def probabilities(self, view, legal):
            return super().probabilities(view, legal) * (1 + (self.temperature > 0))

    network = load_agent("champion")
    PolicyModel(network, temperature=1)  # which says nothing about another class
    proud = object.__new__(Proud)
    proud.__dict__ |= vars(network)
    assert PolicyModel(proud).temperature == 0
    with pytest.raises(AgentError, match="expected probabilities that sum to 1"):
        PolicyModel(proud, temperature=1)


def test_an_agent_is_tested_once_for_each_rule_set():
    class Counting(Honest):
        asked = 0

        def probabilities(self, view, legal):
            self.asked += 1
            return super().probabilities(view, legal)

    agent = Counting()
    assumed = PolicyModel(agent)
    first = agent.asked
    assert first > 1
    assert PolicyModel(agent, epsilon=0.1).name.endswith("(epsilon=0.1)")
    assert agent.asked == first
    for rules in (JGA, PAGAT):
        view = Game(hands=HANDS, rules=rules).view(0)
        for _ in range(3):
            assumed.probabilities(view, np.ones((1, 69), bool) & view.legal())
    assert agent.asked == first + 3 + first + 3


def test_an_agent_that_misbehaves_under_another_rule_set_is_refused_there():
    class Local(ActsByGame):
        """Is honest in one rule set only."""

        def act(self, view, legal, rng):
            return (Honest if view.rules == JGA else ActsByGame).act(self, view, legal, rng)

    assumed = PolicyModel(Local())
    mine = Rules(name="mine", last_king=False)
    view = Game(hands=HANDS, rules=mine).view(0)
    with pytest.raises(AgentError, match="expected actions that depend on the view alone"):
        assumed.probabilities(view, view.legal())


@pytest.mark.parametrize("name", ["random", "greedy", "heuristic", "heuristic:conventions=off"])
def test_the_agents_of_the_repository_are_what_they_claim(name):
    assert PolicyModel(name).name == f"{name} (epsilon=0.02)"
