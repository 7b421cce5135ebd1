"""Measures how many decisions a second one learner among bots makes, beside hand-written loops.

    python benchmarks/one_seat.py
    python benchmarks/one_seat.py --bots random --seconds 1

Every line plays the same game: a learner that draws legal actions uniformly in a seat of its own,
the same bot in the three others, dealing and auto-reset inside the clock; CPU time of one thread.
The rounds go over all lines in turn, so that a slow minute of the machine hits all of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs from a bare checkout

import numpy as np

from goita_agents import load_agent
from goita_env import GoitaVectorEnv, SeatEnv, SeatVectorEnv, goita_v0, views

Step = Callable[[], int]
"""Plays a little, and returns how many decisions the learner made."""
Line = tuple[str, str]
"""What is measured, and with which bot."""
NUM_GAMES = 1024


def all_seats() -> Step:
    """The batched game alone, no bot asked: every seat draws, and every decision counts."""
    games, rng = GoitaVectorEnv(4 * NUM_GAMES, seed=0), np.random.default_rng(0)
    games.reset()

    def step() -> int:
        games.step(games.sample_legal(rng))
        return games.num_games

    return step


def batch(bot: str) -> Step:
    """The environment."""
    games = SeatVectorEnv(NUM_GAMES, partner=bot, opponents=bot)
    rng = np.random.default_rng(0)
    games.reset(seed=0)

    def step() -> int:
        games.step(games.sample_legal(rng))
        return NUM_GAMES

    return step


def single(bot: str) -> Step:
    """The same, one game."""
    game = SeatEnv(partner=bot, opponents=bot)
    rng = np.random.default_rng(0)
    game.reset(seed=0)

    def step() -> int:
        for _ in range(50):
            legal = np.flatnonzero(game.action_masks())
            if game.step(int(rng.choice(legal)))[2]:
                game.reset()
        return 50

    return step


def batch_by_hand(bot: str) -> Step:
    """A loop over the batched game of all seats; the learner is asked in a quarter of the games."""
    games, agent = GoitaVectorEnv(NUM_GAMES, seed=0), load_agent(bot)
    rng, numbers = np.random.default_rng(0), np.arange(NUM_GAMES)
    seats = rng.integers(4, size=NUM_GAMES)
    turn = games.reset()

    def step() -> int:
        nonlocal turn
        actions = turn.action_mask.argmax(axis=1)
        choice = turn.action_mask.sum(axis=1) > 1
        mine = numbers[choice & (turn.seat == seats)]
        bot_rows = numbers[choice & (turn.seat != seats)]
        if len(bot_rows):
            actions[bot_rows] = agent.act(turn.view[bot_rows], turn.action_mask[bot_rows], rng)
        actions[mine] = games.sample_legal(rng)[mine]
        turn = games.step(actions)
        seats[turn.done] = rng.integers(4, size=np.count_nonzero(turn.done))
        return len(mine)

    return step


def single_by_hand(bot: str) -> Step:
    """A loop over the PettingZoo game."""
    game, agent, rng = goita_v0.env(), load_agent(bot), np.random.default_rng(0)

    def step() -> int:
        decisions, seat = 0, f"player_{rng.integers(4)}"
        game.reset()
        for name in game.agent_iter():
            observation, _, terminated, _, _ = game.last()
            assert observation is not None
            legal = None if terminated else np.flatnonzero(observation["action_mask"])
            if legal is None:
                action = None
            elif name == seat:
                action = int(rng.choice(legal))
                decisions += len(legal) > 1
            elif len(legal) == 1:
                action = int(legal[0])
            else:
                view = views.from_observation(observation["observation"])
                mask = observation["action_mask"][None].astype(bool)
                action = int(agent.act(view, mask, rng)[0])
            game.step(action)
        return decisions

    return step


LINES: dict[str, Callable[[str], Step]] = {
    f"`SeatVectorEnv`, N = {NUM_GAMES:,}": batch,
    "`SeatEnv`": single,
    f"by hand over `GoitaVectorEnv`, N = {NUM_GAMES:,}, any seat to act": batch_by_hand,
    "by hand over `goita_v0.env()`": single_by_hand,
}
ALONE = f"`GoitaVectorEnv` alone, N = {4 * NUM_GAMES:,}, all seats"


def measure(
    steps: dict[tuple[str, str], Step], rounds: int, seconds: float
) -> dict[tuple[str, str], float]:
    """Returns the median of decisions a second of each line."""
    for step in steps.values():
        step()
    rates: dict[Line, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            decisions, start = 0, process_time()
            while process_time() - start < seconds:
                decisions += step()
            rates[name].append(decisions / (process_time() - start))
    return {name: float(np.median(rate)) for name, rate in rates.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bots", nargs="+", default=["random", "greedy", "heuristic"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each line in a round")
    args = parser.parse_args()
    steps = {(name, bot): make(bot) for bot in args.bots for name, make in LINES.items()}
    rates = measure({**steps, (ALONE, ""): all_seats()}, args.rounds, args.seconds)
    print("| decisions of the learner a second | " + " | ".join(args.bots) + " |")
    print("|---" + "|--:" * len(args.bots) + "|")
    for name in LINES:
        print(f"| {name} | " + " | ".join(f"{rates[name, bot]:,.0f}" for bot in args.bots) + " |")
    print(f"\n{ALONE}: {rates[ALONE, '']:,.0f}")


if __name__ == "__main__":
    main()
