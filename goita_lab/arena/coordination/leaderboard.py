"""Keeps entries of the benchmarks in files of the repository, and checks played entries.

A played entry has the points of every cell. ``check`` computes its figures again from the cells,
compares the digests of the agents, and plays a sample of the cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from goita_agents.files import decode, json_text, locked, write_whole
from goita_agents.identity import Identities
from goita_agents.registry import check_shipped, short_name
from goita_env.checks import read_limited
from goita_env.errors import SettingError
from goita_env.rounds import Episode
from goita_env.rules import JGA
from goita_lab.arena.coordination.benchmark import Benchmark
from goita_lab.arena.coordination.results import Results
from goita_lab.arena.coordination.task import VALIDATION, CoordinationTask, test_task
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.work import one_thread

FORMAT: Final = "goita-leaderboard-2"
EXACT_FORMAT: Final = "goita-exact-leaderboard-1"
MAX_LEADERBOARD_BYTES: Final = 1 << 24
CHECKED_CELLS: Final = 3
"""Cells of an entry that are played again."""
CELL_TOLERANCE: Final = 0.05
"""Points per round by which a cell may differ when it is played again: another processor rounds a
network's outputs differently, which sometimes decides a tie."""
FIGURE_TOLERANCE: Final = 0.001
"""Points per round by which a figure may differ from the one that its cells give."""

Points = Annotated[float, Meta(ge=-1_000, le=1_000)]
Cells = dict[str, dict[str, Points]]


