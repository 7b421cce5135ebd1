"""Measures the figures that README and pages publish, and writes them into docs/figures.json.

python benchmarks/figures.py --list               the runs, their commands and minutes
python benchmarks/figures.py champion heuristic   plays these runs anew, then renews all pages
python benchmarks/figures.py                      plays nothing: renews README and all pages

A page shows a figure between two comments, ``<!--=KEY-->+6.93<!--/-->``. What stands between them
is written by this command, and again when the site is built. ``KEY.mean`` is the figure without
its interval. A run is one command with a JSON result; a result that is kept in the repository is
read again and not played.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.files import write_whole
from goita_lab import cli
from goita_lab.arena.statistics.intervals import Interval
from research.intervals import rank_correlation

ROOT: Final = Path(__file__).resolve().parents[1]
FIGURES: Final = ROOT / "docs" / "figures.json"
MENTION: Final = re.compile(r"<!--=([\w.-]+)-->(.*?)<!--/-->", re.DOTALL)

Pick = Callable[[Any], dict[str, Any]]
"""Takes a figure out of a run's JSON."""


def interval(value: Any, digits: int = 2, sign: str = "+") -> dict[str, Any]:
    """Returns a figure of a mean with its 95 % interval: a mapping, or (mean, low, high)."""
    if isinstance(value, dict):
        value = (value["mean"], value["low"], value["high"])
    mean, low, high = (f"{round(end, digits) or 0:{sign}.{digits}f}" for end in value)
    return {"text": f"{mean} [{low}, {high}]", "mean": mean}


def percent(mean: float, ends: Sequence[float]) -> dict[str, Any]:
    """Returns a share with its 95 % interval, as a figure in percent."""
    low, high = (f"{100 * end:.1f}" for end in ends)
    return {"text": f"{100 * mean:.1f} % [{low}, {high}]", "mean": f"{100 * mean:.1f} %"}


def pair(a: str, b: str) -> Pick:
    """Picks the points per round of ``a`` against ``b`` from a tournament."""

    def pick(result: Any) -> dict[str, Any]:
        for pair in result["pairs"]:
            points = (pair["points_per_round"], *pair["ci95"])
            if (pair["a"], pair["b"]) == (a, b):
                return interval(points)
            if (pair["a"], pair["b"]) == (b, a):
                return interval((-points[0], -points[2], -points[1]))
        raise LookupError(f"expected a pair of {a!r} and {b!r}")

    return pick


def matches(result: Any) -> dict[str, Any]:
    """Picks the share of matches that the first agent of a tournament won."""
    first = result["pairs"][0]
    return percent(first["match_win_rate"], first["match_win_ci95"])


def bound(result: Any) -> dict[str, Any]:
    """Picks the points by which an agent is exploitable at least."""
    return {"text": f"{result['at_least']:.1f}", "mean": f"{result['at_least']:.1f}"}


def attack(result: Any) -> dict[str, Any]:
    """Picks the points of the best attacker."""
    best = max(result["attacks"], key=lambda attacker: attacker["points_per_round"])
    return interval((best["points_per_round"], *best["ci95"]))


def speed(name: str, *, ratio: bool = False) -> Pick:
    """Picks the range of a contest's speeds, or of its ratios to OpenSpiel's spades, over rounds.

    The mean of the figure is the median over the rounds.
    """
    middle, least, greatest = (
        ("times_spades", "times_spades_least", "times_spades_greatest")
        if ratio
        else ("steps_per_second", "least", "greatest")
    )

    def pick(result: Any) -> dict[str, Any]:
        from benchmarks.report import format_number, format_range

        rates = result["rates"][name]
        text = format_range(rates[least], rates[greatest])
        return {"text": text, "mean": format_number(rates[middle])}

    return pick


def partners(agent: str) -> dict[str, Pick]:
    """Picks an agent's points with unknown partners, over partners, with itself and the worst."""

    def picking(*path: str) -> Pick:
        def pick(result: Any) -> dict[str, Any]:
            (entry,) = (entry for entry in result["entries"] if entry["agent"] == agent)
            return at(*path)(entry)

        return pick

    return {
        f"{agent}-partners": picking("points", "over_partners"),
        f"{agent}-itself": picking("self_play"),
        f"{agent}-worst": picking("worst", "points"),
    }


