"""Plans a tournament: who meets whom, over which deals, in which blocks.

Every result depends on the plan alone: the blocks are of fixed size, and nothing in them depends on
who plays them, where, or in what order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Final

import goita_env
from agents.base import AgentError, close
from agents.registry import check_names, content_hash, load_agent, network_file, short_name
from agents.statistics.sequential_test import Sprt
from agents.tournament.children import inspect_own
from agents.tournament.task import MIXED_SEATINGS, PAIR_SEATINGS, Isolation, Seating, Task
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.rounds import EPISODES, Episode
from goita_env.rules import Rules, get_rules

BLOCK_DEALS: Final = 256
"""Deals in a block: 512 games of a pair at once. A run's result depends on it as on the seed."""

MAX_DEALS: Final = 10**7
"""Most deals of a pair: points per round are then known to a hundredth."""

MAX_BLOCK_DEALS: Final = 1 << 16

OF_AGENTS: Final = ("files", "sources")
"""Arguments that say what agents are read from: results keep them block by block."""


def check_deals(deals: int) -> None:
    """Checks a number of deals; an interval takes two.

    Raises:
        SettingError: if it is none.
    """
    if isinstance(deals, bool) or not isinstance(deals, int) or not 2 <= deals <= MAX_DEALS:
        raise SettingError(f"expected a number of deals from 2 to {MAX_DEALS:,}, got {deals!r}")


def tasks(
    agents: tuple[str, ...],
    deals: int,
    *,
    seed: int = 0,
    rules: str | Rules = "jga",
    episode: Episode = "round",
    block_deals: int = BLOCK_DEALS,
    seatings: tuple[Seating, ...] = PAIR_SEATINGS,
    isolation: Isolation | None = None,
) -> list[Task]:
    """Returns the blocks of a pairing; the last may be a short one.

    Raises:
        SettingError: if seed, rules or the number of deals (2 to ten million) are impossible.
    """
    check_deals(deals)
    check_seed(seed)
    found = get_rules(rules)
    return [
        Task(
            agents,
            seed,
            block,
            first,
            min(block_deals, deals - first),
            found,
            episode,
            seatings,
            isolation,
        )
        for block, first in enumerate(range(0, deals, block_deals))
    ]


def parse_cap(text: str) -> tuple[int, str]:
    """Returns the number of deals and the agent of "DEALS:AGENT".

    Raises:
        SettingError: if it is no such text.
    """
    number, _, agent = text.partition(":")
    if not (number.isascii() and number.isdigit()) or not agent:
        raise SettingError(f"expected DEALS:AGENT (200:greedy), got {text!r}")
    check_deals(int(number))
    return int(number), agent


@dataclass(frozen=True)
class Pairing:
    """Names two teams that meet."""

    agents: tuple[str, ...]
    """Names. (a, b): two of a against two of b. (a, b, c): the partners a and b against two of
    c."""
    tasks: tuple[Task, ...]
    sprt: Sprt | None = None
    """The test that may end it early."""

    @property
    def is_cross(self) -> bool:
        """True for the partners a and b against two of c."""
        return len(self.agents) == 3

    @property
    def deals(self) -> int:
        """Returns how many deals there are at most."""
        return sum(task.deals for task in self.tasks)

    @property
    def title(self) -> str:
        """Returns who meets whom, in words."""
        *partners, opponent = self.agents
        return f"{' with '.join(partners)} against {opponent}"


