"""Learns the model of an unknown bot, the agent ``crowd``, from the games of many.

::

    python research/players/crowd.py crowd

The players are those that the champion's search knows by name, networks at temperature 0 and 1.
They play in random groups of six, each pair of a group 20 duplicate deals: 25,200 deals in all. One
small network imitates all their decisions. The folder takes games, model and figures. It took 15
minutes of one core.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from goita_agents.champion.agent import LIBRARY
from goita_agents.registry import expand
from goita_lab import cli

GROUPS, GROUP, DEALS, SEED = 84, 6, 20, 9000
START = "population:entropy-1"
"""A network of three layers of 128: small, since a search asks it about thousands of positions."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    folder: Path = field(metadata=cli.POSITIONAL)
    """folder of the games, the model and its figures"""


def main(argv: Sequence[str] | None = None) -> int:
    folder = cli.parse(Args, argv, __doc__).folder
    (folder / "games").mkdir(parents=True, exist_ok=True)
    players = [
        *("champion", "champion:temperature=1", "heuristic", "heuristic:conventions=off"),
        *("people", "people:temperature=0", "greedy"),
    ]
    for member in expand(LIBRARY):
        if member.startswith("population:"):
            players += [member, f"{member},temperature=1"]
    games = [folder / f"games/{index:03d}" for index in range(GROUPS)]
    for index, (group, folder_of_group) in enumerate(zip(groups(players), games, strict=True)):
        options = ("--deals", str(DEALS), "--seed", str(SEED + index))
        goita("evaluate", "--agents", *group, *options, "--save-games", str(folder_of_group))
    output = ("-o", str(folder / "crowd.safetensors"), "--json", str(folder / "crowd.json"))
    goita("imitate", *map(str, games), "--init", START, *output)
    return 0


def groups(players: list[str]) -> list[list[str]]:
    """Returns groups of different players, in which all play about equally often."""
    rng, chosen, order = random.Random(5), list[list[str]](), list[str]()
    while len(chosen) < GROUPS:
        while len(order) < GROUP:
            shuffled = players[:]
            rng.shuffle(shuffled)
            order += [player for player in shuffled if player not in order]
        chosen.append(order[:GROUP])
        order = order[GROUP:]
    return chosen


def goita(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "goita_lab", *words], check=True)


if __name__ == "__main__":
    cli.run(main)
