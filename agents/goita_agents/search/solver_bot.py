"""Plays the action with the best average value over sampled worlds, all hands open.

Perfect-information Monte Carlo (Ginsberg 2001 for bridge; Long and others 2010 on when it works):
worlds are drawn that the seat can't rule out, and the solver values every legal action in each. It
assumes that everybody sees all hands from the next move on. So it never pays for hiding or
revealing anything, and it expects to know later which world it is in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from goita_agents.asking import ask_actions
from goita_agents.base import Bool, Float, Int
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.registry import Entry
from goita_agents.search.playout_budget import UNLIMITED, check_search
from goita_agents.search.rollout import ROLLOUT, RolloutAgent
from goita_agents.search.sampling import lay_out
from goita_agents.solver.position import roots
from goita_agents.solver.solver import NO_HORIZON, Solver
from goita_env import View
from goita_env.tiles import NUM_TILES
from goita_env.worlds import enumerate_worlds, sample

SOLVER_BUDGET: Final = 350_000
"""Searched positions of a decision: about 50 ms of one ordinary core."""
POSITIONS_PER_PLAYOUT: Final = 7_000 / 75
"""Searched positions that take about the time of one playout."""

PLAYOUT_NODES: Final = 40  #: Positions that valuing an action by a single playout takes, about.
DECISION_TABLE_BITS: Final = 16
SOLVABLE_TILES: Final = 26
"""With fewer tiles in all hands the first world is tried without a horizon."""
_GREEDY_LEAD: Final = 1e-6  # Lead in points of greedy's action: it is played among equals.


class SolverAgent:
    """A search for the action with the best average value in sampled worlds, all hands open.

    Where a world is too large to be solved in its share of the budget, the search looks a few plays
    ahead and values the rest by playouts. Pre-play decisions go to rollouts.

    Args:
        worlds: most worlds that a decision is searched in.
        budget: most searched positions of a decision. A small budget leaves fewer worlds, but at
            least one.

    Raises:
        AgentError: if an option is not above 0.
    """

    def __init__(self, worlds: int = 64, budget: int = SOLVER_BUDGET) -> None:
        self.name = "solver"
        check_search(worlds, budget)
        self._worlds, self._budget = worlds, budget
        self._greedy = GreedyAgent()
        playouts = max(1, int(budget / POSITIONS_PER_PLAYOUT))
        options = replace(ROLLOUT, worlds=worlds, budget=playouts)
        self._before_play = RolloutAgent(self._greedy, options, "uniform")
        self._solver: Solver | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_solver": None}

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the action that did best in each row: int64 [N]; one number is drawn a row."""
        seeds = rng.integers(2**63, size=len(view))
        chosen = ask_actions(self._greedy, view, legal, rng)
        for row in range(len(view)):
            row_view, row_rng = view[row : row + 1], np.random.default_rng(seeds[row])
            if view.asked_call[row] or view.asked_choice[row]:
                row_legal = legal[row : row + 1]
                chosen[row] = ask_actions(self._before_play, row_view, row_legal, row_rng)[0]
            else:
                actions = np.flatnonzero(legal[row])
                values = self._values(row_view, actions, row_rng)
                values[actions == chosen[row]] += _GREEDY_LEAD
                chosen[row] = actions[values.argmax()]
        return chosen

    def _values(self, view: View, legal: Int, rng: np.random.Generator) -> Float:
        """Returns the average points of each action over the worlds: float64 [A].

        ``legal``: [A] the actions.
        """
        most_worlds = max(1, min(self._worlds, self._budget // (PLAYOUT_NODES * len(legal))))
        worlds = enumerate_worlds(view, most_worlds) or sample(view, most_worlds, rng)
        starts, total = roots(lay_out(view, worlds)), np.zeros(len(legal))
        tiles, budget_left = int(view.hand_sizes.sum()), self._budget
        # At first three plays, and one more for each play that was made.
        horizon = NO_HORIZON if tiles < SOLVABLE_TILES else 3 + (NUM_TILES - tiles) // 2
        for index, (root, weight) in enumerate(zip(starts, worlds.weight, strict=True)):
            share = budget_left // (len(starts) - index)  # the same for all worlds still to come
            values, horizon, used = self._value(view, root, legal, share, horizon)
            budget_left = max(0, budget_left - used)
            total += weight * values
        return total

    def _value(
        self, view: View, root: Int, legal: Int, share: int, horizon: int
    ) -> tuple[Int, int, int]:
        """Values the actions in one world, within a share of positions.

        Returns their points [A], the horizon for the next world, and the number of searched
        positions. The horizon gets shorter until the share suffices.
        """
        if self._solver is None:
            self._solver = Solver(DECISION_TABLE_BITS)
        used = 0
        while True:
            # With a horizon of one play, each action is a single playout, which always ends.
            limit = share if horizon > 1 else UNLIMITED
            values = self._solver.evaluate(view.rules, root, legal, limit, horizon)
            used += self._solver.nodes
            if values is not None:
                if self._solver.nodes < share // 8:
                    horizon = min(horizon + 1, NO_HORIZON)
                return values, horizon, used
            horizon = horizon - 1 if horizon < NO_HORIZON else SOLVABLE_TILES // 4


ENTRY = Entry(SolverAgent)
"""``solver``, as texts name it."""
