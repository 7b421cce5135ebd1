"""Measures what is paid once: building the tables, importing the package, memory for each game."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

MEMORY_GAMES: Final = 65_536

TABLES: Final = """
from time import process_time
from goita_env.rules import get_rules
from goita_env.engine.tables import tables
start = process_time()
tables(get_rules("jga"))
print(process_time() - start)
"""

IMPORT: Final = """
from time import process_time
import gymnasium, pettingzoo
start = process_time()
from goita_env import Game, GoitaVectorEnv, goita_v0
print(process_time() - start)
"""

MEMORY: Final = f"""
import tracemalloc
import numpy as np
from goita_env import GoitaVectorEnv

def play(num_games, steps):
    env = GoitaVectorEnv(num_games=num_games, rules="jga", seed=0)
    rng = np.random.default_rng(0)
    turn = env.reset()
    for _ in range(steps):
        actions = env.sample_legal(rng)
        turn = env.step(actions)
    return env, turn, actions

def touch(turn):
    view = turn.view
    return turn.observation, turn.action_mask, turn.seat, turn.reward, turn.done, view

touch(play(64, 30)[1])  # the tables and the modules are not counted
tracemalloc.start()
held = play({MEMORY_GAMES}, 30)
arrays = tracemalloc.get_traced_memory()[0]
peak = tracemalloc.get_traced_memory()[1]
touched = touch(held[1])
print(arrays / {MEMORY_GAMES}, tracemalloc.get_traced_memory()[0] / {MEMORY_GAMES})
print(peak / {MEMORY_GAMES})
"""


def run_fresh(code: str) -> list[float]:
    """Runs code in a fresh interpreter and returns the numbers that it prints.

    Raises:
        RuntimeError: if the code fails.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    # An installed package has its bytecode; where it may not be written, compiling would be timed.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode != 0:
        raise RuntimeError(f"a fresh interpreter failed on {code!r}:\n{process.stderr}")
    return [float(word) for word in process.stdout.split()]


def measure_startup(repeats: int) -> dict[str, list[float]]:
    """Measures start-up and memory in fresh processes, so that nothing is warm but the disk.

    Args:
        repeats: fresh processes for each time, after one that is not counted (it writes bytecode).

    Returns:
        Median, least and greatest of each figure: CPU seconds, or bytes for each game.
    """
    results = {}
    for name, code in (("tables", TABLES), ("import", IMPORT)):
        run_fresh(code)
        seconds = [run_fresh(code)[0] for _ in range(repeats)]
        results[name] = [median(seconds), min(seconds), max(seconds)]
    for name, size in zip(("arrays", "arrays and view", "peak"), run_fresh(MEMORY), strict=True):
        results[name] = [size] * 3  # allocations are counted, not sampled: there is no spread
    return results
