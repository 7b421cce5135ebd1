"""Runs an analysis: deals side by side, each kept as it ends, so that a stopped one goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from agents.files import write_whole
from agents.registry import network_file, source_hash
from agents.solver.engine import load_kernel
from agents.tournament.workers import on_processes
from agents.watch.analysis import analyse_deal, key_of
from agents.watch.analyst import Analyst
from agents.watch.decisions import Decision, Settings
from agents.watch.reading import Source
from goita_env import __version__
from goita_env.errors import SettingError
from goita_env.records import DealRecord

PARTS: Final = "goita-analysis-parts-1"
"""Names a file of parts; grows when what they hold changes."""

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
        keep: a file that is written as each deal ends; one that an earlier run with the same
            settings left is gone on with. None: nothing is kept.
        progress: called with the number of deals that are done, and of all.

    Raises:
        AgentError: if the agent cannot analyse.
        SettingError: if the file holds something else, or the number of workers is not above 0.
        WorkerError: if a process died.
        OSError: if the file cannot be read or written.
    """
    if workers < 1:
        raise SettingError(f"expected 1 worker or more, got {workers!r}")
    analyst = Analyst(settings.agent, settings.tremble)
    wanted = {key_of(one.deal): one.deal for one in source.deals}
    head = _head(settings)
    found = _read(keep, head) if keep is not None and keep.exists() else {}
    found = {key: found[key] for key in wanted if key in found}
    missing = [deal for key, deal in wanted.items() if key not in found]
    if progress is not None:
        progress(len(found), len(wanted))
    if missing:
        load_kernel()  # compiled once, not in every process
    work = partial(_analyse, settings)
    for key, decisions in on_processes(work, missing, min(workers, max(1, len(missing)))):
        found[key] = decisions
        if keep is not None:
            write_whole(keep, _text(head, found))
        if progress is not None:
            progress(len(found), len(wanted))
    deals = tuple(found[key_of(one.deal)] for one in source.deals)
    return Analysis(settings, analyst.policy, analyst.assumed, deals)


def _analyse(settings: Settings, deal: DealRecord) -> tuple[str, Decisions]:
    """Returns a deal's key and its decisions."""
    return key_of(deal), analyse_deal(deal, settings)


def _head(settings: Settings) -> dict[str, Any]:
    """Returns what parts must have in common to be of one analysis."""
    file = network_file(settings.agent)
    weights = None if file is None else sha256(Path(file).read_bytes()).hexdigest()
    head = {"format": PARTS, "version": __version__, **asdict(settings)}
    return head | {"source": source_hash(settings.agent), "weights": weights}


def _text(head: Mapping[str, Any], found: Mapping[str, Decisions]) -> str:
    """Returns parts as a file holds them."""
    deals = {key: [asdict(one) for one in decisions] for key, decisions in found.items()}
    return json.dumps({**head, "deals": deals}, separators=(",", ":"))


def _read(file: Path, head: Mapping[str, Any]) -> dict[str, Decisions]:
    """Returns the parts in a file; none if they are of an analysis with other settings.

    Raises:
        SettingError: if it is no file of parts.
        OSError: if it cannot be read.
    """
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if told["format"] != PARTS:
            raise ValueError(f"expected format {PARTS}, got {told['format']!r}")
        deals = told.pop("deals")
        if told != head:
            return {}
        return {key: tuple(map(Decision.from_json, deal)) for key, deal in deals.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SettingError(
            f"expected parts of an analysis in {str(file)!r}, got something else ({error!r}); "
            "remove it to begin anew"
        ) from error
