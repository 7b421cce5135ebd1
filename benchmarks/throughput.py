"""Measures this project, OpenSpiel and PettingZoo's own games in one run, on one core.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --only vector,openspiel --seconds 1

Every line is measured alike: random legal play with sampling, dealing and auto-reset inside the
clock, CPU time of one pinned core, one thread. The rounds go over all lines in turn, so that a slow
minute of the machine hits all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from time import process_time
from typing import Any, Final

# Read by the libraries when they are imported, so it comes before the imports below.
os.environ.update(
    dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    )
)
os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs from a bare checkout

from benchmarks.contests import Contest, list_contests
from benchmarks.report import format_report, summarize_rates
from benchmarks.startup import measure_startup

GROUPS: Final = ("vector", "aec", "openspiel", "pettingzoo", "startup")
PEERS: Final = ("openspiel", "pettingzoo")
PACKAGES: Final = ("numpy", "gymnasium", "pettingzoo", "open_spiel", "shimmy", "rlcard")
WARM_UP_SECONDS: Final = 0.3


def parse_args() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=GROUPS)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each line in a round")
    parser.add_argument("--repeats", type=int, default=3, help="rounds over all lines")
    parser.add_argument("--output", type=Path, help="folder for throughput.md and throughput.json")
    args = parser.parse_args()
    if unknown := set(args.only) - set(GROUPS):
        parser.error(f"--only: expected some of {', '.join(GROUPS)}, got {sorted(unknown)!r}")
    return args


def pin_core() -> str:
    """Keeps this process and its children on the last core, where the system can; says so."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return "pinned to one core"


def describe_machine() -> dict[str, str]:
    """Describes the machine and the versions: no host name, no paths."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    machine = {
        "CPU": f"{cpu} ({os.cpu_count()} cores)",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            machine[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            machine[package] = "(not installed)"
    return machine


def clock(play: Iterator[int], seconds: float) -> float:
    """Plays for so many CPU seconds and returns the decisions per CPU second."""
    steps = 0
    start = process_time()
    while (elapsed := process_time() - start) < seconds:
        steps += next(play)
    return steps / elapsed


def start_contests(contests: list[Contest]) -> tuple[dict[str, Iterator[int]], dict[str, str]]:
    """Starts and warms up all contests.

    Returns:
        The running contests, and the peers that are not installed with the reason.
    """
    running: dict[str, Iterator[int]] = {}
    missing: dict[str, str] = {}
    for contest in contests:
        try:
            play = contest.start()
            clock(play, WARM_UP_SECONDS)
        except ImportError as error:
            if contest.group not in PEERS:
                raise
            missing[contest.name] = str(error)
        else:
            running[contest.name] = play
    return running, missing


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Measures the chosen groups."""
    groups, pinned = args.only, pin_core()
    startup = measure_startup(max(5, args.repeats)) if "startup" in groups else {}
    running, missing = start_contests([c for c in list_contests() if c.group in groups])
    rates: dict[str, list[float]] = {name: [] for name in running}
    for round_index in range(args.repeats):
        print(f"round {round_index + 1} of {args.repeats}", file=sys.stderr)
        for name, play in running.items():
            rates[name].append(clock(play, args.seconds))
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": describe_machine(),
        "settings": {"seconds": args.seconds, "repeats": args.repeats, "affinity": pinned},
        "rates": summarize_rates(rates),
        "startup": startup,
        "missing": missing,
    }


def main() -> None:
    """Measures, prints the table and writes it as Markdown and JSON."""
    args = parse_args()
    result = measure(args)
    text = format_report(result)
    print(text)
    if args.output is None and set(args.only) != set(GROUPS):
        print("Some groups were left out: nothing written. Name a folder with --output.")
        return
    folder = args.output or Path(__file__).parent / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "throughput.md").write_text(text, encoding="utf-8")
    (folder / "throughput.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
