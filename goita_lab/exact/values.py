"""Values of policies in a small game, and the best responses to them, exactly.

A policy is float64 [A], a probability for each action of each information set (``Tree``). Values
are points of a round for the dealer's team, seats 0 and 2, minus those of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from goita_agents.base import Float
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


def gains(tree: Tree, policy: Float) -> dict[int, float]:
    """Returns what each player could gain in points by a best response, by player."""
    base = value(tree, policy)
    return {
        player: sign(player) * (best_response(tree, policy, player).value - base)
        for player in sorted(set(tree.players))
    }


def sign(player: int) -> int:
    """Returns 1 for players of the dealer's team, -1 for the others."""
    return 1 - 2 * (player % 2)
