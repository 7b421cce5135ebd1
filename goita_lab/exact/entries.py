"""Measures agents by the exact benchmark of unknown partners; keeps and checks entries.

An entry has the points of every cell, from which all its figures follow. ``check`` computes the
cells again, for nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
from scipy.stats import spearmanr

from goita_agents.asking import check_agents, fault_lines
from goita_agents.base import Float
from goita_agents.faults import Fault
from goita_agents.files import locked
from goita_agents.identity import Identities
from goita_agents.registry import check_distinct, check_shipped, short_name
from goita_env.errors import SettingError
from goita_env.rules import Rules, get_rules
from goita_lab.arena.coordination.leaderboard import Points, read_board, write_board
from goita_lab.arena.report.figures import signed
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.exact.teamwork import OPPONENTS, Benchmark, Players, Score, Split, policy_of, shipped
from goita_lab.exact.tree import Channel, enumerate_game
from goita_lab.provenance import marks, provenance

FORMAT: Final = "goita-exact-leaderboard-1"
TOLERANCE: Final = 0.001
"""Points by which a cell may differ when it is computed again: another processor rounds a network's
outputs differently."""

LEGEND: Final = (
    "Exact expectations, mean over partners, opponents and seats; (controls) in brackets. Regret: "
    "what the best response to the partner and its opponents makes more. Left: the regret above "
    "that of the best player who does not know them. Listeners know the partner's signals. "
    "Strength: with a copy of itself against the equilibria."
)


@dataclass(frozen=True)
class Row:
    """An agent and what it makes."""

    name: str
    agent: str  #: Its text; empty: it is a control.
    weights: str  #: Its digest (``goita_agents.identity``); empty where it has none.
    score: Score
    train: Score  #: With the partners of the train split.
    faults: tuple[Fault, ...] = ()
    """Actions that are missing or illegal: all legal ones stand for each, equally likely."""


@dataclass(frozen=True)
class Found:
    """What was measured in one game, the least regret first."""

    rules: str  #: Its name, with "-message" if the dealer sends one.
    split: Split
    partners: tuple[str, ...]
    train_partners: tuple[str, ...]
    rows: tuple[Row, ...]
    made: dict[str, Any]
    """What the agents were made of, and which of them changed while they were asked."""

    def rank_correlation(self, *, controls: bool) -> float | None:
        """Returns Spearman's of the regret with weakness; None where it says nothing."""
        rows = [row for row in self.rows if controls or row.agent]
        if len(rows) < 4:
            return None
        regret = [row.score.regret.mean() for row in rows]
        return float(spearmanr(regret, [-row.score.strength for row in rows]).statistic)

    def to_json(self) -> dict[str, Any]:
        """Returns all figures: points and regrets by partner and opponents."""
        return {
            "rules": self.rules,
            "split": self.split,
            "opponents": OPPONENTS,
            "partners": self.partners,
            "train_partners": self.train_partners,
            "agents": [
                {
                    "name": row.name,
                    "agent": row.agent,
                    "strength": row.score.strength,
                    "faults": len(row.faults),
                    **_figures(row.score, ""),
                    **_figures(row.train, "train_"),
                }
                for row in self.rows
            ],
            "rank_correlation": {
                "all": self.rank_correlation(controls=True),
                "agents": self.rank_correlation(controls=False),
            },
            **self.made,
        }


def _figures(score: Score, before: str) -> dict[str, Any]:
    found = {
        "points": score.points.tolist(),
        "regret": score.regret.tolist(),
        "price": score.price,
        "left": score.left,
    }
    return {before + name: value for name, value in found.items()}


class Measure:
    """The benchmark of one game, with the partners of a split and those of the train split.

    Args:
        rules: the game, or its name.
        split: whose partners are met.
        message: the game in which the dealer sends its partner one bit before play. Agents don't
            observe it, and send either with the same probability; players of this game do.
    """

    def __init__(self, rules: str | Rules, split: Split, *, message: bool = False) -> None:
        self.game = shipped(get_rules(rules), message=message).stem
        self.identities = Identities()
        self.tree = enumerate_game(rules, channel=Channel() if message else None)
        self.players = Players.load(self.tree)
        self.met = Benchmark(self.tree, self.players, split)
        self.train = Benchmark(self.tree, self.players, "train")

    def agent_row(self, name: str, spec: str) -> Row:
        """Measures a player of the benchmark, by its name, or an agent by its text."""
        if spec in self.players.names:
            return self.row(name, self.players.policies[self.players.names.index(spec)], spec)
        if spec not in self.identities.specs:
            self.identities.add(spec)
        policy, faults = policy_of(self.tree, spec)
        return self.row(name, policy, spec, faults)

    def row(self, name: str, policy: Float, agent: str = "", faults: tuple[Fault, ...] = ()) -> Row:
        """Measures a policy [A]; the other arguments are fields of the row."""
        digest = self.identities.digests.get(agent, "")
        return Row(name, agent, digest, self.met.score(policy), self.train.score(policy), faults)

    def controls(self) -> Iterator[Row]:
        """Yields what the figures of agents are compared with."""
        tree, table, players = self.tree, self.met.table, self.players
        yield self.row("best without knowing, these partners", self.met.bayes)
        yield self.row("best without knowing, train partners", self.train.bayes)
        pairs = [(tree.uniform(), other) for other in players.equilibria]
        yield self.row("best response to uniform play", table.best(pairs)[1])
        one = players.of("train")[0]
        best = table.best(players.types(tree, one))[1]
        yield self.row(f"best response to {players.names[one]}", best)
        yield self.row(OPPONENTS[0], players.equilibria[0])
        yield self.row("uniform play", tree.uniform())

    def measure(self, agents: Sequence[str]) -> Found:
        """Measures agents and controls; every agent is built before anything is computed.

        Raises:
            AgentError: if an agent cannot be measured, or has the name of another agent or of
                another player of the benchmark.
        """
        check_distinct((*agents, *(name for name in self.players.names if name not in agents)))
        own = [spec for spec in agents if spec not in self.players.names]
        check_agents(own, self.tree.rules, identities=self.identities)
        rows = [self.agent_row(short_name(spec), spec) for spec in agents]
        rows += self.controls()
        rows.sort(key=lambda row: row.score.regret.mean())
        partners = self.met.partners, self.train.partners
        made = provenance(self.identities)
        return Found(self.game, self.met.split, *partners, tuple(rows), made)


