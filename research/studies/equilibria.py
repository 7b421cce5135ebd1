"""Measures how near self-play gets to an equilibrium of small games: equilibria.md.

Runs of several methods learn small games by ``goita train``. Their snapshots are measured exactly:
what one seat gains by its best response, and what two partners gain at least who agree before the
round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from scipy.stats import spearmanr

from goita_agents.base import Float, Policy
from goita_agents.bots.network import file_digest
from goita_agents.registry import load_agent
from goita_env.rules import RULE_SETS
from goita_env.tiles import NUM_SEATS
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, over_runs
from goita_lab.exact.team import Ruler, alternating
from goita_lab.exact.values import Learner, gains, reached, sign, value
from research.drawing import Colors, bounds, curves, table
from research.intervals import between_runs
from research.population.methods import Method
from research.population.train import trained
from research.studies import study
from research.studies.study import Options

GAMES: Final = {"mini_3": 3_000_000, "mini_4": 8_000_000}
"""Decisions of a training, by game."""
ARMS: Final = {
    "annealed": ("--entropy", "0.05", "0.001"),
    "held": ("--entropy", "0.05", "0.05"),
    "off-belief": ("--entropy", "0.05", "0.001", "--off-belief"),
    "refreshed": ("--entropy", "0", "0", "--kl", "0.2", "--refresh", "500000"),
    "average": ("--entropy", "0", "0", "--kl", "0.2", "--refresh", "1", "--refresh-share", "0.05"),
}
"""Methods, as options of ``goita train``."""
TODAY: Final = "annealed"
SNAPSHOTS: Final = 8
RUNS: Final = 3
CONTROL: Final = "mini_3"
ROUNDS: Final = 225
"""Game and rounds of the learners of an equilibrium, the control."""

QUICK: Final = {"mini_3": 300_000}
QUICK_RUNS: Final = 2


@dataclass(frozen=True)
class Run:
    """A training that is measured."""

    game: str
    arm: str
    seed: int
    snapshots: tuple[str, ...]
    """Files of its policies, from the first on."""

    @property
    def key(self) -> str:
        return f"{self.game} {self.arm} {self.seed}"


@dataclass(frozen=True)
class Point:
    """How far a policy is from an equilibrium, in points a round."""

    decisions: int
    alone: float
    """What one seat gains, the mean of four, where the policy is sampled."""
    likeliest: float
    """The same where its likeliest actions are played."""
    open: float
    """What a team gains whose partners see each other's tiles; the policy is sampled."""


@dataclass(frozen=True)
class Found:
    """What was measured of a run."""

    points: tuple[Point, ...]
    team: float
    """What a team gains in the end at least, the mean of two; the policy is sampled."""
    weights: str
    """SHA-256 of its last network."""


