# %% [markdown]
"""
# My first paper

Do networks from separate trainings cooperate as well as copies of one network? And what does a
first pass reveal to the partner and the opponents? This notebook goes from a population of trained
players to the figure of a paper, in some minutes of one core. Install the extra `[signals]`.

## The players

Eight training runs of each of two methods are shipped: plain self-play, and self-play with a large
entropy bonus. A run is one training with a seed of its own. The unit of a claim about a *method* is
the run, not the deal.
"""

# %%
from goita_agents.population import Population

RUNS, DEALS, ROUNDS = 8, 200, 40
methods = {
    name: Population().names(method=name, seeds=range(RUNS)) for name in ("selfplay", "entropy")
}
for name, runs in methods.items():
    print(name, *runs)

# %% [markdown]
"""
## Cross-play

Every two runs of a method are partners against `heuristic`, which no run trained with. All pairs
play the same deals, at all seatings. The gap is the points of partners from one run minus those of
partners from two runs. Its interval is over runs.
"""

# %%
from goita_lab.signals import measures

points, gaps = {}, {}
for name, runs in methods.items():
    points[name] = measures.cross_play(runs, "heuristic", DEALS, seed=1)
    gaps[name] = measures.cross_play_gap(points[name])
    own = points[name].mean(axis=2).diagonal().mean()
    over = gaps[name].runs
    print(
        f"{name}: {own:+.2f} points a round with itself, "
        f"gap {over.mean:+.2f} [{over.low:+.2f}, {over.high:+.2f}] over {len(runs)} runs"
    )

# %% [markdown]
"""
## What does the first pass reveal to each listener?

A listener knows the policies of the others, and computes the exact probability of every hidden
hand. The *information gain* of a pass is how far it moves the listener's belief about the hand of
the seat that passes, in nats. Each run plays all four seats. The partner and both opponents listen.
"""

# %%
import numpy as np
from scipy.stats import t

from goita_agents.models import PolicyModel
from goita_lab.signals.listening import listen
from goita_lab.signals.playing import play

SEATS = {"the partner": 2, "the next seat": 3, "the previous seat": 1}  # the passer, from there
gains = {}
for name, runs in methods.items():
    by_run = []
    for run in runs:
        rounds = play([run], ROUNDS, seed=2)
        model = {"policy": PolicyModel(run)}
        heard, _ = listen(rounds, model, listeners=range(4), where="first_pass", knowledge=False)
        by_listener = [
            measures.information_gain(rounds, heard, speaker=speaker)[0].revealed.mean
            for speaker in SEATS.values()
        ]
        by_run.append(by_listener)
    gains[name] = np.array(by_run)  # [runs, listeners]


def over_runs(values):
    """Returns the mean over runs and the half-width of Student's 95 % interval."""
    error = values.std(axis=0, ddof=1) / len(values) ** 0.5
    return values.mean(axis=0), t.ppf(0.975, len(values) - 1) * error


for name, values in gains.items():
    for seat, mean, half in zip(SEATS, *over_runs(values), strict=True):
        print(f"{name}: {mean:.3f} +/- {half:.3f} nats to {seat}")

# %% [markdown]
"""
## The figure
"""

# %%
import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for place, gap in enumerate(gaps.values()):
    half = gap.runs.high - gap.runs.mean
    left.errorbar(place, gap.runs.mean, half, fmt="o", capsize=4)
left.axhline(0, color="gray", linewidth=0.8)
left.set(xticks=range(len(gaps)), xticklabels=list(gaps), xlim=(-0.5, len(gaps) - 0.5))
left.set_title("Self-play minus cross-play,\npoints a round", fontsize=10)
for place, (name, values) in enumerate(gains.items()):
    mean, half = over_runs(values)
    x = np.arange(len(SEATS)) + 0.15 * (place - 0.5)
    right.errorbar(x, mean, half, fmt="o", capsize=4, label=name)
right.set(xticks=range(len(SEATS)), xticklabels=list(SEATS))
right.set_title("Information gain of a first pass,\nnats", fontsize=10)
right.legend()

# %% [markdown]
"""
## What it shows, and what it does not

- Points on 200 deals are noisy: intervals over deals are about 2 points wide on either side. The
  [table of the population](../population.md#how-they-play) has 2,000 deals a run, one run in all
  seats of a team, and other figures. The gap is subtracted deal by deal, so it is less noisy.
- A gap whose interval contains 0 is not shown. It is not shown to be absent either: state the gap
  that your sample could have found.
- The pass reveals about as much to the opponents as to the partner: all see it. A difference
  needs another model of the players, or runs that were trained apart.
- A control is missing: a player without conventions. `goita signals worth AGENT --where first_pass`
  adds controls, and measures what the pass is worth in points.

To write your own paper, replace the two methods by runs of your own
([training](../training.md#several-seeds)): the folder `runs/NAME` is an agent like these.
"""

# %% [markdown]
"""
## The same question, exactly

In a [small game](../coordination.md) nothing is estimated. Ten test partners meet opponents, of
whom some know their signals. How much does an agent lose because it does not know its partner, and
how much could it have avoided? Values are points a round, without intervals.
"""

# %%
from goita_lab.exact.teamwork import Benchmark

scores = Benchmark.load("mini_3", "test").measure(["heuristic", "greedy", "champion", "gradient-0"])
print(f"{'':38}{'points':>8}{'regret':>8}{'left':>8}{'strength':>10}")
for row in scores.rows:
    score = row.score
    figures = f"{score.points.mean():+8.2f}{score.regret.mean():8.2f}{score.left:8.2f}"
    print(f"{row.name:38}{figures}{score.strength:+10.2f}")

# %% [markdown]
"""
The first row is the best that a player can do who knows which partners there are and not which one
it meets. Its regret is the price of not knowing; an agent leaves the rest. This player is weak with
a copy of itself: to play well with these partners is not to be strong.
"""
