"""Learns a model of players from recorded games: reads, learns, compares, writes and shows it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from goita_agents.asking import build_agent
from goita_agents.base import Policy
from goita_agents.bots.heuristic import HeuristicAgent
from goita_agents.bots.network_file import write_network
from goita_agents.files import json_text, write_whole
from goita_agents.identity import Identities, content_hash
from goita_env.rules import JGA, Rules
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.imitate.clone import Clone, check_start, imitate
from goita_lab.imitate.examples import (
    Calibration,
    Examples,
    Guesses,
    Score,
    Split,
    compare,
    split_games,
)
from goita_lab.imitate.reading import Reading, read_examples
from goita_lab.provenance import plain, provenance
from goita_lab.work import stderr_progress

FORMAT: Final = "goita-imitation-3"

NAMED_DEALS: Final = 5  # Deals left out that the text names.


@dataclass(frozen=True)
class Result:
    """A model of players, and the quality of its predictions."""

    sources: dict[str, str | None]  #: Paths of the games, with the SHA-256 of each.
    player: str | None
    init: str
    seed: int
    reading: Reading
    split: Split
    clone: Clone
    scores: tuple[Score, ...]
    calibration: tuple[Calibration, ...]
    origin: Mapping[str, Any]  #: What ``provenance`` says of the network that it began with.
    seconds: float


def learn(
    games: Sequence[Path],
    output: Path,
    *,
    init: str = "champion",
    player: str | None = None,
    seed: int = 0,
    rules: Rules = JGA,
    json: Path | None = None,
) -> Result:
    """Learns from games and writes the network.

    Args:
        games: saved games, logs or records (``read_examples``).
        output: file of the network.
        init: network that learning begins with, and that the model stays close to.
        player: only this player's decisions; None: all players.
        seed: of the split and of learning.
        rules: the rule set of a kifu or of history strings.
        json: file for all numbers; None: no file.
    """
    begin, identities = time.perf_counter(), Identities([init])
    start = check_start(build_agent(init), init)
    reading = read_examples(games, player, rules)
    split = split_games(reading.examples, seed)
    baselines: list[tuple[str, Policy | None]] = [(init, start)]
    baselines += [("heuristic", HeuristicAgent()), ("uniform", None)]
    show = stderr_progress()
    clone = imitate(
        split, start, seed=seed, progress=lambda share: show("learning, %", int(100 * share), 100)
    )
    # The model's temperature is fitted to games that it has not learned; the others learned none.
    learning = Examples.join([split.train, split.validation])
    guesses = [("model", Guesses.of(clone.agent, split.validation, split.test))]
    guesses += [(name, Guesses.of(model, learning, split.test)) for name, model in baselines]
    scores, calibration = compare(split.test, guesses)
    result = Result(
        sources={str(path): content_hash(path, "the model") for path in games},
        player=player,
        init=init,
        seed=seed,
        reading=reading,
        split=split,
        clone=clone,
        scores=tuple(scores),
        calibration=tuple(calibration),
        origin=provenance(identities),
        seconds=time.perf_counter() - begin,
    )
    write_whole(output, write_network(clone.agent.info, clone.agent.tensors()))
    if json:
        write_whole(json, json_text(to_json(result)))
    return result


def text(result: Result) -> str:
    """Returns the tables as text."""
    unsound = result.reading.unsound
    lines = [*result.reading.notes, *(f"left out: {line}" for line in unsound[:NAMED_DEALS])]
    if len(unsound) > NAMED_DEALS:
        lines.append(f"and {len(unsound) - NAMED_DEALS} more deals")
    parts = zip(("train", "validation", "test"), result.split, strict=True)
    split = Table(
        "Games",
        ("", "games", "decisions"),
        tuple((name, f"{part.games:,}", f"{len(part):,}") for name, part in parts),
    )
    tried = Table(
        "On the games that the weight is chosen on",
        (f"weight of KL({result.init} || model)", "nats a decision", "accuracy", "KL", ""),
        tuple(
            (
                f"{trial.weight:g}",
                f"{trial.log_likelihood:.3f}",
                f"{trial.accuracy:.3f}",
                f"{trial.divergence:.3f}",
                "chosen" if trial.weight == result.clone.weight else "",
            )
            for trial in result.clone.tried
        ),
    )
    scores = Table(
        "On test games, 95 % intervals over games",
        (
            *("predicted by", "nats a decision", "accuracy", "model is ahead by"),
            *("temperature", "epsilon"),
        ),
        tuple(
            (
                score.name,
                estimate(score.log_likelihood, 3, "-"),
                estimate(score.accuracy, 3, "-"),
                estimate(score.behind, 3),
                f"{score.temperature:.2g}",
                f"{score.epsilon:g}",
            )
            for score in result.scores
        ),
    )
    calibration = Table(
        "Calibration of the model on them",
        ("likeliest action", "decisions", "predicted", "observed"),
        tuple(
            (
                f"{row.low:g} to {row.high:g}",
                f"{row.decisions:,}",
                f"{row.predicted:.3f}",
                f"{row.observed:.3f}",
            )
            for row in result.calibration
        ),
    )
    tables = [draw(table) for table in (split, tried, scores, calibration)]
    return "\n\n".join(["\n".join(lines), *tables, f"{result.seconds:.0f} s\n"]).lstrip()


def to_json(result: Result) -> dict[str, Any]:
    """Returns all numbers as plain values."""
    names = ("train", "validation", "test")
    return {
        "format": FORMAT,
        **result.origin,
        "sources": list(result.sources),
        "source_digests": list(result.sources.values()),
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
        "weight": result.clone.weight,
        "tried": plain(result.clone.tried),
        "scores": plain(result.scores),
        "calibration": plain(result.calibration),
        "seconds": result.seconds,
    }
