"""Trains two teams against each other with RLlib's PPO (new API stack), in the PettingZoo game.

.venvs/rllib/bin/python examples/rllib_teams.py --steps 100000

Seats 0 and 2 share a policy, 1 and 3 another. One game at a time through PettingZoo is slow; for
speed train one seat in a batch (``rllib_one_seat.py``). A round that ends before a seat's first
decision omits that seat's points in RLlib, so partners' means differ.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env
from rllib_masks import FLAT, MASK, MaskedModule

from goita_env import goita_v0

TEAMS = {"player_0": "even", "player_2": "even", "player_1": "odd", "player_3": "odd"}


class Renamed(BaseWrapper):
    """Gives the parts of an observation the names of RLlib's examples."""

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        space: Any = self.env.observation_space(agent)
        return gymnasium.spaces.Dict({FLAT: space["observation"], MASK: space["action_mask"]})

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        seen = self.env.observe(agent)
        return {FLAT: seen["observation"], MASK: seen["action_mask"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000, help="decisions of all seats")
    parser.add_argument("--batch", type=int, default=4096, help="decisions of an update")
    parser.add_argument("--save", help="file for the weights of the networks of seats 0 and 2")
    args = parser.parse_args()

    register_env("goita", lambda _: PettingZooEnv(Renamed(goita_v0.env())))
    module = RLModuleSpec(
        module_class=MaskedModule, model_config=DefaultModelConfig(fcnet_hiddens=[256, 256])
    )
    config = (
        PPOConfig()
        .environment("goita")
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .multi_agent(policies={"even", "odd"}, policy_mapping_fn=lambda agent, *_: TEAMS[agent])
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(rl_module_specs={"even": module, "odd": module})
        )
        .training(
            train_batch_size_per_learner=args.batch,
            minibatch_size=min(args.batch, 512),
            num_epochs=2,
            lr=1e-3,
            gamma=1.0,
            vf_clip_param=float("inf"),
        )
    )
    algorithm = config.build_algo()
    start, steps = time.perf_counter(), 0
    while steps < args.steps:
        results = algorithm.train()["env_runners"]
        steps = int(results["num_env_steps_sampled_lifetime"])
        means = results["agent_episode_returns_mean"]
        print(
            f"{steps:,} decisions, {time.perf_counter() - start:.0f} s, "
            f"seats 0 and 2 get {means['player_0']:+.2f} points a round"
        )
    if args.save:
        torch.save(algorithm.get_module("even").state_dict(), args.save)
    algorithm.stop()


if __name__ == "__main__":
    main()
