"""Trains members of the population by ``goita train``, casts them to float16 and measures them.

::

    python research/population/train.py --method selfplay --seeds 8
    python research/population/train.py --method all

A training takes some minutes of one core. Runs are in runs/METHOD-SEED of the working directory.
The seeds of test players are drawn when they are trained. The same command resumes a stopped
training, and repeats nothing. Each run is added to the manifest when it is done.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.base import AgentError
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_agents.files import write_whole
from goita_agents.population.manifest import FOLDER, MOST_SEED, Member, Population, Strength
from goita_env import __version__
from goita_env.errors import GoitaError, SettingError
from goita_env.information import PLAIN
from goita_env.rules import JGA
from goita_lab import cli
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import PAIR_SEATINGS, Task
from research.population.methods import METHODS, Method

AGAINST: Final = "heuristic"
DEALS: Final = 2_000
SEED: Final = 6_100
"""Opponent, duplicate deals and their seed of a member's measurement."""
BLOCK: Final = 500
ALL: Final = "all"

RENAMED: Final = {
    "decisions": "total_timesteps",
    "lr": "learning_rate",
    "entropy": "ent_coef",
    "games": "n_envs",
    "steps": "n_steps",
    "batch": "batch_size",
    "partner": "partners",
}
"""Options of methods and of the manifest, as they were called when its members were trained."""
SEVERAL: Final = ("layers", "learning_rate", "ent_coef", "partners", "prefer")
"""Settings that have several values."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    method: str
    """of the population's methods, or all"""
    seeds: int | None = None
    """runs (default: as many as the method has)"""
    folder: Path = Path()
    """directory in which runs/ is"""
    population: Path = FOLDER
    """folder of the manifest and the weights"""

    def __post_init__(self) -> None:
        if self.method not in (*METHODS, ALL):
            methods = ", ".join((*METHODS, ALL))
            raise SettingError(f"expected a method of {methods}, got {self.method!r}")


def train(method: Method, seed: int, folder: Path, population: Population) -> Member:
    """Returns a trained and measured member; finished parts are not repeated.

    Args:
        method: of the training.
        seed: of the run.
        folder: folder of the run, in which it is runs/METHOD-SEED. A stopped run is resumed.
        population: the member is added to it.
    """
    name = f"{method.name}-{seed}"
    with suppress(AgentError, OSError):
        population.network(name)
        return population.members[name]
    if method.snapshot_of:
        policy = _first_snapshot(folder / "runs" / f"{method.snapshot_of}-{seed}", method.decisions)
    else:
        policy = trained(method, seed, folder)
    network = NetworkAgent.load(policy)
    data = write_network(network.info, network.tensors(), half=True)
    file = population.weights(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, data)
    measured = NetworkAgent.load(file)
    member = Member(
        method=method.name,
        seed=seed,
        split=method.split,
        decisions=network.info.decisions,
        options=METHODS[method.snapshot_of or method.name].options_of(seed),
        version=__version__,
        strength=None if method.split == "test" else measure(measured, method),
        sha256=measured.digest,
    )
    population.add(member)
    return member


def seeds_of(method: Method, count: int, folder: Path, population: Population) -> list[int]:
    """Returns the seeds of a method's runs: 0, 1, ..., or drawn numbers for test players.

    The seeds of finished and begun runs come first.
    """
    if method.split != "test":
        return list(range(count))
    run_names = [path.name for path in (folder / "runs").glob(f"{method.name}-*") if path.is_dir()]
    members = population.members.values()
    names = [*run_names, *(member.name for member in members if member.method == method.name)]
    seeds = sorted({int(name.rpartition("-")[2]) for name in names})
    while len(seeds) < count:
        seeds += {secrets.randbelow(MOST_SEED + 1)} - {*seeds}
    return seeds[:count]


def measure(network: NetworkAgent, method: Method) -> Strength:
    """Measures a network against ``heuristic``, which uses no message, on duplicate deals."""
    against = AGAINST if method.information == PLAIN else f"plain:base={AGAINST}"
    points: list[int] = []
    for block in range(DEALS // BLOCK):
        task = Task(
            (network.name, against),
            SEED,
            block,
            block * BLOCK,
            BLOCK,
            JGA,
            information=method.information,
        )
        points += play_block(task, [network, None]).points.sum(axis=0).tolist()
    interval = mean_interval(np.array(points) / len(PAIR_SEATINGS))
    mean, low, high = (round(figure, 3) for figure in (interval.mean, interval.low, interval.high))
    return Strength(against, DEALS, SEED, mean, low, high)


def trained(method: Method, seed: int, folder: Path) -> Path:
    """Returns the policy of a run, which ``goita train`` begins or resumes where it must."""
    settings = settings_of(method.options_of(seed)) | {"seed": seed} | method.information.to_keys()
    name = f"{method.name}-{seed}"
    run = folder / "runs" / name
    if not (run / "result.json").exists():
        print(f"{name}: training", file=sys.stderr)
        command = ["--resume", f"runs/{name}"]
        if not (run / "config.json").exists():
            path = folder / "runs" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(settings).encode())
            command = ["--name", name, "--config", f"runs/{name}.json"]
        words = [sys.executable, "-m", "goita_lab", "train", *command]
        code = subprocess.run(words, cwd=folder, check=False).returncode
        if code == 130:
            raise KeyboardInterrupt
        if code:
            raise SettingError(f"expected goita train to end well for {name}, got {code}")
    config: dict[str, Any] = json.loads((run / "config.json").read_bytes())
    for key, value in settings.items():
        if config.get(key) != value:  # the run was begun with other settings
            raise SettingError(f"expected {key} {value!r} in {run}, got {config.get(key)!r}")
    return run / "policy.safetensors"


def settings_of(options: Sequence[str]) -> dict[str, Any]:
    """Returns the settings of a training by options of a method, which have earlier names."""
    settings: dict[str, Any] = {}
    for word in options:
        if word.startswith("--"):  # a method's own options come last, and count
            name = word.removeprefix("--").replace("-", "_")
            settings[name := RENAMED.get(name, name)] = []
        else:
            settings[name].append(_value(word))
    for name, values in settings.items():
        if name not in SEVERAL:
            settings[name] = values[0] if values else True
    return settings


def _value(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text


def _first_snapshot(run: Path, decisions: int) -> Path:
    """Returns the first snapshot of a run after ``decisions`` or more."""
    snapshots = (run / "snapshots").glob("*.safetensors")
    enough = sorted(path for path in snapshots if int(path.stem) >= decisions)
    if not enough:
        raise SettingError(f"expected {decisions:,} decisions in {run}: train it first")
    return enough[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Trains the members that are missing and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    population = Population(args.population)
    try:
        for method in METHODS.values() if args.method == ALL else [METHODS[args.method]]:
            for seed in seeds_of(method, args.seeds or method.seeds, args.folder, population):
                member = train(method, seed, args.folder, population)
                print(f"{member.agent}: {member.decisions:,} decisions, {member.strength}")
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)
    return 0


if __name__ == "__main__":
    cli.run(main)
