"""Keeps entries of the benchmark in a file of the repository, and plays samples of them again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from goita_agents.files import locked, read_limited, write_whole
from goita_agents.registry import check_shipped, short_name
from goita_env.errors import SettingError
from goita_env.rounds import Episode
from goita_lab.arena.coordination.benchmark import Benchmark
from goita_lab.arena.coordination.results import Estimate, Results
from goita_lab.arena.coordination.task import VALIDATION, test_task
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.processes import one_thread

FORMAT: Final = "goita-leaderboard-1"
MOST_BYTES: Final = 1 << 24
TOLERANCE: Final = 0.05
"""Points a round by which a cell may differ when it is played again: another processor rounds a
network's outputs differently, which now and then decides a tie."""

Points = Annotated[float, Meta(ge=-1_000, le=1_000)]
Bounds = tuple[Points, Points, Points]
"""A mean with its 95 % interval."""


class Entered(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An entry."""

    name: str
    agent: str
    """Its text, by which it is played again."""
    task: Literal["validation", "test"]
    episode: Episode
    speak: bool
    seed: Annotated[int, Meta(ge=0)]
    deals: Annotated[int, Meta(ge=2)]
    """Of each cell."""
    regret: Bounds
    """Over partners."""
    points: Bounds
    self_play: Bounds
    """Over deals: strength."""
    cells: dict[str, dict[str, Points]]
    """Points a round by partner and opponent."""
    weights: dict[str, str]
    """SHA-256 of the networks that play, by the text of each."""
    versions: dict[str, str]
    command: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal["goita-leaderboard-1"]
    entries: tuple[Entered, ...]


def read(path: Path) -> tuple[Entered, ...]:
    """Returns the entries of a file, none where there is no file.

    Raises:
        SettingError: if it is malformed.
        OSError: if it cannot be read.
    """
    if not path.exists():
        return ()
    try:
        return msgspec.json.decode(read_limited(path, MOST_BYTES), type=_File).entries
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SettingError(f"expected a leaderboard of {FORMAT} in {path}: {error}") from error


def enter(path: Path, results: Results) -> None:
    """Adds the agents of a benchmark, each in place of an entry of its name and task.

    Raises:
        SettingError: if an agent's figures are no entry: it forfeited, or has marks.
        OSError: if the file cannot be read or written.
    """
    plan = results.benchmark
    told = results.to_json()
    new = []
    for agent, entry in zip(plan.agents, results.entries, strict=True):
        wrong = [*entry.marks, *(["it forfeited"] if entry.forfeited else []), *entry.left_out]
        if wrong or entry.self_play is None:
            raise SettingError(f"expected an entry without marks, got {agent}: {', '.join(wrong)}")
        cells: dict[str, dict[str, float]] = {}
        for row in entry.cells:
            cells.setdefault(row.partner, {})[row.opponents] = row.figures["points"].mean
        new.append(
            {
                **{name: told[name] for name in ("task", "episode", "seed", "versions", "command")},
                "name": entry.agent,
                "agent": agent,
                "speak": plan.speak,
                "deals": entry.deals,
                "regret": _bounds(entry.totals["regret"]),
                "points": _bounds(entry.totals["points"]),
                "self_play": _numbers(entry.self_play),
                "cells": cells,
                "weights": told["weights"],
            }
        )
    added = msgspec.convert(new, tuple[Entered, ...])
    with locked(path, "a leaderboard", wait=True):
        named = {(one.name, one.task): one for one in (*read(path), *added)}
        ranked = tuple(sorted(named.values(), key=lambda one: (one.task, one.regret[0])))
        data = msgspec.json.format(msgspec.json.encode(_File(FORMAT, ranked)), indent=1)
        write_whole(path, data + b"\n")


def check(
    entry: Entered, cells: int, seed: int, agent: str | None = None
) -> Iterator[tuple[str, float, float]]:
    """Plays some cells of an entry again, and yields title, points as entered, and points found.

    Args:
        entry: the entry.
        cells: how many, drawn at random.
        seed: of the draw.
        agent: its text, if that names a file or code, which a leaderboard may not.

    Raises:
        AgentError, SettingError: if the agent cannot be built, or a cell is none of the task.
    """
    task = VALIDATION if entry.task == "validation" else test_task()
    spec = agent or check_shipped(entry.agent, "a leaderboard")
    plan = Benchmark(
        (spec,),
        task,
        entry.seed,
        episode=entry.episode,
        speak=entry.speak,
        fewer_deals=((entry.deals, spec),),
    )
    tournament = Tournament(plan)
    tables = {
        (short_name(partner.spec), short_name(opponent)): plan.cell(spec, partner, opponent)
        for partner in task.partners
        for opponent in task.against(partner)
    }
    known = [(one, other) for one, against in entry.cells.items() for other in against]
    if missing := {*known} - {*tables}:
        raise SettingError(f"expected cells of the task, got {sorted(missing)[0]}")
    drawn = np.random.default_rng(seed).permutation(len(known))[:cells]
    for partner, opponent in (known[number] for number in drawn.tolist()):
        ledger = tournament.ledgers[tables[partner, opponent]]
        for block in ledger.missing():
            with one_thread():
                ledger.add(play_block(block, guarded=True))
        played = ledger.played()
        points = float(played.games("points").sum() / played.games("rounds").sum())
        yield f"{partner} against {opponent}", entry.cells[partner][opponent], points


def _bounds(estimate: Estimate) -> Bounds:
    return _numbers(estimate.over_partners or estimate.over_deals)


def _numbers(interval: Interval) -> Bounds:
    mean, low, high = (round(one, 3) for one in (interval.mean, interval.low, interval.high))
    return mean, low, high