@dataclass(frozen=True)
class Row:
    """The means of a method in a game, over runs."""

    game: str
    arm: str
    runs: int
    alone: Interval
    likeliest: Interval
    open: Interval
    team: Interval
    """At least: a lower bound, which is not compared between methods."""
    less: Interval | None
    """What one seat gains less than against the runs of ``TODAY``; None: it is that method."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    rows: tuple[Row, ...]
    agreement: dict[str, float]
    """Rank correlation over the runs of a game: what one seat gains and what a team gains."""
    equilibrium: tuple[float, float]
    """The control: what one seat gains, and a team."""
    runs: dict[str, Found]


def run(options: Options) -> Result:
    """Trains the runs that are missing and measures all."""
    games, runs = (QUICK, QUICK_RUNS) if options.quick else (GAMES, RUNS)
    todo = [
        Run(game, arm, seed, snapshots(game, games[game], arm, seed, options))
        for game, seed, arm in product(games, range(1, runs + 1), ARMS)
    ]
    hashes = [file_digest(run.snapshots[-1]) for run in todo]
    arguments = {"hashes": hashes}
    measured = options.pieces(
        "equilibria", Found, arguments, {run.key: run for run in todo}, measure
    )
    return summarise(measured, tuple(games), runs)


def snapshots(game: str, decisions: int, arm: str, seed: int, options: Options) -> tuple[str, ...]:
    """Returns the policies of a run, which is trained where it is missing."""
    interval = str(decisions // SNAPSHOTS)
    length = ("--rules", game, "--decisions", str(decisions), "--snapshot-every", interval)
    method = Method(f"{game}-{arm}", "train", (*ARMS[arm], *length, "--deals", "100"))
    last = trained(method, seed, options.output)
    files = sorted((last.parent / "snapshots").glob("*.safetensors"))
    return tuple(map(str, files))


@cache
def _ruler(game: str) -> Ruler:
    return Ruler(RULE_SETS[game])


def measure(run: Run) -> Found:
    """Measures a run."""
    ruler, points = _ruler(run.game), []
    for path in run.snapshots:
        sampled = ruler.measure(policy := _policy(ruler, f"file:{path},temperature=1"))
        likeliest = _alone(ruler, _policy(ruler, f"file:{path}"))
        points.append(Point(int(Path(path).stem), sampled.alone, likeliest, sampled.open))
    return Found(tuple(points), _team(ruler, policy), file_digest(run.snapshots[-1]))


def _policy(ruler: Ruler, text: str) -> Float:
    agent = load_agent(text)
    assert isinstance(agent, Policy)
    return ruler.tree.policy_of([agent] * NUM_SEATS)


def _alone(ruler: Ruler, policy: Float) -> float:
    """Returns what one seat gains, the mean of four."""
    return sum(gains(ruler.tree, policy).values()) / NUM_SEATS


def _team(ruler: Ruler, policy: Float) -> float:
    """Returns what a team gains at least, the mean of both."""
    tree = ruler.tree
    base, team_gains = value(tree, policy), []
    for team in range(2):
        reach = reached(tree, policy, team, whole_team=True)
        team_gains.append(sign(team) * (alternating(tree, policy, team, reach)[0][0] - base))
    return sum(team_gains) / 2


def summarise(measured: Mapping[str, Found], games: tuple[str, ...], runs: int) -> Result:
    """Returns the tables of the page, with the control."""
    rows = [
        _row(game, arm, _of(measured, game, runs, arm), _of(measured, game, runs, TODAY))
        for game, arm in product(games, ARMS)
    ]
    agreement = {}
    for game in games:
        ends = [(run.points[-1].alone, run.team) for run in _of(measured, game, runs)]
        agreement[game] = float(spearmanr(*zip(*ends, strict=True)).statistic)
    ruler = _ruler(CONTROL)
    learner = Learner(ruler.tree)
    for _ in range(ROUNDS):
        learner.learn()
    policy = learner.average()
    control = _alone(ruler, policy), _team(ruler, policy)
    return Result(tuple(rows), agreement, control, dict(measured))


def _of(measured: Mapping[str, Found], game: str, runs: int, *arms: str) -> list[Found]:
    """Returns the runs of some methods, or of all."""
    return [measured[f"{game} {arm} {n}"] for arm in arms or ARMS for n in range(1, runs + 1)]


def _row(game: str, arm: str, chosen: list[Found], today: list[Found]) -> Row:
    alone, before = ([run.points[-1].alone for run in those] for those in (chosen, today))
    return Row(
        game,
        arm,
        len(chosen),
        over_runs(alone),
        over_runs([run.points[-1].likeliest for run in chosen]),
        over_runs([run.points[-1].open for run in chosen]),
        over_runs([run.team for run in chosen]),
        None if arm == TODAY else between_runs(before, alone)[0],
    )


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    heads = ["game", "method", "one seat", f"less than {TODAY} by", "a team, at least"]
    heads += ["a team that sees its tiles", "one seat, likeliest actions"]
    rows = [
        [
            row.game,
            f"`{row.arm}`",
            bounds(row.alone),
            estimate(row.less),
            *map(bounds, (row.team, row.open, row.likeliest)),
        ]
        for row in result.rows
    ]
    alone, team = result.equilibrium
    agreement = ", ".join(f"{row:.2f} in {game}" for game, row in result.agreement.items())
    return "\n\n".join(
        (
            f"Points a round that best responses gain, over {result.rows[0].runs} runs.",
            table(heads, rows),
            f"In {CONTROL} an equilibrium of four seats ({ROUNDS} rounds of PCFR+) gives one seat "
            f"{alone:.3f} and a team {team:.2f}. Rank correlation, over runs, of what one seat and "
            f"what a team gains: {agreement}.",
        )
    )


def figure(result: Result, colors: Colors) -> bytes:
    """Draws what one seat gains along the trainings, one panel a game, as SVG."""
    panels: dict[str, dict[str, list[list[tuple[float, float]]]]] = {}
    for key, run in result.runs.items():
        game, arm, _ = key.split()
        line = [(point.decisions / 1e6, point.alone) for point in run.points[1:]]
        panels.setdefault(game, {}).setdefault(arm, []).append(line)
    return curves(panels, "million decisions", "points a round that one seat gains", colors)


if __name__ == "__main__":
    study.main("equilibria")
