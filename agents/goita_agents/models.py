"""Models of other seats: a policy with occasional errors, uniform play, or any legal play.

A policy that is certain of its actions makes beliefs brittle: a single decision that it would not
have made rules out all deals. So a modelled policy takes, with a small probability epsilon, any
legal action, all equally likely (trembles: Selten 1975).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, Self
from weakref import WeakKeyDictionary

import numpy as np

from goita_agents.asking import (
    agent_plays,
    ask_actions,
    ask_probabilities,
    at_temperature,
    check_consistent,
)
from goita_agents.base import (
    Agent,
    AgentError,
    Bool,
    Float,
    HasTemperature,
    Int,
    Policy,
    check_temperature,
    is_stateless,
)
from goita_agents.registry import load_agent
from goita_env import View
from goita_env.errors import GoitaError
from goita_env.information import PLAIN
from goita_env.rules import JGA, Rules
from goita_env.views import observation as packing

MODEL_EPSILON: Final = 0.02
"""Default epsilon of ``PolicyModel``."""

TYPE_EPSILONS: Final = (0.1, 0.3, 0.1)
"""Epsilons that search assumes of the next seat, the partner and the previous seat, chosen by
experiment. The partner is the least predictable, since it is likely to search as well."""


class UnexplainedError(GoitaError):
    """A seat made a decision that its model never makes, whatever the seat holds."""


class OpponentModel(Protocol):
    """A model that gives the probability of each action of a seat.

    Attributes:
        name: the name by which results state the assumption.
    """

    name: str

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal.

        Args:
            view: N positions in which the seat has a choice.
            legal: bool [N, 69]
        """
        ...


_passed: Final[WeakKeyDictionary[Agent, set[tuple[float | None, Rules]]]] = WeakKeyDictionary()
"""By agent, the temperatures and rule sets in which its answers have been tested."""


