# %% [markdown]
"""
# A bot of your own in a notebook

Write a bot, check it, and measure it against others on duplicate deals. Install with
`pip install -e ".[lab]"` in the repository, and run in its root.
"""

# %%
import numpy as np

from goita_env import actions
from goita_env.testing import check_agent
from goita_env.tiles import POINTS


class Saver:
    """Receives with what it can, and keeps its most valuable tiles for the end."""

    name = "saver"

    def act(self, view, legal, rng):
        """Returns an action for each position: int [N]."""
        worth = np.full(actions.NUM_ACTIONS, -1000.0)  # rather play than pass
        worth[1:65] = -np.tile(POINTS, 8)  # of a pair, the attack counts
        worth[actions.PASS] = -500.0
        return np.where(legal, worth, -np.inf).argmax(axis=1)


check_agent(Saver())
print("its actions are legal, and the same for the same view")

# %% [markdown]
"""
## How strong is it?

Every deal is played twice, with the teams exchanged, so that the luck of the deal cancels. The 95 %
interval is over deals.
"""

# %%
from goita_lab.arena import play_pair

for other in ("random", "greedy", "heuristic"):
    result = play_pair(Saver(), other, deals=400, seed=1)
    low, high = result.ci95
    print(
        f"against {other}: {result.points_per_round:+.1f} [{low:+.1f}, {high:+.1f}] points a round"
    )

# %% [markdown]
"""
## What does it play here?

A view holds what a seat knows. Ask the bot for a move in one position.
"""

# %%
from goita_env import Game

game = Game(seed=4)
view = game.view(game.seat)
action = int(Saver().act(view, view.legal(), np.random.default_rng(0))[0])
print(view)
print("plays", actions.name(action))
