"""Trains a recurrent partner, which learns within a match with whom it plays.

pip install ".[train]"
python examples/recurrent_partner.py --decisions 2000000 -o recurrent.pt
goita coordination "examples.recurrent_partner:Recurrent:path=recurrent.pt" --episode match

A GRU goes from decision to decision of one seat, through all rounds of a match. It reads what the
champion's network makes of an observation and adds to its logits, so it begins as the champion. PPO
trains it in matches beside members of the population, another one for each group of games.
"""

import argparse
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn

from goita_agents.base import Bool, Int, Results
from goita_agents.champion.agent import network
from goita_agents.registry import expand
from goita_env import View

WIDTH, STEPS, EPOCHS, PARTS, CLIP, LAMBDA = 64, 64, 2, 4, 0.2, 0.9
Kept = dict[str, torch.Tensor]
"""Of a rollout, each [STEPS, N, ...]."""
OPPONENTS = ("champion", "population:entropy-1", "population:selfplay-0")


class Core(nn.Module):
    """The champion's network, frozen, and a GRU that adds to its logits and values."""

    def __init__(self) -> None:
        super().__init__()
        tensors = {name: torch.from_numpy(one.copy()) for name, one in network().tensors().items()}
        self.frozen = [
            (tensors[f"layers.{n}.weight"], tensors[f"layers.{n}.bias"]) for n in range(3)
        ]
        self.heads = [
            (tensors[f"{one}.weight"], tensors[f"{one}.bias"]) for one in ("policy", "value")
        ]
        self.inner, self.cell = nn.Linear(512, WIDTH), nn.GRUCell(WIDTH, WIDTH)
        self.more, self.value = nn.Linear(2 * WIDTH, 69), nn.Linear(2 * WIDTH, 1)
        for one in (self.more, self.value):
            nn.init.zeros_(one.weight)
            nn.init.zeros_(one.bias)

    @torch.no_grad()
    def features(self, bits: np.ndarray) -> torch.Tensor:
        """Returns what the champion makes of observations uint8 [N, 512]: float32 [N, 512]."""
        found = torch.from_numpy(bits).float()
        for weight, bias in self.frozen:
            found = torch.relu(found @ weight.T + bias)
        return found

    def forward(
        self, features: torch.Tensor, legal: torch.Tensor, state: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns logits [N, 69], values [N] in rewards, and the state [N, WIDTH] afterwards."""
        seen = torch.relu(self.inner(features))
        state = self.cell(seen, state)
        both = torch.cat((seen, state), 1)
        policy, value = (features @ weight.T + bias for weight, bias in self.heads)
        logits = (policy + self.more(both)).masked_fill(~legal, -1e8)
        return logits, (value + self.value(both))[:, 0], state


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
    """Games beside several partners, a group for each."""

    def __init__(self, partners: Sequence[str], games: int, seed: int) -> None:
        self.each: list[Any] = [
            gymnasium.make_vec(
                "goita/Seat-v0",
                num_envs=games,
                partner=partner,
                opponents=OPPONENTS[number % len(OPPONENTS)],
                episode="match",
                reward_scale=0.02,
            )
            for number, partner in enumerate(partners)
        ]
        found = [env.reset(seed=seed + number)[0] for number, env in enumerate(self.each)]
        self.bits = np.concatenate(found)

    def legal(self) -> torch.Tensor:
        return torch.from_numpy(np.concatenate([env.action_masks() for env in self.each]))

    def step(self, actions: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns rewards float32 [N], and which matches ended: bool [N]."""
        parts = zip(self.each, np.split(actions, len(self.each)), strict=True)
        found = [env.step(part) for env, part in parts]
        self.bits = np.concatenate([one[0] for one in found])
        rewards, ended = (np.concatenate([one[n] for one in found]) for n in (1, 2))
        return torch.from_numpy(rewards.astype(np.float32)), torch.from_numpy(ended)


def rollout(core: Core, games: Groups, state: torch.Tensor) -> tuple[Kept, torch.Tensor]:
    """Plays STEPS decisions of every game; returns tensors [STEPS, N] by name, and the state."""
    kept: dict[str, list[torch.Tensor]] = {}
    for _ in range(STEPS):
        features, legal = core.features(games.bits), games.legal()
        logits, value, after = core(features, legal, state)
        policy = torch.distributions.Categorical(logits=logits)
        action = policy.sample()
        reward, ended = games.step(action.numpy())
        row = {"features": features, "legal": legal, "action": action, "value": value}
        row |= {"log": policy.log_prob(action), "reward": reward, "ended": ended}
        for name, one in row.items():
            kept.setdefault(name, []).append(one)
        state = after * ~ended[:, None]
    _, last, _ = core(core.features(games.bits), games.legal(), state)
    found = {name: torch.stack(some) for name, some in kept.items()}
    gain, advantages = torch.zeros_like(last), torch.zeros_like(found["value"])
    for step in reversed(range(STEPS)):
        goes_on = (~found["ended"][step]).float()
        error = found["reward"][step] + goes_on * last - found["value"][step]
        gain = error + LAMBDA * goes_on * gain
        advantages[step], last = gain, found["value"][step]
    return found | {"advantage": advantages, "return": advantages + found["value"]}, state


def update(
    core: Core, optimizer: torch.optim.Optimizer, found: Kept, begin: torch.Tensor, entropy: float
) -> None:
    """Learns from a rollout by PPO, through time, some games at once."""
    for _ in range(EPOCHS):
        for games in torch.randperm(len(begin)).chunk(PARTS):
            state, parts = begin[games], []
            for step in range(STEPS):
                legal = found["legal"][step, games]
                logits, value, after = core(found["features"][step, games], legal, state)
                parts.append((logits, value))
                state = after * ~found["ended"][step, games, None]
            policy = torch.distributions.Categorical(logits=torch.stack([one for one, _ in parts]))
            value, part = (
                torch.stack([one for _, one in parts]),
                {name: one[:, games] for name, one in found.items()},
            )
            gain = (part["advantage"] - part["advantage"].mean()) / part["advantage"].std()
            ratio = (policy.log_prob(part["action"]) - part["log"]).exp()
            kept = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            error = (value - part["return"]).square().mean()
            loss = 0.5 * error - kept - entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(core.parameters(), 0.5)
            optimizer.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--decisions", type=int, default=2_000_000)
    parser.add_argument("--games", type=int, default=32, help="games beside each partner")
    parser.add_argument("--partners", nargs="+", default=["population:train", "heuristic"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", default="recurrent.pt")
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    partners = expand(args.partners)
    games, core = Groups(partners, args.games, args.seed), Core()
    optimizer = torch.optim.Adam(core.parameters(), lr=1e-3)
    many = len(partners) * args.games
    state, made, clock = torch.zeros(many, WIDTH), 0, time.perf_counter()
    while made < args.decisions:
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * max(0.02, 1 - made / args.decisions)
        begin = state
        with torch.no_grad():
            found, state = rollout(core, games, begin)
        update(core, optimizer, found, begin, entropy=0.002)
        made += many * STEPS
        reward = 50 * found["reward"].sum() / found["ended"].sum().clamp(min=1)
        seconds = time.perf_counter() - clock
        print(f"{made:,} decisions, {reward:+.1f} points a match, {seconds:.0f} s", flush=True)
        torch.save(core.state_dict(), args.output)


if __name__ == "__main__":
    main()
