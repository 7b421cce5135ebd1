# %% [markdown]
"""
# Training in a notebook

Train one seat among bots with MaskablePPO of sb3-contrib, 256 games at once, and measure it.
Install with `pip install -e ".[train]"` in the repository, and run in its root. It takes seconds.
"""

# %%
import gymnasium
from sb3_contrib import MaskablePPO

from goita_lab.learning import SeatVecEnv

games = gymnasium.make_vec(
    "goita/Seat-v0", num_envs=256, partner="random", opponents="random", reward_scale=0.02
)
env = SeatVecEnv(games, seed=0)  # 50 points are a reward of 1
print(env.observation_space, env.action_space)

# %% [markdown]
"""
## Learn

The rollout has 16 decisions of each game. Masks keep illegal actions out of the policy.
"""

# %%
model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=1024, n_epochs=2, seed=0, device="cpu")
model.learn(total_timesteps=40_000)
print(f"{model.num_timesteps:,} decisions")

# %% [markdown]
"""
## Measure

A trained model is an agent like any other. It plays duplicate deals against a bot.
"""

# %%
import numpy as np

from goita_lab.arena import play_pair


class Learned:
    """Plays the likeliest action of the model."""

    name = "learned"

    def act(self, view, legal, rng):
        seen = view.observation().astype(np.int8)
        return model.predict(seen, deterministic=True, action_masks=legal)[0]


result = play_pair(Learned(), "random", deals=400, seed=1)
low, high = result.ci95
print(f"against random: {result.points_per_round:+.1f} [{low:+.1f}, {high:+.1f}] points a round")
