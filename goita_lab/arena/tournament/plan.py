"""Plans a tournament: which agents meet, over which deals, in which blocks.

Every result depends on the plan only: blocks, the units of work and of randomness, have a fixed
size, and no block depends on the process that plays it or on the order of blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_agents.asking import check_agents
from goita_agents.base import Bool, Int
from goita_agents.faults import Fault
from goita_agents.identity import Identities
from goita_agents.registry import (
    check_names,
    short_name,
)
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure, check_information
from goita_env.rounds import Episode, check_episode
from goita_env.rules import Rules, get_rules
from goita_env.tiles import MATCH_POINTS
from goita_lab.arena.statistics.sequential_test import Sprt
from goita_lab.arena.tournament.saved_games import SavedDeal
from goita_lab.store import MOST_POINTS, Column

BLOCK_DEALS: Final = 256
"""Deals in a block: 512 games of a pair at once. Results depend on it, as on the seed."""

MAX_DEALS: Final = 10**7  #: Most deals of a pair: points per round are then known to a hundredth.

MAX_BLOCK_SECONDS: Final = 1e9  #: Most seconds of a block in a file of results: thirty years.

Seating = tuple[int, int, int, int]

PAIR_SEATINGS: Final[tuple[Seating, ...]] = ((0, 1, 0, 1), (1, 0, 1, 0))
"""The player at each seat, game by game of a deal, when each agent is both partners of a team."""

MIXED_SEATINGS: Final[tuple[Seating, ...]] = (
    (0, 2, 1, 2),
    (2, 0, 2, 1),
    (1, 2, 0, 2),
    (2, 1, 2, 0),
)
"""Players 0 and 1 as partners against two of player 2, at every seat."""

GAME_FIGURES: Final = ("points", "rounds", "rounds_won", "won")
"""The figures of one game: arrays of ``BlockResult``."""


def seatings_of(agents: tuple[str, ...]) -> tuple[Seating, ...]:
    """Returns the seatings of (a, b), or of partners a and b against c in (a, b, c)."""
    if len(agents) == 2:
        return PAIR_SEATINGS
    # With the same agent as both partners the other two seatings would repeat the first two.
    return MIXED_SEATINGS[: 2 if agents[0] == agents[1] else 4]


@dataclass(frozen=True)
class Task:
    """A block of deals; its result depends on nothing else."""

    agents: tuple[str, ...]  #: Texts of the players, as ``load_agent`` takes them.
    seed: int
    """Seed of the deals and, through ``goita_env.seeds``, of the players' random numbers."""
    block: int
    first: int  #: Number of its first deal.
    deals: int
    rules: Rules
    episode: Episode = "round"
    seatings: tuple[Seating, ...] = PAIR_SEATINGS
    """[S] The player at each seat in each game of a deal. The first team sits at seats 0 and 2 in
    the first, third, ... game, at 1 and 3 in the others."""
    information: InformationStructure = PLAIN  #: Shown tiles and messages.


@dataclass(frozen=True)
class BlockFigures:
    """The figures of a block, as files of results keep them: S seatings, D deals, P players."""

    points: npt.NDArray[np.int32]
    """[S, D] Points of the first team minus those of the other, after what messages cost."""
    rounds: npt.NDArray[np.int32]  #: [S, D] Scored rounds: 1 unless whole matches are played.
    rounds_won: npt.NDArray[np.int32]  #: [S, D] Rounds won by the first team.
    won: Bool  #: [S, D] The first team won the episode.
    decisions: Int  #: [P] Decisions with a choice that each player made.
    thinking: npt.NDArray[np.float64]  #: [P] Seconds that each player took for them.
    seconds: float
    faults: tuple[tuple[int, Fault], ...] = ()  #: The faults in this block, each with its player.
    forfeited: tuple[int, ...] = ()
    """Players that were out by the end; from some point on their decisions are random."""

    def columns(self) -> dict[str, Column]:
        """Returns the types, shapes and bounds of stored figures."""
        games, players = ("S", "D"), ("P",)
        most_rounds = int(self.rounds.max(initial=1))
        points = 10 * MOST_POINTS * most_rounds  # ten times: messages cost points
        return {
            "points": Column("i", games, -points, points),
            "rounds": Column("i", games, 1, MATCH_POINTS),
            "rounds_won": Column("i", games, 0, most_rounds),
            "won": Column("b", games),
            "decisions": Column("i", players, 0),
            "thinking": Column("f", players, 0, MAX_BLOCK_SECONDS),
            "seconds": Column("f", (), 0, MAX_BLOCK_SECONDS),
        }


