"""The exact benchmark of unknown partners in a small game: regret, and the floor under it.

An agent sits at one seat, an unknown partner opposite, and two opponents at the other seats. A
*type* is a partner with its opponents; the agent knows neither. Each partner meets two equilibria,
and two *listeners*: pairs that respond to a team of two copies of this partner, so they know its
signals. All values are expectations, in points a round, the mean over the agent's four seats.

The regret of an agent with a type is the points that the best response to the type has more than
the agent. A player that does not know the type cannot do better than the Bayes-optimal agent: the
best response to all types at once, which are equally likely. The mean regret of the Bayes-optimal
agent is the *price* of not knowing. The rest of an agent's regret is what the agent *leaves*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from goita_agents.asking import attempt_actions, build_agent, check_agents, end_agent
from goita_agents.base import AgentError, Float, Policy, is_stateless
from goita_agents.faults import Fault, FaultTracking
from goita_agents.identity import Identities
from goita_agents.registry import check_distinct, short_name
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.rules import Rules, get_rules
from goita_env.tiles import NUM_SEATS
from goita_lab.exact.agent import read, write
from goita_lab.exact.tree import Channel, Tree, enumerate_game
from goita_lab.exact.values import (
    VALUE_TOLERANCE,
    check_policy,
    reached,
    respond,
    sign,
    value,
)
from goita_lab.provenance import provenance
from goita_lab.store import MOST_POINTS, Column

Split = Literal["train", "validation", "test"]
TRAIN: Final[Split] = "train"

FORMAT: Final = "goita-partners-1"
FOLDER: Final = Path(__file__).parent / "players"
OPPONENT_TEAMS: Final = ("equilibrium-a", "equilibrium-b", "listeners-a", "listeners-b")
"""The opponents of each partner: the same two equilibria, and two pairs that know its signals."""

PARTNER_COLUMNS: Final = {
    "names": Column("U", ("P",)),
    "splits": Column("U", ("P",)),
    "policies": Column("f", ("equilibria and P", "A - I"), 0, 1),
    "listeners": Column("u", ("P", 2, "I"), 0, NUM_ACTIONS),
    "best": Column("f", ("P", 4), -MOST_POINTS, MOST_POINTS),
}
"""The arrays of a file of players; the last probability of each information set is left out."""

Type = tuple[Float, Float]
"""Policies [A] of a partner and of its opponents."""


@dataclass(frozen=True)
class Players:
    """The players of a small game with I information sets and A actions; P partners."""

    names: tuple[str, ...]  #: [P]
    splits: tuple[str, ...]  #: [P]
    policies: Float  #: [P, A]
    equilibria: Float  #: [2, A]
    listeners: npt.NDArray[np.uint8]  #: [P, 2, I] Index of the action taken, in its set.
    best: Float  #: [P, 4] Points of the best response to each type.

    @classmethod
    def load(cls, tree: Tree, path: Path | None = None) -> Players:
        """Reads the players of a game; by default the shipped players."""
        path = path or shipped(tree.rules, message=tree.channel is not None)
        _, arrays = read(path, FORMAT, PARTNER_COLUMNS, tree)
        names, splits = (tuple(arrays[column].tolist()) for column in ("names", "splits"))
        in_set = arrays["listeners"] < np.diff(tree.starts)  # the action exists in its set
        if len(arrays["policies"]) != len(names) + 2 or not in_set.all():
            raise SettingError(
                f"expected players of {tree.rules.name}, got others in {str(path)!r}"
            )
        policies = _whole(tree, arrays["policies"])
        equilibria, policies = policies[:2], policies[2:]  # the partners' come last
        return cls(names, splits, policies, equilibria, arrays["listeners"], arrays["best"])

    def save(self, tree: Tree, path: Path) -> None:
        """Writes the players, probabilities in float16."""
        is_last = np.zeros(len(tree.action), bool)  # the last action of each information set
        is_last[tree.starts[1:] - 1] = True
        policies = np.concatenate((self.equilibria, self.policies))[:, ~is_last]
        arrays = {
            "names": np.array(self.names),
            "splits": np.array(self.splits),
            "policies": policies.astype(np.float16),
            "listeners": self.listeners,
            "best": self.best,
        }
        write(path, FORMAT, tree, arrays)

    def types(self, tree: Tree, partner: int) -> list[Type]:
        """Returns a partner with each of its opponents, in the order of ``OPPONENT_TEAMS``."""
        listeners = np.zeros((2, len(tree.action)))
        for policy, index in zip(listeners, self.listeners[partner], strict=True):
            policy[tree.starts[:-1] + index] = 1
        return [(self.policies[partner], pair) for pair in (*self.equilibria, *listeners)]

    def of(self, split: Split) -> list[int]:
        """Returns the indices of the partners of a split."""
        return [partner for partner in range(len(self.splits)) if self.splits[partner] == split]

    def names_of(self, split: Split) -> tuple[str, ...]:
        """Returns the names of the partners of a split."""
        return tuple(self.names[partner] for partner in self.of(split))


def shipped(rules: Rules, *, message: bool = False) -> Path:
    """Returns the file of a game's players; raises a SettingError if there is no such file."""
    path = FOLDER / f"{rules.name}{'-message' if message else ''}.npz"
    if not path.exists():
        games = ", ".join(sorted(file.stem for file in FOLDER.glob("*.npz")))
        raise SettingError(f"expected a game with partners, {games}, got {path.stem!r}")
    return path


