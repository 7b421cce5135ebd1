"""Measures what people wait for, of this checkout and of another one in turn.

    python benchmarks/waiting.py
    python benchmarks/waiting.py --against ../old --only "heuristic alone" "seat environment"

Every line runs in a process of its own, on one thread; old and new alternate, so that a slow minute
hits both. The table has the median of each and the median of their ratios in a round. Times are CPU
seconds where nothing is said. It needs the extra ``[lab]`` and a quiet machine. If all lines are
measured, it writes ``benchmarks/results/waiting.md``, with the date, the machine and its load.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

ROOT = Path(__file__).resolve().parents[1]
HINTS = 40  # Hints of a line.
RESULT = ROOT / "benchmarks" / "results" / "waiting.md"


@dataclass(frozen=True)
class Line:
    """What is measured: ``run`` returns a number of the unit, the more the better or the less."""

    name: str
    unit: str
    run: Callable[[], float]
    more: bool = False
    rounds: int | None = None  # None: as many as are asked for.


def decide_alone(agent: str, rounds: int) -> float:
    """Returns the milliseconds of a decision with a choice, asked alone: the mean."""
    from benchmarks.thinking import WARM_UP, alone
    from goita_agents import load_agent

    times = [*alone(load_agent(agent), load_agent("champion"), rounds, 1000)][WARM_UP:]
    return sum(times) / len(times)


def decide_in_batches(agent: str) -> float:
    """Returns the microseconds of a decision in a batch of 1,024."""
    from benchmarks.thinking import batched
    from goita_agents import load_agent

    return batched(load_agent(agent), 20, 1000)


def hint(fewest: int, limit: int) -> float:
    """Returns the seconds of a first hint in a round, the mean: with so many legal actions."""
    import numpy as np

    from goita_env.actions import CALL
    from goita_lab.pages.play.advice import advisor
    from goita_lab.signals.playing import play

    played = play(["people"], 200, seed=178)
    count = played.legal.sum(axis=1)
    (rows,) = np.nonzero((count >= fewest) & (count <= limit) & (played.action < CALL))
    spent = []
    for row in [rows[0], *np.random.default_rng(0).choice(rows, HINTS, replace=False)]:
        advised, view = advisor(), played.view(np.array([row]))
        start = process_time()
        advised.advise(view, int(played.seat[row]))
        spent.append(process_time() - start)
    return sum(spent[1:]) / HINTS


def play_tournament() -> float:
    """Returns rounds a second, after a first short tournament."""
    from goita_lab.arena.tournament import arena

    arena.play_pair("heuristic", "champion", 64, seed=1)
    start = process_time()
    arena.play_pair("heuristic", "champion", 1_024, seed=2)
    return 2 * 1_024 / (process_time() - start)


def learn_among_bots() -> float:
    """Returns the decisions a second of 1,024 random learners, each among three bots."""
    from benchmarks.one_seat import batch

    step = batch("heuristic")
    for _ in range(3):
        step()
    start, decisions = process_time(), 0
    for _ in range(20):
        decisions += step()
    return decisions / (process_time() - start)


def analyse() -> float:
    """Returns the seconds of an analysis of a deal of a model of people and `heuristic`."""
    with tempfile.TemporaryDirectory() as folder:
        saved = ("--save-games", f"{folder}/games")
        run_goita("evaluate", "--agents", "people", "heuristic", "--deals", "2", *saved)
        page = ("--deal", "1", "--analyse", "champion", "-o", f"{folder}/page.html")
        return run_goita("watch", f"{folder}/games", *page)


def run_goita(*words: str) -> float:
    """Returns the CPU seconds of a command, its processes included."""
    start = os.times()
    subprocess.run(
        [sys.executable, "-m", "goita_lab", *words], check=True, stdout=subprocess.DEVNULL
    )
    end = os.times()
    return end.children_user + end.children_system - start.children_user - start.children_system


def first_action(agent: str) -> float:
    """Returns the seconds from nothing imported to an agent's first action."""
    start = perf_counter()
    import numpy as np

    from goita_agents import load_agent
    from goita_env import Game

    view = Game(seed=1).view(0)
    load_agent(agent).act(view, view.legal(), np.random.default_rng(0))
    return perf_counter() - start


def build_games() -> float:
    """Returns the seconds of building 65,536 games, the first reset apart."""
    from goita_env import GoitaVectorEnv

    GoitaVectorEnv(2)
    start = perf_counter()
    GoitaVectorEnv(65_536)
    return perf_counter() - start