@dataclass(frozen=True, kw_only=True)
class BlockResult(BlockFigures):
    """The result of a block."""

    task: Task
    games: tuple[SavedDeal, ...] = ()
    """Every deal of the saved games, by deal, seating and number."""


def check_deals(deals: int, least: int = 2, what: str = "a number of deals") -> None:
    """Checks a number of deals; raises a SettingError. An interval needs two."""
    if isinstance(deals, bool) or not isinstance(deals, int) or not least <= deals <= MAX_DEALS:
        raise SettingError(f"expected {what} from {least:,} to {MAX_DEALS:,}, got {deals!r}")


def tasks(
    agents: tuple[str, ...],
    deals: int,
    *,
    seed: int = 0,
    rules: str | Rules = "jga",
    episode: Episode = "round",
    block_deals: int = BLOCK_DEALS,
    seatings: tuple[Seating, ...] = PAIR_SEATINGS,
    information: InformationStructure = PLAIN,
) -> list[Task]:
    """Returns the blocks of a pairing; the last may be shorter."""
    check_deals(deals)
    check_seed(seed)
    rules = get_rules(rules)
    check_episode(episode, rules, information)
    firsts = range(0, deals, block_deals)
    lengths = [min(block_deals, deals - first) for first in firsts]
    return [
        Task(agents, seed, block, first, length, rules, episode, seatings, information)
        for block, (first, length) in enumerate(zip(firsts, lengths, strict=True))
    ]


def parse_fewer_deals(text: str) -> tuple[int, str]:
    """Returns the number and the agent of "DEALS:AGENT"; raises a SettingError."""
    deals, _, agent = text.partition(":")
    if not (deals.isascii() and deals.isdigit()) or not agent:
        raise SettingError(f"expected DEALS:AGENT (200:greedy), got {text!r}")
    check_deals(int(deals))
    return int(deals), agent


@dataclass(frozen=True)
class Pairing:
    """Two teams that meet, with their blocks."""

    agents: tuple[str, ...]
    """Names. (a, b): two of a against two of b. (a, b, c): partners a and b against two of c."""
    tasks: tuple[Task, ...]
    sprt: Sprt | None = None  #: The test that may end it early.

    @property
    def is_cross(self) -> bool:
        return len(self.agents) == 3

    @property
    def deals(self) -> int:
        return sum(task.deals for task in self.tasks)

    @property
    def title(self) -> str:
        """Names the teams in words: "a with b against c"."""
        *partners, opponent = self.agents
        return f"{' with '.join(partners)} against {opponent}"


class Schedule(ABC):
    """A schedule: the pairings with their blocks, and the agents in them."""

    information: InformationStructure  #: Shown tiles and messages at the tables.
    rules: str | Rules = "jga"

    @property
    @abstractmethod
    def specs(self) -> list[str]:
        """The text of every agent once, in order."""

    @abstractmethod
    def pairings(self) -> list[Pairing]:
        """Returns the pairings in playing order."""

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """Returns all of it as JSON: the arguments of files of results."""

    def information_of(self, spec: str) -> InformationStructure:
        """Returns the information structure that an agent has to be able to play under."""
        return self.information

    def spec_of(self, seated: str) -> str:
        """Returns the text of an agent by that of the agent as it sits at a table."""
        return seated

    def specs_of(self, task: Task) -> list[str]:
        """Returns the texts of the agents that play a block, each once."""
        return list(dict.fromkeys(map(self.spec_of, task.agents)))

    def check_agents(self) -> Identities:
        """Builds every agent once, and starts every program; returns their digests."""
        identities = Identities()
        for spec in self.specs:
            game = get_rules(self.rules), self.information_of(spec)
            check_agents([spec], *game, identities)
        return identities


