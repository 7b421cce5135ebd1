# %% [markdown]
"""
# Exact beliefs in a notebook

What does a seat know of its partner's hand after the moves of a round? There are few enough hands
to enumerate them all, so the belief is exact. Install with `pip install -e ".[agents]"` in the
repository, and run in its root.
"""

# %%
import numpy as np

from goita_agents.beliefs import follow
from goita_agents.models import UNIFORM_MODEL, PolicyModel
from goita_env import actions, records

text = (
    "11122335,11256678,11334457,11124459,s1,"
    "113,2p,3p,4p,112,226,3p,4p,1p,216,3p,4p,1p,217,373,4p,132"
)
deal = records.history.loads(text).deals[0]
for game, listener in follow(deal, 0, PolicyModel("heuristic")):
    seat, action = game.moves[-1]
    belief = listener.posterior("partner")
    print(f"seat {seat}: {actions.name(action):>3}  {belief.entropy():.2f} nats left")

# %% [markdown]
"""
## The likeliest hands

A belief contains every possible hand with its probability. The last line is the hand that the
partner really held.
"""

# %%
for hand, chance in belief.most_likely(5):
    print(f"{hand}  {chance:.1%}")
real = deal.hands[2]
print(f"{real}  {np.exp(belief.log_probability(real)):.1%}  (what it really was)")

# %% [markdown]
"""
## It depends on who plays

The same moves reveal less about a player that plays at random.
"""

# %%
*_, (_, uniform) = follow(deal, 0, UNIFORM_MODEL)
print(f"{belief.entropy():.2f} nats if it plays like heuristic")
print(f"{uniform.posterior('partner').entropy():.2f} nats if it plays at random")
