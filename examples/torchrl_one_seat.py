"""Trains one seat among bots with TorchRL's PPO, 64 games at once in one gymnasium vector env.

TorchRL pins its own tensordict, so it has an environment of its own (``make test-frameworks``).
.venvs/torchrl/bin/python examples/torchrl_one_seat.py --steps 500000

TorchRL refuses NEXT_STEP. With DISABLED it resets finished games through ``reset_mask``. The mask
is part of a Dict observation.

With a random partner and random opponents it made +11.0 points a round after 106,496 decisions
(53 s of CPU time of one shared core), mean of 2,549 rounds with exploration.
"""

import argparse
import time

import gymnasium
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import goita_env  # noqa: F401  (registers goita/Seat-v0)


def network(outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(512, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, outputs)
    )


class Logits(nn.Module):
    """Turns observations of bits into logits, and the mask into booleans."""

    def __init__(self) -> None:
        super().__init__()
        self.net = network(69)

    def forward(self, observation: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.net(observation.float()), mask.bool()


class Value(nn.Module):
    """Estimates the points to come, in units of 100 points."""

    def __init__(self) -> None:
        super().__init__()
        self.net = network(1)

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return self.net(observation.float())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500_000, help="decisions of the learner")
    parser.add_argument("--games", type=int, default=64, help="games at once")
    parser.add_argument("--batch", type=int, default=8192, help="decisions of an update")
    parser.add_argument("--opponents", default="random")
    args = parser.parse_args()

    torch.set_num_threads(1)  # A second thread gains little here, and waits where cores are busy.
    torch.manual_seed(0)
    games = gymnasium.make_vec(
        "goita/Seat-v0",
        num_envs=args.games,
        partner="random",
        opponents=args.opponents,
        observation="dict",
        autoreset_mode="Disabled",
    )
    env = GymWrapper(games, categorical_action_encoding=True)
    env.set_seed(0)
    actor = ProbabilisticActor(
        TensorDictModule(Logits(), ["observation", "action_mask"], ["logits", "mask"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(Value(), in_keys=["observation"])
    advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    collector = Collector(
        env,
        actor,
        frames_per_batch=args.batch,
        total_frames=args.steps,
        device="cpu",
        auto_register_policy_transforms=True,
    )
    start, steps = time.perf_counter(), 0
    for data in collector:
        points = data["next", "reward"][data["next", "done"]]
        data["next", "reward"] = data["next", "reward"] / 100
        with torch.no_grad():
            advantage(data)
        flat = data.reshape(-1)
        for _ in range(2):
            for rows in torch.randperm(len(flat)).split(1024):
                losses = loss(flat[rows])
                total = sum(losses[f"loss_{part}"] for part in ("objective", "critic", "entropy"))
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        steps += data.numel()
        print(
            f"{steps:,} decisions, {time.perf_counter() - start:.0f} s: "
            f"{points.mean():+.2f} points a round in {len(points)} rounds"
        )
    collector.shutdown()


if __name__ == "__main__":
    main()