@dataclass(frozen=True)
class TournamentPlan(Schedule):
    """Everything that the results of a tournament depend on, except the agents' files.

    Raises:
        SettingError: if a value is impossible; the agents are checked by ``check_agents``.
    """

    agents: tuple[str, ...]  #: The field; an agent named twice also plays against itself.
    one: str | None = None
    """An agent that plays each of the field; the field then does not play among itself."""
    cross: bool = False
    """Also play every two of the field as partners, against two of the last."""
    deals: int = 1000
    fewer_deals: tuple[tuple[int, str], ...] = ()
    """Most deals of the pairings of a slow agent: (deals, agent)."""
    seed: int = 0
    rules: str | Rules = "jga"
    episode: Episode = "round"
    sprt: Sprt | None = None  #: Ends pairings early; cross-play is not tested.
    block_deals: int = BLOCK_DEALS
    information: InformationStructure = PLAIN  #: Shown tiles and messages at the tables.

    def __post_init__(self) -> None:
        check_deals(self.deals)
        check_seed(self.seed)
        get_rules(self.rules)
        if len(self.agents) < (1 if self.one else 2):
            expected = "an agent or more" if self.one else "two agents or more"
            raise SettingError(f"expected {expected}, got {' '.join(self.agents)!r}")
        check_names(self.specs)
        if self.one and self.cross:
            raise SettingError("expected one of --one and --cross, got both")
        check_information(self.information)
        check_episode(self.episode, get_rules(self.rules), self.information)
        for deals, agent in self.fewer_deals:
            check_deals(deals)
            if agent not in {*self.names, *self.specs}:
                raise SettingError(
                    f"expected one of {self.names} to play fewer deals, got {agent!r}"
                )

    @property
    def specs(self) -> list[str]:
        """The text of every agent once, in order."""
        return list(dict.fromkeys([*([self.one] if self.one else []), *self.agents]))

    @property
    def names(self) -> list[str]:
        """The name of every agent once, in order."""
        return [short_name(spec) for spec in self.specs]

    def pairings(self) -> list[Pairing]:
        """Returns the pairings in playing order."""
        field = list(dict.fromkeys(self.agents))
        named_twice = [agent for agent in field if self.agents.count(agent) > 1]
        if self.one:
            pairs = [(self.one, agent) for agent in field]
        else:
            pairs = [
                (a, b)
                for a, b in combinations_with_replacement(field, 2)
                if a != b or a in named_twice
            ]
        partners = list(combinations_with_replacement(field, 2)) if self.cross else []
        return [
            *(self._pairing(pair) for pair in pairs),
            *(self._pairing((*pair, self.agents[-1])) for pair in partners),
        ]

    def _pairing(self, agents: tuple[str, ...]) -> Pairing:
        """Returns the pairing of two agents, or of two partners and their opponent, by texts."""
        names = tuple(map(short_name, agents))
        fewer = [deals for deals, agent in self.fewer_deals if agent in {*names, *agents}]
        planned = tasks(
            agents,
            min([self.deals, *fewer]),
            seed=self.seed,
            rules=self.rules,
            episode=self.episode,
            block_deals=self.block_deals,
            seatings=seatings_of(agents),
            information=self.information,
        )
        return Pairing(names, tuple(planned), self.sprt if len(agents) == 2 else None)

    def arguments(self) -> dict[str, Any]:
        """Returns the plan as JSON: the arguments of files of results."""
        return {
            "agents": list(self.agents),
            "one": self.one,
            "cross": self.agents[-1] if self.cross else None,
            "deals": self.deals,
            "fewer_deals": {agent: deals for deals, agent in self.fewer_deals},
            "seed": self.seed,
            **get_rules(self.rules).to_keys(),
            **self.information.to_keys(),
            "episode": self.episode,
            "sprt": [self.sprt.low, self.sprt.high] if self.sprt else None,
            "block_deals": self.block_deals,
        }
