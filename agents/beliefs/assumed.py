"""Says how a seat is supposed to play: by an agent that may slip, at random, or in any way.

A policy that is sure of its actions makes beliefs brittle: one decision that it wouldn't have made,
and nothing is possible any more. So an assumed policy may *slip*: with a small probability, the
tremble (Selten 1975), it takes any legal action, all being as likely.
"""

from __future__ import annotations

from typing import Final, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from agents.base import Agent, AgentError, Bool, Float, Memory, Policy, Tempered, certain
from agents.faults import Accountable
from agents.registry import load_agent
from goita_env import View
from goita_env.errors import GoitaError
from goita_env.rules import JGA, Rules
from goita_env.testing import inconsistency
from goita_env.views import packing

TREMBLE: Final = 0.02
"""How often an agent is supposed to slip unless another number is given."""


class UnexplainedError(GoitaError):
    """Reports that a seat did what the policy assumed for it never does, whatever it holds."""


class Assumption(Protocol):
    """Tells how likely a seat is to act in each way; ``Assumed``, ``GROUNDED`` and ``FACTS`` do.

    Attributes:
        name: by which results tell what was assumed.
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
"""By agent, at which temperatures and in which rule sets its answers were found consistent."""


class Assumed:
    """Supposes that a seat plays as an agent does, and slips now and then.

    A belief asks what an agent would do in other positions, thousands at a time. So its answer for
    a view must depend on that view alone. That is tested on 256 fixed views, once for an agent and
    a rule set: in ``jga`` here, in another when the first question comes.

    Args:
        agent: a policy, or the text that ``load_agent`` builds it from.
        temperature: what its probabilities are raised to the inverse of, 0 being the likeliest
            action alone; a network is asked at this temperature. None: as the agent plays.
        tremble: probability of a slip to any legal action, all being as likely.

    Raises:
        AgentError: if the agent's probabilities are not known or are none, it remembers more than
            its view shows or its answers depend on anything else (``goita_env.testing``), the
            temperature is negative, or the tremble isn't from 0 to 1.
    """

    def __init__(
        self, agent: str | Agent, temperature: float | None = None, tremble: float = TREMBLE
    ) -> None:
        agent = _without_memory(load_agent(agent))
        if not isinstance(agent, Policy):
            raise AgentError(
                f"expected an agent with known probabilities, got {agent.name!r}; "
                "Acting takes one whose actions alone are known"
            )
        if temperature is not None and not temperature >= 0:
            raise AgentError(f"expected a temperature of at least 0, got {temperature!r}")
        self._power: float | None = None
        self._given = self._agent = agent
        if isinstance(agent, Tempered):
            temperature = agent.temperature if temperature is None else temperature
            self._agent = agent.at(temperature)
        else:
            self._power = temperature
        self.temperature, self.tremble = temperature, _checked(tremble)
        warm = "" if temperature is None else f"temperature={temperature:g}, "
        self.name = f"{agent.name} ({warm}tremble={tremble:g})"
        self._tested: set[Rules] = set()
        self._test(JGA)

    def __repr__(self) -> str:
        """Shows what is assumed."""
        return f"Assumed({self.name})"

    def _test(self, rules: Rules) -> None:
        """Tests once whether the agent's answers in a rule set depend on the view alone.

        Raises:
            AgentError: if they don't.
        """
        if rules in self._tested:
            return
        temperature = self.temperature if self._agent is not self._given else None
        try:
            passed = _passed.setdefault(self._given, set())
        except TypeError:  # an agent that is not hashable is tested by each Assumed
            passed = set()
        if (temperature, rules) not in passed:
            wrong = inconsistency(self._agent, rules)
            if wrong is not None:
                raise AgentError(f"{self._given.name!r} cannot be assumed: {wrong}")
            passed.add((temperature, rules))
        self._tested.add(rules)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        self._test(view.rules)
        known = self._agent.probabilities(view, legal)
        if self._power == 0:
            known = certain(known.argmax(axis=1))
        elif self._power is not None:
            known = known ** (1 / self._power)
            known /= known.sum(axis=1, keepdims=True)
        if not self.tremble:
            return known
        return (1 - self.tremble) * known + self.tremble * _uniform(legal)


class Remembered:
    """Asks an assumption about each view once, for listeners who hear the same seats.

    What a seat would do with a hand is the same for all who wonder whether it holds that hand.

    Args:
        assumption: is asked.
    """

    def __init__(self, assumption: Assumption) -> None:
        self._assumption = assumption
        self.name = assumption.name
        self._known: dict[tuple[int, int], tuple[packing.Words, Float]] = {}

    def forget(self) -> None:
        """Forgets all answers: a deal is over."""
        self._known.clear()

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        keys, moment = view.digest(), (int(view.num_plays[0]), int(view.passes[0]))
        known, answers = self._known.get(moment, (keys[:0], np.zeros(legal[:0].shape)))
        new = np.arange(len(keys))
        if len(known):
            place = np.minimum(known.searchsorted(keys), len(known) - 1)
            new = np.flatnonzero(known[place] != keys)
        if len(new):
            asked = self._assumption.probabilities(view[new], legal[new])
            known, answers = np.concatenate([known, keys[new]]), np.concatenate([answers, asked])
            order = known.argsort()
            known, answers = known[order], answers[order]
            self._known[moment] = known, answers
        found: Float = answers[known.searchsorted(keys)]
        return found


class Acting:
    """Supposes that a seat acts as an agent does whose probabilities are not known.

    What the agent does is asked once for each position, its own randomness drawn once; so it is
    heard as sure of itself, but for slips. Right for agents that hardly draw, a search with many
    worlds for instance; each question costs a decision.

    Args:
        agent: an agent without a memory, or the text that ``load_agent`` builds it from.
        tremble: probability of a slip to any legal action, all being as likely.
        seed: of what the agent draws.

    Raises:
        AgentError: if the agent remembers more than its view shows, or the tremble isn't from 0
            to 1.
    """

    def __init__(self, agent: str | Agent, tremble: float = TREMBLE, seed: int = 0) -> None:
        self._agent, self._seed = _without_memory(load_agent(agent)), seed
        self.tremble = _checked(tremble)
        self.name = f"{self._agent.name} (acting, tremble={tremble:g})"

    def __repr__(self) -> str:
        """Shows what is assumed."""
        return f"Acting({self.name})"

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        chosen = self._agent.act(view, legal, np.random.default_rng(self._seed))
        return (1 - self.tremble) * certain(chosen) + self.tremble * _uniform(legal)


class _Grounded:
    """Supposes that a seat takes any legal action, all being as likely."""

    name = "grounded"

    def __repr__(self) -> str:
        """Shows the constant's name."""
        return "GROUNDED"

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        return _uniform(legal)


