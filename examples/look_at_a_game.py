# %% [markdown]
"""
# Look at a game

A recorded round, first with all hands open, then as one seat saw it. This is a script in cells:
editors open it as a notebook (VS Code, PyCharm, Spyder; Jupyter with jupytext), and `python
examples/look_at_a_game.py` runs it. It needs the repository and the extra `[lab]`. The record
is one line, in the notation of the Goita community ([notations](../notation.md)).
"""

# %%
from goita_env import actions, records

LINE = "11124559,11122347,13445667,11123358,s3,346,483,194,243,336,4p,1p,2p,351,4p,112,227,374"
record = records.history.loads(LINE)
games = []
for game in record.replay():
    seat, action = game.moves[-1]
    games.append(f"{seat}:{actions.name(action)}")
print(" ".join(games))
print(f"seat {game.winner} ended the round for {game.points} points")

# %% [markdown]
"""
## All hands open

Replay the record up to some move and print the game: blocks above, attacks below.
"""

# %%
from itertools import islice

*_, game = islice(record.replay(), 10)  # ten moves made
print(game)

# %% [markdown]
"""
## What did a seat know?

The seat to move sees its own tiles and all tiles face up. `#` is a face-down tile.
"""

# %%
from goita_env.render import ansi

view = game.view(game.seat)
print(ansi.render(view, ascii=True))

# %% [markdown]
"""
## What might the others hold?

A *world* is a deal that agrees with everything this seat saw. Worlds drawn uniformly give the
probability that the others hold each kind, without any model of how they play.
"""

# %%
import numpy as np

from goita_env import worlds

drawn = worlds.sample(view, 2000, np.random.default_rng(0))
print("tile      next partner previous")
NAMES = ["pawn", "lance", "knight", "silver", "gold", "bishop", "rook", "king"]
for kind, name in enumerate(NAMES):
    holds = (drawn.hands[:, 1:, kind] > 0).mean(axis=0)
    print(f"{name:8}", *(f"{share:6.0%}" for share in holds))

# %% [markdown]
"""
## What would others have done?

Each bot gets the observation of the acting seat.
"""

# %%
from goita_agents import choose_action, load_agent

for name in ("greedy", "heuristic", "champion"):
    action = choose_action(load_agent(name), view.observation(), np.random.default_rng(0))
    print(f"{name:10} {actions.name(action)}")
