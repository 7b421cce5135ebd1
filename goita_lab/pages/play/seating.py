"""Seats a person with three agents: the settings of a match, and agents built from texts."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from goita_agents.asking import build_agent
from goita_agents.base import Agent, StatefulAgent, close
from goita_agents.registry import short_name
from goita_env import Game
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

HUMAN: Final = ""
"""Marks the person's seat among the agents."""

PERSON_NAME: Final = "you"
"""The person's name in the record."""


@dataclass(frozen=True)
class MatchSettings:
    """Who plays, and by which rules."""

    agents: tuple[str | Agent, ...]
    """By seat: agents, or the texts that ``load_agent`` knows; "" at the person's seat."""
    seed: int
    """Seed of the deals; the agents' random numbers are derived from it."""
    rules: Rules = JGA
    first: DealRecord | None = None
    """Gives hands, dealer and scores of the first deal; None: they follow from the seed."""

    def __post_init__(self) -> None:
        if len(self.agents) != NUM_SEATS or list(self.agents).count(HUMAN) != 1:
            raise SettingError(f"expected three agents and one person, got {self.agents!r}")

    @property
    def seat(self) -> int:
        return self.agents.index(HUMAN)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the players by seat."""
        return tuple(PERSON_NAME if spec == HUMAN else short_name(spec) for spec in self.specs)

    @property
    def specs(self) -> tuple[str, ...]:
        """Texts of the agents by seat, as a file keeps them."""
        return tuple(agent if isinstance(agent, str) else agent.name for agent in self.agents)

    @property
    def others(self) -> tuple[str, str, str]:
        """Texts of the agents at the next seat, the partner's and the previous seat."""
        specs, seat = self.specs, self.seat
        return specs[(seat + 1) % NUM_SEATS], specs[(seat + 2) % NUM_SEATS], specs[seat - 1]


class Seating:
    """The agents of a match, by seat in ``agents``.

    A text is built anew for each seat, so that no instance of its agent sees two hands.

    Args:
        specs: by seat: agents, or the texts that ``load_agent`` knows; "" at the person's seat.
        rules: the rule set that they play, with which programs are started.
    """

    def __init__(self, specs: Sequence[str | Agent], rules: Rules = JGA) -> None:
        self._rules = rules
        self._specs = {seat: spec for seat, spec in enumerate(specs) if spec != HUMAN}
        self.agents: dict[int, Agent] = {}
        try:
            for seat, spec in self._specs.items():
                self.agents[seat] = build_agent(spec, rules) if isinstance(spec, str) else spec
        except BaseException:
            self.close()
            raise

    def stateful(self) -> list[tuple[int, StatefulAgent]]:
        """Returns the agents that observe where rounds begin and end, with their seats."""
        agents = self.agents.items()
        return [(seat, agent) for seat, agent in agents if isinstance(agent, StatefulAgent)]

    def renewed(self) -> Seating:
        """Ends the agents that came as texts; returns a seating that builds these texts anew."""
        new = Seating([self._specs.get(seat, HUMAN) for seat in range(NUM_SEATS)], self._rules)
        self.close()
        return new

    def close(self) -> None:
        """Ends the agents that came as texts, and their programs."""
        close(agent for seat, agent in self.agents.items() if isinstance(self._specs[seat], str))


def new_seed() -> int:
    """Returns a random seed, for a match without one."""
    return secrets.randbits(63)


def leading_seed(seat: int, rules: Rules) -> int:
    """Returns a random seed of a match in which a seat makes the first move."""
    while True:
        seed = new_seed()
        if Game(rules, seed=seed, episode="match").dealer == seat:
            return seed
