"""Trains a model of a program on its games, and lets the champion search with this model.

::

    goita beat "exec:python examples/bot_python.py" -o bot
    goita beat "exec:./program" --deals 600 --measured 400 -o program --workers 2

First the champion plays against the program. Then a model is trained to imitate the program in
these games. Finally the champion is measured against the program on other deals, once with a search
that assumes that the opponents play like the model, and once without a search. The games, the model
and the report are written to the folder. After an interruption the same command resumes.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from goita_agents.files import decode, write_whole
from goita_agents.identity import content_hash
from goita_agents.registry import short_name, unnamed
from goita_env.checks import check_seed
from goita_env.errors import GoitaError, SettingError
from goita_lab import cli
from goita_lab.arena import report
from goita_lab.arena.report.figures import ROUGH_INTERVAL_NOTE, estimate
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.arena.tournament.arena import exit_code, play_schedule
from goita_lab.arena.tournament.plan import TournamentPlan, check_deals
from goita_lab.arena.tournament.summary import Played, Summary, failed
from goita_lab.imitate.examples import FEWEST_GAMES
from goita_lab.imitate.learn import learn
from goita_lab.provenance import marks, to_json
from goita_lab.work import check_workers

CHAMPION: Final = "champion"
DEFAULT_NAME: Final = "program"
"""Name of a program that the command line does not name."""
BEAT_BLOCK_DEALS: Final = 50
"""Deals of a block; a stop loses at most one block."""
RESERVED_CHARACTERS: Final = frozenset(",;()")
"""Characters that a path within an agent's text cannot have."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    program: str = field(metadata=cli.POSITIONAL)
    """the opponent: exec:COMMAND, NAME=exec:COMMAND, or any other agent of goita evaluate"""
    output: Path = field(metadata=cli.short("-o"))
    """folder for the games, the model and the report"""
    deals: int = 600
    """number of deals that the champion plays to collect games. Each deal is played twice, with the
    seats of the teams exchanged"""
    measured: int = 400
    """number of other deals on which the champion is measured with and without the search"""
    seed: int = 0
    """seed of the games for the model. The deals of the measurement have the next seed"""
    workers: int = 1
    anew: bool = False

    def __post_init__(self) -> None:
        if wrong := RESERVED_CHARACTERS & set(str(self.output)):
            raise SettingError(
                f"expected a folder whose name can stand in an agent's text, got {min(wrong)!r} in "
                f"{str(self.output)!r}"
            )
        cli.check_outputs(folder=self.output)
        check_seed(self.seed), check_seed(self.seed + 1)
        check_deals(self.deals, FEWEST_GAMES, "--deals")
        check_workers(self.workers)
        self.learning(), self.measuring()

    @property
    def opponent(self) -> str:
        """The program's text with a short name."""
        named = short_name(self.program) != self.program
        return self.program if named else f"{DEFAULT_NAME}={unnamed(self.program)}"

    @property
    def model(self) -> Path:
        return self.output / "model.safetensors"

    @property
    def search(self) -> str:
        """The search with the model of the program, under a short name."""
        return f"search={CHAMPION}:search=on,types=(file:{self.model},temperature=1)"

    def learning(self) -> TournamentPlan:
        """Returns the games to learn from."""
        agents = (CHAMPION, self.opponent)
        return TournamentPlan(
            agents, deals=self.deals, seed=self.seed, block_deals=BEAT_BLOCK_DEALS
        )

    def measuring(self) -> TournamentPlan:
        """Returns the games on fresh deals: the program against the champion, and the search."""
        agents, deals = (CHAMPION, self.search), self.measured
        return TournamentPlan(
            agents, one=self.opponent, deals=deals, seed=self.seed + 1, block_deals=BEAT_BLOCK_DEALS
        )


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    command = cli.command("goita beat", argv)
    try:
        args.learning().check_agents()
        args.output.mkdir(parents=True, exist_ok=True)
        return run(args, command)
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)


def run(args: Args, command: str) -> int:
    """Plays, learns, searches and writes the report; returns the exit code."""
    games = args.output / "games"
    played, summary = play(args, args.learning(), "games.db", command, games)
    if any(pairing.forfeited for pairing in played):
        sys.stderr.write("there is nothing to learn from a program that forfeits\n")
        return 1
    if summary.changed:
        sys.stderr.write(marks({"changed": summary.changed}))
        return 1
    json = args.output / "model.json"
    if not (args.model.exists() and learned_from(json) == [content_hash(games, "the model")]):
        sys.stderr.write("learning how the program plays\n")
        learn([games], args.model, player=short_name(args.opponent), json=json)
    sys.stderr.write(
        f"measuring on {args.measured:,} fresh deals, the champion first and then the search\n"
    )
    plan = args.measuring()
    played, summary = play(args, plan, "measured.db", command)
    origin = {"digests": summary.digests, "changed": summary.changed}
    # Points of the champion and of its search in each deal, mean of its games: [D]. They are the
    # program's with the other sign, because it is the first agent of both pairings.
    champion, search = (-pairing.games("points").mean(axis=0) for pairing in played)
    points = {"champion": champion, "search": search, "gain": search - champion}
    figures = {name: mean_interval(by_deal) for name, by_deal in points.items()}
    fields = {"program": args.program, "seed": args.seed, "figures": figures, **origin}
    write_whole(args.output / "result.json", to_json(fields, plan.specs))
    write_whole(args.output / "report.html", report.html(summary))
    print(f"{text(args, figures)}\n{marks(origin)}", end="")
    return int(failed(summary.faults) or bool(summary.changed))


def learned_from(json: Path) -> list[str | None] | None:
    """Returns the digests of the games that the model was learned from; None: unknown."""
    try:
        learned = decode(json.read_bytes(), dict[str, Any], "what was learned")
    except (GoitaError, OSError):
        return None
    digests: list[str | None] | None = learned.get("source_digests")
    return digests


def play(
    args: Args, plan: TournamentPlan, results: str, command: str, saved: Path | None = None
) -> tuple[list[Played], Summary]:
    """Plays the blocks that a file of results lacks, prints faults, and returns all pairings."""
    tournament, stop = play_schedule(
        plan, workers=args.workers, results=args.output / results, games=saved, anew=args.anew
    )
    if stop is not None:
        raise SystemExit(exit_code(tournament, stop, args.output / results))
    played = tournament.played()
    summary = Summary.of(plan, played, identities=tournament.identities, command=command)
    for fault in report.fault_texts(summary.faults):
        sys.stderr.write(f"{fault}\n")
    return played, summary


def text(args: Args, figures: dict[str, Interval]) -> str:
    """Returns the results and what to do with them, in lines."""
    opponent, program = short_name(args.opponent), unnamed(args.program)
    rows = {
        f"champion against {opponent}": "champion",
        f"its search with the model against {opponent}": "search",
        "gain of the search": "gain",
    }
    width = max(map(len, rows))
    lines = [
        f"{row:{width}}  {estimate(figures[name])} points a round" for row, name in rows.items()
    ]
    lines.append(f"{args.measured:,} fresh deals, 95 % intervals over deals.")
    lines += [ROUGH_INTERVAL_NOTE] if any(figure.few for figure in figures.values()) else []
    words = shlex.join(["--partner", args.search, "--opponents", program])
    lines.append(f"play with it: goita play --web {words}")
    return "\n".join([*lines, f"report: {args.output / 'report.html'}"])
