"""Writes the example programs into a folder: bots, trainings, measures, scripts for clusters.

goita examples -o examples     into a folder of the name that the pages use
goita examples -o elsewhere    into another folder

If a page names a file in ``examples/``, it is one of these programs. The folder contains the
scripts of the notebooks. Logs of games, and notebooks with outputs, are only in the repository.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goita_env.errors import SettingError
from goita_lab import cli

PACKAGE: Final = Path(__file__).resolve().parents[1]
PLACES: Final = (PACKAGE / "examples", PACKAGE.parent / "examples")
"""Where the examples are: in an installed wheel, in a checkout."""

LEFT_OUT: Final = ("__pycache__", "*.ipynb", "*-log", "*-sample")


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    output: Path = field(metadata=cli.short("-o"))
    """folder for the examples, new or empty"""

    def __post_init__(self) -> None:
        cli.check_outputs(folder=self.output)
        if self.output.is_dir() and any(self.output.iterdir()):
            name = str(self.output)
            raise SettingError(f"expected a new or empty folder, got {name!r}, which has files")


def main(argv: Sequence[str] | None = None) -> int:
    """Copies the examples."""
    args = cli.parse(Args, argv, __doc__)
    source = next(place for place in PLACES if place.is_dir())
    shutil.copytree(
        source, args.output, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True
    )
    count = sum(path.is_file() for path in args.output.rglob("*"))
    print(f"{count} files in {args.output}")
    return 0
