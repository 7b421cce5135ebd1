"""Plays the bots of this project round robin; renews tables and picture of docs/strength.md.

python benchmarks/roster.py                      all bots that load, in a quarter of an hour
python benchmarks/roster.py --also file:PATH     also a trained network
python benchmarks/roster.py --draw               plays nothing: from benchmarks/results/roster.json

How many deals a slow bot plays is written below, not measured, so that the table is the same on
every machine.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final

from goita_agents import AgentError, load_agent
from goita_agents.base import close
from goita_agents.files import decode, write_whole
from goita_env.errors import SettingError
from goita_lab import cli
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.report.tables import rating
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.statistics.ratings import Rating
from goita_lab.commands import evaluate
from research.drawing import THEMES, dots, table

ROOT: Final = Path(__file__).resolve().parents[1]

ROSTER: Final = {
    "random": None,
    "greedy": None,
    "heuristic": None,
    "solver": 256,
    "rollout": 512,
    "rollout:base=heuristic": 100,
    "champion": 5_000,
    "champion:search=on": 150,
}
"""Agents, and the most deals of their pairings; None: as many as any."""

REFERENCE: Final = "heuristic"
"""The agent whose opponents the picture shows."""

START, END = "<!-- benchmark:start -->", "<!-- benchmark:end -->"


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    also: tuple[str, ...] | None = None
    """more agents"""
    deals: int = 20_000
    """deals a pair plays"""
    workers: int = 2
    """processes"""
    page: Path = ROOT / "docs" / "strength.md"
    """page with the tables; the picture is written into the folder pictures next to it"""
    result: Path = ROOT / "benchmarks" / "results" / "roster.json"
    """file of all figures"""
    draw: bool = False
    """play nothing, and show the stored figures"""


Ends = tuple[float | None, float | None]
"""Both ends of an interval as they are stored; None: there is no such end."""


@dataclass(frozen=True)
class Pair:
    """Points a round of one agent against another."""

    a: str
    b: str
    points_per_round: float
    ci95: Ends
    few: bool

    def points_of(self, agent: str) -> Interval:
        """Returns the points of one of the two agents."""
        low, high = bounds(self.ci95)
        if agent == self.a:
            return Interval(self.points_per_round, low, high, few=self.few)
        return Interval(-self.points_per_round, -high, -low, few=self.few)


@dataclass(frozen=True)
class Strength:
    """The Elo of an agent."""

    agent: str
    elo: float
    ci95: Ends
    few: bool


@dataclass(frozen=True)
class Result:
    """What the page shows of a stored tournament."""

    command: str
    pairs: tuple[Pair, ...]
    ratings: tuple[Strength, ...]  #: The strongest first.

    def points(self, opponent: str) -> dict[str, Interval]:
        """Returns the points a round of each agent against an opponent, the strongest first."""
        return {
            strength.agent: pair.points_of(strength.agent)
            for strength in self.ratings
            for pair in self.pairs
            if {pair.a, pair.b} == {strength.agent, opponent} and strength.agent != opponent
        }


def bounds(ends: Ends) -> tuple[float, float]:
    """Returns the ends of an interval, infinite where there is none."""
    low, high = ends
    return -inf if low is None else low, inf if high is None else high


def main(argv: Sequence[str] | None = None) -> int:
    """Plays, writes the tables and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        page = args.page.read_text(encoding="utf-8")
        if not (START in page and END in page):
            raise SettingError(f"expected {START!r} and {END!r} in {args.page}")
    except (OSError, SettingError) as error:
        cli.fail(error)
    if not args.draw and (code := play(args)):
        return code
    try:
        result = read_result(args.result)
    except (OSError, SettingError) as error:
        cli.fail(error)
    write_whole(args.page, refresh(page, shown(result)).encode())
    for theme, colors in THEMES.items():
        picture = dots(result.points(REFERENCE), f"points a round against {REFERENCE}", colors)
        write_whole(args.page.parent / "pictures" / f"strength-{theme}.svg", picture)
    return 0


def play(args: Args) -> int:
    """Plays the tournament, stores its result and returns the exit code."""
    agents = [name for name in ROSTER if loads(name)] + list(args.also or ())
    options = ["--agents", *agents, "--deals", str(args.deals), "--workers", str(args.workers)]
    slow = [f"{cap}:{name}" for name, cap in ROSTER.items() if cap and name in agents]
    slow = [cap for cap in slow if int(cap.partition(":")[0]) < args.deals]
    options += ["--fewer-deals", *slow] if slow else []
    command = shlex.join(["goita", "evaluate", *options])
    code, summary = evaluate.run(cli.parse(evaluate.Args, options), command)
    if summary is not None and not code:
        write_whole(args.result, (json.dumps(summary.to_json(), indent=1) + "\n").encode())
    return code


def read_result(path: Path) -> Result:
    """Reads the stored result of the tournament."""
    return decode(path.read_bytes(), Result, f"the result of a tournament in {str(path)!r}")


def loads(name: str) -> bool:
    """Tells whether an agent can be built here."""
    try:
        close([load_agent(name)])
    except AgentError as error:
        print(f"without {name}: {error}", file=sys.stderr)
        return False
    return True


def refresh(text: str, tables: str) -> str:
    """Returns the text with new tables between its two comments."""
    before, _, after = text.partition(START)
    return f"{before}{START}\n\n{tables.strip()}\n\n{END}{after.partition(END)[2]}"


def shown(result: Result) -> str:
    """Returns what the page shows, in Markdown: a picture, and a table of points and ratings."""
    points = {name: estimate(gain) for name, gain in result.points(REFERENCE).items()}
    rows = [
        [
            f"`{own.agent}`",
            points.get(own.agent, ""),
            " ".join(rating(Rating(own.agent, own.elo, bounds(own.ci95), own.few))),
        ]
        for own in result.ratings
    ]
    against = f"points a round against `{REFERENCE}`"
    described = ", ".join(f"{name} {text.partition(' ')[0]}" for name, text in points.items())
    return "\n\n".join(
        [
            '<picture>\n<source media="(prefers-color-scheme: dark)" '
            'srcset="pictures/strength-dark.svg">\n<img src="pictures/strength-light.svg" '
            f'width="700" alt="Points a round against {REFERENCE}: {described}.">\n</picture>',
            f"*Points a round against `{REFERENCE}`, with 95 % intervals over deals. The line at 0 "
            f"is `{REFERENCE}` itself.*",
            table(["agent", against, "Elo"], rows),
            f"`{result.command}`, played by `make benchmark`; [all "
            "pairs](../benchmarks/results/roster.json)",
        ]
    )


if __name__ == "__main__":
    cli.run(main)
