"""Values of policies in a small game, best responses to them, and learners, exactly.

A policy is float64 [A], a probability for each action of each information set (``Tree``). Values
are points of a round for the dealer's team, seats 0 and 2, minus those of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Float
from goita_env.agent import SUM_TOLERANCE
from goita_env.errors import SettingError
from goita_lab.exact import kernel
from goita_lab.exact.tree import Tree


@dataclass(frozen=True)
class Response:
    """A best response of one player to the others."""

    value: float  #: Points for the dealer's team, the player's best against the others.
    policy: Float  #: [A] The others' policy, and the player's best actions with probability 1.


def value(tree: Tree, policy: Float) -> float:
    """Returns the expected points when all players follow a policy."""
    return float(tree.chance @ expected(tree, policy)[: len(tree.chance)])


def expected(tree: Tree, policy: Float) -> Float:
    """Returns the expected points from each history on: float64 [N]."""
    found = np.empty(len(tree.info))
    kernel.expect(tree.info, tree.first, tree.points, tree.starts, policy, found)
    return found


def reached(tree: Tree, policy: Float, player: int, *, whole_team: bool = False) -> Float:
    """Returns how likely chance and all but one player reach each history: float64 [N].

    ``whole_team``: its partner is left out, too.
    """
    found = np.empty(len(tree.info))
    players, me = (tree.seat % 2, player % 2) if whole_team else (tree.player, player)
    kernel.reach(tree.info, tree.first, tree.starts, players, policy, tree.chance, me, found)
    return found


def played(tree: Tree, policy: Float, player: int) -> Float:
    """Returns how likely one player goes to each history where it can: float64 [N]."""
    found, others = np.empty(len(tree.info)), tree.player != player
    everywhere = np.ones(len(tree.chance))
    kernel.reach(tree.info, tree.first, tree.starts, others, policy, everywhere, True, found)
    return found


def worths(tree: Tree, policy: Float, player: int) -> Float:
    """Returns what each action of a player is worth, by the reach of the others: float64 [A].

    Summed over an information set with the player's probabilities this is the player's
    counterfactual value there, in points for the dealer's team.
    """
    found = np.empty(len(tree.action))
    kernel.weigh(
        tree.info,
        tree.first,
        tree.starts,
        tree.player,
        player,
        reached(tree, policy, player),
        expected(tree, policy),
        found,
    )
    return found


def best_response(tree: Tree, policy: Float, player: int) -> Response:
    """Returns the best that one player can do while the others follow a policy.

    Where the eyes of a team are "partner", the player is the whole team.
    """
    return respond(tree, policy, player, reached(tree, policy, player))


def respond(tree: Tree, policy: Float, player: int, others: Float) -> Response:
    """Returns the best that one player can do, by the others' reach of each history [N]."""
    values, worth = np.empty(len(tree.info)), np.empty(len(tree.action))
    chosen = np.full(len(tree.seat), -1, np.int64)
    kernel.respond(
        tree.info,
        tree.first,
        others * tree.points,
        tree.starts,
        tree.player,
        player,
        sign(player),
        tree.levels,
        values,
        worth,
        chosen,
    )
    found, own = policy.copy(), np.flatnonzero(tree.player == player)
    found[tree.player[tree.owner] == player] = 0
    found[tree.starts[own] + chosen[own]] = 1
    return Response(float(values[: len(tree.chance)].sum()), found)


ROUNDING: Final = 1e-6
"""Points by which rounding may violate what is a theorem of exact values."""