def trained(opponent: str) -> Pick:
    """Picks the points of a trained network from the result of its run."""

    def pick(result: Any) -> dict[str, Any]:
        (pair,) = (pair for pair in result["pairs"] if pair["b"] == opponent)
        return interval((pair["points_per_round"], *pair["ci95"]))

    return pick


def correlation(interval: Interval) -> dict[str, Any]:
    """Returns a rank correlation with its 95 % interval, as a figure without leading zeros."""
    ends = (interval.mean, interval.low, interval.high)
    mean, low, high = (f"{end:.2f}".replace("0.", ".") for end in ends)
    return {"text": f"{mean} [{low}, {high}]", "mean": mean}


def ranking_of_coordination(result: Any) -> dict[str, Any]:
    """Picks the rank correlation of points with unknown partners and with itself, over agents."""
    ranked = [
        (entry["points"]["over_deals"]["mean"], entry["self_play"]["mean"])
        for entry in result["entries"]
    ]
    return correlation(rank_correlation(*zip(*ranked, strict=True)))


def ranking_of_regret(*, controls: bool) -> Pick:
    """Picks the rank correlation of low regret in ``mini_3`` with strength, over agents."""

    def pick(result: Any) -> dict[str, Any]:
        rows = result["games"]["mini_3"]["found"]["agents"]
        ranked = [
            (-np.mean(row["regret"]), row["strength"]) for row in rows if controls or row["agent"]
        ]
        return correlation(rank_correlation(*zip(*ranked, strict=True)))

    return pick


def prices(key: str, knowledge: str) -> dict[str, Pick]:
    """Picks the price of not knowing in ``mini_3`` for a player who knows a part of the type."""
    columns = {"equilibria": slice(2), "listeners": slice(2, None), "mean": slice(None)}

    def picking(chosen: slice) -> Pick:
        def pick(result: Any) -> dict[str, Any]:
            regret = result["games"]["mini_3"]["prices"][knowledge]
            text = f"{np.mean(regret[chosen]):.2f}"
            return {"text": text, "mean": text}

        return pick

    return {f"price-{key}-{column}": picking(chosen) for column, chosen in columns.items()}


def studied(*path: str) -> Pick:
    """Picks an interval of the champion from a report on signals."""

    def pick(result: Any) -> dict[str, Any]:
        (entry,) = (entry for entry in result["study"]["agents"] if entry["agent"] == "champion")
        return at(*path)(entry)

    return pick


def at(*path: str | int, digits: int = 2) -> Pick:
    """Picks an interval by its place in the JSON."""

    def pick(result: Any) -> dict[str, Any]:
        for step in path:
            result = result[step]
        return interval(result, digits)

    return pick


@dataclass(frozen=True)
class Run:
    """A command with a JSON result, and the figures that are taken from it."""

    command: str
    """What makes the result; ``{json}`` is the file of the result."""
    minutes: float
    """CPU time, of one core."""
    figures: dict[str, Pick]
    """By name."""
    result: str | None = None
    """Where the command leaves its JSON, if that is no option of it."""


BATCH: Final = "GoitaVectorEnv N=4,096 mask + observation"
"""The contest whose speed README names."""

