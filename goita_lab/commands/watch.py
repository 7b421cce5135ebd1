"""Makes a replay page or an analysis page of recorded games, as one HTML file.

goita watch game.yaml -o page.html                         replays a record
goita watch games/ --deal 5-9 -o page.html                 some deals of saved games
goita watch game.yaml --analyse champion -o analysis.html  says what each decision was worth
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from goita_agents.files import is_stdout, json_text, write_whole
from goita_env.errors import GoitaError, SettingError
from goita_env.render import animation
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.pages import watch
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.watch.reading import Source
from goita_lab.provenance import marks
from goita_lab.work import check_workers, stderr_progress

ANIMATION: Final = ".svg"


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    record: str = field(metadata=cli.POSITIONAL)
    """a file (YAML kifu, history strings, complete record, saved games), a folder of saved games,
    or a history string itself"""
    output: Path | None = field(default=None, metadata=cli.short("-o"))
    """file for the page (default: replay.html or analysis.html). If the name ends in .svg, the file
    is an animation"""
    force: bool = False
    """overwrite existing files"""
    anew: bool = False
    deal: str | None = None
    """the deals to show, counted from 1, such as 3 or 5-9 (default: the first 50)"""
    rules: Rules = JGA
    analyse: str | None = None
    """write an analysis, which shows what each decision was worth, with the policy of this agent.
    Its probabilities must be known, as those of champion are"""
    json: Path | None = None
    """file for the analysis as JSON"""
    worlds: int = 1024
    """largest number of worlds in which the analysis searches a decision, for each type of
    player"""
    seed: int = 0
    """seed of the analysis"""
    workers: int = 1
    language: LanguageName = "en"
    """of the page: en, ja"""

    def __post_init__(self) -> None:
        if self.analyse is None and self.json is not None:
            raise SettingError("expected --analyse AGENT with --json, got none")
        store = None if self.analyse is None else cli.beside(self.page)
        cli.check_outputs(self.page, self.json, store=store, inputs=[Path(self.record)])
        if self.analyse is not None and self.page.suffix == ANIMATION:
            raise SettingError(f"expected a page as output of --analyse, got {str(self.page)!r}")
        check_workers(self.workers)

    @property
    def page(self) -> Path:
        return self.output or Path("replay.html" if self.analyse is None else "analysis.html")


def main(argv: Sequence[str] | None = None) -> int:
    """Writes a page, or an animation; returns the exit code."""
    args, code = cli.parse(Args, argv, __doc__), 0
    try:
        for file in filter(None, (args.page, args.json)):
            if file.exists() and not args.force and not is_stdout(file):
                raise SettingError(
                    f"expected a new file, got {str(file)!r}, which exists: --force writes over it"
                )
        source = watch.read(args.record, rules=args.rules, deals=args.deal)
        if args.page.suffix == ANIMATION:
            write_whole(args.page, _animation(source))
        elif args.analyse is None:
            write_whole(args.page, watch.page(source, language=args.language))
        else:
            code = _write_analysis(args, args.analyse, source)
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(str(error).partition("\n")[0])
    for remark in source.remarks():
        sys.stderr.write(f"{remark}\n")
    sys.stdout.write(f"{args.page}: {_counts(source)}\n")
    return code


def _counts(source: Source) -> str:
    """Returns the numbers of deals and of finished rounds on a page, in words."""
    total = f" of {source.total}" if source.total > len(source.deals) else ""
    deals = "deal" if len(source.deals) == 1 and not total else "deals"
    text = f"{len(source.deals)}{total} {deals}"
    ended = len([watched for watched in source.deals if watched.gained is not None])
    if ended == len(source.deals):
        return text
    # A deal is unfinished, or was dealt again, so that its round has several deals.
    return f"{text}, {ended} {'round' if ended == 1 else 'rounds'} finished"


def _animation(source: Source) -> bytes:
    """Returns the positions of all deals, all hands open, as one SVG."""
    drawings = [drawing for watched in source.deals for drawing in watched.deal.drawings()]
    return animation.animated(drawings).encode()


def _write_analysis(args: Args, agent: str, source: Source) -> int:
    """Analyses the deals, writes the page and the JSON, and returns the exit code."""
    keep = cli.beside(args.page)
    analysis = watch.analyse(
        source,
        agent,
        worlds=args.worlds,
        seed=args.seed,
        workers=args.workers,
        keep=keep,
        anew=args.anew,
        progress=partial(stderr_progress(), "deals"),
    )
    write_whole(args.page, watch.page(source, analysis, language=args.language))
    if args.json is not None:
        text = json_text(watch.to_json(source, analysis), escape=False)
        write_whole(args.json, text)
    if keep is not None and not analysis.origin["changed"]:
        keep.unlink(missing_ok=True)
    sys.stdout.write(marks(analysis.origin))
    return int(bool(analysis.origin["changed"]))
