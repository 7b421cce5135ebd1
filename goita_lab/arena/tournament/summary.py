"""Summarises a tournament: points and win rates with intervals, ratings, cross-play, faults.

``goita_lab.arena.report`` shows a ``Summary``; ``goita evaluate --json`` writes its ``to_json``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any, Self

import numpy as np

from goita_agents.base import Float
from goita_agents.faults import Fault, Kind
from goita_agents.identity import Identities
from goita_agents.registry import short_name
from goita_env.information import InformationStructure
from goita_env.rules import Rules, get_rules
from goita_lab.arena.statistics import ratings
from goita_lab.arena.statistics.intervals import (
    Interval,
    rate_interval,
    ratio_interval,
    variance_removed,
)
from goita_lab.arena.statistics.ratings import Rating
from goita_lab.arena.statistics.sequential_test import Verdict
from goita_lab.arena.tournament.plan import BlockResult, Pairing, TournamentPlan
from goita_lab.provenance import provenance

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Played:
    """The blocks of a pairing that count, in order."""

    pairing: Pairing
    blocks: tuple[BlockResult, ...]
    verdict: Verdict | None = None
    forfeited: tuple[str, ...] = ()

    @property
    def whole_matches(self) -> bool:
        """True if each deal begins a match."""
        return self.pairing.tasks[0].episode == "match"

    def games(self, name: str) -> Float:
        """Returns an array of ``BlockResult`` for all deals: [S, D]."""
        return np.concatenate([getattr(block, name) for block in self.blocks], axis=1).astype(float)

    def points(self) -> Interval:
        """Returns the points per round, with an interval over deals."""
        return ratio_interval(self.games("points").sum(axis=0), self.games("rounds").sum(axis=0))

    def match_wins(self) -> Interval | None:
        """Returns the share of matches won, with an interval over deals, if any were played."""
        if not self.whole_matches:
            return None
        return rate_interval(self.games("won").mean(axis=0))

    def faults(self) -> list[tuple[str, Fault]]:
        """Returns the faults with the names of their agents."""
        agents = self.pairing.agents
        return [(agents[player], fault) for block in self.blocks for player, fault in block.faults]

    def rated_games(self) -> ratings.PairGames:
        """Returns the games for a rating: matches if whole ones were played, else rounds."""
        won = self.games("won" if self.whole_matches else "rounds_won")
        a, b = self.pairing.agents
        return ratings.PairGames(a, b, won.sum(axis=0), np.full(won.shape[1], float(len(won))))


@dataclass(frozen=True)
class PairResult:
    """The figures of a pair of agents, from the side of agent ``a``."""

    a: str
    b: str
    deals: int
    points_per_round: float
    ci95: Bounds  #: 95 % interval of the points per round, over deals.
    round_win_rate: float
    round_win_ci95: Bounds
    ms_per_decision: dict[str, float]  #: Milliseconds of each agent for a decision with a choice.
    rounds_per_second: float  #: On one core.
    variance_removed: float
    """Share of the variance removed by exchanging the seats; below 0 only by chance."""
    sprt: Verdict | None = None
    faults: dict[str, int] = field(default_factory=dict)
    """Number of faults of each agent that made at least one."""
    forfeited: tuple[str, ...] = ()
    """Agents that forfeited; the pairing ends with the block of that moment."""
    match_win_rate: float | None = None
    match_win_ci95: Bounds | None = None
    few: bool = False
    """The interval of the points may be too narrow, because few deals have different values."""
    round_win_few: bool = False  #: The same for the interval of the rounds won.
    match_win_few: bool | None = None  #: The same for the interval of the matches won.

    @classmethod
    def of(cls, played: Played) -> Self:
        """Computes the figures of a pairing of two agents that was played."""
        blocks, names = played.blocks, played.pairing.agents
        rounds, score = played.games("rounds").sum(axis=0), played.points()
        wins = rate_interval(played.games("rounds_won").sum(axis=0), rounds)
        thinking = np.sum([block.thinking for block in blocks], axis=0)
        decisions = np.sum([block.decisions for block in blocks], axis=0)
        # [P] By player; two players with the same name share their mean.
        milliseconds, players = 1000 * thinking / np.maximum(decisions, 1), np.array(names)
        faulty = [agent for agent, _ in played.faults()]  # once for each fault
        matches = played.match_wins()
        return cls(
            a=names[0],
            b=names[1],
            deals=len(rounds),
            points_per_round=score.mean,
            ci95=(score.low, score.high),
            round_win_rate=wins.mean,
            round_win_ci95=(wins.low, wins.high),
            ms_per_decision={name: float(milliseconds[players == name].mean()) for name in names},
            rounds_per_second=float(rounds.sum() / sum(block.seconds for block in blocks)),
            variance_removed=variance_removed(played.games("points")),
            sprt=played.verdict,
            faults={agent: faulty.count(agent) for agent in dict.fromkeys(faulty)},
            forfeited=played.forfeited,
            match_win_rate=matches.mean if matches else None,
            match_win_ci95=(matches.low, matches.high) if matches else None,
            few=score.few,
            round_win_few=wins.few,
            match_win_few=matches.few if matches else None,
        )

    @property
    def points(self) -> Interval:
        return Interval(self.points_per_round, *self.ci95, few=self.few)

    @property
    def rounds_won(self) -> Interval:
        return Interval(self.round_win_rate, *self.round_win_ci95, few=self.round_win_few)

    @property
    def matches_won(self) -> Interval | None:
        """None if no matches were played."""
        if self.match_win_rate is None or self.match_win_ci95 is None:
            return None
        return Interval(self.match_win_rate, *self.match_win_ci95, few=bool(self.match_win_few))

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as JSON; those of matches if matches were played."""
        return asdict(self, dict_factory=_json_object)


