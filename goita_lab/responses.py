"""Trains best responses: networks that learned beside one partner and know whom they play with.

A response begins from several policies; the best of these trainings, and of the partner itself, is
kept. It is chosen on deals that nothing else is measured on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_agents.files import write_whole
from goita_agents.population import METHODS, Member, Method, Population
from goita_agents.registry import load_agent
from goita_env import __version__
from goita_env.rules import JGA
from goita_lab.arena.coordination.task import CoordinationTask, Partner
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import MIXED_SEATINGS, Task
from goita_lab.population import trained

DECISIONS: Final = 3_000_000
OWN: Final = "own"
OTHERS: Final = ("population:entropy-0",)
"""Policies from which a response begins beside the partner's own, where that is a network."""
DEALS: Final = 1_000
SEED: Final = 6_200
"""Deals against each opponent, and their seed, by which the best training is chosen."""

OPTIONS: Final = (
    *("--lr", "1e-3", "5e-5", "--games", "10240", "--decisions", f"{DECISIONS}"),
    *("--snapshot-every", f"{DECISIONS}"),
)
"""For a network at one seat of four: as many decisions an update as at all seats of 2,048 games."""


def respond(
    partner: Partner,
    name: str,
    seed: int,
    task: CoordinationTask,
    folder: Path,
    population: Population,
    progress: Callable[[str], object] = lambda _: None,
) -> Member:
    """Returns the best response to a partner, which is trained where the population has none.

    Args:
        partner: the partner.
        name: of the method, to-METHOD.
        seed: of the partner.
        task: names the opponents.
        folder: where the runs are, as runs/to-METHOD-SEED-from-START.
        population: takes the response.
        progress: is told what is begun.

    Raises:
        SettingError, TrainingError, OSError: as ``goita_lab.population.train`` does.
    """
    method, title = METHODS[name], f"{name}-{seed}"
    if title in population.members:
        return population.members[title]
    own = getattr(load_agent(partner.spec), "path", None)
    starts = {OWN: own, **{start: getattr(load_agent(start), "path", None) for start in OTHERS}}
    opponents = tuple(map(partner.at_table, task.against(partner)))
    found = {}
    for start, file in starts.items():
        if file is None:  # of a rule bot
            continue
        options = ("--init", f"{file}", "--partner", partner.spec, "--opponents", *opponents)
        run = Method(
            f"{title}-from-{start.rpartition(':')[2]}",
            "response",
            (*OPTIONS, *options),
            partner.information,
        )
        policy = trained(run, seed, folder, progress)
        points = points_beside(NetworkAgent.load(policy), partner, opponents)
        progress(f"{run.name}: {points:+.2f} points a round with its partner")
        found[start] = (points, policy)
    best = max(found, key=lambda start: found[start][0])
    network = NetworkAgent.load(found[best][1])
    data = write_network(network.info, network.tensors(), half=True)
    write_whole(population.weights(title), data)
    member = Member(
        method=method.name,
        seed=seed,
        split=method.split,
        decisions=network.info.decisions,
        options=(*OPTIONS, "--init", best, "--partner", partner.spec, "--opponents", *opponents),
        version=__version__,
        strength=None,
        sha256=NetworkAgent.load(population.weights(title)).digest,
    )
    population.add(member)
    return member


def points_beside(agent: NetworkAgent, partner: Partner, opponents: tuple[str, ...]) -> float:
    """Returns what a network makes beside a partner, the mean over opponents, points a round."""
    found = []
    for number, opponent in enumerate(opponents):
        task = Task(
            ("response", partner.spec, opponent),
            SEED + number,
            0,
            0,
            DEALS,
            JGA,
            seatings=MIXED_SEATINGS,
            information=partner.information,
        )
        points = play_block(task, [agent, None, None]).points
        found.append(float(np.mean(points)))
    return float(np.mean(found))
