"""Measures a policy while it trains: duplicate matches of its snapshots against fixed opponents.

Every measurement plays the same deals, with random numbers of its own, so that neither the luck of
the deal nor a measurement more or less changes anything else.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, field, fields
from io import StringIO
from pathlib import Path
from reprlib import repr as shortened
from statistics import fmean
from typing import Final, Literal

from agents.base import Agent, close
from agents.bots.network import MAX_DECISIONS
from agents.registry import load_agent
from agents.tournament.arena import play_pair
from agents.tournament.plan import check_deals
from agents.tournament.summary import PairResult
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import MATCH_POINTS

Episode = Literal["round", "match"]

PAST: Final = "past"
"""Name of the opponent that is the run's own snapshot at 75 % of the decisions so far."""

PAST_SHARE: Final = 0.75

MAX_SNAPSHOTS: Final = 32
"""Snapshots beyond which every second one is deleted."""

MAX_BYTES: Final = 1 << 24
"""Bytes of a learning curve that is read."""

ROUNDS_PER_MATCH: Final = 8
"""About how many rounds a match takes, so that measuring costs the same with either."""


@dataclass(frozen=True)
class Measured:
    """Says how a snapshot did against one opponent, from its side."""

    decisions: int
    """It was trained on."""
    opponent: str
    """Name, or ``PAST``."""
    opponent_decisions: int | None
    """The opponent was trained on, where it is a snapshot."""
    deals: int
    """Played twice each, the teams' seats exchanged; whole matches where those are learnt."""
    points_per_round: float
    low: float
    """Lower end of the 95 % interval of the points per round, over deals."""
    high: float
    round_win_rate: float
    match_win_rate: float | None = None

    def check(self) -> None:
        """Checks what comes from a file.

        Raises:
            SettingError: if a number is none that was measured.
        """
        counts = self.decisions, self.opponent_decisions or 0, self.deals
        means = self.points_per_round, self.low, self.high
        rates = self.round_win_rate, self.match_win_rate or 0.0
        if not (
            all(0 <= count < MAX_DECISIONS for count in counts)
            and all(-MATCH_POINTS <= mean <= MATCH_POINTS for mean in means)
            and all(0 <= rate <= 1 for rate in rates)
        ):
            raise SettingError(f"expected a measurement, got {shortened(self)}")

    @property
    def text(self) -> str:
        """Returns the result in a few words."""
        who = self.opponent
        if self.opponent_decisions is not None:
            who = f"own snapshot at {self.opponent_decisions:,}"
        won = "" if self.match_win_rate is None else f", {self.match_win_rate:.1%} of matches"
        return f"{self.points_per_round:+z.1f} [{self.low:+z.1f}, {self.high:+z.1f}]{won} v {who}"


@dataclass
class History:
    """Holds what was measured so far, and which snapshots there are."""

    rows: list[Measured] = field(default_factory=list)
    snapshots: list[int] = field(default_factory=list)
    """Decisions of each that is kept, ascending; the last is the latest."""

    def check(self) -> None:
        """Checks what comes from a file.

        Raises:
            SettingError: if a number is none that was measured.
        """
        for row in self.rows:
            row.check()
        if self.snapshots != sorted({*self.snapshots}) or not all(
            0 <= one < MAX_DECISIONS for one in self.snapshots
        ):
            raise SettingError(f"expected snapshots in order, got {shortened(self.snapshots)}")

    def past(self, decisions: int) -> int | None:
        """Returns the earlier snapshot that is nearest to 75 % of the decisions, None if none."""
        earlier = [snapshot for snapshot in self.snapshots if snapshot < decisions]
        wanted = PAST_SHARE * decisions
        return min(earlier, key=lambda snapshot: abs(snapshot - wanted), default=None)

    def best(self) -> int | None:
        """Returns the snapshot with the highest mean result against the named opponents.

        That is points per round, or wins where matches are learnt; the later one of equals; None
        before the first measurement.
        """
        results: dict[int, list[float]] = {}
        for row in self.rows:
            if row.opponent != PAST:
                won = row.match_win_rate
                result = row.points_per_round if won is None else won
                results.setdefault(row.decisions, []).append(result)
        return max(results, key=lambda snapshot: (fmean(results[snapshot]), snapshot), default=None)

    def add_snapshot(self, decisions: int) -> None:
        """Takes in a snapshot; where there are too many, every second of the others goes."""
        self.snapshots.append(decisions)
        if len(self.snapshots) > MAX_SNAPSHOTS:
            best = self.best()
            kept = {*self.snapshots[::2], decisions}
            self.snapshots = sorted(kept if best is None else kept | {best})

    def csv(self) -> bytes:
        """Returns the rows as CSV with a header."""
        text = StringIO()
        writer = csv.DictWriter(text, [f.name for f in fields(Measured)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return text.getvalue().encode()


def read_csv(path: Path) -> list[Measured]:
    """Returns the rows that ``History.csv`` wrote.

    Raises:
        SettingError: if the file is missing, something else, or too large.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SettingError(f"expected at most {MAX_BYTES} bytes")
        with path.open(newline="") as file:
            rows = [
                Measured(
                    int(row["decisions"]),
                    row["opponent"],
                    int(row["opponent_decisions"]) if row["opponent_decisions"] else None,
                    int(row["deals"]),
                    float(row["points_per_round"]),
                    float(row["low"]),
                    float(row["high"]),
                    float(row["round_win_rate"]),
                    float(row["match_win_rate"]) if row["match_win_rate"] else None,
                )
                for row in csv.DictReader(file)
            ]
        for measured in rows:
            measured.check()
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise SettingError(f"expected a learning curve, got {path}: {error!r}") from error
    return rows


@dataclass(frozen=True)
class Measuring:
    """Says what is measured.

    Raises:
        SettingError, AgentError: if that is impossible.
    """

    against: tuple[str, ...]
    """Named opponents; the run's own past joins them."""
    deals: int
    """Of each measurement, played twice each; 0: nothing is measured."""
    seed: int
    rules: Rules = JGA
    episode: Episode = "round"

    def __post_init__(self) -> None:
        """Checks the deals and builds every opponent once."""
        if self.deals:
            check_deals(self.deals)
        close([load_agent(name) for name in self.against])

    def measure(
        self, decisions: int, agent: Agent, past: tuple[int, Agent] | None
    ) -> list[Measured]:
        """Plays a snapshot against every opponent.

        Args:
            decisions: it was trained on.
            agent: the snapshot.
            past: decisions of the run's past, and the snapshot.
        """
        if not self.deals:
            return []
        named = [load_agent(name) for name in self.against]
        try:
            opponents: list[tuple[str, int | None, Agent]] = [(o.name, None, o) for o in named]
            opponents += [] if past is None else [(PAST, *past)]
            rows = []
            for name, trained, opponent in opponents:
                result = self.contest(agent, opponent)
                low, high = result.ci95
                rows.append(
                    Measured(
                        decisions,
                        name,
                        trained,
                        result.deals,
                        round(result.points_per_round, 4),
                        round(low, 4),
                        round(high, 4),
                        round(result.round_win_rate, 4),
                        result.match_win_rate,
                    )
                )
            return rows
        finally:
            close(named)

    def contest(self, agent: Agent, opponent: Agent) -> PairResult:
        """Plays two agents against each other in this process; the result is from the first's side.

        A match takes as long as eight rounds, so there are fewer of them.
        """
        deals = self.deals if self.episode == "round" else max(2, self.deals // ROUNDS_PER_MATCH)
        return play_pair(
            agent, opponent, deals, seed=self.seed, rules=self.rules, episode=self.episode
        )
