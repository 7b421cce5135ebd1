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
    points = np.empty(len(tree.info))
    kernel.expect(tree.info, tree.first, tree.points, tree.starts, policy, points)
    return points


def reached(tree: Tree, policy: Float, player: int, *, whole_team: bool = False) -> Float:
    """Returns the probability that chance and all players except one reach a history: [N].

    ``whole_team``: the player's partner is left out, too.
    """
    reach = np.empty(len(tree.info))
    players, me = (tree.seat % 2, player % 2) if whole_team else (tree.player, player)
    kernel.reach(tree.info, tree.first, tree.starts, players, policy, tree.chance, me, reach)
    return reach


def played(tree: Tree, policy: Float, player: int) -> Float:
    """Returns the probability that a player's own actions lead to each history: float64 [N]."""
    reach, is_other = np.empty(len(tree.info)), tree.player != player
    # As in ``reached``, but the player left out is all others (``is_other`` is True), and chance.
    deals = np.ones(len(tree.chance))
    kernel.reach(tree.info, tree.first, tree.starts, is_other, policy, deals, True, reach)
    return reach


def worths(tree: Tree, policy: Float, player: int) -> Float:
    """Returns the worth of each action of a player: float64 [A], 0 for the other players' actions.

    The worth is the sum, over the histories of the information set, of the probability that chance
    and the other players reach the history, times the points expected after the action. The mean
    worth of the actions by the player's own policy is the player's counterfactual value of the set.
    All are in points for the dealer's team.
    """
    worth = np.empty(len(tree.action))
    kernel.weigh(
        tree.info,
        tree.first,
        tree.starts,
        tree.player,
        player,
        reached(tree, policy, player),
        expected(tree, policy),
        worth,
    )
    return worth


def best_response(tree: Tree, policy: Float, player: int) -> Response:
    """Returns the best response of one player while the others follow a policy.

    Where the eyes of a team are "partner", the player is the whole team.
    """
    return respond(tree, policy, player, reached(tree, policy, player))


def respond(tree: Tree, policy: Float, player: int, reach: Float) -> Response:
    """Returns the best response of one player to others with a given reach of each history [N]."""
    values, worth = np.empty(len(tree.info)), np.empty(len(tree.action))
    chosen = np.full(len(tree.seat), -1, np.int64)
    kernel.respond(
        tree.info,
        tree.first,
        reach * tree.points,
        tree.starts,
        tree.player,
        player,
        sign(player),
        tree.levels,
        values,
        worth,
        chosen,
    )
    response, sets = policy.copy(), np.flatnonzero(tree.player == player)
    response[tree.player[tree.owner] == player] = 0
    response[tree.starts[sets] + chosen[sets]] = 1
    return Response(float(values[: len(tree.chance)].sum()), response)


VALUE_TOLERANCE: Final = 1e-6
"""Points by which rounding may violate a theorem about exact values."""


