"""Measures how long agents take for a decision: asked alone, and in batches of 1,024.

python benchmarks/thinking.py champion heuristic champion:search=on
python benchmarks/thinking.py champion --rounds 200 --batches 60

Alone: the agent sits with itself in one team, ``--beside`` in the other, in rounds of consecutive
seeds; each decision with a choice is asked as one position, as a table in play would ask it. In a
batch: 1,024 games side by side, the agent at all seats (not for agents slower than 10 ms alone).
Wall-clock times of one thread; pin it to a quiet core: ``taskset -c 0``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from goita_agents import load_agent
from goita_agents.base import Agent
from goita_env import Game, GoitaVectorEnv
from goita_lab import cli

BATCH: Final = 1024
SLOW_MS: Final = 10.0
WARM_UP: Final = 3
"""Decisions that are not counted: the first ones load and compile."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """agents that are timed"""
    rounds: int = 60
    """rounds in which each is asked alone"""
    batches: int = 40
    """batches of each"""
    beside: str = "champion"
    """agent of the other team"""
    seed: int = 1000
    """seed of the first round"""


def alone(agent: Agent, rival: Agent, rounds: int, seed: int) -> Iterator[float]:
    """Yields the milliseconds of each decision with a choice, one position at a time."""
    rng = np.random.default_rng(0)
    for round_index in range(rounds):
        game = Game(seed=seed + round_index)
        while (seat := game.seat) is not None:
            legal = np.zeros((1, 69), bool)
            legal[0, game.legal_actions()] = True
            view, timed = game.view(seat), seat % 2 == round_index % 2
            if np.count_nonzero(legal) == 1:
                game.play(int(legal.argmax()))
                continue
            view.game[:] = 4 * round_index + seat  # a number for each game and seat, as tables give
            start = time.perf_counter()
            action = int((agent if timed else rival).act(view, legal, rng)[0])
            if timed:
                yield 1_000 * (time.perf_counter() - start)
            game.play(action)


def batched(agent: Agent, batches: int, seed: int) -> float:
    """Returns the microseconds of a decision in batches: the median over batches."""
    games = GoitaVectorEnv(BATCH, seed=seed)
    turn, rng, times = games.reset(), np.random.default_rng(0), []
    for _ in range(batches):
        view = turn.view
        start = time.perf_counter()
        actions = agent.act(view, turn.action_mask, rng)
        times.append(time.perf_counter() - start)
        turn = games.step(actions)
    return float(np.median(times[1:])) / BATCH * 1e6


def row(spec: str, args: Args) -> str:
    """Times one agent and returns its row of the table."""
    agent = load_agent(spec)
    decisions = alone(agent, load_agent(args.beside), args.rounds, args.seed)
    times = np.array([*decisions][WARM_UP:])
    middle, late = np.percentile(times, (50, 95))
    cells = [f"`{spec}`", f"{len(times):,}", f"{times.mean():.2f}", f"{middle:.2f}", f"{late:.2f}"]
    slow = times.mean() > SLOW_MS
    return " | ".join([*cells, "" if slow else f"{batched(agent, args.batches, args.seed):.1f}"])


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints the table row by row and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    titles = "agent | decisions | ms alone: mean | median | 95 % | µs in a batch"
    sys.stdout.write(f"| {titles} |\n|---|--:|--:|--:|--:|--:|\n")
    for spec in args.agents:
        sys.stdout.write(f"| {row(spec, args)} |\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    cli.run(main)
