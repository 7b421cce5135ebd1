# %% [markdown]
"""
# Look at a game

A recorded round, looked at from the table and from one seat. This is a script in cells: editors
open it as a notebook (VS Code, PyCharm, Spyder; Jupyter with jupytext), and `python
examples/look_at_a_game.py` runs it. It needs the checkout with the extra `[search]`. The record
is one line, as the Goita community writes games ([notations](../notation.md)).
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
## The table

Replay it up to some move and print the game: all hands open, blocks above, attacks below.
"""

# %%
from itertools import islice

*_, game = islice(record.replay(), 10)  # ten moves made
print(game)

# %% [markdown]
"""
## What a seat knew

The seat that is to move sees its own tiles and what lies open, `#` is face down.
"""

# %%
from goita_env.render import ansi

view = game.view(game.seat)
print(ansi.view(view, ascii=True))

# %% [markdown]
"""
## What might the others hold?

Every way in which the hidden tiles may lie, given what this seat saw, is a *world*. Drawn
uniformly, they tell how likely the others are to hold each kind, by hard facts alone: nothing is
supposed about how anybody plays.
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

Bots are asked with a view and the legal actions, as in play.
"""

# %%
from agents import load_agent

legal = view.legal()
for name in ("greedy", "heuristic", "champion"):
    action = load_agent(name).act(view, legal, np.random.default_rng(0))[0]
    print(f"{name:10} {actions.name(int(action))}")

# %% [markdown]
"""
## What did it cost?

With all hands open a solver says what each action was worth. The loss of a decision is what it
gave away against the best one. That is no blame: nobody at the table sees all hands, and the best
move by what one knows may lose points in the deal at hand.
"""

# %%
from agents.grading import grade

for one in grade(record):
    if one.loss:
        print(f"move {one.move:2}, seat {one.seat}: gave away {one.loss} points")