def check_policy(tree: Tree, policy: Float) -> None:
    """Raises a SettingError unless a policy [A] is a distribution at every information set."""
    if policy.shape != tree.action.shape:
        raise SettingError(
            f"expected probabilities of shape {tree.action.shape}, got {policy.shape}"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = abs(totals(tree, policy) - 1)
    # A comparison with NaN is false, so a policy with NaN is refused, too.
    if not (policy >= 0).all() or not (deviation <= SUM_TOLERANCE).all():
        raise SettingError(
            "expected probabilities of at least 0 that sum to 1 at every information set, got "
            f"least {policy.min()!r}, and sums up to {deviation.max()!r} from 1"
        )


def gains(tree: Tree, policy: Float) -> dict[int, float]:
    """Returns the points that each player could gain by a best response, by player.

    Raises:
        SettingError: if the policy is not a distribution at every information set.
        ArithmeticError: if a gain is negative, which no best response allows.
    """
    check_policy(tree, policy)
    base = value(tree, policy)
    by_player = {
        player: sign(player) * (best_response(tree, policy, player).value - base)
        for player in sorted(set(tree.players))
    }
    if min(by_player.values()) < -VALUE_TOLERANCE:
        raise ArithmeticError(f"expected gains of best responses of at least 0, got {by_player}")
    return by_player


def sign(player: int) -> int:
    """Returns 1 for players of the dealer's team, -1 for the others."""
    return 1 - 2 * (player % 2)


AVERAGE_POWER: Final = 6
"""The policy of round r has weight r to this power in the average. Teams drift from one equilibrium
to another as they learn, so old policies must count little: after 500 rounds a seat of ``mini_4``
gains 0.028 points with 2, and 0.017 with 6."""


class Learner:
    """The learners of all players of a small game, by predictive counterfactual regret (PCFR+).

    Each player has its own learner (Farina, Kroer and Sandholm 2021). Players are updated in turn,
    and the solution is the average of all policies, in which late policies count most. Where
    partners see each other's tiles a team is one player, so the game has two players and the
    average approaches an equilibrium. Otherwise a team is two players, for whom no such theorem
    holds; ``gains`` measures how far the average is from an equilibrium.

    Args:
        tree: the game.
        regret: float64 [A] the first regrets, which lead to another solution; None: no regrets, and
            a uniform first policy.

    Attributes:
        rounds: how often each player has been updated.
        policy: float64 [A] the present policy.
    """

    def __init__(self, tree: Tree, regret: Float | None = None) -> None:
        self.tree, self.rounds, self.policy = tree, 0, tree.uniform()
        self._regret, self._sum = np.zeros(len(tree.action)), np.zeros(len(tree.action))
        self._actions = {
            player: np.flatnonzero(tree.player[tree.owner] == player)
            for player in sorted(set(tree.players))
        }
        if regret is not None:
            self._regret, self.policy = regret, normalised(tree, regret)

    def learn(self) -> None:
        """Updates each player once."""
        tree, self.rounds = self.tree, self.rounds + 1
        for player, own in self._actions.items():
            worth = sign(player) * worths(tree, self.policy, player)
            # Regret of this round: the worth of an action minus the mean worth in its set.
            instant = (worth - totals(tree, worth * self.policy)[tree.owner])[own]
            regret = np.maximum(self._regret[own] + instant, 0)
            self._regret[own] = regret
            predicted = np.zeros(len(tree.action))
            # The prediction is that the next round brings the same regret as this round.
            predicted[own] = np.maximum(regret + instant, 0)
            self.policy[own] = normalised(tree, predicted)[own]
        self._remember()

    def average(self) -> Float:
        """Returns the solution so far: float64 [A]."""
        return normalised(self.tree, self._sum)

    def state(self) -> dict[str, Float]:
        """Returns all arrays of the learners, by name; ``restore`` takes them."""
        return {
            "rounds": np.array(float(self.rounds)),
            "policy": self.policy,
            "regret": self._regret,
            "sum": self._sum,
        }

    def restore(self, state: dict[str, Float]) -> None:
        """Continues from a ``state``."""
        self.rounds, self.policy = int(state["rounds"]), state["policy"].copy()
        self._regret, self._sum = state["regret"].copy(), state["sum"].copy()

    def _remember(self) -> None:
        """Adds the present policy to the average."""
        share = self.rounds**AVERAGE_POWER * self._own_reach()
        self._sum += share[self.tree.owner] * self.policy

    def _own_reach(self) -> Float:
        """[I] Probability that each player's own actions lead to its information sets."""
        tree, reach = self.tree, np.ones(len(self.tree.seat))
        for start, end in zip(tree.sets[:-1], tree.sets[1:], strict=True):
            before = tree.before[start:end]
            # An index of -1, for no action before, reads the last action; ``where`` drops it.
            after_action = self.policy[before] * reach[tree.owner[before]]
            reach[start:end] = np.where(before >= 0, after_action, 1.0)
        return reach


def totals(tree: Tree, values: Float) -> Float:
    """Returns the sum over the actions of each information set: float64 [I]."""
    return np.add.reduceat(values, tree.starts[:-1])


def normalised(tree: Tree, weights: Float) -> Float:
    """Returns weights as probabilities, uniform where all are 0: float64 [A]."""
    total = totals(tree, weights)[tree.owner]
    return np.where(total > 0, weights / np.where(total > 0, total, 1), tree.uniform())