RUNS: Final = {
    "champion": Run(
        "goita evaluate --one champion --agents heuristic greedy random --deals 32768"
        " --seed 20310 --json {json}",
        2,
        {f"champion-{one}": pair("champion", one) for one in ("heuristic", "greedy", "random")},
    ),
    "matches": Run(
        "goita evaluate --agents champion heuristic --episode match --deals 1500 --seed 20310"
        " --json {json}",
        2,
        {"champion-matches": matches},
    ),
    "heuristic": Run(
        "goita evaluate --one heuristic --agents greedy random heuristic:conventions=off"
        " --deals 20480 --seed 20261 --json {json}",
        1,
        {
            "heuristic-greedy": pair("heuristic", "greedy"),
            "heuristic-random": pair("heuristic", "random"),
            "heuristic-conventions": pair("heuristic", "heuristic:conventions=off"),
        },
    ),
    "quick": Run(
        "goita train --seed 1 --name figures-quick",
        7,
        {f"quick-{one}": trained(one) for one in ("heuristic", "greedy", "random", "champion")},
        "runs/figures-quick/result.json",
    ),
    "search": Run(
        "python research/search/inference.py heuristic no_conventions champion_alone --json {json}",
        60,
        {
            "search-heuristic": at("heuristic", "first"),
            "search-alone": at("heuristic", "second"),
            "search-gain": at("heuristic", "gain"),
            "search-no-conventions": at("no_conventions", "first"),
            "alone-no-conventions": at("no_conventions", "second"),
            "gain-no-conventions": at("no_conventions", "gain"),
            "search-champion": at("champion_alone", "first"),
        },
    ),
    "agents": Run(
        "goita evaluate --one heuristic --agents random greedy people champion --deals 20000"
        " --seed 77001 --json {json}",
        1,
        {
            f"agents-{one}": pair(one, "heuristic")
            for one in ("random", "greedy", "people", "champion")
        },
    ),
    "exploit-champion": Run(
        "goita exploit champion --deals 3200 --seed 2501 --control-deals 0 -o {folder} "
        "--json {json}",
        15,
        {"champion-exploitable": bound, "champion-attacked": attack},
    ),
    "exploit-heuristic": Run(
        "goita exploit heuristic --deals 400 --seed 2502 -o {folder} --json {json}",
        5,
        {"heuristic-exploitable": bound, "heuristic-attacked": attack},
    ),
    "coordination": Run(
        "goita coordination champion people heuristic population:entropy-{{0..4}}"
        " population:otherplay-{{0..4}} population:selfplay-{{0..4}} greedy random --test"
        " --json {json}",
        10,
        {
            key: pick
            for agent in ("champion", "people", "heuristic", "greedy", "random")
            for key, pick in partners(agent).items()
        }
        | {"coordination-ranking": ranking_of_coordination},
        "benchmarks/results/coordination.json",
    ),
    "signals": Run(
        "goita signals report heuristic champion -o {folder}/report.html --json {json}",
        19,
        {
            "signals-uniform": studied("split", "uniform"),
            "signals-policy": studied("split", "policy"),
            "signals-gap": studied("partner_opponent_gap", "gap"),
            "signals-listening": studied("value", "total"),
            "signals-partner": studied("value", "partner"),
        },
    ),
    "passes": Run(
        "python research/signals/passes.py champion --deals 600 --precision 0.5 --json {json}",
        8,
        {"passes-worth": at("differences", 0, "points"), "passes-nats": at("known")},
    ),
    "worth": Run(
        "goita signals worth heuristic champion --where first_pass --json {json}",
        6,
        {
            f"worth-{name}-{figure}": at("agents", index, *path)
            for index, name in enumerate(("heuristic", "champion", "random", "greedy", "plain"))
            for figure, path in {
                "nats": ("revealed",),
                "information": ("signal", "information"),
                "move": ("signal", "material"),
            }.items()
        },
    ),
    "speed": Run(
        "make bench",
        2,
        {
            "speed-observed": speed(BATCH),
            "speed-observed-ratio": speed(BATCH, ratio=True),
            "speed-batch-1024-ratio": speed(BATCH.replace("4,096", "1,024"), ratio=True),
            "speed-batch-64-ratio": speed(BATCH.replace("4,096", "64"), ratio=True),
            "speed-unobserved": speed("GoitaVectorEnv N=16,384 mask alone"),
            "speed-small": speed(BATCH.replace("4,096", "64")),
            "speed-spades": speed("OpenSpiel spades"),
            "speed-aec": speed("goita_v0.env()"),
            "speed-hanabi": speed("PettingZoo hanabi_v5"),
        },
        "benchmarks/results/throughput.json",
    ),
    "speed-quiet": Run(
        "make bench",
        2,
        {"quiet-observed": speed(BATCH), "quiet-observed-ratio": speed(BATCH, ratio=True)},
        "benchmarks/results/throughput_quiet.json",
    ),
    "study-strangers": Run(
        "python research/studies/strangers.py",
        240,
        {
            "strangers-partner": at("nets", 0, "net"),
            "strangers-opponents": at("nets", 9, "net"),
        },
        "research/studies/results/strangers.json",
    ),
    "study-runs": Run(
        "python research/studies/runs.py",
        3,
        {
            "runs-gap": at("within", 0, "gap"),
            "runs-code": at("controls", 0, "code"),
        },
        "research/studies/results/runs.json",
    ),
    "study-messages": Run(
        "python research/studies/messages.py",
        60,
        {
            "messages-private": at("rows", 1, "value"),
            "messages-public": at("rows", 2, "value"),
        },
        "research/studies/results/messages.json",
    ),
    "study-people": Run(
        "python research/studies/people.py --records FOLDER",
        11,
        {
            "people-conventions": at("contrasts", 0, "difference"),
            "people-pass": at("contrasts", 2, "difference"),
            "people-pass-equal": at("contrasts", 3, "difference"),
            "people-champion": at("contrasts", 4, "difference"),
        },
        "research/studies/results/people.json",
    ),
    "study-teamwork": Run(
        "python research/studies/teamwork.py",
        25,
        {
            **prices("list", "the list of types"),
            **prices("kind", "whether the opponents are equilibria or listeners"),
            **prices("pair", "which of the four pairs of opponents it meets"),
            **prices("partner", "the partner"),
            "regret-ranking": ranking_of_regret(controls=False),
            "regret-ranking-controls": ranking_of_regret(controls=True),
        },
        "research/studies/results/teamwork.json",
    ),
}
"""Runs by name."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    runs: tuple[str, ...] | None = field(default=None, metadata=cli.POSITIONAL)
    """runs to be played anew"""
    list: bool = False
    """print the runs"""


def measured(name: str) -> dict[str, Any]:
    """Makes the result of a run and returns the run's part of figures.json."""
    run = RUNS[name]
    with tempfile.TemporaryDirectory() as folder:
        file = ROOT / run.result if run.result else Path(folder, "result.json")
        if run.result is None or not tracked(run.result):
            words = shlex.split(run.command.format(json=file, folder=folder))
            start = [sys.executable, "-m", "goita_lab"] if words[0] == "goita" else [sys.executable]
            subprocess.run([*start, *words[1:]], cwd=ROOT, check=True)
        result = json.loads(file.read_text(encoding="utf-8"))
    origin = ("date", "machine", "seed", "deals", "version", "versions", "weights")
    about = {key: result[key] for key in origin if key in result}
    figures = {key: pick(result) for key, pick in run.figures.items()}
    return {"command": run.command, "minutes": run.minutes, **about, "figures": figures}


