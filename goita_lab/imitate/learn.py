"""Learns a model of players from recorded games: reads, learns, compares, writes the network."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from goita_agents.base import Policy
from goita_agents.bots.heuristic import HeuristicAgent
from goita_agents.bots.network_file import write_network
from goita_agents.files import json_text, write_whole
from goita_agents.registry import load_agent
from goita_env.rules import JGA, Rules
from goita_lab.imitate.clone import check_start, imitate
from goita_lab.imitate.examples import Examples, split_games
from goita_lab.imitate.reading import read_examples
from goita_lab.imitate.report import Result, to_json
from goita_lab.imitate.scores import Guesses, compare
from goita_lab.work import shown


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
        player: only this player's decisions; None: everybody's.
        seed: of the split and of learning.
        rules: the rule set of a kifu or of history strings.
        json: file for all numbers; None: none.

    Raises:
        GoitaError: if there is no such agent, or what is named is no recorded game.
        OSError: if a file cannot be read or written.
        ImportError: if an extra is missing.
    """
    begin = time.perf_counter()
    start = check_start(load_agent(init), init)
    reading = read_examples(games, player, rules)
    split = split_games(reading.examples, seed)
    others: list[tuple[str, Policy | None]] = [(init, start)]
    others += [("heuristic", HeuristicAgent()), ("uniform", None)]
    show = shown()
    clone = imitate(
        split, start, seed=seed, progress=lambda done: show("learning, %", int(100 * done), 100)
    )
    known = Examples.join([split.train, split.validation])
    guesses = [("model", Guesses.of(clone.agent, split.validation, split.test))]
    guesses += [(name, Guesses.of(one, known, split.test)) for name, one in others]
    scores, calibration = compare(split.test, guesses)
    result = Result(
        sources=tuple(map(str, games)),
        player=player,
        init=init,
        seed=seed,
        reading=reading,
        split=split,
        clone=clone,
        scores=tuple(scores),
        calibration=tuple(calibration),
        seconds=time.perf_counter() - begin,
    )
    write_whole(output, write_network(clone.agent.info, clone.agent.tensors()))
    if json:
        write_whole(json, json_text(to_json(result)))
    return result
