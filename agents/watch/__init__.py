"""Makes replay pages of recorded games: one HTML file each, which needs no other.

::

    python -m agents.watch game.yaml -o page.html            a kifu, a history string, saved games
    python -m agents.watch games/ --deals 5-9 -o page.html   some deals of many

The page steps by keys, buttons and its list of moves, shows all hands or what each seat saw, plays
by itself, prints, and keeps deal, move and seat in its address (``page.html#3.12``).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agents import cli
from agents.watch.frames import Book
from agents.watch.page import html
from agents.watch.reading import Source, read
from goita_env.errors import GoitaError
from goita_env.render import animation
from goita_env.rules import JGA, Rules

__all__ = ["page", "read", "write_pages"]

MOST_DEALS: Final = 50
"""Deals on a page, unless others are asked for."""

_HELP: Final = "Makes a replay page of recorded games: one HTML file that needs no other."


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    record: str = field(metadata=cli.POSITIONAL)
    """a file (YAML kifu, history strings, saved games), a folder of saved games, or a history
    string itself"""
    output: Path = field(default=Path("replay.html"), metadata=cli.short("-o"))
    """the page to write; a name that ends in .gif or .svg: an animation"""
    deals: str | None = None
    """which deals, counted from 1: 3, or 5-9 (default: the first 50)"""
    rules: Rules = JGA
    """rule set of a kifu or history string: jga, pagat, nine, or a JSON file of your own"""


def page(source: Source) -> str:
    """Returns the replay page of a record as HTML text.

    Raises:
        SettingError: if it has no deal.
    """
    return html(source, Book.of(source.deals))


def write_pages(folder: Path, most: int = 6) -> dict[str, Path]:
    """Writes replay pages into a folder of saved games: of each pairing the first block's deals.

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
            pages[name].write_text(page(read(str(file), most=most)), encoding="utf-8")
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
        source = read(args.record, rules=args.rules, deals=args.deals, most=MOST_DEALS)
        kind = args.output.suffix
        moving = kind in (".gif", ".svg")
        args.output.write_bytes(animation_of(source, kind) if moving else page(source).encode())
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(str(error).partition("\n")[0])
    for problem in source.problems:
        sys.stderr.write(f"{problem}\n")
    left = f" of {source.total}" if source.total > len(source.deals) else ""
    sys.stdout.write(f"{args.output}: {len(source.deals)}{left} deals\n")
    return 0
