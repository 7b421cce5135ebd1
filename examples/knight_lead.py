"""Adds a convention to the rule bot: a knight as the first attack means a rook.

goita evaluate --agents knight_lead:KnightLead heuristic --deals 500 --seed 1     (in this folder)
"""

import numpy as np

from goita_agents.bots.heuristic import HeuristicAgent
from goita_env import View, actions
from goita_env.tiles import KNIGHT, NUM_KINDS, ROOK

ATTACKS = (np.arange(actions.NUM_ACTIONS) - 1) % NUM_KINDS  # of the actions 1 to 64


class KnightLead(HeuristicAgent):
    """The rule bot with one more convention: a knight as the first attack means a rook."""

    def speak(self, view: View) -> np.ndarray:
        """Returns a bonus to the score of each action: float64 [N, 69]."""
        first = view.leads & (view.hand_sizes[:, 0] == 8)
        worth = np.where(view.hand[:, ROOK] > 0, 20.0, -20.0)
        return np.outer(first * worth, ATTACKS == KNIGHT)

    def listen(self, view: View) -> np.ndarray:
        """Returns factors on the odds of the next seat, partner, previous seat: [N, 3, 8]."""
        odds = np.ones((len(view), 3, NUM_KINDS))
        odds[:, 1, ROOK] = np.where(view.attacks[:, 2, 0] == KNIGHT, 20.0, 1.0)
        return odds
