# %% [markdown]
"""
# Compare two bots

Who is better, by how much, how sure is that, and where do they part ways? A script in cells, as
[Look at a game](look_at_a_game.md); it needs the checkout.

## Who is better

Each deal is played twice, the teams' seats exchanged. So the luck of the deal cancels as far as
both would have used it alike.
"""

# %%
from agents import load_agent, play_pair

heuristic, greedy = load_agent("heuristic"), load_agent("greedy")
result = play_pair(heuristic, greedy, deals=256, seed=5)
low, high = result.ci95
print(f"{result.points_per_round:+.1f} points per round, 95 % [{low:+.1f}, {high:+.1f}]")
print(f"rounds won: {result.round_win_rate:.0%}")
print(f"variance that exchanging the seats removed: {result.variance_removed:.0%}")

# %% [markdown]
"""
## When two bots are close

A switch of `heuristic` turned off: with few deals the interval is wide, and one that holds zero
has not told the two apart. Ten times as many deals would narrow it by a factor of three. ([The
figures with enough deals](../strength.md#what-each-convention-of-heuristic-is-worth).)
"""

# %%
result = play_pair(heuristic, "heuristic:pair_lead=off", deals=256, seed=5)
low, high = result.ci95
print(f"{result.points_per_round:+.2f} points per round, 95 % [{low:+.2f}, {high:+.2f}]")
print("not told apart" if low < 0 < high else "told apart")

# %% [markdown]
"""
## Where they part ways

`greedy` plays 200 rounds with itself; `heuristic` is asked what it would have done in each
position. Both are shown the same views.
"""

# %%
import numpy as np

from goita_env import actions
from goita_env.rounds import Rounds

rng = np.random.default_rng(0)
rounds = Rounds(200, seed=1)
tick, seen = rounds.tick, []
while not rounds.over:
    chosen = []
    if len(tick.rows):
        chosen = greedy.act(tick.view, tick.legal, rng)
        others = heuristic.act(tick.view, tick.legal, rng)
        seen += zip(tick.view.num_plays.tolist(), chosen.tolist(), others.tolist(), strict=True)
    tick = rounds.step(chosen)

plays, one, other = np.array(seen).T
print(f"{len(seen)} decisions, {np.mean(one != other):.0%} differ")
for name, phase in {
    "up to 3 plays made": plays <= 3,
    "4 to 7": (plays > 3) & (plays < 8),
    "more": plays > 7,
}.items():
    print(f"  {name:20} {np.mean(one[phase] != other[phase]):.0%}")

# %% [markdown]
"""
Where they differ, who passes and who plays?
"""

# %%
differ = one != other
for name, passes in {"greedy": one, "heuristic": other}.items():
    print(f"{name:10} passes in {np.mean(passes[differ] == actions.PASS):.0%} of these")
