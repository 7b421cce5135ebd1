"""Runs an analysis: deals side by side, each kept as it ends, so that a stopped one goes on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from agents.grading.grades import PHASES
from agents.parts import Parts, pack
from agents.registry import content_hash
from agents.solver.engine import load_kernel
from agents.tournament.workers import on_processes
from agents.watch.analysis import analyse_deal, key_of
from agents.watch.analyst import Analyst
from agents.watch.decisions import BEFORE_PLAY, Decision, Kinds, Settings
from agents.watch.reading import Source
from goita_env import __version__, actions
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_env.tiles import NUM_KINDS, NUM_SEATS

FORMER: Final = b'{"format":"goita-analysis-parts-1"'
"""How a file of parts began in version 0.2.0."""

ACTIONS: Final = frozenset(map(actions.name, range(actions.NUM_ACTIONS)))
"""How records write actions."""

Decisions = tuple[Decision, ...]


@dataclass(frozen=True)
class Analysis:
    """Holds what an analysis says of the deals of a page."""

    settings: Settings
    policy: str
    """The policy whose probabilities are shown, in words."""
    assumed: str
    """As what a listening partner hears the mover, in words."""
    deals: tuple[Decisions, ...]
    """The decisions of each deal, in order."""


def run(
    source: Source,
    settings: Settings,
    *,
    workers: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Analysis:
    """Analyses the deals of a source.

    Args:
        source: the deals.
        settings: how.
        workers: processes, each a deal at a time; they change no result.
        keep: a file to which each deal is added as it ends; one that an earlier run with the same
            settings left is gone on with, one with other settings begun anew. None: nothing is
            kept.
        progress: called with the number of deals that are done, and of all.

    Raises:
        AgentError: if the agent cannot analyse.
        SettingError: if the file holds something else or another program has it open, or the number
            of workers is not above 0.
        WorkerError: if a process died.
        OSError: if the file cannot be read or written.
    """
    if workers < 1:
        raise SettingError(f"expected 1 worker or more, got {workers!r}")
    analyst = Analyst(settings.agent, settings.tremble)
    wanted = {key_of(one.deal): one.deal for one in source.deals}
    arguments = _arguments(settings)
    kind = "parts of an analysis"
    with Parts(keep, kind, arguments, FORMER) if keep is not None else nullcontext() as parts:
        kept = parts.found.keys() & wanted.keys() if parts else set()
        found = {key: parts.value(key, Decisions, _check) for key in kept} if parts else {}
        missing = [deal for key, deal in wanted.items() if key not in found]
        if progress is not None:
            progress(len(found), len(wanted))
        if missing:
            load_kernel()  # compiled once, not in every process
        work = partial(_analyse, settings)
        for key, decisions in on_processes(work, missing, min(workers, max(1, len(missing)))):
            found[key] = decisions
            if parts is not None:
                parts.add(key, pack(decisions))
            if progress is not None:
                progress(len(found), len(wanted))
    deals = tuple(found[key_of(one.deal)] for one in source.deals)
    return Analysis(settings, analyst.policy, analyst.assumed, deals)


def _analyse(settings: Settings, deal: DealRecord) -> tuple[str, Decisions]:
    """Returns a deal's key and its decisions."""
    return key_of(deal), analyse_deal(deal, settings)


def _check(decisions: Decisions) -> None:
    """Checks that decisions speak of actions, seats and phases that there are.

    Raises:
        SettingError: if one does not.
    """
    for one in decisions:
        names = [option.action for option in one.options]
        lengths = {len(kinds) for pair in _kinds(one) for kinds in pair}
        if not (
            one.seat in range(NUM_SEATS)
            and {one.action, one.best, *names} <= ACTIONS
            and (not names or {one.action, one.best} <= set(names))
            and one.phase in (BEFORE_PLAY, *PHASES)
            and lengths <= {NUM_KINDS}
        ):
            raise SettingError(f"expected a decision as it was written, got move {one.move!r}")


def _kinds(decision: Decision) -> tuple[Kinds, ...]:
    """Returns what a decision says kind by kind."""
    heard = decision.heard
    return () if heard is None else (heard.expected, heard.at_least_one)


def _arguments(settings: Settings) -> dict[str, Any]:
    """Returns what parts must have in common to be of one analysis."""
    return {"version": __version__, **asdict(settings), "files": content_hash(settings.agent)}
