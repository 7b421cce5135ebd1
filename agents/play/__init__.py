"""Seats you with three agents: a match of Goita in the terminal, or on a page of this machine.

::

    python -m agents.play --partner champion --opponents heuristic
    python -m agents.play --web
    python -m agents.play --resume match-1.json

The match is saved after every move, so it goes on after Ctrl-C; ``python -m agents.watch FILE``
makes a replay page of it. A room of its own behind each front end: ``table`` (the match),
``saved``, ``advice``; ``terminal``; ``web``.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents import cli
from agents.play import saved
from agents.play.table import PERSON, Setting, Table
from goita_env.errors import GoitaError, SettingError
from goita_env.records import history
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

_HELP = "Plays a match of Goita against agents, in the terminal or on a page of this machine."


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    partner: str = "champion"
    """the agent opposite you"""
    opponents: tuple[str, ...] = ("heuristic",)
    """the two others: one agent for both, or the one after you and the one before you"""
    seat: int = 0
    """where you sit, 0 to 3"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""
    name: str = "you"
    """your name in the record"""
    seed: int | None = None
    """of the deals and of what agents draw (default: drawn)"""
    deal: str | None = None
    """the first deal, as a history string: its hands and its dealer (default: dealt)"""
    save: Path | None = None
    """the file that keeps the match (default: the first free of match-1.json, match-2.json, ...)"""
    resume: Path | None = None
    """go on with the match of a file; who plays is as it was"""
    ascii: bool = False
    """tiles as digits in the terminal"""
    web: bool = False
    """play on a page that this machine serves, instead of in the terminal"""
    host: str = "127.0.0.1"
    """address of this machine that the page is served at; another one lets others in who know the
    link"""
    port: int = 8742
    """port of the page"""

    def __post_init__(self) -> None:
        """Checks what the types leave open."""
        if self.seat not in range(NUM_SEATS):
            raise SettingError(f"expected a seat 0..3, got {self.seat!r}")
        if len(self.opponents) > 2:
            raise SettingError(f"expected one or two opponents, got {self.opponents!r}")
        if self.resume and self.save:
            raise SettingError("expected --resume or --save, got both: a match stays in its file")

    def setting(self) -> Setting:
        """Returns who plays what.

        Raises:
            GoitaError: if the first deal is none.
        """
        agents = {0: PERSON, 1: self.opponents[0], 2: self.partner, 3: self.opponents[-1]}
        seats = tuple(agents[(seat - self.seat) % NUM_SEATS] for seat in range(NUM_SEATS))
        seed = secrets.randbits(63) if self.seed is None else self.seed
        first = history.loads(self.deal, rules=self.rules).deals[0] if self.deal else None
        return Setting(seats, seed, self.rules, self.name, first)


def open_table(args: Args) -> tuple[Table, Path]:
    """Returns the match that a command line asks for, and the file that keeps it.

    Raises:
        GoitaError: if a setting is impossible, or a file holds no match.
        OSError: if the file cannot be read or written.
    """
    if args.resume:
        return saved.resume(args.resume), args.resume
    path = args.save or saved.free_name()
    return saved.begin(args.setting(), path), path


def main(argv: Sequence[str] | None = None) -> int:
    """Plays a match; returns the exit code: 130 after Ctrl-C."""
    args = cli.parse(Args, argv, _HELP)
    try:
        table, path = open_table(args)
        code = _sit_down(args, table, path)
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(str(error).partition("\n")[0])
    over = table.asks == "match"
    on = f"python -m agents.watch {path}" if over else f"python -m agents.play --resume {path}"
    sys.stdout.write(f"Saved in {path}. {'Look at it' if over else 'Go on'}: {on}\n")
    return code


def _sit_down(args: Args, table: Table, path: Path) -> int:
    """Plays in the terminal or on a page until the player leaves; returns the exit code."""
    try:
        if args.web:
            from agents.play import web

            web.serve(table, path, args.host, args.port)
        else:
            from agents.play.terminal import Terminal

            Terminal(table, ascii=args.ascii).play()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
        return 130
    return 0
