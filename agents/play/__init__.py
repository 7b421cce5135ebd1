"""Seats you with three agents: a match of Goita in the terminal, or on a page of this machine.

::

    python -m agents.play --partner champion --opponents heuristic
    python -m agents.play --web
    python -m agents.play --resume match-1.json

The match is saved after every move, so it goes on after Ctrl-C; ``python -m agents.watch FILE``
makes a replay page of it. A file may be somebody else's: agents in it that are no names of this
repository's, such as a program, are given again. A room of its own behind each front end: ``table``
(the match), ``saved``, ``advice``; ``terminal``; ``web``.
"""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents import cli
from agents.base import AgentError
from agents.faults import Accountable
from agents.play import saved
from agents.play.seating import is_shipped
from agents.play.table import PERSON, Setting, Table
from agents.report.figures import line
from goita_env.errors import GoitaError, SettingError
from goita_env.records import history
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS

PARTNER: Final = "champion"
"""The agent opposite the person, unless another is named."""

OPPONENTS: Final = ("heuristic",)
"""The two others."""

_HELP: Final = (
    "Plays a match of Goita against agents, in the terminal or on a page of this machine."
)


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    partner: str | None = None
    """the agent opposite you (default: champion)"""
    opponents: tuple[str, ...] | None = None
    """the two others: one agent for both, or the one after you and the one before you (default:
    heuristic)"""
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
    """go on with the match of a file; who plays is as it was, and programs, classes and files of
    policies are named again, by --partner and --opponents: a file may not start them"""
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
        if self.opponents is not None and len(self.opponents) > 2:
            raise SettingError(f"expected one or two opponents, got {self.opponents!r}")
        if self.resume and self.save:
            raise SettingError("expected --resume or --save, got both: a match stays in its file")

    def setting(self) -> Setting:
        """Returns who plays what.

        Raises:
            GoitaError: if the first deal is none.
        """
        opponents = OPPONENTS if self.opponents is None else self.opponents
        partner = PARTNER if self.partner is None else self.partner
        agents = {0: PERSON, 1: opponents[0], 2: partner, 3: opponents[-1]}
        seats = tuple(agents[(seat - self.seat) % NUM_SEATS] for seat in range(NUM_SEATS))
        seed = secrets.randbits(63) if self.seed is None else self.seed
        first = history.loads(self.deal, rules=self.rules).deals[0] if self.deal else None
        return Setting(seats, seed, self.rules, self.name, first)


def open_table(args: Args, held: ExitStack) -> tuple[Table, Path]:
    """Returns the match that a command line asks for, and the file that keeps it.

    Args:
        args: the command line.
        held: is given what is to be ended with the match: the lock on its file, the agents.

    Raises:
        GoitaError: if a setting is impossible, a file holds no match, or another process plays it.
        OSError: if the file cannot be read or written.
    """
    if args.resume:
        path = args.resume
        if not path.exists():
            raise FileNotFoundError(f"No such file: {str(path)!r}")
        held.enter_context(saved.locked(path))
        table = saved.resume(path, args.partner, args.opponents)
    else:
        path = args.save or _free(held)
        if args.save:
            held.enter_context(saved.locked(path))
        table = saved.begin(args.setting(), path)
    held.callback(table.close)
    return table, path


def main(argv: Sequence[str] | None = None) -> int:
    """Plays a match; returns the exit code: 1 if an agent failed, 130 after Ctrl-C."""
    args = cli.parse(Args, argv, _HELP)
    with ExitStack() as held:
        try:
            table, path = open_table(args, held)
            code = _sit_down(args, table, path)
        except (GoitaError, OSError, ImportError) as error:
            cli.fail(str(error).partition("\n")[0])
        sys.stdout.write(f"Saved in {path}. {_next(table, path)}\n")
        for said in _faults(table):
            sys.stderr.write(f"{said}\n")
    return code


def _free(held: ExitStack) -> Path:
    """Returns the first of match-1.json, match-2.json, ... that nobody has, locked."""
    for path in saved.free_names():
        with suppress(SettingError):
            held.enter_context(saved.locked(path))
            return path
    raise AssertionError("there is always another number")


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
    except (AgentError, OSError) as error:
        if args.web:  # an address that cannot be used: all else is told on the page
            raise
        sys.stderr.write(f"python -m agents.play: error: {error}\n")
        return 1
    return 0


def _next(table: Table, path: Path) -> str:
    """Says what can be done with the file of a match."""
    file = shlex.quote(str(path))
    if table.asks == "match":
        return f"Look at it: python -m agents.watch {file}"
    one, partner, other = saved.others(table.setting)
    again = "" if is_shipped(partner) else f" --partner {shlex.quote(partner)}"
    if not (is_shipped(one) and is_shipped(other)):
        again += f" --opponents {shlex.join(dict.fromkeys((one, other)))}"
    return f"Go on: python -m agents.play --resume {file}{again}"


def _faults(table: Table) -> list[str]:
    """Says where programs failed, and random moves were made for them."""
    told = []
    for agent in table.others:
        if isinstance(agent, Accountable) and agent.faults:
            kinds = ", ".join(dict.fromkeys(fault.kind for fault in agent.faults))
            told.append(
                f"{line(agent.name)}: {len(agent.faults)} faults ({kinds}), played at random"
            )
    return told