def _whole(tree: Tree, stored: npt.NDArray[np.float16]) -> Float:
    """Adds the last probability of each information set to stored policies: float64 [n, A]."""
    last = tree.starts[1:] - 1
    policies = np.zeros((len(stored), len(tree.action)))
    is_stored = np.ones(len(tree.action), bool)
    is_stored[last] = False
    policies[:, is_stored] = stored
    sums = np.add.reduceat(policies, tree.starts[:-1], axis=1)
    policies[:, last] = np.maximum(1 - sums, 0)
    # Rounding to float16 can leave sums above 1.
    policies /= np.add.reduceat(policies, tree.starts[:-1], axis=1)[:, tree.owner]
    return policies


def seated(tree: Tree, seat: int, agent: Float, kind: Type) -> Float:
    """Returns the policy [A] of a table: an agent at its seat, with a type at the others."""
    partner, opponents = kind
    pair = np.where(tree.actor == seat, agent, partner)
    return np.where(tree.actor % 2 == seat % 2, pair, opponents)


def points_with(tree: Tree, agent: Float, kind: Type) -> float:
    """Returns the points of an agent [A] with a type, the mean over its four seats."""
    points = (
        sign(seat) * value(tree, seated(tree, seat, agent, kind)) for seat in range(NUM_SEATS)
    )
    return sum(points) / NUM_SEATS


def bayes_optimal(tree: Tree, types: Sequence[Type]) -> tuple[float, Float]:
    """Returns the Bayes-optimal player: the best response to all types, which are equally likely.

    A seat's own actions do not change the probability that all others reach a history, so with
    types that are equally likely this probability is the mean over the types, and one sweep a seat
    finds the best response.

    Returns:
        Points a round, the mean over types and seats; and its policy: float64 [A].
    """
    points, policy = 0.0, tree.uniform()
    for seat in range(NUM_SEATS):
        others = np.zeros(len(tree.info))
        for player_type in types:
            others += reached(tree, seated(tree, seat, policy, player_type), seat)
        # The response changes ``policy`` only at this seat's sets: after the loop it has all four.
        response = respond(tree, policy, seat, others / len(types))
        points += sign(seat) * response.value / NUM_SEATS
        policy = response.policy
    return points, policy


def strength(tree: Tree, agent: Float, equilibria: Float) -> float:
    """Returns the points of an agent and its copy against equilibria, the mean of both sides."""
    points = [
        sign(team) * value(tree, np.where(tree.actor % 2 == team, agent, equilibrium))
        for team in range(2)
        for equilibrium in equilibria
    ]
    return sum(points) / len(points)