def held_bytes() -> float:
    """Returns the bytes of a game that is held, observation and mask handed out, of 65,536."""
    from benchmarks.startup import MEMORY, run_fresh

    return run_fresh(MEMORY)[0]


LINES = (
    Line("heuristic alone", "ms a decision", lambda: decide_alone("heuristic", 30)),
    Line("heuristic in a batch of 1,024", "µs a decision", lambda: decide_in_batches("heuristic")),
    Line("champion alone", "ms a decision", lambda: decide_alone("champion", 30)),
    Line("champion in a batch of 1,024", "µs a decision", lambda: decide_in_batches("champion")),
    Line("tournament, heuristic v champion", "rounds/s", play_tournament, more=True),
    Line("seat environment among heuristic", "decisions/s", learn_among_bots, more=True),
    Line("search alone", "ms a decision", lambda: decide_alone("champion:search=on", 30)),
    Line("analysis of a deal", "s", analyse, rounds=1),
    Line("hint, 30 legal actions or more", "s", lambda: hint(30, 69), rounds=1),
    Line("hint, 2 to 29 legal actions", "s", lambda: hint(2, 29), rounds=1),
    Line("goita --help", "s", lambda: run_goita("--help")),
    Line("goita train --help", "s", lambda: run_goita("train", "--help")),
    Line("champion, first action", "s", lambda: first_action("champion")),
    Line("heuristic, first action", "s", lambda: first_action("heuristic")),
    Line("GoitaVectorEnv(65536)", "s", build_games),
    Line("a game of these", "bytes", held_bytes),
)


def run(line: Line, checkout: Path) -> float:
    """Measures a line with the packages of a checkout, in a process of its own."""
    paths = os.pathsep.join(map(str, (checkout, checkout / "agents")))
    process = subprocess.run(
        [sys.executable, __file__, "--line", line.name],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        raise RuntimeError(f"{line.name} failed in {checkout}:\n{process.stderr}")
    return float(process.stdout.splitlines()[-1])


def table(measured: dict[str, list[list[float]]], lines: list[Line]) -> str:
    """Lays out the medians, and the ratios where there are two checkouts."""
    two = all(len(figures) == 2 for figures in measured.values())
    rows = (
        ["| | old | new | times as fast |", "|---|--:|--:|--:|"] if two else ["| | |", "|---|--:|"]
    )
    for line in lines:
        by_checkout = measured[line.name]
        middles = [median(values) for values in by_checkout]
        cells = [
            f"{figures:,.0f} {line.unit}" if figures >= 100 else f"{figures:.2g} {line.unit}"
            for figures in middles
        ]
        if two:
            ratios = [
                new / old if line.more else old / new for old, new in zip(*by_checkout, strict=True)
            ]
            cells.append(f"{median(ratios):.2f}")
        rows.append(" | ".join((f"| {line.name}", *cells)) + " |")
    return "\n".join(rows) + "\n"


def conditions(rounds: int) -> str:
    """Returns a sentence that says when and on what machine the lines were measured."""
    from benchmarks.throughput import describe_machine
    from goita_env import __version__
    from goita_lab.provenance import versions

    machine, load = describe_machine(), os.getloadavg()[2]
    return (
        f"Medians of {rounds} rounds, CPU time of one thread, on {date.today()}: {machine['CPU']}, "
        f"{machine['system']}, Python {machine['Python']}, goita-env {__version__} at commit "
        f"{versions()['commit'][:8]}. Load of the machine over the last quarter of an hour: "
        f"{load:.1f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="another checkout, the old one")
    parser.add_argument("--only", nargs="+", default=[line.name for line in LINES])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--line", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.line:
        print({line.name: line for line in LINES}[args.line].run())
        return
    names = [line.name for line in LINES]
    if unknown := [name for name in args.only if name not in names]:
        parser.error(f"--only: expected some of {', '.join(names)}, got {unknown!r}")
    lines = [line for line in LINES if line.name in args.only]
    checkouts = [ROOT] if args.against is None else [args.against.resolve(), ROOT]
    measured: dict[str, list[list[float]]] = {line.name: [[] for _ in checkouts] for line in lines}
    for line in lines:
        if line.rounds is None:
            run(line, ROOT)  # what is compiled once is not counted
        for _ in range(line.rounds or args.rounds):
            for values, checkout in zip(measured[line.name], checkouts, strict=True):
                values.append(run(line, checkout))
        print(line.name, *(f"{median(values):.4g}" for values in measured[line.name]), flush=True)
    text = table(measured, lines)
    print(f"\n{text}")
    if len(lines) == len(LINES):
        RESULT.write_text(f"{text}\n{conditions(args.rounds)}\n")


if __name__ == "__main__":
    main()