class _Facts:
    """Supposes nothing but that what a seat did was legal.

    Every deal in which it was, with one tile or another under each of the seat's blocks, is as
    likely as it was dealt; within a deal the tiles under its blocks are any of those that it never
    showed.
    """

    name = "facts"

    def __repr__(self) -> str:
        """Shows the constant's name."""
        return "FACTS"

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns 1 for each legal action: float64 [N, 69]."""
        return legal.astype(np.float64)


GROUNDED: Final[Assumption] = _Grounded()
"""Any legal action is as likely as any other."""

FACTS: Final[Assumption] = _Facts()
"""What was done was legal; nothing else follows from it."""


def _without_memory(agent: Agent) -> Agent:
    """Returns an agent that plays from one view alone.

    Raises:
        AgentError: if it doesn't.
    """
    if isinstance(agent, Memory | Accountable):
        raise AgentError(
            f"expected an agent that plays from one view alone, got {agent.name!r}, "
            "which has a memory or is a program of its own"
        )
    return agent


def _checked(tremble: float) -> float:
    """Returns a tremble.

    Raises:
        AgentError: if it isn't from 0 to 1.
    """
    if not 0 <= tremble <= 1:
        raise AgentError(f"expected a tremble from 0 to 1, got {tremble!r}")
    return tremble


def _uniform(legal: Bool) -> Float:
    """Returns probabilities that are the same for all legal actions: float64 [N, 69]."""
    probabilities: Float = legal / legal.sum(axis=1, keepdims=True)
    return probabilities