@dataclass(frozen=True)
class Score:
    """The points and the regret of an agent with the P partners of a split, in points a round."""

    points: Float  #: [P, 4] By partner and opponents.
    regret: Float  #: [P, 4] Points of the best response to each type, minus these.
    price: float  #: The mean regret of the Bayes-optimal player for these types.
    strength: float  #: Points with a copy of itself against the equilibria.

    @property
    def avoidable_regret(self) -> float:
        """Returns the mean regret minus the price, which is at least 0."""
        return float(self.regret.mean()) - self.price


@dataclass(frozen=True)
class Row:
    """An agent and its scores."""

    name: str
    agent: str  #: Its text; empty: it is a control.
    weights: str  #: Its digest (``goita_agents.identity``); empty where it has none.
    score: Score
    train: Score  #: With the partners of the train split.
    faults: tuple[Fault, ...] = ()
    """Actions that are missing or illegal; legal actions replace them, all equally likely."""


@dataclass(frozen=True)
class TeamworkResults:
    """The rows of one game, the smallest regret first."""

    rules: str
    split: Split
    partners: tuple[str, ...]
    train_partners: tuple[str, ...]
    rows: tuple[Row, ...]
    origin: dict[str, Any]
    """Versions and files of the agents, and the agents that changed during the measurement."""


class Benchmark:
    """The types of a game, and the Bayes-optimal agent for them.

    Agents meet the partners of one split and the partners of the train split.

    Args:
        tree: the game.
        players: its players.
        split: the split.
    """

    def __init__(self, tree: Tree, players: Players, split: Split) -> None:
        self.tree, self.players, self.split = tree, players, split
        self.identities = Identities()
        self._types = {
            part: [players.types(tree, partner) for partner in players.of(part)]
            for part in dict.fromkeys((split, TRAIN))
        }

    @classmethod
    def load(cls, rules: str | Rules, split: Split, *, message: bool = False) -> Benchmark:
        """Returns the benchmark of a game with its shipped players.

        With ``message`` the dealer sends its partner one bit before play. Agents do not observe it,
        and send each message with the same probability; the players of this game use it.
        """
        shipped(get_rules(rules), message=message)
        tree = enumerate_game(rules, channel=Channel() if message else None)
        return cls(tree, Players.load(tree), split)

    @cached_property
    def bayes(self) -> dict[Split, Float]:
        """[A] By split, the policy of the Bayes-optimal agent, which only knows all types."""
        return {
            split: bayes_optimal(self.tree, list(chain(*types)))[1]
            for split, types in self._types.items()
        }

    @cached_property
    def price(self) -> dict[Split, float]:
        """Mean regret of the Bayes-optimal agent over the types of each split."""
        return {
            split: float(self._regret(split, self._points(split, policy)).mean())
            for split, policy in self.bayes.items()
        }

    def scores(self, agent: Float) -> dict[Split, Score]:
        """Measures an agent [A] with the partners of each split.

        Raises:
            SettingError: if the policy is not a distribution at every information set.
            ArithmeticError: if the agent has a mean regret below the price, or more points with a
                type than the best response, which is impossible.
        """
        check_policy(self.tree, agent)
        points_with_copy, scores = strength(self.tree, agent, self.players.equilibria), {}
        for split, price in self.price.items():
            points = self._points(split, agent)
            score = Score(points, self._regret(split, points), price, points_with_copy)
            smallest = min(score.avoidable_regret, float(score.regret.min()))
            if smallest < -VALUE_TOLERANCE:
                raise ArithmeticError(
                    "expected a regret of at least 0 with every type, and of at least the price on "
                    f"average, got {smallest!r} less"
                )
            scores[split] = score
        return scores

    def _points(self, split: Split, agent: Float) -> Float:
        """Returns the points of an agent [A] with each type of a split: [P, 4]."""
        return np.array(
            [
                [points_with(self.tree, agent, player_type) for player_type in types]
                for types in self._types[split]
            ]
        )

    def _regret(self, split: Split, points: Float) -> Float:
        return self.players.best[self.players.of(split)] - points

    def agent_row(self, name: str, spec: str) -> Row:
        """Measures a player of the benchmark, by its name, or an agent by its text."""
        if spec in self.players.names:
            return self.row(name, self.players.policies[self.players.names.index(spec)], spec)
        if spec not in self.identities.specs:
            self.identities.add(spec)
        policy, faults = policy_of(self.tree, spec)
        return self.row(name, policy, spec, faults)

    def row(self, name: str, policy: Float, agent: str = "", faults: tuple[Fault, ...] = ()) -> Row:
        """Measures a policy [A]; the other arguments are fields of the row."""
        digest, scores = self.identities.digests.get(agent, ""), self.scores(policy)
        return Row(name, agent, digest, scores[self.split], scores[TRAIN], faults)

    def controls(self) -> Iterator[Row]:
        """Yields the rows with which agents are compared."""
        tree, players = self.tree, self.players
        yield self.row("Bayes-optimal, these pairings", self.bayes[self.split])
        yield self.row("Bayes-optimal, train pairings", self.bayes[TRAIN])
        types = [(tree.uniform(), pair) for pair in players.equilibria]
        yield self.row("best response to uniform play", bayes_optimal(tree, types)[1])
        first = players.of(TRAIN)[0]
        response = bayes_optimal(tree, players.types(tree, first))[1]
        yield self.row(f"best response to {players.names[first]}", response)
        yield self.row(OPPONENT_TEAMS[0], players.equilibria[0])
        yield self.row("uniform play", tree.uniform())

    def measure(self, agents: Sequence[str]) -> TeamworkResults:
        """Measures agents and controls; every agent is built before the first is measured.

        Raises:
            AgentError: if an agent cannot be measured, or has the name of another agent or of
                another player of the benchmark.
        """
        names = self.players.names
        check_distinct((*agents, *(name for name in names if name not in agents)))
        outside = [spec for spec in agents if spec not in names]
        check_agents(outside, self.tree.rules, identities=self.identities)
        rows = [self.agent_row(short_name(spec), spec) for spec in agents]
        rows += self.controls()
        rows.sort(key=lambda row: row.score.regret.mean())
        return TeamworkResults(
            rules=shipped(self.tree.rules, message=self.tree.channel is not None).stem,
            split=self.split,
            partners=self.players.names_of(self.split),
            train_partners=self.players.names_of(TRAIN),
            rows=tuple(rows),
            origin=provenance(self.identities),
        )


