"""Plans the benchmark: which cells are played, over which deals, and what is special about them.

A cell is an agent, a partner and an opponent. Each deal of a cell is played four times: the agent
sits in either seat of its team, and the teams exchange their seats. Every pair of partner and
opponent has deals of its own, so an agent never meets a deal again in another cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Final

from goita_agents.registry import check_names, short_name, unnamed
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds import Episode
from goita_env.rules import JGA
from goita_lab.arena.coordination.task import PEOPLE, VALIDATION, CoordinationTask, Partner
from goita_lab.arena.tournament.plan import Pairing, Schedule, check_deals, seatings_of, tasks

FORMAT: Final = "goita-coordination-3"
"""Names the JSON and the arguments of stored blocks; grows when the meaning of a field changes."""

BLOCK_DEALS: Final = 250
"""Deals that are played at once, and that a stop loses. Results depend on it, as on the seed."""

LEAST_DEALS: Final = 4
"""Each half of the deals, for the worst partner, needs two."""

Cell = tuple[str, ...]
"""Texts of two partners and of their opponent, as they sit at the table."""


DEALS: Final[dict[tuple[Episode, bool], int]] = {
    ("round", False): 1000,
    ("round", True): 200,
    # A match has seven rounds.
    ("match", False): 150,
    ("match", True): 30,
}
"""Deals of a cell, by episode, and whether it is the quick benchmark."""


@dataclass(frozen=True)
class Benchmark(Schedule):
    """Everything that the results of the benchmark depend on, except the agents' files."""

    agents: tuple[str, ...]  #: Texts of the agents that are measured.
    task: CoordinationTask = VALIDATION
    seed: int = 0  #: Of the deals and of all random numbers of play.
    seed_given: bool = True  #: Somebody chose the seed; False: the operating system.
    episode: Episode = "round"  #: "match": each deal begins a whole match.
    quick: bool = False  #: Play fewer deals.
    fewer_deals: tuple[tuple[int, str], ...] = ()
    """Most deals of the cells of a slow agent: (deals, text)."""
    speak: bool = False  #: The agents take part in games with messages; else deaf and silent.

    information = PLAIN

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not self.agents:
            raise SettingError("expected an agent or more, got none")
        if len(set(self.agents)) < len(self.agents):
            raise SettingError(f"expected each agent once, got {' '.join(self.agents)!r}")
        check_names(self.specs)
        for deals, spec in self.fewer_deals:
            check_deals(deals, LEAST_DEALS, "deals of a cell")
            if spec not in self.specs:
                raise SettingError(f"expected one of {self.specs} to play fewer, got {spec!r}")

    @property
    def specs(self) -> list[str]:
        return list(dict.fromkeys([*self.agents, *self.task.specs]))

    def information_of(self, spec: str) -> InformationStructure:
        """Returns the game that a partner plays; of others the base game."""
        found = (one.information for one in self.task.partners if one.spec == spec)
        return next(found, PLAIN)

    def deals(self, agent: str) -> int:
        """Returns the deals of every cell of an agent."""
        slow = {agent, *self.task.specs}
        fewer = (deals for deals, spec in self.fewer_deals if spec in slow)
        return min([DEALS[self.episode, self.quick], *fewer])

    def marks(self, agent: str) -> tuple[str, ...]:
        """Returns what keeps an agent's figures from being an entry of the full benchmark."""
        deals = self.deals(agent)
        known = dict.fromkeys([*VALIDATION.specs, *(self.task.specs if self.task.name else ())])
        found = {
            **{f"names {spec}": _names(agent, spec) for spec in known if spec != PEOPLE},
            "quick": self.quick,
            f"{deals:,} deals": deals < DEALS[self.episode, False],
            "seed given": self.seed_given,
            "other players": not self.task.name,
        }
        return tuple(mark for mark, holds in found.items() if holds)

    def cell(self, agent: str, partner: Partner, opponent: str) -> Cell:
        """Returns the texts at a partner's table."""
        speaks = self.speak and agent in self.agents
        seated = partner.at_table(agent, speaks=speaks)
        return seated, partner.spec, partner.at_table(opponent)

    def pairings(self) -> list[Pairing]:
        planned: dict[Cell, Pairing] = {}

        def plan(
            cell: Cell, names: Cell, deals: int, key: int, information: InformationStructure = PLAIN
        ) -> None:
            if cell in planned and planned[cell].deals >= deals:
                return
            blocks = tasks(
                cell,
                deals,
                seed=(self.seed + key * _APART) % (1 << 64),
                rules=JGA,
                episode=self.episode,
                block_deals=BLOCK_DEALS,
                seatings=seatings_of(cell),
                information=information,
            )
            a, b, c = map(short_name, names)
            planned[cell] = Pairing((a, b, c), tuple(blocks))

        for agent in self.agents:
            deals = self.deals(agent)
            for key, opponent in enumerate(self.task.opponents):
                itself = agent, agent, opponent  # in the base game
                plan(itself, itself, deals, key)
            for partner, opponent, key in self._tables:
                names = (agent, partner.spec, opponent)
                cell = self.cell(agent, partner, opponent)
                plan(cell, names, deals, key, partner.information)
        return list(planned.values())

    def spec_of(self, seated: str) -> str:
        return self._seated.get(seated, seated)

    @cached_property
    def _seated(self) -> dict[str, str]:
        """Returns the texts of agents by those of the agents as they sit at tables."""
        specs: dict[str, str] = {}
        for agent, (partner, opponent, _) in product(self.agents, self._tables):
            seated, _, other = self.cell(agent, partner, opponent)
            specs |= {seated: agent, other: opponent}
        return specs

    @cached_property
    def _tables(self) -> list[tuple[Partner, str, int]]:
        """Returns every partner with every opponent, and the number of their deals."""
        pairs = [(one, other) for one in self.task.partners for other in self.task.against(one)]
        first = len(self.task.opponents)
        return [(one, other, first + number) for number, (one, other) in enumerate(pairs)]

    def arguments(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "agents": list(self.agents),
            "partners": [
                [one.spec, one.information.to_keys(), one.counted] for one in self.task.partners
            ],
            "task": self.task.name,
            "opponents": list(self.task.opponents),
            "deals": {agent: self.deals(agent) for agent in self.agents},
            "speak": self.speak,
            "seed": self.seed,
            "seed_given": self.seed_given,
            "quick": self.quick,
            **JGA.to_keys(),
            "episode": self.episode,
            "block_deals": BLOCK_DEALS,
        }


def _names(agent: str, spec: str) -> bool:
    """Tells whether an agent's text has another agent's in it: whole, not as the begin of a name.

    Options of a user's class are not known to be agents, so the text is searched, not parsed.
    """
    whole = rf"(?<![\w.-]){re.escape(spec)}(?![\w.-])"
    return re.search(whole, unnamed(agent)) is not None


_APART: Final = 0x9E3779B97F4A7C15
"""Odd, so that the seeds of different pairs differ."""
