"""Plays what turns out best when the round is played out by a base policy in many sampled worlds.

At each decision worlds are drawn that the seat can't rule out. Each legal action is tried in the
same worlds, with a base policy at all seats from then on, and the best average of points is played.
Rollouts are an old recipe (Tesauro and Galperin 1996); that the base plays at all seats, not best
replies to open hands, keeps the search from relying on what it can't know. The base's own choice
stands unless another is better by more than chance.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final, Literal, get_args

import numpy as np

from agents.base import Agent, AgentError, Bool, Int, Memory, Policy, Tempered
from agents.bots.greedy import GreedyAgent
from agents.faults import Accountable
from agents.search.drawing import TREMBLE, WEIGHED, draw
from agents.search.halving import playouts
from agents.search.hearing import Hearing, asked
from agents.search.playout import Keys, Player
from agents.search.pricing import set_up
from agents.solver.limits import check_search
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.tiles import NUM_TILES

Weight = Literal["uniform", "policy"]
Drop = Literal["half", "behind"]

RATE: Final = 75
"""Playouts a millisecond: about what one ordinary core makes with ``greedy`` as base, where one
decision is asked alone and takes a thousand of them; small searches make fewer."""

BATCH: Final = 16_384
"""Games that are played side by side, about; a row's games stay together."""

QUESTIONS: Final = 20_000
"""Most questions to the base, about, with which a listener begins: 0.2 s for a network."""

CAUTION: Final = 1.5
"""The caution of a search whose worlds are drawn and weighed."""

_GREEDY: Final = GreedyAgent()


