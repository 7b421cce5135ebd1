"""Plays agents against each other over duplicate deals and says who is how much better.

python evaluate.py --agents greedy random --deals 2000
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import goita_env
from agents import Agent, AgentError, arena, cli, load_agent, names
from agents.block import BlockResult
from goita_env.deal import check_seed
from goita_env.errors import SettingError


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agents: tuple[str, ...]
    """two agents or more; every pair of them plays. As text: NAME or NAME:option=value,..."""
    deals: int = 1000
    """deals a pair plays, each twice, the teams' seats exchanged"""
    seed: int = 0
    """seed of the deals and of the agents' random numbers"""
    rules: Literal["jga", "pagat", "nine"] = "jga"
    """rule set"""
    json: Path | None = None
    """file to which the results are written as JSON"""

    def __post_init__(self) -> None:
        """Checks what can be checked before anything is played."""
        if len(self.agents) < 2:
            raise SettingError(f"expected two agents or more, got {' '.join(self.agents)!r}")
        arena.check_deals(self.deals)
        check_seed(self.seed)
        if self.json is not None:
            check_writable(self.json)


def main(argv: Sequence[str] | None = None) -> int:
    """Plays every pair, prints the table and returns the exit code."""
    args = cli.parse(Args, argv, f"{__doc__}\nAgents: {', '.join(names())}")
    pairs: list[arena.PairResult] = []
    code = 0
    try:
        for a, b in combinations(load(args.agents), 2):
            show = progress_line(f"{a.name} against {b.name}", args.deals)
            pair = arena.play_pair(
                a, b, args.deals, seed=args.seed, rules=args.rules, progress=show
            )
            pairs.append(pair)
    except KeyboardInterrupt:
        code = 130
        sys.stderr.write(f"\nstopped after {len(pairs)} finished pair(s)\n")
    except AgentError as error:
        code = 1
        sys.stderr.write(f"\nstopped after {len(pairs)} finished pair(s): {error}\n")

    if pairs:
        sys.stdout.write(table(pairs) + "\n")
    if args.json is not None and code == 0:
        command = shlex.join(["python", "evaluate.py", *(sys.argv[1:] if argv is None else argv)])
        args.json.write_text(json.dumps(report(args, pairs, command), indent=1) + "\n")
    return code


def load(specs: Sequence[str]) -> list[Agent]:
    """Returns the agents; one that can't be built ends the program as wrong arguments do."""
    try:
        return [load_agent(spec) for spec in specs]
    except ValueError as error:
        cli.fail(error)


def check_writable(path: Path) -> None:
    """Checks that a file can be written, without touching it.

    Raises:
        SettingError: if it can't.
    """
    folder = path.parent
    if path.is_dir() or not folder.is_dir():
        wrong = "it is a folder" if path.is_dir() else f"there is no folder {str(folder)!r}"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        wrong = "it may not be written"
    else:
        return
    raise SettingError(f"expected a file for the results, got {str(path)!r}: {wrong}")


def progress_line(title: str, deals: int) -> Callable[[BlockResult], None] | None:
    """Returns a function that shows a pair's progress; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        return None
    start, played, drawn = time.perf_counter(), 0, 0.0

    def show(result: BlockResult) -> None:
        """Draws the line anew, ten times a second at most, and wipes it out at the end."""
        nonlocal played, drawn
        played += result.task.deals
        now = time.perf_counter()
        if played == deals:
            sys.stderr.write("\r\x1b[K")
        elif now - drawn >= 0.1:
            drawn, seconds = now, now - start
            left = seconds * (deals - played) / played
            sys.stderr.write(
                f"\r\x1b[K{title}: {played:,} of {deals:,} deals, "
                f"{2 * played / seconds:,.0f} rounds/s, {left:.0f} s left"
            )
        sys.stderr.flush()

    return show


def table(pairs: Sequence[arena.PairResult]) -> str:
    """Returns the results as aligned columns, from the side of the first agent of each pair."""
    rows = [["pair", "deals", "points per round", "95 %", "rounds won", "95 %"]]
    rows[0] += ["ms per decision", "rounds/s"]
    for p in pairs:
        low, high = (100 * bound for bound in p.round_win_ci95)
        rows.append(
            [
                f"{p.a} : {p.b}",
                f"{p.deals:,}",
                f"{p.points_per_round:+.2f}",
                f"[{p.ci95[0]:+.2f}, {p.ci95[1]:+.2f}]",
                f"{100 * p.round_win_rate:.1f} %",
                f"[{low:.1f}, {high:.1f}]",
                f"{p.ms_per_decision[p.a]:.4f} : {p.ms_per_decision[p.b]:.4f}",
                f"{p.rounds_per_second:,.0f}",
            ]
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join((first.ljust(widths[0]), *numbers)))
    return "\n".join([lines[0], "─" * len(lines[0]), *lines[1:]])


def report(args: Args, pairs: Sequence[arena.PairResult], command: str) -> dict[str, Any]:
    """Returns what goes into the JSON file: results, and what it takes to repeat them."""
    return {
        "agents": list(args.agents),
        "pairs": [asdict(pair) for pair in pairs],
        "deals": args.deals,
        "seed": args.seed,
        "rules": args.rules,
        "block_deals": arena.BLOCK_DEALS,
        "command": command,
        "versions": {
            "goita_env": goita_env.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy")},
        },
    }


if __name__ == "__main__":
    raise SystemExit(main())
