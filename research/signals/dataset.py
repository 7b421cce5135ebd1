"""Makes a data set of the population's play: two logs and a data card.

::

    python research/signals/dataset.py -o goita-population --rounds 50000

The folder holds a log of members that may be trained with, ``train``, and one of those held out,
``validation``. No round has players of both. README.md is the data card, by which Hugging Face
``datasets`` loads the folder. A stopped data set goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader

import goita_env
from goita_agents.files import write_whole
from goita_agents.population import origin
from goita_agents.registry import expand
from goita_env.errors import GoitaError, SettingError
from goita_lab import cli
from goita_lab.signals import log
from goita_lab.signals.log.columns import FOLDERS, TABLES, TEXT, columns
from goita_lab.work import shown
from research.population.methods import METHODS

SPLITS: Final = {"train": "population:train", "validation": "population:validation"}
"""Parts of a data set, and the agents whose play they hold."""
VALIDATION_SHARE: Final = 5
"""One round of so many is played by agents that are held out."""
SEEDS: Final = {"train": 0, "validation": 1}
"""Added to the seed, so that no deal is in both parts."""

LICENSE: Final = "MIT"


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    output: Path = field(metadata=cli.short("-o"))
    """folder of the data set"""
    rounds: int = 50_000
    """number of rounds, a fifth of them by players that are held out"""
    seed: int = 0
    """seed of deals and random numbers"""
    workers: int = 1
    """processes, at most one a core"""


def main(argv: Sequence[str] | None = None) -> int:
    """Makes a data set and returns the exit code."""
    args, progress = cli.parse(Args, argv, __doc__), shown()
    try:
        for done in make(args.output, args.rounds, seed=args.seed, workers=args.workers):
            progress("rounds", done, args.rounds)
    except (GoitaError, ImportError, OSError) as error:
        cli.fail(error)
    return 0


def make(folder: Path, rounds: int, *, seed: int = 0, workers: int = 1) -> Iterator[int]:
    """Plays a data set, or goes on with one; yields its rounds so far.

    Raises:
        SettingError: if there are too few rounds for both parts.
        LogError: if the folder holds another data set; it is left as it is.
        ImportError: if pyarrow is missing.
    """
    if rounds < VALIDATION_SHARE:
        raise SettingError(f"expected {VALIDATION_SHARE} rounds or more, got {rounds!r}")
    validation = rounds // VALIDATION_SHARE
    many = {"train": rounds - validation, "validation": validation}
    before = 0
    for split, texts in SPLITS.items():
        written = log.write(
            folder / split,
            expand([texts]),
            many[split],
            seed=seed + SEEDS[split],
            workers=workers,
            drawn=True,
        )
        for done in written:
            yield before + done
        before += many[split]
    decisions = {split: len(log.read(folder / split).deal) for split in SPLITS}
    write_whole(folder / "README.md", _card(many, decisions, seed))


@cache
def _page() -> Any:
    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=loader, autoescape=False).get_template("data_card.md")


def _card(rounds: dict[str, int], decisions: dict[str, int], seed: int) -> str:
    """Returns the data card."""
    players: dict[str, dict[str, list[str]]] = {}
    for split, texts in SPLITS.items():
        for agent in expand([texts]):
            method = origin(agent)[0]
            players.setdefault(split, {}).setdefault(method, []).append(agent)
    total = sum(decisions.values())
    return str(
        _page().render(
            players=players,
            folders=FOLDERS,
            methods=METHODS,
            rounds=rounds,
            decisions=decisions,
            size=_size(total),
            seed=seed,
            license=LICENSE.lower(),
            version=goita_env.__version__,
            format=log.FORMAT,
            tables={table: columns(table) for table in TABLES},
            text=TEXT,
        )
    )


def _size(rows: int) -> str:
    """Returns the category of so many rows, as data cards name it."""
    steps = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    return next((name for most, name in steps.items() if rows < most), "1M<n<10M")


if __name__ == "__main__":
    cli.run(main)
