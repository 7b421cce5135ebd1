"""Finds best responses to the partners of the coordination benchmark, in points a round.

::

    python research/population/respond.py            to the partners of the validation split
    python research/population/respond.py --test     to those of the final table

A response is the best of several agents, and of networks trained beside the partner. Which is best
is decided on half of the deals; what it makes is measured on others, and written to responses.json.
The responses themselves are not kept: their trainings repeat them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from goita_agents.base import Agent, Float
from goita_agents.bots.network import NetworkAgent
from goita_agents.files import read_limited, write_whole
from goita_agents.registry import load_agent
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA
from goita_lab import cli
from goita_lab.arena.coordination.task import VALIDATION, Partner, test_task
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import MIXED_SEATINGS, Task
from goita_lab.learning import read_layer_widths
from goita_lab.work import one_thread
from research.population.train import run_training, say

STARTS: Final = ("champion",)
"""Where trainings begin; these agents, and the partner itself, are candidates as they are, too.
Other starts made less: research/log/coordination_regret.md."""
CHOOSING: Final = (1_000, 6_200)
MEASURING: Final = (4_000, 6_300)
"""Deals against each opponent and the seed of those against the first."""

SETTINGS: Final[dict[str, Any]] = {
    "total_timesteps": 3_000_000,
    "snapshot_every": 3_000_000,
    "learning_rate": (3e-4, 3e-5),
    "ent_coef": (0.012, 0.001),
    "gae_lambda": 0.95,
    "n_envs": 10_240,
    "threads": 1,
    "measure_deals": 0,
}
"""Of a training. 10,240 games: as many decisions an update of a network at one seat of four as at
all seats of 2,048."""


FORMAT: Final = "goita-responses-1"
FILE: Final = Path(__file__).with_name("responses.json")
MOST_BYTES: Final = 1 << 20

Points = Annotated[float, Meta(ge=-1_000, le=1_000)]


class Response(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the best response to a partner makes, points a round."""

    points: dict[str, tuple[Points, Points, Points]]
    """By the opponent's text: the mean over deals with its 95 % interval."""
    deals: Annotated[int, Meta(ge=2)]
    """Of each opponent, after the choice and apart from it."""
    seed: Annotated[int, Meta(ge=0)]
    chosen: str
    """Of the candidates."""
    candidates: dict[str, Points]
    """What each made on the deals by which one was chosen, mean over opponents: agents as they
    are, and those that were trained beside the partner from there."""
    sha256: str
    """Of the chosen network (``NetworkAgent.digest``)."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: Literal["goita-responses-1"]
    responses: dict[str, Response]


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    partners: tuple[str, ...] | None = None
    """texts of some of them (default: all)"""
    test: bool = False
    """the partners of the final table in place of those of the validation split"""
    folder: Path = Path()
    """directory in which runs/ is"""
    file: Path = FILE
    """takes what they make"""


def main(argv: Sequence[str] | None = None) -> int:
    """Finds the responses that are missing and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    task = test_task() if args.test else VALIDATION
    try:
        for partner in task.partners:
            if partner.counted and (not args.partners or partner.spec in args.partners):
                found = respond(partner, task.against(partner), args.folder, args.file, say)
                mean = sum(one[0] for one in found.points.values()) / len(found.points)
                print(f"{partner.spec}: {mean:+.2f} by {found.chosen}")
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)
    return 0


def read(path: Path = FILE) -> dict[str, Response]:
    """Returns the responses by the partner's text.

    Raises:
        SettingError: if the file is malformed.
        OSError: if it cannot be read.
    """
    if not path.exists():
        return {}
    try:
        return msgspec.json.decode(read_limited(path, MOST_BYTES), type=_File).responses
    except (msgspec.MsgspecError, RecursionError) as error:
        raise SettingError(f"expected {FORMAT} in {path}: {error}") from error


def add(partner: str, response: Response, path: Path = FILE) -> None:
    """Adds what the best response to a partner makes, in place of what is there."""
    found = dict(sorted((read(path) | {partner: response}).items()))
    data = msgspec.json.format(msgspec.json.encode(_File(FORMAT, found)), indent=1)
    write_whole(path, data + b"\n")


def respond(
    partner: Partner,
    against: Sequence[str],
    folder: Path,
    file: Path = FILE,
    progress: Callable[[str], object] = lambda _: None,
) -> Response:
    """Returns what the best response to a partner makes; it is found where the file has none.

    Args:
        partner: the partner.
        against: texts of the opponents.
        folder: where the runs are, as runs/to-PARTNER-from-START. One that was stopped goes on.
        file: takes the response.
        progress: is told what is begun and found.

    Raises:
        TrainingError: if a training failed.
        OSError: if a file cannot be read or written.
    """
    found = read(file)
    if partner.spec in found:
        return found[partner.spec]
    opponents = [partner.at_table(one) for one in against]
    agents: dict[str, Agent] = {"itself": load_agent(partner.spec)}
    for start in STARTS:
        agents[start] = load_agent(partner.at_table(start))
        names = [one.removeprefix("population:") for one in (partner.spec, start)]
        name = re.sub(r"[^\w-]+", "_", "to-{}-from-{}".format(*names))
        policy = _trained(partner, opponents, start, folder, name, progress)
        agents[f"{start}, trained"] = NetworkAgent.load(policy)
    play = partial(points_beside, partner=partner, opponents=opponents)
    candidates = {
        name: round(float(play(agent, *CHOOSING).mean()), 3) for name, agent in agents.items()
    }
    best = max(candidates, key=lambda name: candidates[name])
    progress(f"{partner.spec}: {candidates}")
    points = {}
    for opponent, values in zip(against, play(agents[best], *MEASURING), strict=True):
        one = mean_interval(values)
        points[opponent] = (round(one.mean, 3), round(one.low, 3), round(one.high, 3))
    chosen = agents[best]
    digest = chosen.digest if isinstance(chosen, NetworkAgent) else ""
    response = Response(points, *MEASURING, best, candidates, digest)
    add(partner.spec, response, file)
    return response


def _trained(
    partner: Partner,
    opponents: Sequence[str],
    start: str,
    folder: Path,
    name: str,
    progress: Callable[[str], object],
) -> Path:
    """Returns the policy that was trained beside a partner from a start."""
    agent = load_agent(start)
    if not isinstance(agent, NetworkAgent) or agent.path is None:
        raise TypeError(f"expected a network that was read from a file, got {start!r}")
    begin = {
        "init": f"{agent.path}",
        "layers": read_layer_widths(agent.path),
        "partners": [partner.spec],
        "opponents": list(opponents),
    }
    settings = SETTINGS | begin | partner.information.to_keys()
    return run_training(name, settings, folder, progress)


def points_beside(
    agent: Agent, deals: int, seed: int, *, partner: Partner, opponents: Sequence[str]
) -> Float:
    """Returns what an agent makes beside a partner against each opponent: [opponents, deals].

    Means of all seatings, points a round. Each opponent has deals of its own.
    """
    found = []
    for number, opponent in enumerate(opponents):
        task = Task(
            ("response", partner.spec, opponent),
            seed + number,
            0,
            0,
            deals,
            JGA,
            seatings=MIXED_SEATINGS,
            information=partner.information,
        )
        with one_thread():
            found.append(play_block(task, [agent, None, None]).points.mean(axis=0))
    return np.array(found)


if __name__ == "__main__":
    cli.run(main)
