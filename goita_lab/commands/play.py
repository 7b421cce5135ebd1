"""Plays a match of Goita with and against agents, in the terminal or on a page in a browser.

goita play --web                                   in a browser, with the champion as partner
goita play --partner heuristic --opponents champion
goita play --resume match-1.json                   resumes a match

The match is saved after every move, and --resume continues it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goita_agents.base import AgentError
from goita_agents.faults import FaultTracking
from goita_agents.files import locked
from goita_env.errors import GoitaError, SettingError
from goita_env.records import history
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS
from goita_lab import cli
from goita_lab.arena.report.figures import line
from goita_lab.pages.play import savegame
from goita_lab.pages.play.seating import HUMAN, MatchSettings, leading_seed
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.play.terminal import Terminal

LAST_PORT: Final = 2**16 - 1


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    partner: str | None = None
    """the agent that is your partner (default: champion)"""
    opponents: tuple[str, ...] | None = None
    """the agents that are your opponents: one agent for both, or first the agent of the seat after
    yours and then the agent of the seat before yours (default: heuristic)"""
    seat: int | None = None
    """your seat, 0 to 3 (default: 0)"""
    rules: Rules | None = None
    """rule set: jga, pagat, nine, or a JSON file of your own (default: jga)"""
    seed: int | None = None
    """seed of the deals and of the agents' random numbers (default: a random seed with which you
    lead first; the command prints it)"""
    position: str | None = None
    """the first deal as a history string with hands and dealer (default: dealt at random)"""
    output: Path | None = field(default=None, metadata=cli.short("-o"))
    """file for the match (default: the first free name of match-1.json, match-2.json, ...)"""
    resume: Path | None = None
    """continue the match in this file with its seats, rules and seed. Programs, classes and policy
    files must be named again with --partner and --opponents, because the file may not start them"""
    ascii: bool = False
    """show tiles as digits in the terminal"""
    hints: bool = False
    """compute a hint for each decision as soon as your turn begins; without this option, only after
    you have requested the first hint"""
    web: bool = False
    """play on a page in the browser, which this machine serves, instead of in the terminal"""
    host: str = "127.0.0.1"
    """address of this machine at which the page is served. Any address other than the default opens
    the page to other machines: everyone who knows the link plays your seat"""
    port: int = 8742
    """port of the page"""

    def __post_init__(self) -> None:
        if self.seat not in (None, *range(NUM_SEATS)):
            raise SettingError(f"expected a seat 0..3, got {self.seat!r}")
        if not 0 <= self.port <= LAST_PORT:
            raise SettingError(f"expected a port 0..{LAST_PORT}, got {self.port}")
        if self.opponents is not None and len(self.opponents) > 2:
            raise SettingError(f"expected one or two opponents, got {self.opponents!r}")
        cli.check_outputs(store=self.output or self.resume)
        if self.resume:
            names = ("seat", "rules", "seed", "position", "output")
            if options := [f"--{name}" for name in names if getattr(self, name) is not None]:
                raise SettingError(
                    f"expected --resume without {', '.join(options)}: a saved match keeps its own"
                )

    def settings(self) -> MatchSettings:
        """Returns the settings of a new match."""
        opponents = ("heuristic",) if self.opponents is None else self.opponents
        partner = "champion" if self.partner is None else self.partner
        agents = (HUMAN, opponents[0], partner, opponents[-1])  # from the person's seat on
        own_seat, rules = self.seat or 0, self.rules or JGA
        return MatchSettings(
            agents=tuple(agents[(seat - own_seat) % NUM_SEATS] for seat in range(NUM_SEATS)),
            seed=leading_seed(own_seat, rules) if self.seed is None else self.seed,
            rules=rules,
            first=history.loads(self.position, rules=rules).deals[0] if self.position else None,
        )


def open_table(args: Args, stack: ExitStack) -> tuple[PlayTable, Path]:
    """Returns the match that a command line asks for, and the file that keeps it.

    The stack ends with the match, and closes the lock on its file and the agents.
    """
    if args.resume and not args.resume.exists():
        raise FileNotFoundError(f"No such file: {str(args.resume)!r}")
    path = args.resume or args.output
    if path is None:
        path = savegame.lock_free_name(stack)
    else:
        stack.enter_context(locked(path, savegame.FREE_MATCH))
    if args.resume:
        table = savegame.resume(path, args.partner, args.opponents)
    else:
        table = savegame.begin(args.settings(), path)
    stack.callback(table.close)
    return table, path


def main(argv: Sequence[str] | None = None) -> int:
    """Plays a match; returns the exit code: 1 if an agent failed, 130 after Ctrl-C."""
    args = cli.parse(Args, argv, __doc__)
    with ExitStack() as stack:
        try:
            if args.web:
                code, table, path = _serve(args, stack)
            else:
                table, path = open_table(args, stack)
                code = _play(args, table)
        except (GoitaError, OSError, ImportError) as error:
            cli.fail(str(error).partition("\n")[0])
        sys.stdout.write(f"Saved in {path}.\n{_next_commands(table, path)}")
        for agent in table.others:
            if isinstance(agent, FaultTracking) and agent.faults:
                kinds = ", ".join(dict.fromkeys(fault.kind for fault in agent.faults))
                faults = f"{len(agent.faults)} faults ({kinds})"
                sys.stderr.write(f"{line(agent.name)}: {faults}, played at random\n")
    return code


def _play(args: Args, table: PlayTable) -> int:
    """Plays in the terminal until the player leaves."""
    table.prepares_hints = args.hints
    try:
        Terminal(table, ascii=args.ascii).play()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
        return 130
    except (AgentError, OSError) as error:
        sys.stderr.write(f"goita play: error: {error}\n")
        return 1
    return 0


def _serve(args: Args, stack: ExitStack) -> tuple[int, PlayTable, Path]:
    """Serves matches, one after another, until Ctrl-C; returns the last one and its file."""
    from goita_lab.pages.play import web
    from goita_lab.pages.play.sitting import Sitting

    listening = web.listen(args.host, args.port)  # first: a start that fails leaves no match
    with listening, ExitStack() as match:
        table, path = open_table(args, match)
        # From here on the sitting closes the match, or the match that replaces it.
        sitting, code = Sitting(table, path, match.pop_all()), 0
        stack.callback(sitting.close)
        sitting.prepares_hints = args.hints
        note = f"seed {table.settings.seed}; Ctrl-C ends; the match is saved in {path}"
        try:
            web.serve(sitting, web.token_of(path.parent), note, args.host, listening)
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            code = 130
    assert sitting.path is not None
    return code, sitting.match, sitting.path


def _next_commands(table: PlayTable, path: Path) -> str:
    """Returns the commands that continue a match or show it, a line each."""
    file = shlex.quote(str(path))
    look = f"Look at it, all hands open: goita watch {file}\n"
    if table.asks == "match":
        return look
    following, partner, previous = table.settings.others
    agents = f"--partner {shlex.quote(partner)} --opponents {shlex.join((following, previous))}"
    return f"Continue: goita play --resume {file} {agents}\n{look}"
