"""Plays a schedule for a command: goes on from its files, shows progress, says why it stopped."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

from goita_env.errors import GoitaError
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.games_folder import GamesFolder
from goita_lab.arena.tournament.plan import Schedule
from goita_lab.arena.tournament.results import ResultsFile
from goita_lab.arena.tournament.task import BlockResult
from goita_lab.work import shown

Stop = GoitaError | OSError | KeyboardInterrupt
"""What ends play early; what was played until then stays."""


def play_schedule(
    plan: Schedule,
    *,
    workers: int = 1,
    results: Path | None = None,
    games: Path | None = None,
) -> tuple[Tournament, Stop | None]:
    """Plays what is missing of a schedule, with a line of progress on standard error.

    Args:
        plan: the schedule.
        workers: number of workers, which changes no result.
        results: file of finished blocks, from which it goes on; None: none is kept.
        games: folder to which the games are written; None: they are not saved.

    Returns:
        The tournament, and what ended it early (None: all is played).

    Raises:
        AgentError: if an agent cannot be built; nothing is played then.
        SettingError: if a file is of another tournament, is damaged, or lacks games.
        OSError: if a file cannot be read or written.
    """
    plan.check_agents()
    tournament = Tournament(plan)
    file = None if results is None else ResultsFile(results, plan)
    if file is not None:
        tournament.add(file.blocks)
        sys.stderr.write(file.note)
    folder = None if games is None else GamesFolder(games, plan)
    if folder is not None:
        folder.check_whole(tournament.kept())
    show, played = shown(), 0

    def note(result: BlockResult) -> None:
        nonlocal played
        played += result.task.deals
        # The rest is less than before where a pairing was decided.
        show("deals of all pairings", played, played + tournament.deals_left())

    try:
        # What a class prints is not among the tables.
        with file or nullcontext(), redirect_stdout(sys.stderr):
            tournament.play(workers=workers, file=file, games=folder, progress=note)
    except (GoitaError, OSError, KeyboardInterrupt) as error:
        return tournament, error
    return tournament, None


def exit_code(tournament: Tournament, stop: Stop | None, results: Path | None) -> int:
    """Returns a command's exit code after ``play_schedule``; says on standard error why it stopped.

    ``results``: the file from which the same command goes on; None: what was not finished is lost.
    """
    if stop is None:
        return 0
    reason = "" if isinstance(stop, KeyboardInterrupt) else f"{stop}\n"
    more = "the same command goes on" if results else "without --results the rest is lost"
    sys.stderr.write(f"\n{reason}stopped with {tournament.deals_left():,} deals left; {more}\n")
    return 130 if isinstance(stop, KeyboardInterrupt) else 1
