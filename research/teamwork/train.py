"""Trains the partners of the exact benchmark of unknown partners, a small game each.

::

    python research/teamwork/train.py mini_3
    python research/teamwork/train.py mini_3 --test      the test players, trained last

Each player is kept in a folder when it is trained, so that the same command resumes. ``--test``
draws the seeds of the test players and writes the file that is shipped.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float
from goita_env.actions import PASS
from goita_env.tiles import NUM_SEATS
from goita_lab import cli
from goita_lab.exact.team import alternating
from goita_lab.exact.teamwork import FOLDER, OPPONENT_TEAMS, Players, bayes_optimal
from goita_lab.exact.tree import Channel, Tree, enumerate_game, spread
from goita_lab.exact.values import Learner, normalised, reached, sign, totals, worths
from goita_lab.signals.playing import load_policy

ROUNDS: Final = {"mini_3": 300, "mini_4": 120}
"""Rounds of the learners, by game."""
RESPONSE_STARTS: Final = 4
"""Random plans from which listeners respond to each other in turn."""
TREMBLE: Final = 0.05
"""Probability of a random action of the team that listeners respond to. Without it most of their
plan would be arbitrary, at information sets to which the team's own play never leads."""
GRADIENT_STEP: Final = 0.05
"""Change of a logit in a round, for each point that an action is worth more."""
HEAD_START: Final = 10.0
"""Mean points of a random first regret, times the others' probability of its information set."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    rules: str = field(metadata=cli.POSITIONAL)
    """mini_3 or mini_4"""
    message: bool = False
    """the game in which the dealer sends its partner one bit before play"""
    test: bool = False
    """train the test players, too, and write the file that is shipped"""
    output: Path = field(default=Path("players"), metadata=cli.short("-o"))
    """folder of the players"""


def name_of(args: Args) -> str:
    """Returns the name of a game's file of players."""
    return f"{args.rules}-message" if args.message else args.rules


def visited(tree: Tree, policy: Float, player: int) -> Float:
    """Returns the probability that chance and the others reach a player's information sets.

    float64 [I], 0 at the information sets of others.
    """
    nodes = np.flatnonzero(tree.info >= 0)
    likely = np.bincount(tree.info[nodes], reached(tree, policy, player)[nodes], len(tree.seat))
    return np.where(tree.player == player, likely, 0.0)


def drawn_regrets(tree: Tree, seed: int) -> Float:
    """Returns random first regrets, which lead learners to another end: float64 [A]."""
    draws = np.random.default_rng(seed).exponential(size=len(tree.action)) ** 2 / 2
    likely = np.zeros(len(tree.seat))
    for player in sorted(set(tree.players)):
        likely += visited(tree, tree.uniform(), player)
    return HEAD_START * draws * likely[tree.owner]


class Equilibrium(Learner):
    """CFR+ or discounted CFR, in place of the predictive variant."""

    def __init__(self, tree: Tree, seed: int, *, discounted: bool) -> None:
        super().__init__(tree, drawn_regrets(tree, seed))
        self._discounted = discounted

    def learn(self) -> None:
        tree, self.rounds = self.tree, self.rounds + 1
        for player in sorted(set(tree.players)):
            worth = sign(player) * worths(tree, self.policy, player)
            own = tree.player[tree.owner] == player
            new = worth - totals(tree, worth * self.policy)[tree.owner]
            regret = self._regret + new
            if self._discounted:  # Brown and Sandholm 2019: powers of 1.5 and 0.
                share = self.rounds**1.5 / (self.rounds**1.5 + 1)
                regret = np.where(regret > 0, regret * share, regret / 2)
            else:
                regret = np.maximum(regret, 0)
            self._regret[own] = regret[own]
            self.policy[own] = normalised(tree, np.maximum(regret, 0))[own]
        self._remember()


def equilibrium(tree: Tree, seed: int, rounds: int, kind: str = "predictive") -> Float:
    """Returns the average policy of learners of all seats: PCFR+, CFR+ or discounted CFR."""
    learner = (
        Learner(tree, drawn_regrets(tree, seed))
        if kind == "predictive"
        else Equilibrium(tree, seed, discounted=kind == "discounted")
    )
    for _ in range(rounds):
        learner.learn()
    return learner.average()


