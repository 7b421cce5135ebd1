"""Compares agents over duplicate deals: plays the blocks of a plan and keeps those that count.

Each deal is played twice with the seats of the teams exchanged, the same dealer and, after a
redeal, the same next deals, so that the luck of the deal cancels. Deal number i under a seed is the
one that ``GoitaVectorEnv`` deals to its game i under that seed, whatever the pair.

::

    plan = TournamentPlan(("greedy", "random"), deals=2000)
    tournament = Tournament(plan)
    tournament.play(workers=2)
    print(report.terminal(Summary.of(plan, tournament.played())))
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path

from goita_agents.asking import build_agent
from goita_agents.base import Agent, close
from goita_agents.faults import FAULTS
from goita_agents.identity import Identities
from goita_agents.registry import (
    check_names,
    check_plays,
    is_own,
    may_share,
    short_name,
)
from goita_env.errors import GoitaError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds import Episode
from goita_env.rules import Rules, get_rules
from goita_lab.arena.statistics.sequential_test import SprtRun
from goita_lab.arena.tournament.block import play_block, warm_up
from goita_lab.arena.tournament.games_folder import GamesFolder
from goita_lab.arena.tournament.plan import (
    BlockResult,
    Pairing,
    Schedule,
    Task,
    tasks,
)
from goita_lab.arena.tournament.results import ResultsFile
from goita_lab.arena.tournament.summary import PairResult, Played
from goita_lab.work import WorkerError, on_workers, one_thread, stderr_progress


class Ledger:
    """A ledger that collects the blocks of one pairing and decides when it is over.

    Blocks may come in any order. The blocks up to the first missing one count, but none after the
    block in which the pairing is decided; so which blocks count depends on the plan only.

    Attributes:
        over: every block has been counted, the test has decided, or an agent has forfeited.
    """

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.over = False
        self._blocks: dict[int, BlockResult] = {}
        self._counted = 0
        self._test = SprtRun(pairing.sprt) if pairing.sprt else None
        self._faults: Counter[int] = Counter()
        self._forfeited: set[int] = set()

    def add(self, result: BlockResult) -> None:
        self._blocks[result.task.block] = result
        while not self.over and self._counted in self._blocks:
            self._count(self._blocks[self._counted])

    def kept(self) -> list[Task]:
        blocks = range(self._counted) if self.over else self._blocks
        return [task for task in self.pairing.tasks if task.block in blocks]

    def missing(self) -> Iterator[Task]:
        """Yields the blocks that have not been played, until the pairing is over."""
        for task in self.pairing.tasks:
            if self.over:
                return
            if task.block not in self._blocks:
                yield task

    def deals_left(self) -> int:
        if self.over:
            return 0
        return self.pairing.deals - sum(block.task.deals for block in self._blocks.values())

    def played(self) -> Played:
        return Played(
            self.pairing,
            tuple(self._blocks[block] for block in range(self._counted)),
            self._test.verdict() if self._test else None,
            tuple(dict.fromkeys(self.pairing.agents[player] for player in self._forfeited)),
        )

    def _count(self, block: BlockResult) -> None:
        self._counted += 1
        self.over = self._counted == len(self.pairing.tasks)
        if self._test:
            values = block.points.sum(axis=0) / block.rounds.sum(axis=0)
            self.over |= self._test.add(values) is not None
        # Each block builds its own instances of a bot, so their faults are added up.
        self._faults.update(player for player, _ in block.faults)
        out = {player for player, faults in self._faults.items() if faults >= FAULTS}
        self._forfeited = out.union(block.forfeited)
        self.over |= bool(self._forfeited)


class Tournament:
    """A tournament that plays a plan, or another schedule.

    Args:
        plan: the schedule.
        identities: digests of its agents (``Schedule.check_agents``); None: agents do not change.
    """

    def __init__(self, plan: Schedule, identities: Identities | None = None) -> None:
        self.plan = plan
        self.identities = identities or Identities()
        self.ledgers = {pairing.tasks[0].agents: Ledger(pairing) for pairing in plan.pairings()}
        """The pairings by the texts of their agents."""

    def tasks(self) -> list[Task]:
        """Returns every block, played or not."""
        return [task for ledger in self.ledgers.values() for task in ledger.pairing.tasks]

    def add(self, results: Iterable[BlockResult]) -> None:
        """Adds blocks that have been played before."""
        for result in results:
            self.ledgers[result.task.agents].add(result)

    def play(
        self,
        *,
        workers: int = 1,
        file: ResultsFile | None = None,
        games: GamesFolder | None = None,
        progress: Callable[[BlockResult], None] | None = None,
    ) -> None:
        """Plays the missing blocks; after an exception, what has been played stays.

        Args:
            workers: number of workers, which changes no result.
            file: stores the blocks.
            games: stores the games, those of a block before the block itself.
            progress: called after each block.

        Raises:
            AgentError: what a block raised.
            WorkerError: if a worker died; it names the pairings that were being played.
        """
        missing = (task for ledger in self.ledgers.values() for task in ledger.missing())
        for result in play_blocks(missing, workers, save=games is not None):
            # If an agent has changed since, nobody knows which version of it played the block. The
            # file of results checks the same itself.
            if games and not self.identities.changed(self.plan.specs_of(result.task)):
                games.write(result.task, result.games)
            if file is not None:
                file.append(result)
            self.add([replace(result, games=())])
            if progress is not None:
                progress(result)
        if games is not None:
            # When a pairing was decided, workers may already have been playing later blocks.
            games.keep(self.kept())

    def kept(self) -> list[Task]:
        """Returns the played blocks that count, or will count if the blocks before them do."""
        return [task for ledger in self.ledgers.values() for task in ledger.kept()]

    def played(self) -> list[Played]:
        """Returns the pairings that are over."""
        return [ledger.played() for ledger in self.ledgers.values() if ledger.over]

    def deals_left(self) -> int:
        """Returns the number of deals that are left if no pairing ends early."""
        return sum(ledger.deals_left() for ledger in self.ledgers.values())


def play_blocks(
    tasks: Iterable[Task], workers: int = 1, *, save: bool = False
) -> Iterator[BlockResult]:
    """Yields the results of blocks as they are finished, in any order.

    Args:
        tasks: one is taken whenever a worker is free, so the iterator may end early.
        workers: number of workers; with one the blocks are played in this process.
        save: let the results hold the games.
    """
    work = partial(play_block, save=save, guarded=True)
    try:
        yield from on_workers(work, tasks, workers)
    except WorkerError as error:
        names = {" against ".join(map(short_name, task.agents)): task for task in error.items}
        text = f"{error}\nplayed: {', '.join(names)}"
        if any(is_own(spec) for task in names.values() for spec in task.agents):
            text += '; "exec:goita bot MODULE:CLASS" plays a class in processes of its own'
        raise WorkerError(text, error.items) from error


def play_pair(
    a: str | Agent | type,
    b: str | Agent | type,
    deals: int,
    *,
    seed: int = 0,
    rules: str | Rules = "jga",
    episode: Episode = "round",
    information: InformationStructure = PLAIN,
) -> PairResult:
    """Plays two agents against each other in this process, block by block.

    Args:
        a: an agent, its class or its text; results are from its side.
        b: another, or the same.
        deals: number of deals, at least 2; each is played twice.
        seed: of deals and players.
        rules: a rule set or its name.
        episode: "round", or "match": each deal begins a whole match.
        information: shown tiles and messages.

    Raises:
        AgentError, SettingError: if an argument is impossible, before anything is played.
    """
    # Texts stay texts, so that each block may build the agents; classes are built here.
    specs = tuple(spec if isinstance(spec, str) else build_agent(spec) for spec in (a, b))
    check_names(spec for spec in specs if isinstance(spec, str))
    built: list[Agent] = []
    try:
        players = [_shared(spec, built, get_rules(rules), information) for spec in specs]
        texts = tuple(spec if isinstance(spec, str) else spec.name for spec in specs)
        names = tuple(map(short_name, texts))
        results: list[BlockResult] = []
        planned = tasks(
            texts, deals, seed=seed, rules=rules, episode=episode, information=information
        )
        for task in planned:
            with one_thread():
                results.append(play_block(task, players))
        return PairResult.of(Played(Pairing(names, tuple(planned)), tuple(results)))
    finally:
        close(built)


def _shared(
    spec: str | Agent, built: list[Agent], rules: Rules, information: InformationStructure
) -> Agent | None:
    """Returns the agent for all blocks, or None if each block is to build its own.

    An agent that is built here from a text is added to ``built``, which the caller closes.
    """
    if not isinstance(spec, str):
        check_plays(spec, spec.name, information)
        return spec
    built.append(build_agent(spec, rules, information))
    warm_up(spec, rules, information)
    return built[-1] if may_share(built[-1], spec) else None


Stop = GoitaError | OSError | KeyboardInterrupt
"""Exceptions that end play early; blocks that were played until then stay."""


def play_schedule(
    plan: Schedule,
    *,
    workers: int = 1,
    results: Path | None = None,
    games: Path | None = None,
    anew: bool = False,
) -> tuple[Tournament, Stop | None]:
    """Plays what is missing of a schedule, with a line of progress on standard error.

    Args:
        plan: the schedule.
        workers: number of workers, which changes no result.
        results: file of finished blocks, from which play continues; None: no file.
        games: folder to which the games are written; None: they are not saved.
        anew: begin file and folder anew, whatever they hold.

    Returns:
        The tournament, and what ended it early (None: all is played).
    """
    tournament = Tournament(plan, plan.check_agents())
    file = None if results is None else ResultsFile(results, plan, tournament.identities, anew=anew)
    if file is not None:
        tournament.add(file.blocks)
        sys.stderr.write(file.note)
    folder = None if games is None else GamesFolder(games, plan, tournament.identities, anew=anew)
    if folder is not None:
        folder.check_whole(tournament.kept())
    show, played = stderr_progress(), 0

    def note(result: BlockResult) -> None:
        nonlocal played
        played += result.task.deals
        # The total shrinks when a pairing is decided early.
        show("deals of all pairings", played, played + tournament.deals_left())

    try:
        # Standard output is for the tables, so what a user's class prints goes to standard error.
        with file or nullcontext(), redirect_stdout(sys.stderr):
            tournament.play(workers=workers, file=file, games=folder, progress=note)
    except (GoitaError, OSError, KeyboardInterrupt) as error:
        return tournament, error
    return tournament, None


def exit_code(tournament: Tournament, stop: Stop | None, results: Path | None) -> int:
    """Returns a command's exit code after ``play_schedule``; says on standard error why it stopped.

    ``results``: the file from which the same command continues; None: unfinished pairings are lost.
    """
    if stop is None:
        return 0
    reason = "" if isinstance(stop, KeyboardInterrupt) else f"{stop}\n"
    outlook = "the same command continues" if results else "without --results the rest is lost"
    sys.stderr.write(f"\n{reason}stopped with {tournament.deals_left():,} deals left; {outlook}\n")
    return 130 if isinstance(stop, KeyboardInterrupt) else 1
