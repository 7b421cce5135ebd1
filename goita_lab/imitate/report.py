"""Shows a model that was learned from games: as tables, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isinf
from typing import Any, Final

from tabulate import tabulate

from goita_lab.arena.statistics.intervals import Interval
from goita_lab.imitate.clone import Clone
from goita_lab.imitate.examples import Split
from goita_lab.imitate.reading import Reading
from goita_lab.imitate.scores import Calibration, Score
from goita_lab.provenance import plain, provenance

FORMAT: Final = "goita-imitation-3"

SHOWN: Final = 5  # Deals left out that are named.


@dataclass(frozen=True)
class Result:
    """What was learned, and how well it predicts."""

    sources: tuple[str, ...]
    player: str | None
    init: str
    seed: int
    reading: Reading
    split: Split
    clone: Clone
    scores: tuple[Score, ...]
    calibration: tuple[Calibration, ...]
    seconds: float


def text(result: Result) -> str:
    """Returns the tables as text."""
    unsound = result.reading.unsound
    lines = [*result.reading.notes, *(f"left out: {line}" for line in unsound[:SHOWN])]
    lines += [f"and {len(unsound) - SHOWN} more deals"] if len(unsound) > SHOWN else []
    rows = [
        [name, f"{part.games:,}", f"{len(part):,}"]
        for name, part in zip(("train", "validation", "test"), result.split, strict=True)
    ]
    lines += [_table(["", "games", "decisions"], rows), ""]
    rows = [
        [
            f"{one.weight:g}",
            f"{one.log_likelihood:.3f}",
            f"{one.accuracy:.3f}",
            f"{one.divergence:.3f}",
            "chosen" if one.weight == result.clone.weight else "",
        ]
        for one in result.clone.tried
    ]
    heads = [f"weight of KL({result.init} || model)", "nats a decision", "accuracy", "KL", ""]
    lines += ["On the games that the weight is chosen on:", "", _table(heads, rows), ""]
    rows = [
        [
            one.name,
            _interval(one.log_likelihood),
            _interval(one.accuracy),
            _interval(one.behind, "+") if one.behind else "",
            f"{one.temperature:.2g}",
            f"{one.epsilon:g}",
        ]
        for one in result.scores
    ]
    heads = ["predicted by", "nats a decision", "accuracy", "model is ahead by"]
    heads += ["temperature", "epsilon"]
    lines += ["On test games, 95 % intervals over games:", "", _table(heads, rows), ""]
    rows = [
        [
            f"{one.low:g} to {one.high:g}",
            f"{one.decisions:,}",
            f"{one.predicted:.3f}",
            f"{one.observed:.3f}",
        ]
        for one in result.calibration
    ]
    heads = ["likeliest action", "decisions", "predicted", "observed"]
    lines += ["Calibration of the model on them:", "", _table(heads, rows), ""]
    return "\n".join([*lines, f"{result.seconds:.0f} s", ""])


def to_json(result: Result) -> dict[str, Any]:
    """Returns all numbers as plain values; an infinite weight is null."""
    names = ("train", "validation", "test")
    return {
        "format": FORMAT,
        **provenance([result.init]),
        "sources": result.sources,
        "player": result.player,
        "players": dict(result.reading.players.most_common()),
        "left_out": result.reading.unsound,
        "notes": result.reading.notes,
        "init": result.init,
        "init_temperature": result.clone.start_temperature,
        "seed": result.seed,
        "rules": result.split.train.rules.name,
        "games": {n: part.games for n, part in zip(names, result.split, strict=True)},
        "decisions": {n: len(part) for n, part in zip(names, result.split, strict=True)},
        "weight": _finite(result.clone.weight),
        "tried": [asdict(one) | {"weight": _finite(one.weight)} for one in result.clone.tried],
        "scores": plain(result.scores),
        "calibration": [asdict(one) for one in result.calibration],
        "seconds": result.seconds,
    }


def _finite(number: float) -> float | None:
    return None if isinf(number) else number


def _interval(one: Interval, sign: str = "-") -> str:
    form = f"{sign}.3f"
    return f"{one.mean:{form}} [{one.low:{form}}, {one.high:{form}}]"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    sides = ["left", *["right"] * (len(heads) - 1)]
    return tabulate(rows, heads, "simple", colalign=sides, disable_numparse=True)