def gradient(tree: Tree, seed: int, rounds: int, entropy: float = 0.0) -> Float:
    """Returns the policy of self-play by natural policy gradients, from random logits.

    All seats take a step at once. ``entropy`` is the weight of the policy's entropy, in points.
    """
    logits = 2 * np.random.default_rng(seed).normal(size=len(tree.action))
    for _ in range(rounds):
        policy, step = softmax(tree, logits), np.zeros(len(logits))
        for player in sorted(set(tree.players)):
            likely = visited(tree, policy, player)[tree.owner]
            worth = sign(player) * worths(tree, policy, player)
            step += np.divide(worth, likely, out=np.zeros(len(worth)), where=likely > 0)
        logits += GRADIENT_STEP * (step - entropy * logits)
        logits -= np.maximum.reduceat(logits, tree.starts[:-1])[tree.owner]
    return softmax(tree, logits)


def preferring(tree: Tree, seed: int, rounds: int, what: str) -> Float:
    """Returns an equilibrium of players with other preferences than points."""
    points, passes = tree.points.astype(float), np.zeros(len(tree.info))
    for start, end in zip(tree.levels[:-1], tree.levels[1:], strict=True):
        node = start + np.flatnonzero(tree.info[start:end] >= 0)
        sets = tree.info[node]
        old, place = spread(np.diff(tree.starts)[sets])
        passed = tree.action[tree.starts[sets[old]] + place] == PASS
        passes[tree.first[node[old]] + place] = passes[node[old]] + passed * (
            1 - 2 * (tree.seat[sets[old]] % 2)
        )
    preferred_points = {
        "wins": 20 * np.sign(points),
        "large": points * abs(points) / 25,
        "proud": points - 4 * passes,
        "patient": points + 4 * passes,
    }[what]
    return equilibrium(replace(tree, points=preferred_points), seed, rounds)


def bot(tree: Tree, text: str, epsilon: float = 0.0) -> Float:
    """Returns the policy of an agent that plays a random action with a probability."""
    policy = tree.policy_of([load_policy(text)] * NUM_SEATS)
    return (1 - epsilon) * policy + epsilon * tree.uniform()


def softmax(tree: Tree, logits: Float) -> Float:
    """Returns the policy of logits [A]."""
    least = np.maximum.reduceat(logits, tree.starts[:-1])[tree.owner]
    return normalised(tree, np.exp(logits - least))


Plan = dict[str, dict[str, tuple[str, int | None]]]
"""Method and seed of each player, by split and name; None: drawn when it is trained."""

PLAN: Final[Plan] = {
    "opponents": {"equilibrium-a": ("predictive", 1), "equilibrium-b": ("predictive", 2)},
    "train": {
        "predictive-0": ("predictive", 11),
        "predictive-1": ("predictive", 12),
        "plus-0": ("plus", 13),
        "discounted-0": ("discounted", 14),
        "gradient-0": ("gradient", 15),
        "gradient-1": ("gradient", 16),
        "entropy-0": ("entropy", 17),
        "entropy-1": ("entropy", 18),
        "wins-0": ("wins", 19),
        "proud-0": ("proud", 20),
        "patient-0": ("patient", 21),
        "response-uniform": ("response-uniform", 0),
        "heuristic": ("heuristic", 0),
        "greedy-noisy": ("greedy-noisy", 0),
    },
    "validation": {
        "predictive-2": ("predictive", 31),
        "discounted-1": ("discounted", 32),
        "gradient-2": ("gradient", 33),
        "entropy-2": ("entropy", 34),
        "large-0": ("large", 35),
        "response-gradient": ("response-gradient", 0),
        "greedy": ("greedy", 0),
        "heuristic-noisy": ("heuristic-noisy", 0),
    },
    "test": {
        "test-predictive": ("predictive", None),
        "test-plus": ("plus", None),
        "test-discounted": ("discounted", None),
        "test-gradient-0": ("gradient", None),
        "test-gradient-1": ("gradient", None),
        "test-entropy-0": ("entropy", None),
        "test-entropy-1": ("entropy", None),
        "test-proud": ("proud", None),
        "test-wins": ("wins", None),
        "test-response": ("response-train", None),
    },
}

MESSAGE_PLAN: Final[Plan] = {
    "opponents": PLAN["opponents"],
    "train": {
        f"{method}-{run}": (method, 11 + 3 * place + run)
        for place, method in enumerate(("predictive", "gradient", "entropy"))
        for run in range(3)
    },
    "validation": {f"{method}-3": (method, 31) for method in ("predictive", "gradient", "entropy")},
    "test": {
        f"test-{method}-{run}": (method, None)
        for method in ("predictive", "gradient", "entropy")
        for run in range(3)
    },
}
"""The same for the game with a message."""