@dataclass(frozen=True)
class Plan:
    """Holds all that the results of a tournament depend on, but the agents themselves."""

    agents: tuple[str, ...]
    """The field; one that is named twice counts once, but "A A" alone is A against itself."""
    one: str | None = None
    """Plays each of the field, which then does not play among itself."""
    cross: bool = False
    """Also every two of the field as partners, against two of the opponent."""
    cross_opponent: str | None = None
    """None: the last of the field."""
    deals: int = 1000
    """Deals of each pairing."""
    caps: tuple[tuple[int, str], ...] = ()
    """Most deals of any pairing with an agent, for slow ones."""
    seed: int = 0
    rules: str | Rules = "jga"
    episode: Episode = "round"
    sprt: Sprt | None = None
    """Ends pairings early; cross-play is not tested."""
    block_deals: int = BLOCK_DEALS
    isolation: Isolation | None = None
    """Host classes of the user's in processes of their own."""

    def __post_init__(self) -> None:
        """Checks everything but whether the agents can be built."""
        check_deals(self.deals)
        check_seed(self.seed)
        get_rules(self.rules)
        check_names(self.specs)
        if len(self.agents) < (1 if self.one else 2):
            wanted = "an agent or more" if self.one else "two agents or more"
            raise SettingError(f"expected {wanted}, got {' '.join(self.agents)!r}")
        if self.one and self.cross:
            raise SettingError("expected one of --one and --cross, got both")
        if self.cross_opponent and not self.cross:
            raise SettingError(
                f"expected --cross for an opponent of its own, got {self.cross_opponent!r} without"
            )
        if self.episode not in EPISODES:
            raise SettingError(f"expected an episode of {EPISODES}, got {self.episode!r}")
        if not 2 <= self.block_deals <= MAX_BLOCK_DEALS:
            raise SettingError(
                f"expected 2 to {MAX_BLOCK_DEALS:,} deals in a block, got {self.block_deals!r}"
            )
        for deals, agent in self.caps:
            check_deals(deals)
            if agent not in {*self.names, *self.specs}:
                raise SettingError(
                    f"expected one of {self.names} to play fewer deals, got {agent!r}"
                )

    @property
    def specs(self) -> list[str]:
        """Returns the text of every agent once, in order."""
        first, last = [self.one] if self.one else [], [self._opponent] if self.cross else []
        return list(dict.fromkeys([*first, *self.agents, *last]))

    @property
    def names(self) -> list[str]:
        """Returns the name of every agent once, in order."""
        return [short_name(spec) for spec in self.specs]

    @property
    def opponent(self) -> str:
        """Returns the name of whom mixed partners play against."""
        return short_name(self._opponent)

    @property
    def _opponent(self) -> str:
        """Returns the text of whom mixed partners play against, one of the field or another."""
        field = {short_name(spec): spec for spec in reversed(self.agents)}
        chosen = self.cross_opponent or self.agents[-1]
        return field.get(chosen, chosen)

    def pairings(self) -> list[Pairing]:
        """Returns who meets whom, in the order in which they play."""
        field = list(dict.fromkeys(self.agents))
        twice = [name for name in field if self.agents.count(name) > 1]
        if self.one:
            pairs = [(self.one, other) for other in field]
        else:
            pairs = [
                pair
                for pair in combinations_with_replacement(field, 2)
                if pair[0] != pair[1] or pair[0] in twice
            ]
        partners = list(combinations_with_replacement(field, 2)) if self.cross else []
        return [
            *(self._pairing(pair) for pair in pairs),
            *(self._pairing((*pair, self._opponent)) for pair in partners),
        ]

    def _pairing(self, agents: tuple[str, ...]) -> Pairing:
        """Returns one pairing with its blocks; ``agents``: their texts."""
        names = tuple(map(short_name, agents))
        if len(agents) == 2:
            seatings = PAIR_SEATINGS
        else:
            # With one agent as both partners the other two seatings would be the same again.
            seatings = MIXED_SEATINGS[: 2 if agents[0] == agents[1] else 4]
        planned = tasks(
            agents,
            min([self.deals, *(deals for deals, agent in self.caps if agent in {*names, *agents})]),
            seed=self.seed,
            rules=self.rules,
            episode=self.episode,
            block_deals=self.block_deals,
            seatings=seatings,
            isolation=self.isolation,
        )
        return Pairing(names, tuple(planned), self.sprt if len(agents) == 2 else None)

    def arguments(self) -> dict[str, Any]:
        """Returns what results are told apart by: plan, version, and the files of agents."""
        sources = self.sources()
        return {
            "agents": list(self.agents),
            "one": self.one,
            "cross": self._opponent if self.cross else None,
            "deals": self.deals,
            "fewer_deals": {agent: deals for deals, agent in self.caps},
            "seed": self.seed,
            **get_rules(self.rules).to_keys(),
            "episode": self.episode,
            "sprt": [self.sprt.low, self.sprt.high] if self.sprt else None,
            "block_deals": self.block_deals,
            "version": goita_env.__version__,
            "files": _hashes(self.specs),
            **({"isolation": asdict(self.isolation)} if self.isolation else {}),
        } | ({"sources": sources} if sources else {})

    def sources(self) -> dict[str, str]:
        """Returns the hashes of the source of agents of one's own, by their texts."""
        return {spec: source for spec, (_, source) in self._own.items() if source}

    def contents(self) -> dict[str, str | None]:
        """Returns a hash of the files that each agent is read from, by its text; None: of none."""
        return {
            spec: self._own[spec][1] if spec in self._own else content_hash(spec)
            for spec in self.specs
        }

    def check_agents(self) -> None:
        """Checks the agents; those of the repository are built once.

        A class of the user's is looked at in a process of its own, and not built: what goes wrong
        there is the class's fault.

        Raises:
            AgentError: if there is no such agent, module, class or option.
        """
        for spec in self.specs:
            wrong, _ = self._own.get(spec, ("", ""))
            if wrong:
                raise AgentError(wrong)
            if spec not in self._own:
                close([load_agent(spec)])

    @cached_property
    def _own(self) -> dict[str, tuple[str, str]]:
        """Returns what is wrong with each class of the user's, and the hash of its source."""
        return inspect_own(self.specs)


def _hashes(specs: Sequence[str]) -> dict[str, str]:
    """Returns the SHA-256 of the files that agents are read from, so another one is noticed."""
    paths = [path for spec in specs if (path := network_file(spec)) is not None]
    return {path: sha256(Path(path).read_bytes()).hexdigest() for path in paths}