class RolloutAgent:
    """Plays the action with the best average points over playouts in sampled worlds.

    Args:
        base: the policy that plays the rounds out; any agent without a memory. If it draws random
            numbers and its probabilities are known, they are the same for all actions.
        worlds: how many worlds a decision is searched in, at most.
        ms: budget of a decision, not in time but in work, so that results are the same on every
            machine: at most ``RATE`` playouts for each millisecond, which hold with ``greedy`` as
            base and decisions asked one by one. A batch is faster, a slower base slower, and the
            weighing of worlds comes on top. Where a decision has many actions it gets fewer worlds,
            but one at least (with ``drop="behind"`` it gets them all, and a race that ends early).
        weight: "policy" weighs worlds by how likely the base would have done in them what the
            others did, for which its probabilities must be known; "uniform" doesn't.
        belief: draw worlds from the exact posterior of a listener that is kept from move to move
            (``hearing``); they are weighed already.
        caution: standard errors, as the worlds played show them, by which an action must be better
            than the base's own choice. With very few worlds they are too small, with one zero.
        sure: the base's own choice is played without a search where one action has a higher
            probability (a network's at temperature 1), so always for a base that gives 1 to its
            choice; 1: everything is searched.
        questions: with ``belief``, the base's own choice is played without a search where a
            listener would ask the base more often than about that as it begins: right after the
            first leads too many hands are possible.
        drop: what is dropped on the way: "half" of the actions, the worse one, after a quarter and
            after half of the worlds (``halving``); or what is "behind" by more than a standard
            error, after 16 worlds and whenever their number has doubled, so that decisions in which
            nothing comes near the base's choice take little of the budget (``elimination``).
        unseen: the base's own choice is played without a search where more tiles are unseen: early
            in a round playouts take longest and find least.

    Raises:
        AgentError: if an option is outside its choices, or the base can't play rounds out.
    """

    def __init__(
        self,
        base: Agent = _GREEDY,
        worlds: int = 64,
        ms: float = 50.0,
        weight: Weight = "policy",
        belief: bool = False,
        caution: float = CAUTION,
        sure: float = 1.0,
        questions: float = QUESTIONS,
        drop: Drop = "half",
        unseen: int = NUM_TILES,
    ) -> None:
        self.name = "rollout"
        if not callable(getattr(base, "act", None)):
            raise AgentError(f"expected an agent as base, got {base!r}")
        if isinstance(base, Memory | Accountable):
            raise AgentError(
                f"expected a base that plays from one view alone, got {base.name!r}, "
                "which has a memory or is a program of its own"
            )
        check_search(worlds, ms)
        for name, value in (("caution", caution), ("questions", questions), ("unseen", unseen)):
            if not value >= 0:
                raise AgentError(f"expected {name} of at least 0, got {value!r}")
        self._caution = caution
        if weight not in get_args(Weight):
            raise AgentError(f"expected a weight of {get_args(Weight)}, got {weight!r}")
        if drop not in get_args(Drop):
            raise AgentError(f"expected a drop of {get_args(Drop)}, got {drop!r}")
        self._policy: Policy | None = None
        if weight == "policy":
            if not isinstance(base, Policy):
                raise AgentError(
                    f"expected a base with known probabilities, got {base.name!r}; "
                    "weight=uniform does without"
                )
            self._policy = base
        self._hearing: Hearing | None = None
        if belief:
            if self._policy is None:
                raise AgentError(f"expected weight=policy with belief=on, got weight={weight}")
            self._hearing = Hearing(self._policy, TREMBLE)
        self._sure, self._judge = sure, _judge(base, sure)
        self._questions, self._unseen = questions, unseen
        self._player, budget = Player(base), ms * RATE
        self._budget = budget if drop == "behind" else None
        if drop == "behind":
            self._counts = np.full(NUM_ACTIONS + 1, max(1, min(worlds, int(budget))))
        else:
            self._counts = _worlds_by_actions(worlds, budget)
        self._worlds = int(self._counts.max())

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the action that did best in each row: int64 [N]; one number is drawn a row."""
        seeds = rng.integers(2**63, size=len(view)).astype(np.uint64)
        chosen = np.empty(len(view), np.int64)
        open_ = self._open(view, legal)
        known, left = np.flatnonzero(~open_), np.flatnonzero(open_)
        if len(known):
            chosen[known] = self._favourites(view[known], legal[known], seeds[known])
        chosen[left] = self._searched(view[left], legal[left], seeds[left])
        return chosen

    def _open(self, view: View, legal: Bool) -> Bool:
        """Tells which rows are searched: bool [N]; each by its view alone."""
        found: Bool = (view.unseen.sum(axis=1) <= self._unseen) & (legal.sum(axis=1) > 1)
        if self._judge is not None:
            found &= self._judge.probabilities(view, legal).max(axis=1) <= self._sure
        if self._hearing is not None:
            for row in np.flatnonzero(found):
                found[row] = asked(view[row : row + 1]) <= self._questions
        return found

    def _searched(self, view: View, legal: Bool, seeds: Keys) -> Int:
        """Returns the action that did best in each row, a batch after the other: int64 [N]."""
        actions = legal.sum(axis=1)
        # Where there are few actions it is the worlds to be weighed that fill the batch.
        games = (np.maximum(actions, WEIGHED // 2) * self._counts[actions]).cumsum() // BATCH
        chosen = np.empty(len(view), np.int64)
        for rows in np.split(np.arange(len(view)), np.flatnonzero(np.diff(games)) + 1):
            if len(rows):
                chosen[rows] = self._search(view[rows], legal[rows], seeds[rows])
        return chosen

    def _search(self, view: View, legal: Bool, seeds: Keys) -> Int:
        """Returns the action that did best in each of some rows: int64 [R]; seeds: [R]."""
        favourite = self._favourites(view, legal, seeds)
        counts = self._counts[legal.sum(axis=1)]
        drawn = draw(
            view,
            seeds,
            counts,
            self._worlds,
            self._policy,
            self._hearing,
            mixed=self._budget is not None,
        )
        race, play = set_up(self._player, view, legal, favourite, drawn, seeds, self._budget)
        return race.run(play, self._caution)

    def _favourites(self, view: View, legal: Bool, seeds: Keys) -> Int:
        """Returns the base's own choice in each row: int64 [N]; seeds: [N]."""
        return self._player.choose(view, legal, seeds, np.arange(len(view)), 0)


def _judge(base: Agent, sure: float) -> Policy | None:
    """Returns what tells how sure a base is of its choice; None where that isn't asked.

    Raises:
        AgentError: if ``sure`` is no probability, or the base's are not known.
    """
    if not 0 <= sure <= 1:
        raise AgentError(f"expected sure from 0 to 1, got {sure!r}")
    if sure == 1:
        return None
    if not isinstance(base, Policy):
        raise AgentError(
            f"expected a base with known probabilities for sure={sure:g}, got {base.name!r}"
        )
    return base.at(1.0) if isinstance(base, Tempered) else base


def _worlds_by_actions(worlds: int, budget: float) -> Int:
    """Returns how many worlds a decision gets by its number of legal actions: int64 [70].

    Args:
        worlds: most worlds.
        budget: playouts of a decision.
    """
    counts = [
        bisect_right(range(2, worlds + 1), budget, key=lambda w: playouts(actions, w)) + 1
        for actions in range(NUM_ACTIONS + 1)
    ]
    return np.array(counts)