class Trainer:
    """Trains players of one game and keeps them in a folder."""

    def __init__(self, args: Args) -> None:
        self.tree = enumerate_game(args.rules, channel=Channel() if args.message else None)
        plan = MESSAGE_PLAN if args.message else PLAN
        self.plan = {split: plan[split] for split in plan if split != "test" or args.test}
        self.rounds, self.folder = ROUNDS[args.rules], args.output / name_of(args)
        self.folder.mkdir(parents=True, exist_ok=True)

    def player(self, name: str, train: Callable[[], np.ndarray]) -> np.ndarray:
        """Returns a player; it is trained unless its file exists."""
        path = self.folder / f"{name}.npy"
        if not path.exists():
            sys.stderr.write(f"{name}\n")
            np.save(path, train())
        return np.asarray(np.load(path))

    def splits(self) -> dict[str, dict[str, Float]]:
        """Returns all players of the plan; test players are trained last."""
        return {
            split: {
                name: self.player(name, partial(self.trained, *method_and_seed))
                for name, method_and_seed in players.items()
            }
            for split, players in self.plan.items()
        }

    def trained(self, method: str, seed: int | None) -> Float:
        """Trains a player; without a seed, a seed is drawn now."""
        if seed is None:
            seed = secrets.randbits(32)
            sys.stderr.write(f"seed {seed}\n")
        tree, rounds = self.tree, self.rounds
        match method:
            case "predictive" | "plus" | "discounted":
                return equilibrium(tree, seed, rounds, method)
            case "gradient":
                return gradient(tree, seed, rounds)
            case "entropy":
                return gradient(tree, seed, rounds, entropy=1.0)
            case "wins" | "large" | "proud" | "patient":
                return preferring(tree, seed, rounds, method)
            case "heuristic" | "greedy":
                return bot(tree, method)
            case "heuristic-noisy":
                return bot(tree, "heuristic", 0.2)
            case "greedy-noisy":
                return bot(tree, "greedy", 0.1)
            case "response-uniform":
                return self.response([tree.uniform()])
            case "response-gradient":
                return self.response([self.saved("gradient-0")])
        return self.response([self.saved(name) for name in self.plan["train"]])

    def response(self, partners: Sequence[Float]) -> Float:
        """Returns the best response to equally likely partners, against both equilibria."""
        opponents = [self.saved(name) for name in self.plan["opponents"]]
        types = [(partner, opponent) for partner in partners for opponent in opponents]
        return bayes_optimal(self.tree, types)[1]

    def saved(self, name: str) -> Float:
        return np.asarray(np.load(self.folder / f"{name}.npy"))

    def listeners(self, partner: Float) -> npt.NDArray[np.uint8]:
        """Returns two pairs that respond to a team of two copies of a partner: uint8 [2, A].

        The team takes random actions with a probability of ``TREMBLE``.
        """
        tree = self.tree
        partner = (1 - TREMBLE) * partner + TREMBLE * tree.uniform()
        policies = np.zeros((2, len(tree.action)), np.uint8)
        for team in range(2):
            opponents = reached(tree, partner, team, whole_team=True)
            ends = alternating(tree, partner, team, opponents, RESPONSE_STARTS, seed=team)
            plans = [plan for _, plan in ends]
            second = next((plan for plan in plans if (plan != plans[0]).any()), plans[0])
            own = tree.seat[tree.owner] % 2 == team
            for policy, plan in zip(policies, (plans[0], second), strict=True):
                policy[own] = plan[own]
        return policies


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    trainer = Trainer(args)
    splits = trainer.splits()
    tree, equilibria = trainer.tree, splits.pop("opponents")
    named = {
        name: (split, policy)
        for split, policies in splits.items()
        for name, policy in policies.items()
    }
    listening = []
    for name, (_, policy) in named.items():
        # Listeners respond to the shipped probabilities, which are float16.
        stored = policy.astype(np.float16).astype(float)
        plans = trainer.player(f"listeners-{name}", partial(trainer.listeners, stored))
        # A plan has one action a set, in order of sets: its place among the set's actions is kept.
        chosen_actions = np.flatnonzero(plans[0]), np.flatnonzero(plans[1])
        listening.append([actions - tree.starts[:-1] for actions in chosen_actions])
    players = Players(
        tuple(named),
        tuple(split for split, _ in named.values()),
        np.array([policy for _, policy in named.values()]),
        np.array(list(equilibria.values())),
        np.array(listening, np.uint8),
        np.zeros((len(named), len(OPPONENT_TEAMS))),
    )
    path = (FOLDER if args.test else args.output) / f"{name_of(args)}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    players.save(tree, path)
    # Best responses are those to the stored probabilities.
    players = Players.load(tree, path)
    best = [
        [bayes_optimal(tree, [pair])[0] for pair in players.types(tree, index)]
        for index in range(len(named))
    ]
    replace(players, best=np.array(best)).save(tree, path)
    return 0


if __name__ == "__main__":
    cli.run(main)