def table(found: Found) -> Table:
    """Returns the table of agents and controls, the least regret first."""
    rows = []
    for row in found.rows:
        regret, train = row.score.regret, row.train
        figures = (
            *(regret.mean(), regret[:, :2].mean(), regret[:, 2:].mean(), row.score.left),
            *(train.regret.mean(), train.left),
        )
        rows.append(
            (
                row.name if row.agent else f"({row.name})",
                signed(float(row.score.points.mean())),
                *(f"{figure:.2f}" for figure in figures),
                signed(row.score.strength),
            )
        )
    heads = ("agent", "points", "regret", "with equilibria", "with listeners", "left")
    title = f"{found.rules}: points a round with unknown partners, {found.split} split; controls ()"
    return Table(title, (*heads, "train: regret", "left", "strength"), tuple(rows))


def terminal(found: Found) -> str:
    """Returns the table and what its figures mean, for a terminal."""
    ranks = {name: found.rank_correlation(controls=name == "all") for name in ("all", "agents")}
    told = [
        f"rank correlation of low regret with strength, {name}: {figure:.2f}"
        for name, figure in ranks.items()
        if figure is not None
    ]
    prices = found.rows[0].score.price, found.rows[0].train.price
    told.insert(0, "price of not knowing: {:.2f}, train split {:.2f}".format(*prices))
    faults = [line for row in found.rows for line in fault_lines(row.name, row.faults)]
    parts = (draw(table(found)), *faults, LEGEND, "\n".join(told))
    return "\n\n".join(parts) + "\n" + marks(found.made)


# -------------------------------------------------------------------------------------- leaderboard


class Entry(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An entry."""

    name: str
    agent: str
    """Its text, by which it is measured again."""
    rules: str
    split: Split
    points: dict[str, tuple[Points, Points, Points, Points]]
    """By partner and opponents."""
    strength: Points
    weights: str
    """Its digest (``goita_agents.identity``); empty where it has none."""
    versions: dict[str, str]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal["goita-exact-leaderboard-1"]
    entries: tuple[Entry, ...]


def read(path: Path) -> tuple[Entry, ...]:
    """Returns the entries of a file, none where there is no file."""
    return read_board(path, _File, FORMAT)


def enter(path: Path, found: Found) -> None:
    """Adds the agents, each in place of an entry of its name, game and split."""
    if found.made["changed"]:
        raise SettingError(f"expected agents to enter that stay the same, {marks(found.made)}")
    new = [
        Entry(
            row.name,
            row.agent,
            found.rules,
            found.split,
            dict(zip(found.partners, row.score.points.round(6).tolist(), strict=True)),
            round(row.score.strength, 6),
            row.weights,
            found.made["versions"],
        )
        for row in found.rows
        if row.agent
    ]
    with locked(path, "a leaderboard", wait=True):
        named = {(one.rules, one.split, one.name): one for one in (*read(path), *new)}
        entries = tuple(named[key] for key in sorted(named))
        write_board(path, _File(FORMAT, entries))


def check(entry: Entry, measure: Measure, agent: str | None = None) -> Iterator[str]:
    """Computes an entry again, and yields a sentence for each thing that is another.

    Args:
        entry: the entry.
        measure: the benchmark of its game and split.
        agent: its text, if that names a file or code, which a leaderboard may not.
    """
    spec = agent or entry.agent
    if agent is None and spec not in measure.players.names:
        check_shipped(spec, "a leaderboard")
    row = measure.agent_row(entry.name, spec)
    if row.weights != entry.weights:
        yield f"weights: {entry.weights!r} entered, {row.weights!r} here"
    points = dict(zip(measure.met.partners, row.score.points.tolist(), strict=True))
    if points.keys() != entry.points.keys():
        yield f"partners: {' '.join(entry.points)} entered, {' '.join(points)} here"
        return
    for partner, four in points.items():
        if np.abs(np.subtract(four, entry.points[partner])).max() > TOLERANCE:
            yield f"{partner}: {entry.points[partner]} entered, {four} found"
    if abs(row.score.strength - entry.strength) > TOLERANCE:
        yield f"strength: {entry.strength} entered, {row.score.strength} found"
