"""Runs a study: ``goita studies NAME`` (docs/studies/).

::

    goita studies people --records FOLDER       the human records, or GOITA_KIFU names it
    goita studies people --quick                a fraction, in minutes
    goita studies runs                          networks of the population as partners
    goita studies strangers                     failure with strangers, net of sisters
    goita studies messages                      what a message is worth, and to whom
    goita studies equilibria                    how near self-play gets to one in small games

The tables are printed and written to NAME.md, all figures to NAME.json and the picture to NAME.svg.
Finished pieces of work are kept there until the study is done, so the same command continues a
study that was stopped. Exit code 0: done. 1: an error stopped it. 2: wrong arguments. 130:
interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Final

from goita_agents.files import check_writable, write_whole
from goita_env.errors import GoitaError, SettingError
from goita_lab import cli
from goita_lab.deals import by_deal, write_summary
from goita_lab.pieces import shown
from goita_lab.provenance import to_json
from goita_lab.studies import equilibria, messages, people, runs, strangers
from goita_lab.studies.study import Options

STUDIES: Final[dict[str, ModuleType]] = {
    "people": people,
    "runs": runs,
    "strangers": strangers,
    "messages": messages,
    "equilibria": equilibria,
}
RECORDS: Final = "GOITA_KIFU"


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    name: str = field(metadata=cli.POSITIONAL)
    """of the study: people, runs, strangers, messages, equilibria"""
    output: Path = field(default=Path("studies"), metadata=cli.short("-o"))
    """folder of the results"""
    quick: bool = False
    """a fraction of the work, in less than five minutes"""
    workers: int = 1
    """processes, at most one a core; they change no result"""
    records: Path | None = None
    """folder of human records (default: that of the environment variable GOITA_KIFU)"""

    def __post_init__(self) -> None:
        if self.name not in STUDIES:
            raise SettingError(f"expected a study of {', '.join(STUDIES)}, got {self.name!r}")
        check_writable(self.output, folder=True)
        if self.workers < 1:
            raise SettingError(f"expected 1 worker or more, got {self.workers!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a study and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    named = os.environ.get(RECORDS)
    records = args.records or (Path(named) if named else None)
    options = Options(args.output, args.quick, args.workers, records, shown())
    study = STUDIES[args.name]
    try:
        result = study.run(options)
        text = study.report(result)
        told = to_json({"quick": args.quick, **vars(result)}, study.players(result))
        write_summary(args.output / f"{args.name}.json", told, by_deal(result))
        write_whole(args.output / f"{args.name}.md", f"{text}\n".encode())
        write_whole(args.output / f"{args.name}.svg", study.figure(result))
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(str(error).partition("\n")[0])
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; the same command continues it\n")
        return 130
    sys.stdout.write(f"{text}\n")
    return 0
