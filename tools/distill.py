"""Learns the small network that a search takes for an agent's.

python tools/distill.py champion --minutes 30
python tools/distill.py people --minutes 30

It learns the probabilities of the agent's network at temperature 1, in games that it plays with
itself, half of the time by its likeliest action, with some random actions and `heuristic` at some
seats: what a search meets. It prints how far the probabilities are apart (nats) and how often the
likeliest action is the same, in positions that it has not learned from yet. The file is written
beside the agent's network. One core, the extra ``[train]``.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from itertools import pairwise
from statistics import mean

import numpy as np
import torch

from goita_agents import load_agent
from goita_agents.base import sample
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_env import GoitaVectorEnv

GAMES = 4_096
RATE = 2e-3
UPDATES = 2  # Of each step of all games.
LAYERS = 3


def build(width: int) -> torch.nn.Sequential:
    sizes, layers = (512, *[width] * LAYERS), list[torch.nn.Module]()
    for inputs, outputs in pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 69))


def tensors(net: torch.nn.Sequential, width: int) -> dict[str, np.ndarray]:
    """Returns the weights by the names of a network file; the value is not learned, but 0."""
    names = (*(f"layers.{layer}" for layer in range(LAYERS)), "policy")
    found = {"value.weight": np.zeros((1, width)), "value.bias": np.zeros(1)}
    for name, layer in zip(names, list(net)[::2], strict=True):
        found[f"{name}.weight"] = layer.weight.detach().numpy()
        found[f"{name}.bias"] = layer.bias.detach().numpy()
    return {name: array.astype(np.float32) for name, array in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", help="champion or people")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    teacher, bot = load_agent(args.agent), load_agent("heuristic")
    if not isinstance(teacher, NetworkAgent) or teacher.small is None:
        parser.error(f"expected champion or people, got {args.agent!r}")
    teacher, rng = teacher.at(1.0), np.random.default_rng(args.seed)
    net = build(args.width)
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    games = GoitaVectorEnv(GAMES, seed=args.seed)
    turn, start, seen, apart, same = games.reset(), time.monotonic(), 0, [], []
    while (done := (time.monotonic() - start) / (60 * args.minutes)) < 1:
        optimizer.param_groups[0]["lr"] = RATE * (1 - done)
        rows = np.flatnonzero(turn.action_mask.sum(axis=1) > 1)
        view, legal = turn.view[rows], turn.action_mask[rows]
        wanted = teacher.probabilities(view, legal)
        bits = torch.from_numpy(view.observation().astype(np.float32))
        target, mask = torch.from_numpy(wanted.astype(np.float32)), torch.from_numpy(legal)
        entropy = -(target * target.clamp_min(1e-12).log()).sum(dim=1).mean()
        for update in range(UPDATES):
            logits = net(bits).masked_fill(~mask, -1e9)
            loss = torch.nn.functional.cross_entropy(logits, target)
            if update == 0:
                apart.append(float((loss - entropy).detach()))
                same.append(float((logits.argmax(dim=1) == target.argmax(dim=1)).float().mean()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        chosen = sample(wanted, rng)
        chosen = np.where(rng.random(len(rows)) < 0.5, wanted.argmax(axis=1), chosen)
        bots = np.flatnonzero((rows % 4 == 0) & (rng.random(len(rows)) < 0.5))
        chosen[bots] = bot.act(view[bots], legal[bots], rng)
        actions = games.sample_legal(rng)  # Which stay where a choice is random, or none.
        played = rng.random(len(rows)) >= 0.08
        actions[rows[played]] = chosen[played]
        turn, seen = games.step(actions), seen + len(rows)
        if len(apart) % 200 == 0:
            sys.stdout.write(
                f"{seen / 1e6:.1f} M decisions, {mean(apart[-200:]):.3f} nats, "
                f"{mean(same[-200:]):.1%} the same\n"
            )
            sys.stdout.flush()
    info = replace(teacher.info, layers=LAYERS, decisions=seen)
    teacher.small.write_bytes(write_network(info, tensors(net, args.width), half=True))


if __name__ == "__main__":
    main()
