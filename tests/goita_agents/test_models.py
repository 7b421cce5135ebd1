"""What may be assumed: agents whose answers depend on the view alone, tested before they count."""

import pytest

from goita_agents.base import AgentError
from goita_agents.beliefs import PolicyModel
from goita_agents.bots.network import NetworkAgent
from goita_agents.registry import load_agent
from goita_env import JGA, Game, Rules
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


def test_an_agent_that_misbehaves_under_another_rule_set_is_refused_there():
    class Local(ActsByGame):
        """Is honest in one rule set only."""

        def act(self, view, legal, rng):
            return (Honest if view.rules == JGA else ActsByGame).act(self, view, legal, rng)

    assumed = PolicyModel(Local())
    mine = Rules(name="mine", last_king=False)
    view = Game(hands=HANDS, rules=mine).view(0)
    with pytest.raises(AgentError, match="expected actions that depend only on the view"):
        assumed.probabilities(view, view.legal())
