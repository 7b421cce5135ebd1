"""Evaluates actions by playouts in sampled worlds.

The rollout bot, the champion's search, hints, analysis pages and the measures of signals all call
``evaluate_actions``. The constants are the defaults that they share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, get_args

import numpy as np

from goita_agents.base import AgentError, Bool, Float, Int
from goita_agents.search.playout import Keys, Players, Playouts
from goita_agents.search.playout_budget import (
    UNLIMITED,
    Allocation,
    Outcomes,
    allocate,
    check_choice,
    check_search,
)
from goita_agents.search.sampling import SampledWorlds, lay_out
from goita_env import View
from goita_env.seeds import deal_keys

SEARCH_WORLDS: Final = 256
"""Most worlds of a decision; if no action comes near the prior action, elimination plays 16."""

SEARCH_BUDGET: Final = 975  #: Playouts of a decision.

SEARCH_MIN_Z: Final = 4.0  #: Standard errors by which an action must lead the prior action.

SEARCH_ALLOCATION: Final[Allocation] = "elimination"
"""How the playouts of a decision are spread over actions and worlds."""

MAX_POLICY_QUERIES: Final = 12_000.0
"""Most queries of a search with the champion's policy: 95 of 100 decisions take 0.2 s at most."""

MAX_UNSEEN_TILES: Final = 19
"""Most unseen tiles in a search with the champion's policy; with more it gains next to nothing."""


@dataclass(frozen=True)
class SearchOptions:
    """The options of all bots that search by playouts.

    Raises:
        AgentError: if an option is outside its choices.
    """

    worlds: int = SEARCH_WORLDS  #: Largest number of worlds in which a decision is searched.
    budget: int = SEARCH_BUDGET
    """Playouts of a decision, at most. With ``allocation="halving"`` a decision with many actions
    gets fewer worlds, but at least one; elimination stops early."""
    min_z: float = SEARCH_MIN_Z
    """Standard errors by which an action must lead the prior action. They are estimated from the
    worlds played, so they are too small with very few worlds, and 0 with one world."""
    max_policy_queries: float = MAX_POLICY_QUERIES
    """With beliefs, the approximate number of queries to the base with which a listener may begin:
    right after the first leads too many hands are possible. A decision that needs more queries is
    not searched."""
    max_unseen_tiles: int = MAX_UNSEEN_TILES
    """Most unseen tiles of a decision that is searched: early in a round playouts take longest and
    gain least."""
    allocation: Allocation = SEARCH_ALLOCATION
    """How playouts are distributed over actions and worlds (``playout_budget``)."""

    def __post_init__(self) -> None:
        check_search(self.worlds, self.budget)
        for name in ("min_z", "max_policy_queries", "max_unseen_tiles"):
            if not getattr(self, name) >= 0:
                raise AgentError(f"expected {name} of at least 0, got {getattr(self, name)!r}")
        check_choice("allocation", self.allocation, get_args(Allocation))


@dataclass(frozen=True)
class ActionValues:
    """What the legal actions of R rows are worth to the acting seat's team, in points.

    The P pairs of a row and one of its actions are ordered by row and action. Errors are standard
    errors of the sampling of worlds only.
    """

    row: Int  #: [P] Row of each pair.
    action: Int  #: [P]
    points: Float  #: [P] Average over the worlds in which the action was played out.
    error: Float  #: [P] Its standard error.
    worlds: Int  #: [P] Number of these worlds: actions that fall behind are dropped on the way.
    best: Int
    """[R] The action with the best average among the actions never dropped; among equals the prior
    one."""
    chosen: Int  #: [R] The best action where it leads the prior one by enough, else the prior one.
    _outcomes: Outcomes = field(repr=False, compare=False)

    def lead(self, action: Int, over: Int) -> tuple[Float, Float]:
        """Returns by how many points actions [R] lead others [R], and the standard errors [R].

        Two actions are compared in the worlds in which both were played. The loss of an action is
        ``values.lead(values.best, action)``.
        """
        return self._outcomes.lead(self._pairs(action), self._pairs(over))

    def leads(self, action: Int, over: Int) -> tuple[Float, Float]:
        """Returns the same for each world, and the weights of the worlds: [R, W] each.

        A weight is 0 where one of the two actions was not played.
        """
        return self._outcomes.leads(self._pairs(action), self._pairs(over))

    def _pairs(self, action: Int) -> Int:
        return np.flatnonzero(self.action == action[self.row])


