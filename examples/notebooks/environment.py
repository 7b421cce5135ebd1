# %% [markdown]
"""
# The environment in a notebook

Play rounds of Goita in the PettingZoo environment, look at what an agent observes, then play a
thousand games at once. Install with `pip install .` in the repository.
"""

# %%
import numpy as np

from goita_env import goita_v0

env = goita_v0.env()
env.reset(seed=0)
print(env.agents, env.action_space("player_0"))
observation = env.observe(env.agent_selection)
for name, value in observation.items():
    print(f"{name}: {value.dtype} {value.shape}")

# %% [markdown]
"""
## One round

`env.last()` gives the observation and the reward of the agent whose turn it is. The mask says
which of the 69 actions are legal. Both partners get the same reward when the round ends.
"""

# %%
rng, rewards = np.random.default_rng(0), dict.fromkeys(env.agents, 0.0)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    rewards[agent] += reward
    over = terminated or truncated
    env.step(None if over else rng.choice(np.flatnonzero(observation["action_mask"])))
print(rewards)

# %% [markdown]
"""
## The table

`Game` is the same game for people. It prints, it can be copied, and actions have names.
"""

# %%
from goita_env import Game, actions

game = Game(seed=4)
game.play("52")
print(game.view(game.seat))
print([actions.name(action) for action in game.legal_actions()])

# %% [markdown]
"""
## A thousand games at once

Everything has a row for each game. A finished game starts again with a new deal.
"""

# %%
from goita_env import GoitaVectorEnv

games = GoitaVectorEnv(num_games=1000, seed=0)
turn, finished = games.reset(), 0
for _ in range(100):
    turn = games.step(games.sample_legal(rng))
    finished += int(turn.done.sum())
print(turn.observation.shape, turn.action_mask.shape, turn.reward.shape)
print(f"{finished:,} rounds ended in 100,000 steps")