class Figures(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The figures that follow from the cells, in points per round."""

    points: tuple[Points, Points, Points]
    """With unknown partners: the mean with its 95 % interval over partners."""
    self_play: Points
    """Points in self-play: strength."""
    worst: Points
    """Points with the partner with which it makes least."""


class Entry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The fields that entries of both leaderboards have."""

    name: str
    agent: str
    """Text of the agent, by which it is measured again."""

    @property
    def rank(self) -> float:
        """The first key by which the entries of a split are sorted; the second is the name."""
        return 0

    @property
    def ranking(self) -> tuple[str, ...]:
        """The ranking to which the entry belongs: an entry replaces one of its name only there."""
        raise NotImplementedError


class PlayedEntry(Entry, frozen=True):
    """An entry of the benchmark in the full game."""

    split: Literal["validation", "test"] = msgspec.field(name="task")
    episode: Episode
    speak: bool
    seed: Annotated[int, Meta(ge=0)]
    deals: Annotated[int, Meta(ge=2)]
    """Number of deals of each cell."""
    figures: Figures
    cells: Cells
    """Points per round by partner and opponent; self-play is under the agent's own name."""
    weights: dict[str, str]
    """Digest of each agent that plays (``goita_agents.identity``), by its name."""
    versions: dict[str, str]
    command: str

    @property
    def rules(self) -> str:
        """The name of the game."""
        return JGA.name

    @property
    def rank(self) -> float:
        """Minus the points: the entry with most points is first."""
        return -self.figures.points[0]

    @property
    def ranking(self) -> tuple[str, ...]:
        """Game, split and episode, and whether the agent sends messages."""
        return self.rules, self.split, self.episode, str(self.speak)


class ExactEntry(Entry, frozen=True):
    """An entry of the exact benchmark in a small game (``goita_lab.exact.entries``)."""

    rules: str
    split: Literal["train", "validation", "test"]
    points: dict[str, tuple[Points, Points, Points, Points]]
    """Points per round, by partner and opponents."""
    strength: Points
    weights: str
    """Digest of the agent (``goita_agents.identity``); empty: it has none."""
    versions: dict[str, str]

    @property
    def ranking(self) -> tuple[str, ...]:
        """Game and split."""
        return self.rules, self.split


class PlayedBoard(msgspec.Struct, forbid_unknown_fields=True, tag_field="format", tag=FORMAT):
    """The file of a leaderboard of the full game."""

    entries: tuple[PlayedEntry, ...]


class ExactBoard(msgspec.Struct, forbid_unknown_fields=True, tag_field="format", tag=EXACT_FORMAT):
    """The file of a leaderboard of small games."""

    entries: tuple[ExactEntry, ...]


Board = PlayedBoard | ExactBoard


def read(path: Path) -> Board:
    """Reads a leaderboard of either format.

    Raises:
        SettingError: the file does not exist, or is not a leaderboard.
        OSError: the file cannot be read.
    """
    expected = f"a leaderboard of {FORMAT} or {EXACT_FORMAT} in {path}"
    if not path.exists():
        raise SettingError(f"expected {expected}, got no such file")
    kind: Any = Board
    board: Board = decode(read_limited(path, MAX_LEADERBOARD_BYTES), kind, expected)
    return board


def read_for(path: Path, kind: type[Board]) -> Board:
    """Reads the leaderboard of a kind of entries; returns a new one if there is no file.

    Raises:
        SettingError: the file is no leaderboard of the kind.
        OSError: the file cannot be read.
    """
    board = read(path) if path.exists() else kind(())
    if type(board) is not kind:
        raise SettingError(f"expected a leaderboard of the same benchmark, got {path}")
    return board


def add(path: Path, added: Board) -> None:
    """Adds entries to a file; each replaces an entry with the same name and ranking.

    Raises:
        SettingError: the file is not a leaderboard of the same format.
        OSError: the file cannot be read or written.
    """
    with locked(path, "a leaderboard", wait=True):
        board = read_for(path, type(added))
        entries = *board.entries, *added.entries
        named = {(entry.ranking, entry.name): entry for entry in entries}
        ranked = sorted(named.values(), key=lambda entry: (entry.ranking, entry.rank, entry.name))
        updated = msgspec.structs.replace(board, entries=tuple(ranked))
        write_whole(path, json_text(msgspec.to_builtins(updated), escape=False))


def enter(path: Path, results: Results) -> None:
    """Adds the agents of a benchmark; each replaces an entry of its name and ranking."""
    plan = results.benchmark
    fields = results.to_json()
    shared = {name: fields[name] for name in ("task", "episode", "seed", "versions", "command")}
    new: list[dict[str, Any]] = []
    for agent, entry in zip(plan.agents, results.entries, strict=True):
        wrong = [*entry.marks, *(["it forfeited"] if entry.forfeited else []), *entry.left_out]
        if wrong or entry.self_play is None:
            raise SettingError(f"expected an entry without marks, got {agent}: {', '.join(wrong)}")
        cells: Cells = {}
        for row in entry.cells:
            cells.setdefault(row.partner, {})[row.opponents] = row.points.mean
        new.append(
            {
                **shared,
                "name": entry.agent,
                "agent": agent,
                "speak": plan.speak,
                "deals": entry.deals,
                "figures": figures(entry.agent, plan.task, cells),
                "cells": cells,
                "weights": _by_name(results.digests, (agent, *plan.task.specs)),
            }
        )
    add(path, PlayedBoard(msgspec.convert(new, tuple[PlayedEntry, ...])))


def figures(name: str, task: CoordinationTask, cells: Mapping[str, Mapping[str, float]]) -> Figures:
    """Returns the figures that follow from the cells of an agent."""
    expected = {
        short_name(partner.spec): {*map(short_name, task.against(partner))}
        for partner in task.partners
    }
    expected[name] = {*map(short_name, task.opponents)}
    entered = {partner: {*against} for partner, against in cells.items()}
    if entered != expected:
        wrong = next(row for row in [*expected, *entered] if entered.get(row) != expected.get(row))
        raise SettingError(
            f"expected cells of {name} with every partner of the task and with itself against "
            f"every opponent, got others with {wrong}"
        )
    partners = [short_name(partner.spec) for partner in task.partners if partner.counted]
    means = [float(np.mean([*cells[partner].values()])) for partner in partners]
    if len(means) > 1:
        points = mean_interval(means)
    else:  # a single partner has no interval
        points = Interval(mean=means[0], low=means[0], high=means[0])
    mean, low, high = (round(bound, 3) for bound in (points.mean, points.low, points.high))
    self_play = float(np.mean([*cells[name].values()]))
    return Figures((mean, low, high), round(self_play, 3), round(min(means), 3))


def check(entry: PlayedEntry, seed: int, agent: str | None = None) -> Iterator[str]:
    """Checks an entry, and yields a sentence for each difference.

    Args:
        entry: the entry.
        seed: of the draw of the cells that are played again.
        agent: the text of the agent, which the entry's own text must not be if it names a file or
            code.
    """
    task = VALIDATION if entry.split == "validation" else test_task()
    spec = agent or check_shipped(entry.agent, "a leaderboard")
    yield from _check_figures(entry, task)
    plan = Benchmark(
        (spec,),
        task,
        entry.seed,
        episode=entry.episode,
        speak=entry.speak,
        fewer_deals=((entry.deals, spec),),
    )
    entered, now = entry.weights, _by_name(Identities(plan.specs).digests, plan.specs)
    for name in sorted({*entered, *now}):
        if entered.get(name) != now.get(name):
            yield f"weights of {name}: {entered.get(name)} entered, {now.get(name)} here"
    yield from _check_cells(entry, plan, seed)


def _check_figures(entry: PlayedEntry, task: CoordinationTask) -> Iterator[str]:
    """Yields a sentence for each figure that does not follow from the entry's cells."""
    computed = msgspec.to_builtins(figures(entry.name, task, entry.cells))
    for name, value in msgspec.to_builtins(entry.figures).items():
        if np.abs(np.subtract(value, computed[name])).max() > FIGURE_TOLERANCE:
            yield f"{name}: {value} entered, {computed[name]} by its cells"


def _check_cells(entry: PlayedEntry, plan: Benchmark, seed: int) -> Iterator[str]:
    """Plays a random sample of cells again; yields a sentence for each that has other points.

    ``plan`` has the entry's agent only, and ``seed`` draws the cells.
    """
    (spec,), task, tournament = plan.agents, plan.task, Tournament(plan)
    # The cells by the names of partner and opponent. In self-play the agent is its own partner.
    cells = {
        (short_name(partner.spec), short_name(opponent)): plan.cell(spec, partner, opponent)
        for partner in task.partners
        for opponent in task.against(partner)
    }
    cells |= {
        (entry.name, short_name(opponent)): (spec, spec, opponent) for opponent in task.opponents
    }
    drawn = np.random.default_rng(seed).permutation(len(cells))[:CHECKED_CELLS]
    for partner, opponent in (list(cells)[index] for index in drawn.tolist()):
        ledger = tournament.ledgers[cells[partner, opponent]]
        for block in ledger.missing():
            with one_thread():
                ledger.add(play_block(block, guarded=True))
        played = ledger.played()
        points = float(played.games("points").sum() / played.games("rounds").sum())
        value = entry.cells[partner][opponent]
        if abs(points - value) > CELL_TOLERANCE:
            yield f"{partner} against {opponent}: {value:+.3f} entered, {points:+.3f} found"


def _by_name(digests: Mapping[str, str], specs: Iterable[str]) -> dict[str, str]:
    """Returns the digests of agents by their names; agents without a digest are left out."""
    return {short_name(spec): digests[spec] for spec in specs if spec in digests}