@dataclass(frozen=True)
class CrossCell:
    """The figures of two agents as partners."""

    partners: tuple[str, str]
    points_per_round: float
    ci95: Bounds
    deals: int
    match_win_rate: float | None = None
    match_win_ci95: Bounds | None = None
    few: bool = False  #: As ``few`` of ``PairResult``.


@dataclass(frozen=True)
class CrossPlay:
    """The figures of every two agents as partners against two of one opponent."""

    opponents: str
    cells: tuple[CrossCell, ...]


@dataclass(frozen=True)
class FaultCount:
    """The number of faults of one kind that an agent made in a pairing."""

    agent: str
    pair: tuple[str, ...]
    kind: Kind
    count: int
    text: str  #: Text of the last fault: what was expected and what came.
    stderr: tuple[str, ...]
    traceback: str = ""  #: Traceback of the last exception, for "raised".
    seat: int = -1
    deal: int = -1  #: Number of the deal of the last fault; -1: not known.
    forfeited: bool = False  #: The agent has forfeited the pairing; in JSON a key of the pair.


@dataclass(frozen=True)
class Summary:
    """A whole tournament."""

    agents: tuple[str, ...]
    pairs: tuple[PairResult, ...]
    ratings: tuple[Rating, ...]
    """Strongest first, agents that forfeited last; empty if some agents cannot be compared."""
    cross: CrossPlay | None
    faults: tuple[FaultCount, ...]
    episode: str
    rules: Rules
    information: InformationStructure
    seed: int
    deals: int
    block_deals: int
    command: str
    versions: dict[str, str]  #: Of packages, and the commit of a checkout.
    weights: dict[str, str]  #: SHA-256 of the networks of other agents, by the text of each.
    digests: dict[str, str]
    """SHA-256 of all that each agent is made of, by its text, as it was when it was built."""
    changed: list[str]  #: Texts of agents whose digest was another one at the end.
    seconds: float

    @classmethod
    def of(
        cls,
        plan: TournamentPlan,
        everything: Sequence[Played],
        *,
        identities: Identities | None = None,
        command: str = "",
        seconds: float = 0.0,
    ) -> Self:
        """Summarises the pairings of a plan that were played.

        Args:
            plan: the plan.
            everything: the pairings.
            identities: digests of the agents when they were built; None: the present ones.
            command: the command line.
            seconds: duration of the tournament.
        """
        pairs = [played for played in everything if not played.pairing.is_cross]
        mixed = [played for played in everything if played.pairing.is_cross]
        out = {agent for played in everything for agent in played.forfeited}
        rated = [
            replace(rating, ranked=rating.agent not in out)
            for rating in ratings.rate([played.rated_games() for played in pairs])
        ]
        return cls(
            agents=tuple(plan.names),
            pairs=tuple(PairResult.of(played) for played in pairs),
            ratings=tuple(sorted(rated, key=lambda rating: not rating.ranked)),
            cross=CrossPlay(short_name(plan.agents[-1]), tuple(map(_cell, mixed)))
            if plan.cross
            else None,
            faults=tuple(count for played in everything for count in fault_counts(played)),
            episode=plan.episode,
            rules=get_rules(plan.rules),
            information=plan.information,
            seed=plan.seed,
            deals=plan.deals,
            block_deals=plan.block_deals,
            command=command,
            **provenance(identities or plan.specs),  # versions, weights, digests and changed
            seconds=seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns all of it as JSON."""
        content: dict[str, Any] = {}
        for key, value in asdict(self, dict_factory=_json_object).items():
            if key == "rules":
                content |= self.rules.to_keys()
            elif key == "information":
                content |= self.information.to_keys()
            elif key != "changed" or value:
                content[key] = value
        return content


def failed(faults: Iterable[FaultCount]) -> bool:
    """Returns whether an agent forfeited or made a fault other than being late."""
    return any(fault.forfeited or fault.kind != "late" for fault in faults)


def _cell(played: Played) -> CrossCell:
    """Computes the figures of a pairing of two partners that was played."""
    first, second, _ = played.pairing.agents
    points, matches = played.points(), played.match_wins()
    return CrossCell(
        partners=(first, second),
        points_per_round=points.mean,
        ci95=(points.low, points.high),
        deals=sum(block.task.deals for block in played.blocks),
        match_win_rate=matches.mean if matches else None,
        match_win_ci95=(matches.low, matches.high) if matches else None,
        few=points.few,
    )


def deal_figures(everything: Sequence[Played]) -> dict[str, Float]:
    """Returns totals and counts [2, deals] of each ratio of the pairings, by title and name.

    Points and rounds won are over the rounds of a deal's games, matches won over its games.
    """
    figures = {}
    for played in everything:
        rounds, games = played.games("rounds").sum(axis=0), played.games("won")
        ratios = {"points_per_round": ("points", rounds), "round_win_rate": ("rounds_won", rounds)}
        if played.whole_matches:
            ratios["match_win_rate"] = "won", np.full(games.shape[1], float(len(games)))
        for name, (array, counts) in ratios.items():
            totals = played.games(array).sum(axis=0)
            figures[f"{played.pairing.title}/{name}"] = np.stack([totals, counts])
    return figures


def fault_counts(played: Played) -> Iterator[FaultCount]:
    """Yields the faults of a pairing by agent and kind, with the details of the last one."""
    faults = played.faults()
    for agent, kind in dict.fromkeys((agent, fault.kind) for agent, fault in faults):
        alike = [fault for name, fault in faults if (name, fault.kind) == (agent, kind)]
        last = alike[-1]
        yield FaultCount(
            agent=agent,
            pair=played.pairing.agents,
            kind=kind,
            count=len(alike),
            text=last.text,
            stderr=last.stderr,
            traceback=last.traceback,
            seat=last.seat,
            deal=last.deal,
            forfeited=agent in played.forfeited,
        )


def _json_object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object as JSON can hold it: an end of an interval that is not known is null.

    Figures of matches are left out where none were played, and so is ``FaultCount.forfeited``.
    """
    # ``PairResult.forfeited`` is a tuple and stays.
    return {
        key: tuple(end if isfinite(end) else None for end in value) if key == "ci95" else value
        for key, value in fields
        if not (value is None and key.startswith("match_"))
        and not (isinstance(value, bool) and key == "forfeited")
    }