def check_policy(tree: Tree, policy: Float) -> None:
    """Raises a SettingError unless a policy [A] is a distribution at every information set."""
    if policy.shape != tree.action.shape:
        raise SettingError(
            f"expected probabilities of shape {tree.action.shape}, got {policy.shape}"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        apart = abs(totals(tree, policy) - 1)
    # NaN compares as false, so a set with NaN is wrong, too.
    if not (policy >= 0).all() or not (apart <= SUM_TOLERANCE).all():
        raise SettingError(
            "expected probabilities of at least 0 that sum to 1 at every information set, got "
            f"least {policy.min()!r}, and sums up to {apart.max()!r} from 1"
        )


def gains(tree: Tree, policy: Float) -> dict[int, float]:
    """Returns what each player could gain in points by a best response, by player.

    Raises:
        SettingError: if the policy is none.
        ArithmeticError: if a gain is negative, which no best response allows.
    """
    check_policy(tree, policy)
    base = value(tree, policy)
    found = {
        player: sign(player) * (best_response(tree, policy, player).value - base)
        for player in sorted(set(tree.players))
    }
    if min(found.values()) < -ROUNDING:
        raise ArithmeticError(f"expected gains of best responses of at least 0, got {found}")
    return found


def sign(player: int) -> int:
    """Returns 1 for players of the dealer's team, -1 for the others."""
    return 1 - 2 * (player % 2)


WEIGHT: Final = 6
"""Power of its number that a policy has as weight in the average. Teams drift from one equilibrium
to another as they learn, so old policies must count little: after 500 rounds a seat of ``mini_4``
gains 0.028 points with 2, and 0.017 with 6."""


class Learner:
    """The learners of all players of a small game, by predictive counterfactual regret (PCFR+).

    Each player has a learner of its own (Farina, Kroer and Sandholm 2021). Players are updated in
    turn, and the solution is the average of all policies, of which late ones count most. Where a
    team sees its own tiles it is one player, so the game is one of two players and the average
    comes near an equilibrium. Else a team is two players, for whom no such theorem holds; what the
    average is worth is measured: ``gains``.

    Args:
        tree: the game.
        regret: float64 [A] the first regrets, which lead to another end; None: there are none, and
            the first policy is uniform.

    Attributes:
        rounds: how often each player has been updated.
        policy: float64 [A] the present policy.
    """

    def __init__(self, tree: Tree, regret: Float | None = None) -> None:
        self.tree, self.rounds, self.policy = tree, 0, tree.uniform()
        self._regret, self._sum = np.zeros(len(tree.action)), np.zeros(len(tree.action))
        self._of = {
            player: np.flatnonzero(tree.player[tree.owner] == player)
            for player in sorted(set(tree.players))
        }
        if regret is not None:
            self._regret, self.policy = regret, normalised(tree, regret)

    def learn(self) -> None:
        """Updates each player once."""
        tree, self.rounds = self.tree, self.rounds + 1
        for player, own in self._of.items():
            worth = sign(player) * worths(tree, self.policy, player)
            new = (worth - totals(tree, worth * self.policy)[tree.owner])[own]
            regret = np.maximum(self._regret[own] + new, 0)
            self._regret[own] = regret
            predicted = np.zeros(len(tree.action))
            predicted[own] = np.maximum(regret + new, 0)
            self.policy[own] = normalised(tree, predicted)[own]
        self._remember()

    def average(self) -> Float:
        """Returns the solution so far: float64 [A]."""
        return normalised(self.tree, self._sum)

    def state(self) -> dict[str, Float]:
        """Returns all that the learners have learnt, by name; ``restore`` takes it."""
        return {
            "rounds": np.array(float(self.rounds)),
            "policy": self.policy,
            "regret": self._regret,
            "sum": self._sum,
        }

    def restore(self, state: dict[str, Float]) -> None:
        """Goes on where ``state`` was taken."""
        self.rounds, self.policy = int(state["rounds"]), state["policy"].copy()
        self._regret, self._sum = state["regret"].copy(), state["sum"].copy()

    def _remember(self) -> None:
        """Adds the present policy to the average."""
        share = self.rounds**WEIGHT * self._own_reach()
        self._sum += share[self.tree.owner] * self.policy

    def _own_reach(self) -> Float:
        """[I] How likely each player's own actions lead to its information sets."""
        tree, found = self.tree, np.ones(len(self.tree.seat))
        for start, end in zip(tree.sets[:-1], tree.sets[1:], strict=True):
            before = tree.before[start:end]
            reach = self.policy[before] * found[tree.owner[before]]
            found[start:end] = np.where(before >= 0, reach, 1.0)
        return found


def totals(tree: Tree, values: Float) -> Float:
    """Returns the sum over the actions of each information set: float64 [I]."""
    return np.add.reduceat(values, tree.starts[:-1])


def normalised(tree: Tree, weights: Float) -> Float:
    """Returns weights as probabilities, uniform where all are 0: float64 [A]."""
    total = totals(tree, weights)[tree.owner]
    return np.where(total > 0, weights / np.where(total > 0, total, 1), tree.uniform())
