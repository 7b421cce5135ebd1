"""Measures training and environment in five minutes: on its cores, and on a card if there is one.

    python benchmarks/hardware.py
    python benchmarks/hardware.py --decisions 4000000   # longer, for a fast machine

Each training is ``goita train --preset quick`` with the same seed and number of decisions, in a
process of its own. Its seconds are those of learning: imports, and the measuring of snapshots, are
left out. The environment plays random legal actions on one core. Nothing is written.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # runs from a bare checkout

from benchmarks.throughput import clock, describe_machine  # noqa: E402  (one thread for numpy)

THREADS: Final = (1, 2, 4, 8, 16)
GAMES: Final = (64, 4096, 16384)
ENVIRONMENT_SECONDS: Final = 3.0
TRAINED: Final = re.compile(
    r"([\d,]+) decisions, (\d+) s \((\d+) s of CPU, (\d+) s of them to measure snapshots\)"
)
"""The line with which a training ends."""

Row = tuple[str, int, float, float]
"""A training: the device, threads, decisions a second, seconds of CPU."""


def trainings(decisions: int) -> Iterator[Row]:
    """Yields a row for each device and number of threads that the machine has."""
    import torch

    from goita_agents.solver import cores

    for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
        name = torch.cuda.get_device_name() if device == "cuda" else device
        for threads in THREADS if device == "cpu" else THREADS[:2]:
            if threads <= cores():
                yield (name, threads, *train(device, threads, decisions))


def train(device: str, threads: int, decisions: int) -> tuple[float, float]:
    """Trains in a process of its own; returns decisions a second, and seconds of CPU."""
    command = [sys.executable, "-m", "goita_lab", "train", "--no-progress", "--name", "hardware"]
    command += ["--device", device, "--threads", str(threads), "--total-timesteps", str(decisions)]
    with tempfile.TemporaryDirectory() as folder:
        # benchmarks.throughput holds this process to one thread; a training has its own number.
        free = {name: text for name, text in os.environ.items() if not name.endswith("_THREADS")}
        done = subprocess.run(
            command, cwd=folder, env=free, capture_output=True, text=True, check=False
        )
    if (ended := TRAINED.search(done.stdout)) is None:
        raise SystemExit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    made, wall, cpu, measuring = (int(group.replace(",", "")) for group in ended.groups())
    return made / max(wall - measuring, 1), float(cpu - measuring)


def steps() -> Iterator[tuple[str, float]]:
    """Yields the steps a second of the environment, with and without observations."""
    from goita_env import GoitaVectorEnv

    for observe in (True, False):
        for games in GAMES:
            env = GoitaVectorEnv(games, seed=0, observe=observe)
            name = f"{games:,} games, {'mask and observation' if observe else 'mask only'}"
            yield name, clock(random_play(env), ENVIRONMENT_SECONDS)


def random_play(env: object) -> Iterator[int]:
    """Plays random legal actions for ever; yields the number of steps of each batch."""
    import numpy as np

    from goita_env import GoitaVectorEnv

    assert isinstance(env, GoitaVectorEnv)
    env.reset()
    rng = np.random.default_rng(0)
    while True:
        env.step(env.sample_legal(rng))
        yield env.num_games


def main() -> None:
    """Prints the machine and two tables in Markdown, row by row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--decisions", type=int, default=1_000_000, help="of each training")
    decisions = parser.parse_args().decisions
    for name, text in describe_machine().items():
        print(f"{name}: {text}")
    print("\n| environment, one core | steps a second |\n|---|--:|")
    for name, rate in steps():
        print(f"| {name} | {rate:,.0f} |", flush=True)
    print(f"\n| `quick`, {decisions:,} decisions | threads | decisions a second | CPU, s |")
    print("|---|--:|--:|--:|")
    for device, threads, rate, cpu in trainings(decisions):
        print(f"| {device} | {threads} | {rate:,.0f} | {cpu:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
