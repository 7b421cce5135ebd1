"""Measures how fast a training makes and learns decisions, on the processor and on a GPU.

python benchmarks/training.py                              the presets' networks, on all devices
python benchmarks/training.py --layers 128x3 512x3 --games 2048 16384 --seconds 20
python benchmarks/training.py --device cuda --profile trace.json     and a trace for chrome://tracing

Every combination of device, layers and games is a training of ``train.py`` without pool and critic
(--critic adds one). Updates are timed in two parts, the play of a rollout and the learning from it;
the first ones, which load and compile, are left out. Medians over updates. The results go to a JSON
file, too.
"""

from __future__ import annotations

import json
import platform
import resource
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch as th
from stable_baselines3.common.logger import Logger

from goita_env.errors import SettingError
from goita_lab import cli, learning
from goita_lab.learning.device import find_device

WARM_UP: Final = 2
"""Updates that are not counted."""
LEAST: Final = 3
"""Updates that are, at least."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    device: tuple[Literal["cpu", "cuda"], ...] | None = None
    """cpu, cuda (default: cpu, and cuda where there is one)"""
    layers: tuple[str, ...] = ("128x3", "256x3", "512x3")
    """networks, WIDTHxLAYERS"""
    games: tuple[int, ...] = (2048,)
    """games at once"""
    critic: tuple[int, ...] | None = None
    """widths of the layers of a critic that sees all hands; without: none"""
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    """auto, bfloat16, float32"""
    threads: int = 2
    """threads of torch on the processor"""
    seconds: float = 20.0
    """of each combination, about"""
    profile: Path | None = None
    """file of a trace of one update of the last combination, which chrome://tracing shows"""
    json: Path | None = None
    """file for the results"""


@dataclass(frozen=True)
class Row:
    """What was measured of one combination."""

    device: str
    precision: str
    layers: tuple[int, ...]
    games: int
    decisions: int
    """Decisions with a choice of one update, the median."""
    per_second: float
    """Decisions that are made and learnt from."""
    play_us: float
    """Microseconds of a decision that is made."""
    learn_us: float
    """Microseconds of learning for a decision that was made; a fifth of them are learnt from."""
    host_mib: float
    """Most memory of the process so far."""
    device_mib: float
    """Most memory on the GPU; 0 on the processor."""


def measure(device: Literal["cpu", "cuda"], layers: tuple[int, ...], games: int, args: Args) -> Row:
    """Times a training."""
    model = learning.Training(
        layers=layers,
        n_envs=games,
        precision=args.precision,
        device=device,
        critic=args.critic,
    ).model()
    model.set_logger(Logger(None, []))
    if device == "cuda":
        th.cuda.reset_peak_memory_stats()
    _, callback = model._setup_learn(1 << 40)
    played, learnt, made, start = [], [], [], time.perf_counter()
    while len(made) < WARM_UP + LEAST or time.perf_counter() - start < args.seconds:
        before, first = model.num_timesteps, time.perf_counter()
        model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
        second = time.perf_counter()
        model.train()
        if device == "cuda":
            th.cuda.synchronize()
        played.append(second - first)
        learnt.append(time.perf_counter() - second)
        made.append(model.num_timesteps - before)
    if args.profile is not None:
        with th.profiler.profile() as trace:
            model.train()
        trace.export_chrome_trace(str(args.profile))
    number, play, learn = (np.array(one[WARM_UP:], float) for one in (made, played, learnt))
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    held = th.cuda.max_memory_allocated() / 2**20 if device == "cuda" else 0.0
    return Row(
        device,
        "bfloat16" if model.bfloat16 else "float32",
        layers,
        games,
        int(np.median(number)),
        float(np.median(number / (play + learn))),
        float(np.median(play / number)) * 1e6,
        float(np.median(learn / number)) * 1e6,
        host,
        held,
    )


def widths(text: str) -> tuple[int, ...]:
    """Returns the layers that WIDTHxLAYERS names; raises a SettingError where it is none."""
    width, x, number = text.partition("x")
    if not (x and width.isdecimal() and number.isdecimal() and int(width) and int(number)):
        raise SettingError(f"expected layers as WIDTHxLAYERS, such as 256x3, got {text!r}")
    return (int(width),) * int(number)


def line(row: Row) -> str:
    """Returns a row of the table, in Markdown."""
    layers = f"{len(row.layers)} of {row.layers[0]}"
    figures = f"{row.per_second:,.0f} | {row.play_us:.1f} | {row.learn_us:.1f}"
    memory = f"{row.host_mib:,.0f} | {row.device_mib:,.0f}"
    return f"| {row.device} | {row.precision} | {layers} | {row.games:,} | {figures} | {memory} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints the table row by row and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        networks = [widths(text) for text in args.layers]
        found = args.device or (("cpu", "cuda") if th.cuda.is_available() else ("cpu",))
        devices = [find_device(name) for name in found]
    except SettingError as error:
        cli.fail(error)
    learning.use_threads(args.threads)
    names = [platform.processor() or platform.machine()]
    if "cuda" in devices:
        names.append(th.cuda.get_device_name())
    titles = "device | dtype | layers | games | decisions/s | play, µs | learn, µs | MiB | GPU MiB"
    print(f"{', '.join(names)}; torch {th.__version__}, {args.threads} threads\n")
    print(f"| {titles} |\n|---|---|---|--:|--:|--:|--:|--:|--:|")
    rows = []
    for device, layers, games in product(devices, networks, args.games):
        rows.append(measure(device, layers, games, args))
        print(line(rows[-1]), flush=True)
    if args.json is not None:
        told: dict[str, Any] = {"machine": names, "torch": th.__version__, "threads": args.threads}
        told["rows"] = [asdict(row) for row in rows]
        args.json.write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    cli.run(main)
