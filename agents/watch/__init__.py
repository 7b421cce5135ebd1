"""Makes replay and analysis pages of recorded games: one HTML file each, which needs no other.

::

    python -m agents.watch game.yaml -o page.html            a kifu, a history string, saved games
    python -m agents.watch games/ --deals 5-9 -o page.html   some deals of many
    python -m agents.watch game.yaml --analyse champion -o page.html --json analysis.json

The page steps by keys, buttons and its list of moves, shows all hands or what each seat saw, plays
by itself, prints, and keeps deal, move and seat in its address (``page.html#3.12``). With
``--analyse`` it says what every decision was worth (``docs/analysis.md``). An analysis keeps what
it has in ``page.html.parts`` and goes on from there after a stop.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agents import cli
from agents.files import write_whole
from agents.watch.frames import Book
from agents.watch.page import html
from agents.watch.reading import Source, read
from goita_env.errors import GoitaError, SettingError
from goita_env.render import animation
from goita_env.rules import JGA, Rules

if TYPE_CHECKING:
    from agents.watch.running import Analysis

__all__ = ["analyse", "page", "read", "to_json", "write_pages"]

MOST_DEALS: Final = 50
"""Deals on a page, unless others are asked for."""

MOVING: Final = (".gif", ".svg")
"""What the names of animations end in."""

_HELP: Final = "Makes a replay or analysis page of recorded games: one HTML file."


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    record: str = field(metadata=cli.POSITIONAL)
    """a file (YAML kifu, history strings, saved games), a folder of saved games, or a history
    string itself"""
    output: Path = field(default=Path("replay.html"), metadata=cli.short("-o"))
    """the page to write; a name that ends in .gif or .svg: an animation"""
    force: bool = False
    """write over files that are there"""
    deals: str | None = None
    """which deals, counted from 1: 3, or 5-9 (default: the first 50)"""
    rules: Rules = JGA
    """rule set of a kifu or history string: jga, pagat, nine, or a JSON file of your own"""
    analyse: str | None = None
    """an agent with known probabilities, such as champion: says what each decision was worth"""
    json: Path | None = None
    """the analysis as JSON, too"""
    worlds: int = 1024
    """most worlds in which the analysis searches a decision"""
    seed: int = 0
    """seed of the analysis"""
    tremble: float = 0.5
    """how often the mover is supposed to slip, for what its partner could know; for games of the
    agent itself less is right, such as 0.02"""
    workers: int | None = None
    """processes that analyse (default: one a core)"""

    def __post_init__(self) -> None:
        """Checks that options of an analysis come with one, and that it is put on a page."""
        if self.analyse is None and self.json is not None:
            raise SettingError("expected --analyse AGENT with --json, got none")
        if self.analyse is not None and self.output.suffix in MOVING:
            raise SettingError(
                f"expected a page as the analysis's output, got {str(self.output)!r}"
            )
        if self.workers is not None and self.workers < 1:
            raise SettingError(f"expected 1 worker or more, got {self.workers!r}")


def page(source: Source, analysis: Analysis | None = None) -> str:
    """Returns the replay page of a record as HTML text.

    Args:
        source: the record.
        analysis: of the same deals: the page shows it, too.
    """
    if analysis is None:
        return html(source, Book.of(source.deals))
    from agents.watch import telling

    return html(source, Book.of(source.deals), telling.shown(source, analysis))


def analyse(
    source: Source,
    agent: str,
    *,
    worlds: int = 1024,
    seed: int = 0,
    tremble: float = 0.5,
    workers: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Says what each decision of a record was worth by what the seat could know, and what it told.

    Args:
        source: the record.
        agent: whose policy is shown, searched with and listened with, as ``load_agent`` takes it;
            its probabilities must be known.
        worlds: most worlds in which a decision is searched.
        seed: of these.
        tremble: how often the mover is supposed to slip, for what its partner could know.
        workers: processes; they change no result.
        keep: a file that is written as each deal ends, from which a stopped analysis goes on.
        progress: called with the number of deals that are done, and of all.

    Raises:
        AgentError: if the agent cannot analyse.
        SettingError: if a number is not above 0, or the file holds something else.
        ImportError: if numba is missing (extra ``goita-env[search]``).
        OSError: if the file cannot be read or written.
    """
    from agents.watch.decisions import Settings
    from agents.watch.running import run

    settings = Settings(agent, worlds, seed, tremble)
    return run(source, settings, workers=workers, keep=keep, progress=progress)