def tracked(path: str) -> bool:
    """Tells whether a file is kept in the repository."""
    listing = subprocess.run(["git", "ls-files", path], cwd=ROOT, capture_output=True, check=True)
    return bool(listing.stdout.strip())


def figures() -> dict[str, dict[str, Any]]:
    """Returns all published figures by name."""
    runs = json.loads(FIGURES.read_text(encoding="utf-8"))
    return {key: figure for run in runs.values() for key, figure in run["figures"].items()}


def filled(text: str, figures: dict[str, dict[str, Any]], *, marked: bool = True) -> str:
    """Returns a page with its figures renewed; not ``marked``: without the comments."""

    def fill(mention: re.Match[str]) -> str:
        key, _, part = mention[1].partition(".")
        content = figures[key][part or "text"]
        return f"<!--={mention[1]}-->{content}<!--/-->" if marked else content

    return MENTION.sub(fill, text)


def pages() -> Iterator[Path]:
    """Yields the README, the pages and the protocols of studies."""
    yield ROOT / "README.md"
    docs = ROOT / "docs"
    yield from (page for page in sorted(docs.rglob("*.md")) if docs / "_build" not in page.parents)
    yield from sorted((ROOT / "research" / "studies").glob("*.md"))


def main(argv: Sequence[str] | None = None) -> int:
    """Plays what is asked for, renews figures and pages, and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    if unknown := [name for name in args.runs or () if name not in RUNS]:
        cli.fail(f"expected runs of {', '.join(RUNS)}, got {', '.join(unknown)}")
    if args.list:
        for name, run in RUNS.items():
            print(f"{name:18} {run.minutes:4g} min  {run.command}")
        return 0
    for name in args.runs or ():
        part = measured(name)
        runs = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
        runs = {key: (runs | {name: part})[key] for key in RUNS if key in {*runs, name}}
        write_whole(FIGURES, (json.dumps(runs, indent=1) + "\n").encode())
    published = figures()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (new := filled(text, published)) != text:
            write_whole(page, new.encode())
            print(f"{page.relative_to(ROOT)} is renewed")
    return 0


if __name__ == "__main__":
    cli.run(main)
