"""Learns how somebody plays from recorded games.

::

    goita imitate games --player heuristic -o model.safetensors
    goita imitate champion-log -o model.safetensors
    goita imitate FOLDER_OF_KIFU -o model.safetensors

GAMES are folders of saved games (goita evaluate --save-games), logs (goita_lab.signals log) and
records in any notation, or folders of them. The network is an agent, file:model.safetensors.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID

from goita_agents.base import Policy
from goita_agents.bots.heuristic import HeuristicAgent
from goita_agents.bots.network_file import write_network
from goita_agents.files import check_writable, json_text, write_whole
from goita_agents.registry import load_agent
from goita_env.checks import check_seed
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.imitate.clone import check_start, imitate
from goita_lab.imitate.examples import Examples, split_games
from goita_lab.imitate.reading import Reading, read_examples
from goita_lab.imitate.report import Result, text, to_json
from goita_lab.imitate.scores import Guesses, compare


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    games: tuple[Path, ...] = field(metadata=cli.POSITIONAL)
    """saved games, logs or records"""
    output: Path = field(metadata=cli.short("-o"))
    """network file to write"""
    init: str = "champion"
    """network that learning begins with, and that the model stays close to"""
    player: str | None = None
    """learn only from this player's decisions: the agent's name in saved games and logs, the
    seat's player in records"""
    seed: int = 0
    """seed of the split and of learning"""
    rules: Rules = JGA
    json: Path | None = None

    def __post_init__(self) -> None:
        for file in (self.output, self.json):
            if file:
                check_writable(file)
        if self.json and self.json.resolve() == self.output.resolve():
            raise SettingError(f"expected two files, got {str(self.json)!r} as --json and --output")
        check_seed(self.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Learns, writes the network, prints the tables and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        result = run(args)
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; nothing was written\n")
        return 130
    sys.stdout.write(text(result))
    return 0


def run(args: Args) -> Result:
    """Learns from the games that the options name, and writes the files."""
    begin = time.perf_counter()
    start = check_start(load_agent(args.init), args.init)
    reading: Reading = read_examples(args.games, args.player, args.rules)
    split = split_games(reading.examples, args.seed)
    others: list[tuple[str, Policy | None]] = [(args.init, start)]
    others += [("heuristic", HeuristicAgent()), ("uniform", None)]
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("learning", total=1)
        show = partial(_show, bar, task)
        clone = imitate(split, start, seed=args.seed, progress=show)
    known = Examples.join([split.train, split.validation])
    guesses = [("model", Guesses.of(clone.agent, split.validation, split.test))]
    guesses += [(name, Guesses.of(one, known, split.test)) for name, one in others]
    scores, calibration = compare(split.test, guesses)
    result = Result(
        sources=tuple(str(path) for path in args.games),
        player=args.player,
        init=args.init,
        seed=args.seed,
        reading=reading,
        split=split,
        clone=clone,
        scores=tuple(scores),
        calibration=tuple(calibration),
        seconds=time.perf_counter() - begin,
    )
    write_whole(args.output, write_network(clone.agent.info, clone.agent.tensors()))
    if args.json:
        write_whole(args.json, json_text(to_json(result)))
    return result


def _show(bar: Progress, task: TaskID, done: float) -> None:
    bar.update(task, completed=done)
