"""Defines a bot as a class, checks it, and uses it as opponent and partner of a learner.

python own_bot.py --steps 2000                                           (both in this folder)
goita evaluate --agents own_bot:Cautious:keep=3 greedy --deals 500

A bot is any object with ``act``. It gets a batch of positions, each as seen by the seat to act, and
returns a legal action for each. It never gets a state.
"""

import argparse

import gymnasium
import numpy as np

from goita_agents import load_agent
from goita_env import View, actions
from goita_env.testing import check_agent


class Cautious:
    """Passes on its partner's attacks, else plays the pair whose attack it holds most often."""

    def __init__(self, keep: int = 2) -> None:
        self.keep = keep

    def act(self, view: View, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Returns a legal action for each position: int [N]."""
        worth = np.where(legal, 0.0, -np.inf)
        for action in np.flatnonzero(legal.any(axis=0)):
            pair = actions.decode(int(action))
            if pair is not None:
                worth[:, action] += view.hand[:, pair[1]]
        tiles = view.hand.sum(axis=1)
        partner = (view.attacker == 2) & legal[:, actions.PASS] & (tiles > self.keep)
        worth[partner, actions.PASS] = np.inf
        return worth.argmax(axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000, help="decisions of the learner")
    args = parser.parse_args()
    check_agent(Cautious())  # legal actions, right shapes, the same answer to the same question
    bot = load_agent("own_bot:Cautious:keep=3")
    env = gymnasium.make("goita_env:goita/Seat-v0", partner=bot, opponents="greedy")
    points: list[float] = []
    _, info = env.reset(seed=0)
    for _ in range(args.steps):
        action = env.action_space.sample(info["action_mask"])
        _, reward, is_over, _, info = env.step(action)
        if is_over:
            points.append(float(reward))
            _, info = env.reset()
        if info["skipped"]:
            points += [info["skipped_points"] / info["skipped"]] * info["skipped"]
    print(f"random play with {bot.name}, against greedy: {np.mean(points):+.1f} points a round")


if __name__ == "__main__":
    main()
