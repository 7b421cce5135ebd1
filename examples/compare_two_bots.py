# %% [markdown]
"""
# Compare two bots

Which bot is better, by how much, with which interval, and where do they differ? This is a script
in cells like `look_at_a_game.py`. It needs the repository.

## Which bot is better?

Each deal is played twice, with the teams' seats exchanged, so that the luck of the deal cancels.
"""

# %%
from goita_agents import load_agent
from goita_lab.arena import play_pair

heuristic, greedy = load_agent("heuristic"), load_agent("greedy")
result = play_pair(heuristic, greedy, deals=256, seed=5)
low, high = result.ci95
print(f"{result.points_per_round:+.1f} points per round, 95 % [{low:+.1f}, {high:+.1f}]")
print(f"rounds won: {result.round_win_rate:.0%}")
print(f"variance that exchanging the seats removed: {result.variance_removed:.0%}")

# %% [markdown]
"""
## Two bots of similar strength

Compare `heuristic` with one of its switches off. With few deals the interval is wide; if it
contains zero, the deals do not show which bot is better. Ten times as many deals narrow it by a
factor of three (`docs/strength.md` has figures with enough deals).
"""

# %%
result = play_pair(heuristic, "heuristic:pair_lead=off", deals=256, seed=5)
low, high = result.ci95
print(f"{result.points_per_round:+.2f} points per round, 95 % [{low:+.2f}, {high:+.2f}]")
print("not told apart" if low < 0 < high else "told apart")

# %% [markdown]
"""
## Where do they differ?

`greedy` plays 200 rounds at all seats. In each position `heuristic` gets the same view and chooses
an action, too.
"""

# %%
import numpy as np

from goita_env import actions
from goita_env.rounds import Rounds

rng = np.random.default_rng(0)
rounds = Rounds(200, seed=1)
decisions = rounds.decisions
seen: list[tuple[int, int, int]] = []
while not rounds.over:
    chosen = np.zeros(0, int)
    if len(decisions.rows):
        chosen = greedy.act(decisions.view, decisions.legal, rng)
        alternative = heuristic.act(decisions.view, decisions.legal, rng)
        seen += zip(
            decisions.view.num_plays.tolist(), chosen.tolist(), alternative.tolist(), strict=True
        )
    decisions = rounds.step(chosen)

plays, by_greedy, by_heuristic = np.array(seen).T
print(f"{len(seen)} decisions, {np.mean(by_greedy != by_heuristic):.0%} differ")
for name, phase in {
    "up to 3 plays made": plays <= 3,
    "4 to 7": (plays > 3) & (plays < 8),
    "more": plays > 7,
}.items():
    print(f"  {name:20} {np.mean(by_greedy[phase] != by_heuristic[phase]):.0%}")

# %% [markdown]
"""
Where they differ, which one passes?
"""

# %%
differ = by_greedy != by_heuristic
for name, chosen in {"greedy": by_greedy, "heuristic": by_heuristic}.items():
    print(f"{name:10} passes in {np.mean(chosen[differ] == actions.PASS):.0%} of these")
