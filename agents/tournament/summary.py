"""Sums up what was played: points and win rates with intervals, ratings, cross-play, faults.

The dictionary that ``summary`` returns is what ``evaluate.py --json`` writes and what
``agents.report`` shows.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

import goita_env
from agents.faults import Fault
from agents.statistics import ratings
from agents.statistics.intervals import rate_interval, ratio_interval, variance_removed
from agents.statistics.sequential_test import Verdict
from agents.tournament.block import BlockResult
from agents.tournament.plan import Pairing, Plan
from goita_env.rules import get_rules

Bounds = tuple[float, float]
Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairResult:
    """Says how a pair of agents did, from a's side."""

    a: str
    b: str
    deals: int
    points_per_round: float
    ci95: Bounds
    """95 % interval of the points per round, over deals."""
    round_win_rate: float
    round_win_ci95: Bounds
    ms_per_decision: dict[str, float]
    """Milliseconds that each agent took for a decision with a choice."""
    rounds_per_second: float
    """On one core."""
    variance_removed: float
    """Share of the variance that exchanging the seats has removed; below 0 by chance alone."""
    sprt: Verdict | None
    faults: dict[str, int]
    """Faults of agents that made any."""
    forfeited: tuple[str, ...]
    """Agents that were out before the end; the pairing ends with the block of that moment."""
    match_win_rate: float | None = None
    match_win_ci95: Bounds | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the fields as JSON can hold them; those of matches where some were played."""
        fields = asdict(self)
        return {k: v for k, v in fields.items() if v is not None or k == "sprt"}


@dataclass(frozen=True)
class Played:
    """Holds the blocks of a pairing that count, in order."""

    pairing: Pairing
    blocks: tuple[BlockResult, ...]
    verdict: Verdict | None = None
    forfeited: tuple[str, ...] = ()

    def games(self, name: str) -> Float:
        """Returns an array of the blocks, all deals side by side: [S, D]."""
        return np.concatenate([getattr(block, name) for block in self.blocks], axis=1).astype(float)

    def faults(self) -> list[tuple[str, Fault]]:
        """Returns the faults and who made them."""
        agents = self.pairing.agents
        return [(agents[player], fault) for block in self.blocks for player, fault in block.faults]


def pair_result(played: Played) -> PairResult:
    """Returns how a pair did."""
    blocks, names = played.blocks, played.pairing.agents
    points, rounds = played.games("points"), played.games("rounds").sum(axis=0)
    score = ratio_interval(points.sum(axis=0), rounds)
    wins = rate_interval(played.games("rounds_won").sum(axis=0), rounds)
    matches = None
    if played.pairing.tasks[0].episode == "match":
        matches = rate_interval(played.games("won").mean(axis=0))
    thinking = np.sum([block.thinking for block in blocks], axis=0)
    decisions = np.sum([block.decisions for block in blocks], axis=0)
    milliseconds, players = 1000 * thinking / np.maximum(decisions, 1), np.array(names)
    made = [agent for agent, _ in played.faults()]
    return PairResult(
        a=names[0],
        b=names[1],
        deals=len(rounds),
        points_per_round=score.mean,
        ci95=(score.low, score.high),
        round_win_rate=wins.mean,
        round_win_ci95=(wins.low, wins.high),
        ms_per_decision={name: float(milliseconds[players == name].mean()) for name in names},
        rounds_per_second=float(rounds.sum() / sum(block.seconds for block in blocks)),
        variance_removed=variance_removed(points),
        sprt=played.verdict,
        faults={agent: made.count(agent) for agent in dict.fromkeys(made)},
        forfeited=played.forfeited,
        match_win_rate=matches.mean if matches else None,
        match_win_ci95=(matches.low, matches.high) if matches else None,
    )


def summary(
    plan: Plan, everything: Sequence[Played], *, command: str = "", seconds: float = 0.0
) -> dict[str, Any]:
    """Returns the whole tournament as JSON can hold it.

    Args:
        plan: what was to be played.
        everything: the pairings that were played.
        command: what was typed to have it played.
        seconds: how long that took.
    """
    pairs = [played for played in everything if not played.pairing.is_cross]
    mixed = [played for played in everything if played.pairing.is_cross]
    cross = {"opponents": plan.opponent, "cells": [_cell(played) for played in mixed]}
    return {
        "agents": plan.names,
        "pairs": [pair_result(played).to_json() for played in pairs],
        "ratings": [asdict(rating) for rating in ratings.rate([_games(p) for p in pairs])],
        "cross": cross if plan.cross else None,
        "faults": [entry for played in everything for entry in _fault_entries(played)],
        "episode": plan.episode,
        **get_rules(plan.rules).to_keys(),
        **plan.sources(),
        "seed": plan.seed,
        "deals": plan.deals,
        "block_deals": plan.block_deals,
        "command": command,
        "versions": {
            "goita_env": goita_env.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "choix")},
        },
        "seconds": seconds,
    }


def _games(played: Played) -> ratings.Games:
    """Returns what a rating is made of: matches where whole ones were played, else rounds."""
    whole = played.pairing.tasks[0].episode == "match"
    won = played.games("won" if whole else "rounds_won")
    a, b = played.pairing.agents
    return ratings.Games(a, b, won.sum(axis=0), np.full(won.shape[1], float(len(won))))


def _cell(played: Played) -> dict[str, Any]:
    """Returns a cell of the cross-play matrix."""
    points, rounds = played.games("points").sum(axis=0), played.games("rounds").sum(axis=0)
    score = ratio_interval(points, rounds)
    cell: dict[str, Any] = {
        "partners": list(played.pairing.agents[:2]),
        "points_per_round": score.mean,
        "ci95": (score.low, score.high),
        "deals": len(points),
    }
    if played.pairing.tasks[0].episode == "match":
        matches = rate_interval(played.games("won").mean(axis=0))
        cell |= {"match_win_rate": matches.mean, "match_win_ci95": (matches.low, matches.high)}
    return cell


def _fault_entries(played: Played) -> Iterable[dict[str, Any]]:
    """Yields the faults of a pairing by agent and kind, with what the program said last."""
    made = played.faults()
    for agent, kind in dict.fromkeys((agent, fault.kind) for agent, fault in made):
        alike = [fault for name, fault in made if (name, fault.kind) == (agent, kind)]
        yield {
            "agent": agent,
            "pair": list(played.pairing.agents),
            "kind": kind,
            "count": len(alike),
            "text": alike[-1].text,
            "stderr": list(alike[-1].stderr),
        }