def policy_of(tree: Tree, spec: str, seed: int = 0) -> tuple[Float, tuple[Fault, ...]]:
    """Returns the policy of an agent, float64 [A], which acts once at every information set.

    An agent without known probabilities, such as a program, acts; its action has probability 1.
    Legal actions, all equally likely, replace an action that is missing or illegal; these faults
    are returned, too. Agents do not observe messages, and send each with the same probability.

    Args:
        tree: of the game.
        spec: the agent's text.
        seed: of its random numbers.

    Raises:
        AgentError: if there is no such agent, its program does not start, it has a memory, it
            forfeits, or its probabilities are not distributions over legal actions.
    """
    agent = build_agent(spec, tree.rules)
    try:
        if isinstance(agent, Policy) and is_stateless(agent):
            return tree.policy_of([agent] * NUM_SEATS), ()
        # A program gets the whole history of its seat with every request: it needs no memory.
        if not (is_stateless(agent) or isinstance(agent, FaultTracking)):
            raise AgentError(f"expected an agent without a memory, got {agent.name!r}")
        # With a message the sets of the first level are those in which the dealer sends it.
        sets = np.arange(tree.sets[1] if tree.channel else 0, len(tree.seat))
        view = tree.view()[sets]
        legal = view.legal()
        attempt = attempt_actions(agent, view, legal, seed)
    finally:
        end_agent(agent)
    return tree.filled(sets, attempt.policy(legal)), attempt.faults
