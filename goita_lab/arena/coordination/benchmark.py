"""Plans the benchmark: which cells are played, over which deals, and what is special about them.

A cell is an agent, a partner and an opponent. Each deal of a cell is played four times: the agent
sits in either seat of its team, and the teams exchange their seats. Beside the cells of the agent
the references are played on the same deals: the agent with itself, each partner with itself, and
each trained partner with its partner.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final

import goita_env
from goita_agents.base import close
from goita_agents.bots.wrapped import unwrapped
from goita_agents.registry import check_names, is_own, load_agent, short_name
from goita_agents.search.rollout import RolloutAgent
from goita_agents.search.solver_bot import SolverAgent
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_env.rounds import Episode
from goita_env.rules import JGA
from goita_lab.arena.coordination.task import PEOPLE, VALIDATION, CoordinationTask
from goita_lab.arena.tournament.plan import Pairing, Schedule, check_deals, tasks
from goita_lab.arena.tournament.task import Isolation, seatings_of

FORMAT: Final = "goita-coordination-1"
"""Names the JSON and the arguments of stored blocks; grows when the meaning of a field changes."""

BLOCK_DEALS: Final = 250
"""Deals that are played at once, and that a stop loses. Results depend on it, as on the seed."""

LEAST_DEALS: Final = 4
"""Each half of the deals, for the worst partner, needs two."""

Cell = tuple[str, str, str]
"""Texts of two partners and of their opponent."""


@dataclass(frozen=True)
class Sizes:
    """The deals of a cell: of any agent, and of one that searches."""

    any: int
    search: int


SIZES: Final[dict[tuple[Episode, bool], Sizes]] = {
    ("round", False): Sizes(1000, 100),
    ("round", True): Sizes(200, 6),
    # A match has seven rounds.
    ("match", False): Sizes(150, 15),
    ("match", True): Sizes(30, 4),
}
"""By episode, and whether it is the quick benchmark."""


@dataclass(frozen=True)
class Benchmark(Schedule):
    """Everything that the results of the benchmark depend on, except the agents' files.

    Raises:
        SettingError: if a value is impossible; the agents are checked by ``check_agents``.
    """

    agents: tuple[str, ...]  #: Texts of the agents that are measured.
    task: CoordinationTask = VALIDATION
    seed: int = 0  #: Of the deals and of all random numbers of play.
    seed_given: bool = True  #: Somebody chose the seed; False: the operating system.
    episode: Episode = "round"  #: "match": each deal begins a whole match.
    quick: bool = False  #: Play fewer deals.
    fewer_deals: tuple[tuple[int, str], ...] = ()
    """Most deals of the cells of a slow agent: (deals, text)."""
    isolation: Isolation | None = None  #: Host users' classes in processes of their own.

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

    @property
    def full(self) -> int:
        """Deals of a cell of a fast agent in the benchmark that is not quick."""
        return SIZES[self.episode, False].any

    def deals(self, agent: str) -> int:
        """Returns the deals of every cell of an agent."""
        slow = {agent, *self.task.specs}
        fewer = (deals for deals, spec in self.fewer_deals if spec in slow)
        return min([SIZES[self.episode, self.quick].any, *fewer])

    def marks(self, agent: str) -> tuple[str, ...]:
        """Returns what keeps an agent's figures from being an entry of the full benchmark."""
        deals = self.deals(agent)
        found = {
            **{f"names {spec}": spec in agent for spec in VALIDATION.specs if spec != PEOPLE},
            "quick": self.quick,
            f"{deals:,} deals": deals < self.full,
            "seed given": self.seed_given,
            "other players": self.task != VALIDATION,
        }
        return tuple(mark for mark, holds in found.items() if holds)

    def cells(self, agent: str) -> list[Cell]:
        """Returns the cells of an agent with the partners of the task."""
        partners = [partner.spec for partner in self.task.partners]
        return [(agent, partner, one) for partner in partners for one in self.task.opponents]

    def references(self, agent: str) -> list[Cell]:
        """Returns what the cells of an agent are compared with."""
        pairs = [(agent, agent)]
        pairs += [(partner.spec, partner.spec) for partner in self.task.partners]
        pairs += [
            (partner.trained_partner, partner.spec)
            for partner in self.task.partners
            if partner.trained_partner is not None
        ]
        return [(*pair, one) for pair in pairs for one in self.task.opponents]

    def pairings(self) -> list[Pairing]:
        deals: dict[Cell, int] = {}
        for agent in self.agents:
            for cell in self.cells(agent) + self.references(agent):
                deals[cell] = max(deals.get(cell, 0), self.deals(agent))
        return [
            Pairing(
                tuple(map(short_name, cell)),
                tuple(
                    tasks(
                        cell,
                        many,
                        seed=self.seed,
                        rules=JGA,
                        episode=self.episode,
                        block_deals=BLOCK_DEALS,
                        seatings=seatings_of(cell),
                        isolation=self.isolation,
                    )
                ),
            )
            for cell, many in deals.items()
        ]

    def arguments(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "agents": list(self.agents),
            "partners": [list(astuple(partner)) for partner in self.task.partners],
            "opponents": list(self.task.opponents),
            "deals": {agent: self.deals(agent) for agent in self.agents},
            "seed": self.seed,
            "seed_given": self.seed_given,
            "quick": self.quick,
            **JGA.to_keys(),
            "episode": self.episode,
            "block_deals": BLOCK_DEALS,
            "version": goita_env.__version__,
            **({"isolation": asdict(self.isolation)} if self.isolation else {}),
        }


def fewer_of_searches(specs: Iterable[str], deals: int) -> tuple[tuple[int, str], ...]:
    """Returns the fewer deals of the agents that search: (deals, text).

    A user's class is not built here, because that would run its code in this process.

    Raises:
        AgentError: if there is no such agent.
    """
    found = []
    for spec in specs:
        if is_own(spec):
            continue
        agent = load_agent(spec)
        try:
            if isinstance(unwrapped(agent), RolloutAgent | SolverAgent):
                found.append((deals, spec))
        finally:
            close([agent])
    return tuple(found)
