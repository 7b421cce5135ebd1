"""Evaluates actions by playouts in sampled worlds: the only loop of its kind.

The rollout bot, the champion's search, hints, analysis pages and the measures of signals all ask
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

WORLDS: Final = 256
"""Most worlds of a decision; where nothing comes near the prior action, elimination plays 16."""

BUDGET: Final = 975  # Playouts of a decision.

MIN_Z: Final = 4.0  # Standard errors by which an action must lead the prior one.

ALLOCATION: Final[Allocation] = "elimination"

MAX_POLICY_QUERIES: Final = 12_000.0
"""Of a search with the champion's policy: with these 95 of 100 decisions take 0.2 s at most."""

MAX_UNSEEN_TILES: Final = 19
"""Of a search with the champion's policy: before, it finds next to nothing."""


@dataclass(frozen=True)
class SearchOptions:
    """How a decision is searched: what all bots that search by playouts let one choose.

    Raises:
        AgentError: if an option is outside its choices.
    """

    worlds: int = WORLDS  #: Worlds that a decision is searched in, at most.
    budget: int = BUDGET
    """Playouts of a decision, at most. With ``allocation="halving"`` a decision with many actions
    gets fewer worlds, but one at least; elimination stops early."""
    min_z: float = MIN_Z
    """Standard errors by which an action must lead the prior one. They are estimated from the
    worlds played: with very few they are too small, with one zero."""
    max_policy_queries: float = MAX_POLICY_QUERIES
    """With beliefs, most queries to the base, about, with which a listener may begin: right after
    the first leads too many hands are possible. Beyond, nothing is searched."""
    max_unseen_tiles: int = MAX_UNSEEN_TILES
    """Most unseen tiles of a decision that is searched: early in a round playouts take longest and
    find least."""
    allocation: Allocation = ALLOCATION  #: How playouts are spread (``playout_budget``).

    def __post_init__(self) -> None:
        check_search(self.worlds, self.budget)
        for name in ("min_z", "max_policy_queries", "max_unseen_tiles"):
            if not getattr(self, name) >= 0:
                raise AgentError(f"expected {name} of at least 0, got {getattr(self, name)!r}")
        check_choice("allocation", self.allocation, get_args(Allocation))


@dataclass(frozen=True)
class ActionValues:
    """What the legal actions of R rows are worth to the mover's team, in points.

    The P pairs of a row and one of its actions stand row after row, actions ascending. Errors are
    standard errors of the sampling of worlds alone.
    """

    row: Int  #: [P] Row of each pair.
    action: Int  #: [P]
    points: Float  #: [P] Average over the worlds in which the action was played out.
    error: Float  #: [P] Its standard error.
    worlds: Int  #: [P] How many worlds those are: actions that fall behind are dropped on the way.
    best: Int
    """[R] The action with the best average among those never dropped; the prior one among
    equals."""
    chosen: Int  #: [R] The best action where it leads the prior one by enough, else the prior one.
    _outcomes: Outcomes = field(repr=False, compare=False)

    def lead(self, action: Int, over: Int) -> tuple[Float, Float]:
        """Returns by how many points actions [R] lead others [R], and the standard errors [R].

        Each is compared in the worlds in which both were played. The loss of an action is
        ``values.lead(values.best, action)``.
        """
        return self._outcomes.lead(self._pairs(action), self._pairs(over))

    def leads(self, action: Int, over: Int) -> tuple[Float, Float]:
        """Returns the same for each world, and the weights of the worlds: [R, W] each.

        A weight is 0 where one of the two was not played.
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
    allocation: Allocation = ALLOCATION,
    budget: int | None = None,
    min_z: float = MIN_Z,
) -> ActionValues:
    """Plays the legal actions of R positions out in the same sampled worlds.

    What a row gets depends on that row and its seed alone.

    Args:
        view: R positions of seats that are asked.
        legal: bool [R, 69] the actions to evaluate.
        models: the agents that play the rounds out, by relative seat (0 the mover, 1 the next, 2
            its partner, 3 the previous), four for each type of world; one agent plays all seats.
            They keep no memory.
        worlds: W places a row. ``elimination`` takes the first worlds for a sample of all.
        prior_action: [R] a legal action of each row, never dropped.
        seeds: uint64 [R] of all that is random in playouts.
        allocation: how playouts are spread: see ``goita_agents.search.playout_budget``.
        budget: playouts of a row, about: one world is played in any case. None: no limit.
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
    playouts, most = Playouts(models), worlds.weight.shape[1]
    positions = lay_out(view, worlds.worlds)
    # [R * W] A world's key is the same whatever action is tried in it: common random numbers.
    keys = deal_keys(seeds.repeat(most), np.tile(np.arange(most), len(seeds)), 0)
    row_of, action_of = np.nonzero(legal)
    type_of = worlds.players.reshape(-1)

    def play(pair: Int, world: Int) -> Float:
        place = row_of[pair] * most + world
        actions, types = action_of[pair], type_of[place]
        return playouts.finish(positions, place, actions, keys[place], row_of[pair], types)

    alike = _alike(worlds, playouts.certain)
    found = Outcomes(legal, prior_action, worlds.weight, worlds.count, play, alike)
    allocate(found, allocation, UNLIMITED if budget is None else budget)
    points, error = found.averages()
    best, chosen = found.action[found.best()], found.action[found.chosen(min_z)]
    return ActionValues(found.row, found.action, points, error, found.worlds, best, chosen, found)


def _alike(worlds: SampledWorlds, certain: Bool) -> Int:
    """Returns the first world of its row that is the same as each: int64 [R, W].

    Only worlds of one type are, and only where its players draw no random number: ``certain`` [T].
    """
    rows, most = worlds.players.shape
    if not certain.any():
        return np.broadcast_to(np.arange(most), (rows, most))
    each = worlds.worlds
    content = np.concatenate((each.hands, each.face_down), axis=2).reshape(rows * most, -1)
    apart = worlds.players + (~certain[worlds.players]) * (1 + np.arange(most)) * len(certain)
    types = apart.reshape(-1, 1).view(np.int8)
    texts = np.concatenate((content, types), axis=1).view(f"S{content.shape[1] + 8}")
    alike = np.empty((rows, most), np.int64)
    for row, text in enumerate(texts.reshape(rows, most)):
        _, first, same = np.unique(text, return_index=True, return_inverse=True)
        alike[row] = first[same]
    return alike
