"""Trains a model of a player on recorded games.

::

    goita imitate games --player heuristic -o model.safetensors
    goita imitate champion-log -o model.safetensors
    goita imitate FOLDER_OF_KIFU -o model.safetensors

GAMES are folders of saved games (goita evaluate --save-games), logs (goita signals log) and
records in any notation, or folders of them. The network is an agent, file:model.safetensors.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goita_env.checks import check_seed
from goita_env.errors import GoitaError
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.imitate.learn import learn, text


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    games: tuple[Path, ...] = field(metadata=cli.POSITIONAL)
    """saved games, logs or records"""
    output: Path = field(metadata=cli.short("-o"))
    """network file to write"""
    init: str = "champion"
    """network with whose weights the training begins and to which the model stays close"""
    player: str | None = None
    """use only the decisions of this player: the name of an agent in saved games and logs, or of a
    person in records"""
    seed: int = 0
    """seed of the split and of the training"""
    rules: Rules = JGA
    json: Path | None = None

    def __post_init__(self) -> None:
        cli.check_outputs(self.output, self.json, inputs=self.games)
        check_seed(self.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """Learns, writes the network, prints the tables and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        result = learn(
            args.games,
            args.output,
            init=args.init,
            player=args.player,
            seed=args.seed,
            rules=args.rules,
            json=args.json,
        )
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; nothing was written\n")
        return 130
    sys.stdout.write(text(result))
    return 0
