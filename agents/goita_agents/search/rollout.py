"""Plays the action that does best when the round is played out by a base policy in sampled worlds.

At each decision worlds are drawn that the seat can't rule out. Each legal action is tried in the
same worlds, with the base at all seats from then on, and the action with the best average of points
is played: a rollout (Tesauro and Galperin 1996). The base sees only its own hand, and doesn't play
best replies to open hands, so the search doesn't rely on hidden tiles. The base's own choice is the
prior action.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np

from goita_agents.base import Agent, AgentError, Bool, Int, Policy
from goita_agents.beliefs.types import Types
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.models import PolicyModel, check_stateless
from goita_agents.registry import Entry
from goita_agents.search.action_values import SearchOptions, evaluate_actions
from goita_agents.search.playout import Keys, Players, PlayoutPolicy
from goita_agents.search.playout_budget import check_choice, worlds_within
from goita_agents.search.sampling import PosteriorSampler, Sampler, sample_worlds
from goita_agents.search.weighed_sampler import WEIGHED_PER_WORLD, WeighedSampler
from goita_env import View
from goita_env.tiles import NUM_SEATS, NUM_TILES

Weight = Literal["uniform", "policy"]

BATCH_GAMES: Final = 16_384  #: Games played side by side, about; a row's games stay together.

ROLLOUT: Final = SearchOptions(
    worlds=64,
    budget=3_750,
    min_z=1.5,
    max_policy_queries=20_000,
    max_unseen_tiles=NUM_TILES,
    allocation="halving",
)
"""Options of ``rollout``. With one decision at a time, playouts take about 50 ms with ``greedy`` as
base, and queries about 0.2 s with a network. There are about 64 playouts of each action: 4
standard errors would leave nearly every choice to the base."""

_GREEDY: Final = GreedyAgent()


class RolloutAgent:
    """An agent that plays the action with the best average points over playouts in sampled worlds.

    The base's own choice is played without a search where ``max_policy_queries`` or
    ``max_unseen_tiles`` say so.

    Args:
        base: the policy that plays the rounds out; any agent without a memory. If it draws random
            numbers and its probabilities are known, they are the same for all actions.
        options: how a decision is searched.
        weight: "policy" weighs worlds by the probability with which the base would have acted in
            them as the others did, for which its probabilities must be known; "uniform" doesn't.
        belief: draw worlds from an exact posterior instead, which needs ``weight="policy"``.
        types: with ``belief``, how the others may play, and which agents play them in playouts;
            None: all play like the base.
        players: with ``types``, other agents that play in worlds of each pair of types, in the form
            of ``players_of``.

    Raises:
        AgentError: if an option is outside its choices, or the base can't play rounds out.
    """

    def __init__(
        self,
        base: Agent = _GREEDY,
        options: SearchOptions = ROLLOUT,
        weight: Weight = "policy",
        belief: bool = False,
        *,
        types: Types | None = None,
        players: Players | None = None,
    ) -> None:
        self.name = "rollout"
        if not callable(getattr(base, "act", None)):
            raise AgentError(f"expected an agent as base, got {base!r}")
        check_stateless(base)
        check_choice("weight", weight, get_args(Weight))
        self._base, self._player = base, PlayoutPolicy(base)
        self._sampler = _sampler(base, weight, belief, types)
        self._models = players_of(base, types) if players is None else players
        self._options = options
        self._counts = worlds_within(options.budget, options.worlds, options.allocation)
        """[70] Worlds of a decision, by the number of legal actions."""

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the action that did best in each row: int64 [N]; one number is drawn a row."""
        seeds = rng.integers(2**63, size=len(view)).astype(np.uint64)
        chosen = np.empty(len(view), np.int64)
        searched = self._searched(view, legal)
        direct = np.flatnonzero(~searched)
        if len(direct):
            chosen[direct] = self._prior_actions(view[direct], legal[direct], seeds[direct])
        for rows in self._batches(np.flatnonzero(searched), legal):
            chosen[rows] = self._search(view[rows], legal[rows], seeds[rows])
        return chosen

    def _searched(self, view: View, legal: Bool) -> Bool:
        """Returns which rows are searched: bool [N]; it depends only on the row's view."""
        options = self._options
        searched: Bool = view.unseen.sum(axis=1) <= options.max_unseen_tiles
        searched &= legal.sum(axis=1) > 1
        if isinstance(self._sampler, PosteriorSampler):
            for row in np.flatnonzero(searched):
                queries = self._sampler.queries(view[row : row + 1])
                searched[row] = queries <= options.max_policy_queries
        return searched

    def _batches(self, rows: Int, legal: Bool) -> list[Int]:
        """Splits rows into batches of about ``BATCH_GAMES`` games each."""
        if len(rows) == 0:
            return []
        actions = legal[rows].sum(axis=1)
        # Where there are few actions, the worlds to be weighed fill the batch.
        factor = np.maximum(actions, WEIGHED_PER_WORLD // 2)
        batch = (factor * self._counts[actions]).cumsum() // BATCH_GAMES
        return np.split(rows, np.flatnonzero(np.diff(batch)) + 1)

    def _search(self, view: View, legal: Bool, seeds: Keys) -> Int:
        return self._search_with(self._models, view, legal, seeds)

    def _search_with(self, players: Players, view: View, legal: Bool, seeds: Keys) -> Int:
        """Returns the chosen actions [n], with these players in the playouts."""
        worlds = sample_worlds(
            view,
            seeds,
            self._counts[legal.sum(axis=1)],
            self._sampler,
            places=int(self._counts.max()),
            shuffled=self._options.allocation == "elimination",
        )
        values = evaluate_actions(
            view,
            legal,
            players,
            worlds,
            prior_action=self._prior_actions(view, legal, seeds),
            seeds=seeds,
            allocation=self._options.allocation,
            budget=self._options.budget,
            min_z=self._options.min_z,
        )
        return values.chosen

    def _prior_actions(self, view: View, legal: Bool, seeds: Keys) -> Int:
        """[n] The base's own choices."""
        # Equal views have equal legal actions, so that the base can be asked once about them; that
        # does not hold of narrowed masks, with which each row is asked separately.
        size = len(view) if (legal == view.legal()).all() else 1
        parts = [slice(first, first + size) for first in range(0, len(view), size)]
        return np.concatenate(
            [
                self._player.choose(
                    view[part], legal[part], keys=seeds[part], owners=np.arange(size), time=0
                )
                for part in parts
            ]
        )


def players_of(base: Agent, types: Types | None) -> list[list[Agent]]:
    """Returns the four agents for worlds of each pair of types: the base at seat 0, then types.

    Without types the base plays at all seats.

    Raises:
        AgentError: if a type is not a ``PolicyModel``, so that no agent plays it.
    """
    if types is None:
        return [[base] * NUM_SEATS]
    models = [*types.opponents, *types.partners]
    agents = [model.agent for model in models if isinstance(model, PolicyModel)]
    if len(agents) < len(models):
        raise AgentError(f"expected types that are policies, got {[m.name for m in models]}")
    num_opponents = len(types.opponents)
    return [
        [base, opponent, partner, opponent]
        for opponent in agents[:num_opponents]
        for partner in agents[num_opponents:]
    ]


def _sampler(base: Agent, weight: Weight, belief: bool, types: Types | None) -> Sampler:
    """Returns the sampler of these options; an AgentError if they exclude each other."""
    if types is not None and not (belief and weight == "policy"):
        raise AgentError(f"expected belief=on, weight=policy with types, got {belief=}, {weight=}")
    if weight == "uniform":
        if belief:
            raise AgentError(f"expected weight=policy with belief=on, got weight={weight}")
        return WeighedSampler(None)
    if not isinstance(base, Policy):
        raise AgentError(
            f"expected a base with known probabilities, got {base.name!r}; "
            "weight=uniform does without"
        )
    return PosteriorSampler(types or base) if belief else WeighedSampler(base)


ENTRY = Entry(RolloutAgent)
"""``rollout``, as texts name it."""