def to_json(source: Source, analysis: Analysis) -> dict[str, Any]:
    """Returns an analysis as plain values for JSON; ``docs/analysis.md`` says what is what."""
    from agents.watch import telling

    return telling.to_json(source, analysis)


def write_pages(folder: Path, most: int = 6) -> dict[str, Path]:
    """Writes replay pages into a folder of saved games: of each pairing the first block's deals.

    Pages that are there already are written anew.

    Args:
        folder: the folder.
        most: deals on each page.

    Returns:
        The pages by the names of the pairings.

    Raises:
        RecordError: if it holds no games.
        OSError: if they cannot be read, or a page not written.
    """
    first: dict[str, Path] = {}
    for file in sorted(folder.glob("*.jsonl")):
        first.setdefault(file.stem.rpartition("-")[0], file)
    pages = {}
    for name, file in first.items():
        if file.stat().st_size:
            pages[name] = folder / f"{name}.html"
            write_whole(pages[name], page(read(str(file), most=most)))
    return pages


def animation_of(source: Source, kind: str) -> bytes:
    """Returns the positions of deals, all hands open, as a file that plays: ".gif" or ".svg".

    Raises:
        RecordError: if a move is illegal.
        ImportError: if a GIF lacks the extra ``goita-env[render]``.
    """
    drawings = [drawing for watched in source.deals for drawing in watched.deal.drawings()]
    if kind == ".gif":
        return animation.gif(drawings)
    return animation.animated(drawings).encode()


def main(argv: Sequence[str] | None = None) -> int:
    """Writes a page, or an animation; returns the exit code."""
    args = cli.parse(Args, argv, _HELP)
    try:
        _check_new(args)
        source = read(args.record, rules=args.rules, deals=args.deals, most=MOST_DEALS)
        kind = args.output.suffix
        if kind in MOVING:
            write_whole(args.output, animation_of(source, kind))
        elif args.analyse is None:
            write_whole(args.output, page(source))
        else:
            _write_analysis(args, args.analyse, source)
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(str(error).partition("\n")[0])
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; the same command goes on\n")
        return 130
    for problem in source.problems:
        sys.stderr.write(f"{problem}\n")
    left = f" of {source.total}" if source.total > len(source.deals) else ""
    deals = "deal" if len(source.deals) == 1 and not left else "deals"
    sys.stdout.write(f"{args.output}: {len(source.deals)}{left} {deals}\n")
    return 0


def _check_new(args: Args) -> None:
    """Checks that nothing is written over unasked.

    Raises:
        SettingError: if a file is there.
    """
    for file in filter(None, (args.output, args.json)):
        if file.exists() and not args.force:
            raise SettingError(
                f"expected a new file, got {str(file)!r}, which exists: --force writes over it"
            )


def _write_analysis(args: Args, agent: str, source: Source) -> None:
    """Analyses, showing how far it is, and writes the page and the JSON; then the parts can go."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from agents.solver.cores import cores

    keep = args.output.with_name(f"{args.output.name}.parts")
    columns = ("deals", BarColumn(30), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        line = bar.add_task("", total=None)
        analysis = analyse(
            source,
            agent,
            worlds=args.worlds,
            seed=args.seed,
            tremble=args.tremble,
            workers=args.workers or cores(),
            keep=keep,
            progress=lambda done, total: bar.update(line, completed=done, total=total),
        )
    write_whole(args.output, page(source, analysis))
    if args.json is not None:
        text = json.dumps(to_json(source, analysis), ensure_ascii=False, indent=1)
        write_whole(args.json, f"{text}\n".encode(errors="replace"))
    keep.unlink(missing_ok=True)
