"""Wraps agents: what they are shown and asked changes, and what else they are stays.

An agent around a policy is a policy, one around an agent with a memory has a memory, and so on. So
``wrap`` puts a class together from a kind of wrapper and from parts, one for each thing that the
agent inside is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, Final, Self, TypeVar, cast

import numpy as np

from goita_agents.answers import read_actions
from goita_agents.base import (
    Agent,
    Bool,
    Float,
    HasTemperature,
    Int,
    Policy,
    RedealObserver,
    Results,
    StatefulAgent,
    close,
    plays,
)
from goita_agents.faults import Fault, FaultTracking
from goita_env.actions import MESSAGE
from goita_env.information import Information
from goita_env.views import View


class Wrapped:
    """Plays as another agent, ``base``."""

    made_of: ClassVar[tuple[Any, ...]] = ()
    """The parts of a class that ``wrap`` put together, and last the kind of wrapper."""

    def __init__(self, base: Agent) -> None:
        self.name, self.base = base.name, base

    @property
    def reads_bits(self) -> bool:
        return bool(getattr(self.base, "reads_bits", False))

    @property
    def deterministic(self) -> bool:
        return bool(getattr(self.base, "deterministic", False))

    def plays(self, information: Information) -> bool:
        """Tells whether the agent inside plays games with these options."""
        return plays(self.base, information)

    def shown(self, view: View) -> View:
        """Returns what the agent inside is shown."""
        return view

    def asked(self, legal: Bool) -> Bool:
        """Tells in which rows the agent inside is asked; in the others it sends message 0: [N]."""
        return np.ones(len(legal), bool)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row: int64 [N]."""
        asked = self.asked(legal)
        if asked.all():
            return self.base.act(*self._question(view, legal), rng)
        if not asked.any():
            return np.full(len(view), MESSAGE)
        question = self._question(view[asked], legal[asked])
        answer = np.asarray(self.base.act(*question, rng))
        read_actions(answer, question[1], self.name)  # raises for what is no answer at all
        chosen = np.full(len(view), MESSAGE, answer.dtype)
        chosen[asked] = answer
        return chosen

    def close(self) -> None:
        """Ends what the agent inside runs."""
        close([self.base])

    def _question(self, view: View, legal: Bool) -> tuple[View, Bool]:
        """Returns what the agent inside is shown of rows, and its mask."""
        shown = self.shown(view)
        return shown, legal[:, : shown.information.num_actions]

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank, self.made_of or (type(self),), self.__dict__

    def around(self, base: Agent) -> Self:
        """Returns the same around another agent of the kind."""
        made = _blank(*_parts(base), self.made_of[-1])
        vars(made).update(vars(self), base=base)
        return cast("Self", made)


class WrappedPolicy(Wrapped):
    """Plays by a known policy."""

    base: Policy

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], with a token [N, 77]."""
        asked, found = self.asked(legal), np.zeros(legal.shape)
        if not asked.all():
            found[~asked, MESSAGE] = 1.0
        if asked.any():
            question = self._question(view[asked], legal[asked])
            found[asked, : question[1].shape[1]] = self.base.probabilities(*question)
        return found


class WrappedNetwork(WrappedPolicy):
    """Plays by a policy with a temperature."""

    base: HasTemperature

    @property
    def temperature(self) -> float:
        return self.base.temperature

    def at(self, temperature: float) -> Policy:
        """Returns the same policy, wrapped in the same way, at another temperature."""
        return cast("Policy", self.around(self.base.at(temperature)))


class WrappedMemory(Wrapped):
    """Has a memory, of what the agent inside is shown."""

    base: Any

    def begin(self, games: Int, seats: Int, view: View) -> None:
        self.base.begin(games, seats, self.shown(view))

    def end(self, games: Int, results: Results, hands: Int) -> None:
        self.base.end(games, replace(results, view=self.shown(results.view)), hands)


class WrappedObserver(WrappedMemory):
    """Is told of redeals, too."""

    def redeal(self, games: Int, view: View) -> None:
        self.base.redeal(games, self.shown(view))


class WrappedFaults(Wrapped):
    """Counts faults, those of the agent inside."""

    base: Any

    @property
    def faults(self) -> list[Fault]:
        return cast("list[Fault]", self.base.faults)

    @property
    def forfeited(self) -> bool:
        return bool(self.base.forfeited)

    def forfeit(self) -> None:
        self.base.forfeit()


_PARTS: Final[tuple[tuple[Any, type[Wrapped]], ...]] = (
    (RedealObserver, WrappedObserver),
    (StatefulAgent, WrappedMemory),
    (HasTemperature, WrappedNetwork),
    (Policy, WrappedPolicy),
    (FaultTracking, WrappedFaults),
)
"""What an agent may be, and the part of a wrapper that keeps it; the special before the general."""

W = TypeVar("W", bound=Wrapped)


def wrap(kind: type[W], base: Agent, *given: Any) -> W:
    """Returns a wrapper of a kind around an agent; ``given``: its further arguments."""
    made: type[W] = _type((*_parts(base), kind))
    return made(base, *given)


def unwrapped(agent: object) -> object:
    """Returns the agent inside, or the agent itself."""
    while isinstance(agent, Wrapped):
        agent = agent.base
    return agent


def _parts(base: object) -> list[type[Wrapped]]:
    return [part for protocol, part in _PARTS if isinstance(base, protocol)]


def _blank(*bases: type[Wrapped]) -> Any:
    """Returns a wrapper without its fields, for copies."""
    return object.__new__(_type(bases))


@cache
def _type(bases: tuple[Any, ...]) -> type[Any]:
    return type(bases[-1].__name__, bases, {"made_of": bases})
