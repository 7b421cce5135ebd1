"""Clones players from a data set of the population's play, and measures the clone.

python examples/clone_players.py                                    (half a minute)
python examples/clone_players.py --method selfplay --epochs 4
python examples/clone_players.py --data FOLDER     (logs in FOLDER/train and FOLDER/validation)

The clone is one network that predicts the action of any player of the data. It is measured on
players of methods that it has never seen, and by its points against rule bots.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from goita_env import View
from goita_lab.arena import play_pair

SAMPLE = Path(__file__).parent / "population-sample"


def read_decisions(
    folder: Path, method: str | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns observations [N, 512], legal actions [N, 69] and the players' actions [N]."""
    frame = pd.read_parquet(folder / "decisions")
    view = View(np.stack(frame["words"]))
    legal = view.legal()
    is_choice = legal.sum(axis=1) > 1  # a single legal action reveals nothing about a player
    if method:
        is_choice &= (frame["method"] == method).to_numpy()
    actions = torch.from_numpy(frame["action"].to_numpy(np.int64)[is_choice])
    seen = torch.from_numpy(view.observation()[is_choice])
    return seen, torch.from_numpy(legal[is_choice]), actions


class Clone(torch.nn.Module):
    """Predicts an action; an agent that takes the likeliest."""

    name = "clone"

    def __init__(self, width: int = 256) -> None:
        super().__init__()
        layers = [torch.nn.Linear(512, width), torch.nn.ReLU(), torch.nn.Linear(width, width)]
        self.net = torch.nn.Sequential(*layers, torch.nn.ReLU(), torch.nn.Linear(width, 69))

    def forward(self, seen: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        return self.net(seen.float()).masked_fill(~legal, -torch.inf)

    def act(self, view: View, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Returns a legal action for each position: int [N]."""
        with torch.no_grad():
            logits = self(torch.from_numpy(view.observation()), torch.from_numpy(legal))
        return logits.argmax(dim=1).numpy()


def score(clone: Clone, seen: torch.Tensor, legal: torch.Tensor, actions: torch.Tensor) -> str:
    with torch.no_grad():
        logits = clone(seen, legal)
    loss = torch.nn.functional.cross_entropy(logits, actions)
    right = (logits.argmax(dim=1) == actions).float().mean()
    return f"{len(actions):,} choices: {right:.1%} predicted, {loss:.3f} nats"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=SAMPLE, help="folder of the data set")
    parser.add_argument("--method", help="clone only players of this method")
    parser.add_argument("--epochs", type=int, default=8, help="passes over the data")
    parser.add_argument("--deals", type=int, default=1000, help="deals against each rule bot")
    args = parser.parse_args()
    torch.manual_seed(0)
    seen, legal, actions = read_decisions(args.data / "train", args.method)
    split = len(actions) * 9 // 10  # the last tenth, other rounds, is for measuring
    clone, batch = Clone(), 512
    adam = torch.optim.Adam(clone.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        for rows in torch.randperm(split).split(batch):
            loss = torch.nn.functional.cross_entropy(clone(seen[rows], legal[rows]), actions[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
        print(f"epoch {epoch + 1}: {score(clone, seen[split:], legal[split:], actions[split:])}")
    validation = read_decisions(args.data / "validation", None)
    print(f"players that are held out: {score(clone, *validation)}")
    for bot in ("greedy", "heuristic"):
        result = play_pair(clone, bot, deals=args.deals, seed=1)
        low, high = result.ci95
        print(f"against {bot}: {result.points_per_round:+.2f} [{low:+.2f}, {high:+.2f}] points")


if __name__ == "__main__":
    main()
