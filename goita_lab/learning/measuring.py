"""Measures a policy while it trains: duplicate matches of its snapshots against fixed opponents.

Every measurement plays the same deals with random numbers of its own, so a measurement more or less
changes nothing else.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, field, fields
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from goita_agents.asking import agent_plays, build_agent
from goita_agents.base import Agent, Float, close
from goita_agents.files import read_text
from goita_agents.registry import plain_text
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds import Episode
from goita_env.rules import JGA, Rules
from goita_lab.arena.tournament.arena import play_pair
from goita_lab.arena.tournament.plan import check_deals
from goita_lab.arena.tournament.summary import PairResult

PAST_SNAPSHOT: Final = "past"
"""Name of the opponent that is the run's own snapshot at 75 % of the decisions so far."""

PAST_SHARE: Final = 0.75
MAX_SNAPSHOTS: Final = 32  # beyond which every second one is deleted
MAX_CURVE_BYTES: Final = 1 << 26  # of a curve
ROUNDS_PER_MATCH: Final = 8  # divides the deals of matches, so that measuring costs the same


@dataclass(frozen=True)
class Measured:
    """The result of a snapshot against one opponent, from the snapshot's side."""

    decisions: int  #: of the snapshot's training
    opponent: str  #: name, or ``PAST_SNAPSHOT``
    opponent_decisions: int | None  #: of the opponent's training, where it is a snapshot
    deals: int  #: played twice each, the teams' seats exchanged
    points_per_round: float
    low: float  #: bounds of the 95 % interval of the points per round, over deals
    high: float
    round_win_rate: float
    match_win_rate: float | None = None

    @property
    def text(self) -> str:
        who = self.opponent
        if self.opponent_decisions is not None:
            who = f"own snapshot at {self.opponent_decisions:,}"
        won = "" if self.match_win_rate is None else f", {self.match_win_rate:.1%} of matches"
        return f"{self.points_per_round:+z.1f} [{self.low:+z.1f}, {self.high:+z.1f}]{won} v {who}"


@dataclass
class History:
    """The measurements of a run and its snapshots."""

    rows: list[Measured] = field(default_factory=list)
    snapshots: list[int] = field(default_factory=list)
    """Decisions of each that is kept, ascending; the last is the latest."""

    def past(self, decisions: int) -> int | None:
        """Returns the earlier snapshot nearest to 75 % of the decisions; None: no earlier."""
        earlier = [snapshot for snapshot in self.snapshots if snapshot < decisions]
        target = PAST_SHARE * decisions
        return min(earlier, key=lambda snapshot: abs(snapshot - target), default=None)

    def best(self) -> int | None:
        """Returns the snapshot with the highest mean result against the named opponents.

        The result is points per round, or the match win rate where matches are learnt. Of equals it
        is the later one; before the first measurement it is None.
        """
        results: dict[int, list[float]] = {}
        for row in self.rows:
            if row.opponent != PAST_SNAPSHOT:
                won = row.match_win_rate
                result = row.points_per_round if won is None else won
                results.setdefault(row.decisions, []).append(result)
        return max(results, key=lambda snapshot: (fmean(results[snapshot]), snapshot), default=None)

    def add_snapshot(self, decisions: int) -> None:
        """Adds a snapshot; where there are too many, drops every second one but the best."""
        self.snapshots.append(decisions)
        if len(self.snapshots) > MAX_SNAPSHOTS:
            best = self.best()
            remaining = {*self.snapshots[::2], decisions}
            self.snapshots = sorted(remaining if best is None else remaining | {best})

    def csv(self) -> bytes:
        """Returns the measurements as ``read_curve`` reads them: a row each, under their names."""
        text = StringIO()
        writer = csv.DictWriter(text, [f.name for f in fields(Measured)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return text.getvalue().encode()


def read_curve(path: Path) -> dict[str, Float]:
    """Returns the curves in a strength.csv by opponent: decisions, points, low, high [4, M]."""
    curves: dict[str, list[tuple[float, ...]]] = {}
    names = ("decisions", "points_per_round", "low", "high")
    try:
        for row in csv.DictReader(StringIO(read_text(path, MAX_CURVE_BYTES), newline="")):
            curves.setdefault(row["opponent"], []).append(tuple(float(row[n]) for n in names))
    except (KeyError, TypeError, csv.Error) as error:  # another column, or a row that is cut
        raise SettingError(f"expected columns opponent, {', '.join(names)} in {path}") from error
    if not curves:
        raise SettingError(f"expected measurements, got none in {path}")
    return {opponent: np.array(rows).T for opponent, rows in curves.items()}


@dataclass(frozen=True)
class Evaluator:
    """An evaluator: snapshots play opponents, which are built once to see that they can be."""

    against: tuple[str, ...]  #: named opponents, in addition to the run's own past
    deals: int  #: of each measurement, played twice each; 0: nothing is measured
    seed: int
    rules: Rules = JGA
    episode: Episode = "round"
    information: InformationStructure = PLAIN

    def __post_init__(self) -> None:
        if self.deals:
            check_deals(self.deals)
        close([self.load(name) for name in self.against])

    def load(self, name: str) -> Agent:
        """Returns an opponent, as ``plain:base=A`` if it knows only the base game."""
        agent = build_agent(name)
        if agent_plays(agent, self.information):
            return agent
        close([agent])
        return build_agent(plain_text(name))

    def measure(
        self, decisions: int, agent: Agent, past: tuple[int, Agent] | None
    ) -> list[Measured]:
        """Plays a snapshot of a training against every opponent and an earlier snapshot.

        Args:
            decisions: of the snapshot's training.
            agent: the snapshot.
            past: the decisions and the agent of the earlier snapshot; None: there is none.
        """
        if not self.deals:
            return []
        named = [self.load(name) for name in self.against]
        opponents: list[tuple[str, int | None, Agent]]
        opponents = [(opponent.name, None, opponent) for opponent in named]
        if past is not None:
            opponents.append((PAST_SNAPSHOT, *past))
        rows = []
        try:
            for name, opponent_decisions, opponent in opponents:
                result = self.contest(agent, opponent)
                numbers = result.points_per_round, *result.ci95, result.round_win_rate
                points, low, high, rate = (round(figure, 4) for figure in numbers)
                counts = decisions, name, opponent_decisions, result.deals
                rows.append(Measured(*counts, points, low, high, rate, result.match_win_rate))
        finally:
            close(named)
        return rows

    def contest(self, agent: Agent, opponent: Agent) -> PairResult:
        """Plays two agents against each other in this process; the result is of the first."""
        deals = self.deals if self.episode == "round" else max(2, self.deals // ROUNDS_PER_MATCH)
        return play_pair(
            agent,
            opponent,
            deals,
            seed=self.seed,
            rules=self.rules,
            episode=self.episode,
            information=self.information,
        )