def evaluate_actions(
    view: View,
    legal: Bool,
    models: Players,
    worlds: SampledWorlds,
    *,
    prior_action: Int,
    seeds: Keys,
    allocation: Allocation = SEARCH_ALLOCATION,
    budget: int | None = None,
    min_z: float = SEARCH_MIN_Z,
) -> ActionValues:
    """Plays the legal actions of R positions out in the same sampled worlds.

    The values of a row depend only on that row and its seed.

    Args:
        view: R positions of acting seats.
        legal: bool [R, 69] the actions to evaluate.
        models: the agents that play the rounds out, by relative seat (0 the acting seat, 1 the
            next, 2 the partner, 3 the previous), four for each type of world; one agent plays all
            seats. They keep no memory.
        worlds: W places a row. ``elimination`` treats the first worlds as a sample of all.
        prior_action: [R] a legal action of each row, never dropped.
        seeds: uint64 [R] of everything random in playouts.
        allocation: how playouts are spread: see ``goita_agents.search.playout_budget``.
        budget: playouts of a row, about; one world is always played. None: no limit.
        min_z: standard errors by which another action must lead the prior one to be chosen;
            infinite: never.

    Raises:
        AgentError: if a view is not that of the acting seat, a prior action is illegal, or an
            option is outside its choices.
    """
    check_choice("allocation", allocation, get_args(Allocation))
    if budget is not None and budget < 1:
        raise AgentError(f"expected a budget of at least 1 playout, got {budget!r}")
    illegal = np.flatnonzero(~legal[np.arange(len(view)), prior_action])
    if len(illegal):
        row = int(illegal[0])
        raise AgentError(f"expected a legal prior action, got {prior_action[row]} in row {row}")
    playouts, num_places = Playouts(models), worlds.weight.shape[1]
    positions = lay_out(view, worlds.worlds)
    # [R * W] A world's key is the same whatever action is tried in it: common random numbers.
    keys = deal_keys(seeds.repeat(num_places), np.tile(np.arange(num_places), len(seeds)), 0)
    row_of, action_of = np.nonzero(legal)
    type_of = worlds.players.reshape(-1)

    def play(pair: Int, world: Int) -> Float:
        place = row_of[pair] * num_places + world  # positions, keys and types lie row after row
        actions, types = action_of[pair], type_of[place]
        return playouts.finish(positions, place, actions, keys[place], row_of[pair], types)

    same_as = _first_equal(worlds, playouts.certain)
    outcomes = Outcomes(
        legal, prior_action, weight=worlds.weight, count=worlds.count, play=play, same_as=same_as
    )
    allocate(outcomes, allocation, UNLIMITED if budget is None else budget)
    points, error = outcomes.averages()
    return ActionValues(
        row=row_of,
        action=action_of,
        points=points,
        error=error,
        worlds=outcomes.worlds,
        best=action_of[outcomes.best()],
        chosen=action_of[outcomes.chosen(min_z)],
        _outcomes=outcomes,
    )


def _first_equal(worlds: SampledWorlds, certain: Bool) -> Int:
    """Returns for each world the first world of its row in which playouts go alike: int64 [R, W].

    These are equal worlds of one type, if its players draw no random number: ``certain`` [T].
    """
    rows, places = worlds.players.shape
    if not certain.any():
        return np.broadcast_to(np.arange(places), (rows, places))
    tiles = np.concatenate((worlds.worlds.hands, worlds.worlds.face_down), axis=2)
    content = tiles.reshape(rows * places, -1)
    # A world of players that draw gets a separate type, above the T types and different in each
    # place, so that it equals no other world.
    uncertain = ~certain[worlds.players]
    types = worlds.players + uncertain * (1 + np.arange(places)) * len(certain)
    # The bytes of a world, its type's eight at the end, read as one text that can be sorted.
    type_bytes = types.reshape(-1, 1).view(np.int8)
    texts = np.concatenate((content, type_bytes), axis=1).view(f"S{content.shape[1] + 8}")
    first_equal = np.empty((rows, places), np.int64)
    for row, text in enumerate(texts.reshape(rows, places)):
        _, first, distinct = np.unique(text, return_index=True, return_inverse=True)
        first_equal[row] = first[distinct]
    return first_equal
