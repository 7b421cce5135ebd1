"""Plays as another agent whose view is changed, or which sends no messages.

``plain:base=A`` plays any game by the agent's view of the base game. ``muted:base=A`` plays the
table's game, with all that the agent observes there. Both send message 0, which is silence, when a
message is due (the first legal message, where the mask forbids silence).
``masked:base=A,hide=SLICES`` hides slices of the observation from the agent; its mask of legal
actions stays as it is.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from goita_agents.base import (
    Agent,
    AgentError,
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
    read_actions,
)
from goita_agents.bots.transform import Transform
from goita_agents.faults import Fault, FaultTracking
from goita_agents.models import check_stateless
from goita_agents.registry import Entry
from goita_env.actions import MESSAGE, NUM_ACTIONS
from goita_env.information import PLAIN, InformationStructure
from goita_env.views import View


class Wrapped:
    """An agent that plays as another agent, ``base``, and has the same methods.

    It is a policy if the base is, has a memory if the base has, and so on: ``isinstance`` looks
    which methods an agent has, so a wrapped agent has exactly the methods of its base.
    """

    base: Any

    def __init__(self, base: Agent) -> None:
        self.name, self.base = base.name, base
        if isinstance(base, Policy):
            self.probabilities = self._probabilities
        if isinstance(base, HasTemperature):
            self.at = self._at
        if isinstance(base, StatefulAgent):
            self.begin, self.end = self._begin, self._end
        if isinstance(base, RedealObserver):
            self.redeal = self._redeal
        if isinstance(base, FaultTracking):
            self.forfeit = base.forfeit
        if callable(check_start := getattr(base, "check_start", None)):
            self.check_start = check_start

    def base_view(self, view: View) -> View:
        """Returns the view that the base receives."""
        return view

    def acting_rows(self, legal: Bool) -> Bool:
        """Returns the rows in which the base acts, bool [N]; in the others silence is sent."""
        return np.ones(len(legal), bool)

    def plays(self, information: InformationStructure) -> bool:
        """Returns whether the base plays games with these options."""
        return plays(self.base, information)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row: int64 [N]."""
        acts = self.acting_rows(legal)
        if acts.all():
            chosen: Int = self.base.act(*self._question(view, legal), rng)
            return chosen
        if not acts.any():
            return _silence(legal)
        question = self._question(view[acts], legal[acts])
        answer = np.asarray(self.base.act(*question, rng))
        # Raises unless the answer is an array of actions.
        read_actions(answer, question[1], f" from {self.name!r}")
        chosen = _silence(legal).astype(answer.dtype)
        chosen[acts] = answer
        return chosen

    def _probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], with messages [N, 77]."""
        acts, probabilities = self.acting_rows(legal), np.zeros(legal.shape)
        if not acts.all():
            probabilities[~acts, _silence(legal[~acts])] = 1.0
        if acts.any():
            question = self._question(view[acts], legal[acts])
            probabilities[acts, : question[1].shape[1]] = self.base.probabilities(*question)
        return probabilities

    def _question(self, view: View, legal: Bool) -> tuple[View, Bool]:
        """Returns the view and the mask that the base is shown."""
        inner_view = self.base_view(view)
        return inner_view, legal[:, : inner_view.information.num_actions]

    @property
    def deterministic(self) -> bool:
        return bool(getattr(self.base, "deterministic", False))

    @property
    def temperature(self) -> float:
        return float(self.base.temperature)

    def _at(self, temperature: float) -> Self:
        """Returns the same policy, wrapped in the same way, at another temperature."""
        wrapped = copy(self)
        Wrapped.__init__(wrapped, self.base.at(temperature))  # binds the methods to the copy
        wrapped.name = self.name
        return wrapped

    def _begin(self, games: Int, seats: Int, view: View) -> None:
        self.base.begin(games, seats, self.base_view(view))

    def _end(self, games: Int, results: Results, hands: Int) -> None:
        self.base.end(games, replace(results, view=self.base_view(results.view)), hands)

    def _redeal(self, games: Int, view: View) -> None:
        self.base.redeal(games, self.base_view(view))

    @property
    def faults(self) -> list[Fault]:
        faults: list[Fault] = self.base.faults
        return faults

    @property
    def forfeited(self) -> bool:
        return bool(self.base.forfeited)

    def close(self) -> None:
        """Ends the processes of the base."""
        close([self.base])


def _silence(legal: Bool) -> Int:
    """Returns message 0 in each row, or the first legal message: int64 [N]."""
    return np.asarray(MESSAGE + legal[:, MESSAGE:].argmax(axis=1))


class MutedAgent(Wrapped):
    """An agent that plays as another agent and sends no message."""

    def acting_rows(self, legal: Bool) -> Bool:
        """Returns the rows in which the base acts, bool [N]: all without a message to send."""
        if legal.shape[1] == NUM_ACTIONS:
            return super().acting_rows(legal)
        return np.asarray(~legal[:, MESSAGE:].any(axis=1))


class PlainAgent(MutedAgent):
    """An agent that plays any game as another agent plays the base game."""

    def base_view(self, view: View) -> View:
        """Returns the view that the seat would have in the base game."""
        return view if view.information == PLAIN else view.plain()

    def plays(self, information: InformationStructure) -> bool:
        """Returns whether the base plays the base game; then this agent plays any game."""
        return plays(self.base, PLAIN)


class MaskedAgent(Wrapped):
    """An agent that plays as another agent from which slices of the observation are hidden.

    From an agent that reads only bits, as networks do, any slices may be hidden. An agent that
    reads fields relies on facts of every game: tiles add up, and passes follow from the order of
    plays. So the remaining observation must be a view of another game, in which the same actions
    are legal. That is so if only ``own_score`` and ``other_score`` are hidden.

    Args:
        base: an agent that plays from one view only.
        hide: names of slices, or the beginning of several names: ``own_score``, ``block_2``.

    Raises:
        AgentError: if there is no slice to hide, there is no slice of a name, or the agent keeps a
            memory.
    """

    def __init__(self, base: Agent, hide: tuple[str, ...]) -> None:
        check_stateless(base)
        super().__init__(base)
        self.name, self.transform = "masked", Transform(hide)
        if not self.transform:
            raise AgentError("expected hide=SLICES, got none")

    def base_view(self, view: View) -> View:
        """Returns the views without the hidden slices."""
        return self.transform.view(view)


def unwrapped(agent: object) -> object:
    """Returns the agent inside, or the agent itself."""
    while isinstance(agent, Wrapped):
        agent = agent.base
    return agent


PLAIN_ENTRY = Entry(PlainAgent)
MUTED_ENTRY = Entry(MutedAgent)
MASKED_ENTRY = Entry(MaskedAgent)
"""``plain``, ``muted`` and ``masked``, as texts name them."""
