"""Trains a recurrent partner, which adapts to its partner within a match.

pip install ".[train]"
python examples/recurrent_partner.py --decisions 2500000 --games 48 --seed 1 -o recurrent.pt
goita coordination "examples.recurrent_partner:Recurrent:path=recurrent.pt" --episode match

A GRU goes from decision to decision of one seat, through all rounds of a match. It reads the
last features of the champion's network and adds to its logits, so it begins as the champion. PPO
trains it in matches with members of the population, a different one for each group of games.

Trained by the command above, eleven minutes of one core, it is not shown to be better than the
champion: +0.02 [-0.08, +0.15] points a round more with the test partners (docs/ad_hoc_teamwork.md).
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from goita_agents.base import Bool, Int, Results
from goita_agents.champion.agent import network
from goita_agents.registry import expand
from goita_env import View

WIDTH = 64  # of the GRU
STEPS = 64  # decisions of each game between updates
EPOCHS = 2  # passes over these decisions in an update
MINIBATCHES = 4  # of games, in each pass
CLIP = 0.2
LAMBDA = 0.9  # of generalised advantage estimation; there is no discount
ENTROPY = 0.002
LEARNING_RATE = 1e-3
REWARD_SCALE = 0.02
OPPONENTS = ("champion", "population:entropy-1", "population:selfplay-0")


class Core(nn.Module):
    """The champion's network, frozen, and a GRU that adds to its logits and values."""

    def __init__(self) -> None:
        super().__init__()
        champion = {name: torch.from_numpy(w.copy()) for name, w in network().tensors().items()}

        def layer(name: str) -> tuple[Tensor, Tensor]:
            return champion[f"{name}.weight"], champion[f"{name}.bias"]

        self.frozen_layers = [layer(f"layers.{index}") for index in range(3)]
        self.frozen_policy, self.frozen_value = layer("policy"), layer("value")
        self.inner, self.cell = nn.Linear(512, WIDTH), nn.GRUCell(WIDTH, WIDTH)
        self.more, self.value = nn.Linear(2 * WIDTH, 69), nn.Linear(2 * WIDTH, 1)
        # Both heads add 0 at first.
        for head in (self.more, self.value):
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)

    @torch.no_grad()
    def features(self, observations: np.ndarray) -> Tensor:
        """Returns the champion's features of observations uint8 [N, 512]: float32 [N, 512]."""
        features = torch.from_numpy(observations).float()
        for weight, bias in self.frozen_layers:
            features = torch.relu(features @ weight.T + bias)
        return features

    def forward(
        self, features: Tensor, legal: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns logits [N, 69], values [N] in rewards, and the state [N, WIDTH] afterwards."""
        inner = torch.relu(self.inner(features))
        state = self.cell(inner, state)
        both = torch.cat((inner, state), 1)
        champion_logits, champion_value = (
            features @ weight.T + bias for weight, bias in (self.frozen_policy, self.frozen_value)
        )
        logits = (champion_logits + self.more(both)).masked_fill(~legal, -1e8)
        return logits, (champion_value + self.value(both))[:, 0], state


class Recurrent:
    """The trained network as an agent. Its memory is that of a game and a seat."""

    def __init__(self, path: str) -> None:
        torch.set_num_threads(1)
        self.name, self.core = "recurrent", Core()
        self.states: dict[int, torch.Tensor] = {}  # by game and seat
        self.core.load_state_dict(torch.load(path, weights_only=True))

    def begin(self, games: Int, seats: Int, view: View) -> None:
        for game, scores in zip(games.tolist(), view.scores.tolist(), strict=True):
            if scores == [0, 0]:
                self.states.pop(game, None)  # a new match

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Nothing is learned from a result: the network has seen the moves."""

    @torch.no_grad()
    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        games = view.game.tolist()
        state = torch.stack([self.states.get(game, torch.zeros(WIDTH)) for game in games])
        features = self.core.features(view.observation())
        logits, _, state = self.core(features, torch.from_numpy(legal), state)
        self.states.update(zip(games, state, strict=True))
        return logits.argmax(dim=1).numpy()


class Groups:
    """Games with several partners, a group for each; N games in all."""

    def __init__(self, partners: Sequence[str], games: int, seed: int) -> None:
        self.envs: list[Any] = [
            gymnasium.make_vec(
                "goita/Seat-v0",
                num_envs=games,
                partner=partner,
                opponents=OPPONENTS[group % len(OPPONENTS)],
                episode="match",
                reward_scale=REWARD_SCALE,
            )
            for group, partner in enumerate(partners)
        ]
        first = [env.reset(seed=seed + group)[0] for group, env in enumerate(self.envs)]
        self.observations = np.concatenate(first)

    def legal(self) -> Tensor:
        return torch.from_numpy(np.concatenate([env.action_masks() for env in self.envs]))

    def step(self, actions: np.ndarray) -> tuple[Tensor, Tensor]:
        """Returns rewards float32 [N], and bool [N], True where a match ended."""
        parts = zip(self.envs, np.split(actions, len(self.envs)), strict=True)
        steps = [env.step(part) for env, part in parts]
        observations, rewards, ended = (
            np.concatenate([step[column] for step in steps]) for column in range(3)
        )
        self.observations = observations
        return torch.from_numpy(rewards.astype(np.float32)), torch.from_numpy(ended)


@dataclass
class Rollout:
    """STEPS decisions of each of N games: T is STEPS."""

    begin: Tensor  # [N, WIDTH] the state before the first of these decisions
    features: Tensor  # [T, N, 512]
    legal: Tensor  # [T, N, 69]
    action: Tensor  # [T, N]
    log_prob: Tensor  # [T, N] of the action when it was chosen
    value: Tensor  # [T, N]
    reward: Tensor  # [T, N] from the decision to the next one
    ended: Tensor  # [T, N] the match ended before the next one
    last_value: Tensor  # [N] after the last decision


@torch.no_grad()
def play(core: Core, games: Groups, state: Tensor) -> tuple[Rollout, Tensor]:
    """Plays on from a state [N, WIDTH]; returns the decisions, and the state after them."""
    begin, steps = state, []
    for _ in range(STEPS):
        features, legal = core.features(games.observations), games.legal()
        logits, value, state = core(features, legal, state)
        policy = Categorical(logits=logits)
        action = policy.sample()
        reward, ended = games.step(action.numpy())
        steps.append((features, legal, action, policy.log_prob(action), value, reward, ended))
        state = state * ~ended[:, None]  # a new match begins with an empty memory
    _, last_value, _ = core(core.features(games.observations), games.legal(), state)
    # From a list of steps to a tensor of each kind.
    columns = map(torch.stack, zip(*steps, strict=True))
    features, legal, action, log_prob, value, reward, ended = columns
    return (
        Rollout(begin, features, legal, action, log_prob, value, reward, ended, last_value),
        state,
    )


def advantages(rollout: Rollout) -> Tensor:
    """Returns generalised advantages (Schulman et al. 2016): float32 [T, N]."""
    estimates, advantage = torch.zeros_like(rollout.value), torch.zeros_like(rollout.last_value)
    next_value = rollout.last_value
    for step in reversed(range(STEPS)):
        continues = (~rollout.ended[step]).float()
        error = rollout.reward[step] + continues * next_value - rollout.value[step]
        advantage = error + LAMBDA * continues * advantage
        estimates[step], next_value = advantage, rollout.value[step]
    return estimates


def replay(core: Core, rollout: Rollout, games: Tensor) -> tuple[Categorical, Tensor]:
    """Repeats the decisions of games [n], with gradients through time.

    Returns the policy and the value of each: [T, n].
    """
    state, outputs = rollout.begin[games], []
    for step in range(STEPS):
        features, legal = rollout.features[step, games], rollout.legal[step, games]
        logits, value, state = core(features, legal, state)
        outputs.append((logits, value))
        state = state * ~rollout.ended[step, games, None]
    logits, values = (torch.stack(column) for column in zip(*outputs, strict=True))
    return Categorical(logits=logits), values


def update(core: Core, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Learns from a rollout by PPO, a minibatch of games at a time."""
    advantage = advantages(rollout)
    returns = advantage + rollout.value
    for _ in range(EPOCHS):
        for games in torch.randperm(len(rollout.begin)).chunk(MINIBATCHES):
            policy, values = replay(core, rollout, games)
            normal = advantage[:, games]
            normal = (normal - normal.mean()) / normal.std()
            ratio = (policy.log_prob(rollout.action[:, games]) - rollout.log_prob[:, games]).exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            policy_loss = -torch.minimum(ratio * normal, clipped * normal).mean()
            value_loss = (values - returns[:, games]).square().mean()
            loss = policy_loss + 0.5 * value_loss - ENTROPY * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(core.parameters(), 0.5)
            optimizer.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decisions", type=int, default=2_000_000)
    parser.add_argument("--games", type=int, default=32, help="games with each partner")
    parser.add_argument("--partners", nargs="+", default=["population:train", "heuristic"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", default="recurrent.pt")
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    partners = expand(args.partners)
    games, core = Groups(partners, args.games, args.seed), Core()
    optimizer = torch.optim.Adam(core.parameters(), lr=LEARNING_RATE)
    state, decisions = torch.zeros(len(games.observations), WIDTH), 0
    start = time.perf_counter()
    while decisions < args.decisions:
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * max(0.02, 1 - decisions / args.decisions)
        rollout, state = play(core, games, state)
        update(core, optimizer, rollout)
        decisions += rollout.action.numel()
        points = rollout.reward.sum() / REWARD_SCALE / rollout.ended.sum().clamp(min=1)
        seconds = time.perf_counter() - start
        print(f"{decisions:,} decisions, {points:+.1f} points a match, {seconds:.0f} s", flush=True)
        torch.save(core.state_dict(), args.output)


if __name__ == "__main__":
    main()
