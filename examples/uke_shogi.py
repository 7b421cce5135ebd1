"""Trains stock MaskablePPO in Uke-Shogi against the two built-in players.

pip install ".[train]"
python examples/uke_shogi.py --steps 400000

Passing is free, so that there is something to learn. The learner has one of four seats, the others
are greedy. After a few minutes on one core it plays new deals against three greedy and against
three random players. A player as good as the others makes zero.
"""

import argparse
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from goita_env.uke_shogi import PLAYERS, UkeShogiGame, UkeShogiRules
from goita_env.uke_shogi.rules import NUM_ACTIONS
from goita_env.uke_shogi.view import observation_size

RULES = UkeShogiRules(must_match=False)


class Seat(gymnasium.Env[np.ndarray, Any]):
    """One learner, whose seat changes with the deal; it acts where it has a choice."""

    def __init__(self, opponents: str, seed: int) -> None:
        self.observation_space = Box(0, max(RULES.counts), (observation_size(RULES),), np.uint8)
        self.action_space = Discrete(NUM_ACTIONS)
        self.opponent = PLAYERS[opponents]
        self.rng = np.random.default_rng(seed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deals until the learner has a choice."""
        has_choice = False
        while not has_choice:
            deal = int(self.rng.integers(2**63))
            self.game, self.seat = UkeShogiGame(RULES, seed=deal), deal % RULES.players
            has_choice = self._play_to_choice()
        return self._look(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Makes the learner's choice and plays on; the reward comes with the end of the deal."""
        self.game.play(action)
        is_over = not self._play_to_choice()
        return self._look(), self.game.rewards()[self.seat], is_over, False, {}

    def action_masks(self) -> np.ndarray:
        return np.isin(np.arange(NUM_ACTIONS), self.game.legal_actions())

    def _play_to_choice(self) -> bool:
        while self.game.seat is not None:
            legal = self.game.legal_actions()
            if len(legal) == 1:
                self.game.play(legal[0])
            elif self.game.seat == self.seat:
                return True
            else:
                self.game.play(self.opponent(self.game.view(self.game.seat), self.rng))
        return False

    def _look(self) -> np.ndarray:
        return self.game.view(self.seat).observation()


def make(games: int, opponents: str, seed: int) -> DummyVecEnv:
    """Returns tables where the learner meets these opponents."""
    return DummyVecEnv([partial(Seat, opponents, seed + n) for n in range(games)])


def measure(model: MaskablePPO, tables: DummyVecEnv, deals: int) -> str:
    """Returns the learner's points a deal, with a 95 % interval."""
    gains: list[float] = []
    observations: Any = tables.reset()
    while len(gains) < deals:
        masks = np.array(tables.env_method("action_masks"))
        actions, _ = model.predict(observations, action_masks=masks, deterministic=True)
        observations, rewards, is_over, _ = tables.step(actions)
        gains += rewards[is_over].tolist()
    margin = 1.96 * np.std(gains) / np.sqrt(len(gains))
    return f"{np.mean(gains):+.3f} +- {margin:.3f} a deal, {len(gains)} deals"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400_000, help="decisions of the learner")
    parser.add_argument("--games", type=int, default=16, help="games at once")
    parser.add_argument("--deals", type=int, default=10_000, help="deals of a measurement")
    args = parser.parse_args()

    torch.set_num_threads(1)  # A second thread gains little here, and waits where cores are busy.
    model = MaskablePPO(
        "MlpPolicy",
        make(args.games, "greedy", seed=0),
        n_steps=256,
        batch_size=512,
        n_epochs=4,
        learning_rate=lambda remaining: 1e-3 * remaining,
        ent_coef=0.01,
        gamma=1.0,
        policy_kwargs={"net_arch": [128, 128]},
        device="cpu",
        seed=0,
    )
    model.learn(args.steps)
    for opponents in PLAYERS:
        tables = make(args.games, opponents, seed=1_000_000)
        print(f"against three {opponents}: {measure(model, tables, args.deals)}")


if __name__ == "__main__":
    main()