class PolicyModel:
    """A model of a seat by an agent's policy: (1 - epsilon) * policy + epsilon * uniform.

    A belief queries what an agent would do in other positions, thousands at a time. So its answer
    for
    a view must depend on that view only. For agents of this distribution tests show it. Another
    agent is tested on 256 fixed views, once for a rule set: in ``jga`` when the model is built, in
    others when the model is first used there; and each of its answers is checked.

    Args:
        agent: a policy, or the text that ``load_agent`` builds it from.
        temperature: its probabilities are raised to the inverse of the temperature, 0 being only
            the likeliest action; a network plays at this temperature. None: as the agent plays.
        epsilon: probability of any legal action instead, all equally likely.

    Raises:
        AgentError: if the agent's probabilities are not known or not valid, it keeps a memory or
            its answers depend on anything else (``goita_env.testing``), the temperature is not
            valid, or the epsilon isn't from 0 to 1.
    """

    def __init__(
        self, agent: str | Agent, temperature: float | None = None, epsilon: float = MODEL_EPSILON
    ) -> None:
        agent = load_agent(agent)
        check_stateless(agent)
        if not isinstance(agent, Policy):
            raise AgentError(f"expected an agent with known probabilities, got {agent.name!r}")
        if temperature is not None:
            check_temperature(temperature)
        if not 0 <= epsilon <= 1:
            raise AgentError(f"expected an epsilon from 0 to 1, got {epsilon!r}")
        self._power_temperature: float | None = None
        """Temperature by which the agent's probabilities are changed; None: they are not."""
        self._original = self._agent = agent
        if isinstance(agent, HasTemperature):
            temperature = agent.temperature if temperature is None else temperature
            self._agent = at_temperature(agent, temperature)
        else:
            self._power_temperature = temperature
        self.temperature, self.epsilon = temperature, epsilon
        temperature_text = "" if temperature is None else f"temperature={temperature:g}, "
        self.name = f"{agent.name} ({temperature_text}epsilon={epsilon:g})"
        self._source: Policy = self._agent
        try:
            self._passed = _passed.setdefault(agent, set())
        except TypeError:  # an agent that is not hashable is tested by each PolicyModel
            self._passed = set()
        if agent_plays(agent, PLAIN):
            self._test(JGA)

    def __repr__(self) -> str:
        return f"PolicyModel({self.name})"

    @property
    def agent(self) -> Policy:
        """The policy without the epsilon: a network at the model's temperature."""
        return self._agent

    def asking(self, policy: Policy) -> Self:
        """Returns this model with another object that gives the answers of its policy."""
        model = copy(self)
        model._source = policy
        return model

    def _test(self, rules: Rules) -> None:
        test = (self.temperature if self._agent is not self._original else None, rules)
        if test not in self._passed:
            check_consistent(self._agent, rules)
            self._passed.add(test)

    def _check(self, view: View) -> None:
        if view.information == PLAIN:
            self._test(view.rules)
        elif not agent_plays(self._original, view.information):
            raise AgentError(
                f"expected a model of a game with {view.information}, got {self._original.name!r}, "
                "which doesn't play it"
            )

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal.

        With messages [N, 77].

        Raises:
            AgentError: if the agent's answers are not valid in this rule set, or it plays no games
                with the options of the view.
        """
        self._check(view)
        policy = ask_probabilities(self._source, view, legal)
        if self._power_temperature == 0:
            likeliest = policy.argmax(axis=1)
            policy = np.zeros(legal.shape)
            policy[np.arange(len(policy)), likeliest] = 1
        elif self._power_temperature is not None:
            # Where even the highest power is too small for a float, it is scaled to 1 first.
            highest, power = policy.max(axis=1, keepdims=True), 1 / self._power_temperature
            policy = np.where(highest**power > 0, policy, policy / highest) ** power
            policy /= policy.sum(axis=1, keepdims=True)
        if not self.epsilon:
            return policy
        return (1 - self.epsilon) * policy + self.epsilon * _uniform(legal)


class SharedAnswers:
    """The answers of some models' policies, queried once where only the epsilons differ.

    Attributes:
        models: the models, in the same order, for views of one round.
    """

    def __init__(self, models: Sequence[OpponentModel]) -> None:
        self._policies: list[_RememberedPolicy] = []
        self.models = tuple(self._sharing(model) for model in models)

    def __len__(self) -> int:
        """Returns the number of policies; a model that is not a ``PolicyModel`` counts as one."""
        without_policy = [model for model in self.models if not isinstance(model, PolicyModel)]
        return len(self._policies) + len(without_policy)

    def forget(self) -> None:
        """Forgets the answers so far, which take memory."""
        for policy in self._policies:
            policy.answers.clear()

    def _sharing(self, model: OpponentModel) -> OpponentModel:
        if not isinstance(model, PolicyModel):
            return model
        for policy in self._policies:
            if policy.policy == model.agent:
                break
        else:
            policy = _RememberedPolicy(model.agent)
            self._policies.append(policy)
        return model.asking(policy)


class _RememberedPolicy:
    """A policy's answers, remembered by the whole batch of views."""

    def __init__(self, policy: Policy) -> None:
        self.name, self.policy = policy.name, policy
        self.trusted_class = _RememberedPolicy  # its answers have been checked
        self.answers: dict[bytes, Float] = {}

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        return ask_actions(self.policy, view, legal, rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        batch = view.words.tobytes()
        if batch not in self.answers:
            self.answers[batch] = ask_probabilities(self.policy, view, legal)
        return self.answers[batch]


class CachedModel:
    """A cache for a model: several listeners to one round query it about each view only once.

    The action of a seat with a hand is the same in the beliefs of all seats that consider the hand.
    """

    def __init__(self, model: OpponentModel) -> None:
        self._model = model
        self.name = model.name
        self._answers: dict[tuple[int, int], tuple[packing.Words, Float]] = {}
        """By numbers of plays and passes, the sorted keys of views and the answers about them."""

    def forget(self) -> None:
        """Forgets all answers: a deal is over."""
        self._answers.clear()

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        keys, moment = view.digest(), (int(view.num_plays[0]), int(view.passes[0]))
        known_keys, answers = self._answers.get(moment, (keys[:0], np.zeros(legal[:0].shape)))
        new = np.arange(len(keys))  # rows about which the model has not been asked
        # The known keys are sorted, so a key's place in them is found by bisection.
        if len(known_keys):
            place = np.minimum(known_keys.searchsorted(keys), len(known_keys) - 1)
            new = np.flatnonzero(known_keys[place] != keys)
        if len(new):
            new_answers = self._model.probabilities(view[new], legal[new])
            known_keys = np.concatenate([known_keys, keys[new]])
            answers = np.concatenate([answers, new_answers])
            order = known_keys.argsort()
            known_keys, answers = known_keys[order], answers[order]
            self._answers[moment] = known_keys, answers
        return answers[known_keys.searchsorted(keys)]


@dataclass(eq=False)
class _ModelOfLegality:
    """A model that knows only the legal actions of a seat."""

    name: str
    rule: Callable[[Bool], Float]

    def __repr__(self) -> str:
        return f"{self.name.upper()}_MODEL"

    def probabilities(self, view: View, legal: Bool) -> Float:
        return self.rule(legal)


def _uniform(legal: Bool) -> Float:
    return legal / np.count_nonzero(legal, axis=1, keepdims=True)


UNIFORM_MODEL: Final[OpponentModel] = _ModelOfLegality("uniform", _uniform)
"""All legal actions are equally likely."""

LEGAL_MODEL: Final[OpponentModel] = _ModelOfLegality("legal", partial(np.asarray, dtype=np.float64))
"""Any legal action has likelihood 1, so that actions are evidence only of being legal.

A deal in which the seat's actions were legal keeps its probability before play; other deals are
ruled out. Within a deal all choices of the tiles under the seat's blocks, out of the tiles that it
never showed, are equally likely."""


def check_stateless(agent: Agent) -> None:
    """Raises an AgentError unless an agent plays from one view only."""
    if not is_stateless(agent):
        raise AgentError(
            f"expected an agent that plays from one view only, got {agent.name!r}, "
            "which has a memory or is a separate program (a champion with search: carry=off)"
        )
