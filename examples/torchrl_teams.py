"""Trains all four seats with TorchRL: MAPPO on the PettingZoo game, its critic sees all hands.

.venvs/torchrl/bin/python examples/torchrl_teams.py --steps 50000

The four seats share a policy, which sees what a seat may know. The critic is used in training only.
It sees ``state()`` and predicts the points of seats 0 and 2. TorchRL has a row for each seat, and
``(group, "mask")`` marks the one to act; the action masks of the others are all true. One game at a
time is slow; for speed train one seat in a batch (``torchrl_one_seat.py``).
"""

import argparse
import time

import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import generalized_advantage_estimate
from torchrl_one_seat import Logits

from goita_env import SeatVectorEnv, goita_v0

GROUPS = {"even": ["player_0", "player_2"], "odd": ["player_1", "player_3"]}


def policy_of(group: str, logits: Logits) -> ProbabilisticActor:
    read = TensorDictModule(
        logits,
        in_keys=[(group, "observation", "observation"), (group, "action_mask")],
        out_keys=[(group, "logits"), (group, "legal")],
    )
    return ProbabilisticActor(
        read,
        in_keys={"logits": (group, "logits"), "mask": (group, "legal")},
        out_keys=[(group, "action")],
        distribution_class=MaskedCategorical,
    )


def acting_rows(data: TensorDict, advantage: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Returns observation, mask, action and advantage of the seat to act in each frame."""
    parts = []
    for group, sign in (("even", 1.0), ("odd", -1.0)):
        frame, seat = data[group, "mask"].nonzero(as_tuple=True)
        parts.append(
            (
                data[group, "observation", "observation"][frame, seat],
                data[group, "action_mask"][frame, seat],
                data[group, "action"][frame, seat],
                sign * advantage[frame],
            )
        )
    return tuple(torch.cat(both) for both in zip(*parts, strict=True))


def measure(logits: Logits, rounds: int) -> tuple[float, float]:
    """Returns points per round as a team against random play, and half the 95 % interval."""
    games = SeatVectorEnv(256, seat="team", opponents="random")
    observation, _ = games.reset(seed=1)
    points: list[float] = []
    while len(points) < rounds:
        legal = torch.from_numpy(games.action_masks())
        with torch.no_grad():
            scores = logits.net(torch.from_numpy(observation).float()).masked_fill(~legal, -1e9)
        observation, reward, is_over, _, _ = games.step(scores.argmax(1).numpy())
        points += reward[is_over].tolist()
    return float(np.mean(points)), 1.96 * float(np.std(points)) / len(points) ** 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=50_000, help="decisions of all seats")
    parser.add_argument("--batch", type=int, default=2048, help="decisions of an update")
    parser.add_argument("--rounds", type=int, default=4000, help="rounds of the measurement")
    parser.add_argument("--save", help="file for the policy's weights")
    args = parser.parse_args()

    torch.set_num_threads(1)  # A second thread gains little here, and waits where cores are busy.
    torch.manual_seed(0)
    env = PettingZooWrapper(
        goita_v0.env(),
        use_mask=True,
        return_state=True,
        group_map=GROUPS,
        categorical_actions=True,
        seed=0,
    )
    logits, critic = Logits(), nn.Sequential(nn.Linear(704, 256), nn.Tanh(), nn.Linear(256, 1))
    policy = TensorDictSequential(*(policy_of(group, logits) for group in GROUPS))
    optimizer = torch.optim.Adam([*logits.parameters(), *critic.parameters()], lr=1e-3)
    collector = Collector(
        env,
        policy,
        frames_per_batch=args.batch,
        total_frames=args.steps,
        device="cpu",
        auto_register_policy_transforms=True,
    )
    start, steps = time.perf_counter(), 0
    for data in collector:
        rewards = {group: data["next", group, "reward"].sum().item() for group in GROUPS}
        assert sum(rewards.values()) == 0, "the rewards of the two teams sum to zero"
        reward = data["next", "even", "reward"][:, :1, 0] / 100
        is_over = data["next", "done"]
        with torch.no_grad():
            value = critic(data["state"].float())
            after = critic(data["next", "state"].float())
            advantage, target = generalized_advantage_estimate(
                1.0, 0.95, value[None], after[None], reward[None], is_over[None], is_over[None]
            )
        seen, legal, action, gain = acting_rows(data, advantage[0, :, 0])
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        with torch.no_grad():
            old = MaskedCategorical(logits=logits.net(seen.float()), mask=legal).log_prob(action)
        for _ in range(4):
            now = MaskedCategorical(logits=logits.net(seen.float()), mask=legal)
            ratio = (now.log_prob(action) - old).exp()
            objective = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            miss = (critic(data["state"].float()) - target[0]).square().mean()
            optimizer.zero_grad()
            (miss - objective).backward()
            optimizer.step()
        steps += data.numel()
        rounds = int(is_over.sum())
        length = data.numel() / max(rounds, 1)
        print(
            f"{steps:,} decisions, {time.perf_counter() - start:.0f} s: {rounds} rounds of "
            f"{length:.1f} decisions, seats 0 and 2 got {rewards['even'] / 2:+.0f} points"
        )
    collector.shutdown()
    if args.save:
        torch.save(logits.net.state_dict(), args.save)
    mean, half = measure(logits, args.rounds)
    print(f"against random play: {mean:+.2f} +/- {half:.2f} points a round")


if __name__ == "__main__":
    main()
