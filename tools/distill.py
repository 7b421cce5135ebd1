"""Learns the small network that plays rounds out in the champion's search.

python tools/distill.py -o agents/goita_agents/champion/playouts.safetensors --minutes 15

It learns the champion's probabilities in games that champions play, half of the time by their
likeliest action, with some random actions and `heuristic` at some seats: what a search meets. It
prints how far the probabilities are apart (nats) and how often the likeliest action is the same.
One core, the extra ``[train]``.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import mean

import numpy as np
import torch

from goita_agents import load_agent
from goita_agents.base import sample
from goita_agents.bots.network_file import write_network
from goita_agents.champion.agent import network
from goita_env import GoitaVectorEnv

GAMES = 4_096
RATE = 2e-3
UPDATES = 2  # Of each step of all games.


def build(width: int) -> torch.nn.Sequential:
    sizes, layers = (512, width, width, width), list[torch.nn.Module]()
    for inputs, outputs in pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, 69))


def tensors(net: torch.nn.Sequential, width: int) -> dict[str, np.ndarray]:
    """Returns the weights by the names of a network file; the value is not learned, but 0."""
    names = ("layers.0", "layers.1", "layers.2", "policy")
    found = {"value.weight": np.zeros((1, width)), "value.bias": np.zeros(1)}
    for name, layer in zip(names, list(net)[::2], strict=True):
        found[f"{name}.weight"] = layer.weight.detach().numpy()
        found[f"{name}.bias"] = layer.bias.detach().numpy()
    return {name: array.astype(np.float32) for name, array in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng, teacher, bot = np.random.default_rng(args.seed), network().at(1.0), load_agent("heuristic")
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
        for _ in range(UPDATES):
            logits = net(bits).masked_fill(~mask, -1e9)
            loss = torch.nn.functional.cross_entropy(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        entropy = -(target * target.clamp_min(1e-12).log()).sum(dim=1).mean()
        apart.append(float((loss - entropy).detach()))
        same.append(float((logits.argmax(dim=1) == target.argmax(dim=1)).float().mean()))

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
    args.output.write_bytes(write_network(teacher.info, tensors(net, args.width), half=True))


if __name__ == "__main__":
    main()
