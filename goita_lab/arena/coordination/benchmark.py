"""Plans the benchmark: which cells are played, over which deals, and how a run departs from it.

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
"""Names the JSON and the arguments of stored blocks; changes with the meaning of a field."""

BENCHMARK_BLOCK_DEALS: Final = 250
"""Deals of a block; a stop loses at most one. Results depend on it, as on the seed."""

LEAST_DEALS: Final = 4
"""Two for each half of the deals: the worst partner is chosen on one and measured on the other."""

Cell = tuple[str, ...]
"""Texts of two partners and of their opponent, as they sit at the table."""

BENCHMARK_DEALS: Final[dict[tuple[Episode, bool], int]] = {
    ("round", False): 1000,
    ("round", True): 200,
    # A match has seven rounds.
    ("match", False): 150,
    ("match", True): 30,
}
"""Deals of a cell, by episode, and by whether the benchmark is the quick one."""


@dataclass(frozen=True)
class Benchmark(Schedule):
    """Everything that the results of the benchmark depend on, except the agents' files."""

    agents: tuple[str, ...]  #: Texts of the agents that are measured.
    task: CoordinationTask = VALIDATION
    seed: int = 0  #: Of the deals and of all random numbers of play.
    seed_given: bool = True  #: The user chose the seed; False: the operating system.
    episode: Episode = "round"  #: "match": each deal begins a whole match.
    quick: bool = False  #: Play fewer deals.
    fewer_deals: tuple[tuple[int, str], ...] = ()
    """Most deals of the cells of a slow agent: (deals, text)."""
    speak: bool = False  #: The agents send and observe messages; else they are deaf and silent.

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
        """Returns the game that a partner plays; all other agents play the base game."""
        games = (partner.information for partner in self.task.partners if partner.spec == spec)
        return next(games, PLAIN)

    def deals(self, agent: str) -> int:
        """Returns the number of deals of each cell of an agent."""
        slow = {agent, *self.task.specs}
        fewer = (deals for deals, spec in self.fewer_deals if spec in slow)
        return min([BENCHMARK_DEALS[self.episode, self.quick], *fewer])

    def marks(self, agent: str) -> tuple[str, ...]:
        """Returns the reasons why an agent's figures are not an entry of the full benchmark."""
        deals = self.deals(agent)
        players = dict.fromkeys([*VALIDATION.specs, *(self.task.specs if self.task.name else ())])
        conditions = {
            **{f"names {spec}": _names(agent, spec) for spec in players if spec != PEOPLE},
            "quick": self.quick,
            f"{deals:,} deals": deals < BENCHMARK_DEALS[self.episode, False],
            "seed given": self.seed_given,
            "other players": not self.task.name,
        }
        return tuple(mark for mark, holds in conditions.items() if holds)

    def cell(self, agent: str, partner: Partner, opponent: str) -> Cell:
        """Returns the texts at a partner's table."""
        speaks = self.speak and agent in self.agents
        seated = partner.at_table(agent, speaks=speaks)
        return seated, partner.spec, partner.at_table(opponent)

    def pairings(self) -> list[Pairing]:
        planned: dict[Cell, Pairing] = {}

        def plan(pairing: Pairing) -> None:
            cell = pairing.tasks[0].agents
            # Two agents may share a cell; the one with more deals plays it for both.
            if cell not in planned or planned[cell].deals < pairing.deals:
                planned[cell] = pairing

        for agent in self.agents:
            deals = self.deals(agent)
            for key, opponent in enumerate(self.task.opponents):
                self_play = agent, agent, opponent
                plan(self._pairing(self_play, self_play, deals, key, PLAIN))
            for partner, opponent, key in self._tables:
                names = agent, partner.spec, opponent
                cell = self.cell(agent, partner, opponent)
                plan(self._pairing(cell, names, deals, key, partner.information))
        return list(planned.values())

    def _pairing(
        self, cell: Cell, names: Cell, deals: int, key: int, information: InformationStructure
    ) -> Pairing:
        """Returns the blocks of a cell, under the agents' short names.

        ``names``: texts of the agents where they do not sit at a table; ``key``: number of the pair
        of partner and opponent, which chooses the deals.
        """
        blocks = tasks(
            cell,
            deals,
            seed=(self.seed + key * _APART) % (1 << 64),
            rules=JGA,
            episode=self.episode,
            block_deals=BENCHMARK_BLOCK_DEALS,
            seatings=seatings_of(cell),
            information=information,
        )
        return Pairing(tuple(map(short_name, names)), tuple(blocks))

    def spec_of(self, seated: str) -> str:
        return self._seated.get(seated, seated)

    @cached_property
    def _seated(self) -> dict[str, str]:
        """Texts of agents, by their texts as they sit at tables (``Partner.at_table``)."""
        specs: dict[str, str] = {}
        for agent, (partner, opponent, _) in product(self.agents, self._tables):
            seated_agent, _, seated_opponent = self.cell(agent, partner, opponent)
            specs |= {seated_agent: agent, seated_opponent: opponent}
        return specs

    @cached_property
    def _tables(self) -> list[tuple[Partner, str, int]]:
        """Every partner with every opponent and the key of their deals (``_pairing``).

        The first keys are those of self-play with each opponent.
        """
        task = self.task
        pairs = [(partner, spec) for partner in task.partners for spec in task.against(partner)]
        return [(*pair, key) for key, pair in enumerate(pairs, len(task.opponents))]

    def arguments(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "agents": list(self.agents),
            "partners": [
                [partner.spec, partner.information.to_keys(), partner.counted]
                for partner in self.task.partners
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
            "block_deals": BENCHMARK_BLOCK_DEALS,
        }


def _names(agent: str, spec: str) -> bool:
    """Returns whether an agent's text contains that of another agent as a whole name.

    The text is searched and not parsed, because an option of a user's class may name an agent, too.
    """
    whole = rf"(?<![\w.-]){re.escape(spec)}(?![\w.-])"
    return re.search(whole, unnamed(agent)) is not None


_APART: Final = 0x9E3779B97F4A7C15
"""Odd, so that the seeds of different pairs differ."""
