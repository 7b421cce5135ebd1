# %% [markdown]
"""
# My first paper

This notebook is a small study, from a population of trained players to the figure of a paper. It
answers two questions. Do networks from separate trainings cooperate as well as copies of one
network? What does the first pass of a round reveal to the partner and to the opponents? The
notebook runs for some minutes on one core. Install the extra `[signals]`.

## The players

The package contains eight training runs of each of two methods: plain self-play, and self-play with
a large entropy bonus. A *run* is one training with its own seed. A claim about a method needs
several runs, because the deals of one run show only what this run does.
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

In cross-play, every two runs of a method are partners. The opponents are `heuristic`, with which no
run was trained. All pairs of runs play the same deals in all seatings. The *gap* is the points of
partners from the same run minus the points of partners from two different runs. Its interval is
over runs.
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

A *listener* is a seat that knows the policies of the other seats and computes the exact probability
of every hidden hand. The *information gain* of a pass is the Kullback-Leibler divergence, in nats,
of the listener's belief after the pass from its belief before the pass. The belief is about the
hand of the seat that passes. In each run, one network plays all four seats, and the partner and
both opponents of the passing seat listen. `knowledge=False` leaves out what the listeners know at
their own decisions, because the study does not need it.
"""

# %%
import numpy as np
from scipy.stats import t

from goita_agents.models import PolicyModel
from goita_lab.signals.listening import listen
from goita_lab.signals.playing import play

# For each listener: the relative seat of the passer, as this listener sees it.
SEATS = {"the partner": 2, "the next seat": 3, "the previous seat": 1}
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

The figure shows both results with their intervals over runs.
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

- The points of 200 deals are noisy: the half-width of their intervals over deals is about 2 points.
  The [table of the population](../population.md#how-they-play) has other figures, because it is
  measured on 2,000 deals for each run. The gap is less noisy, because it is a difference on the
  same deals.
- If the interval of a gap contains 0, the study does not show that there is a gap. It does not show
  that there is none, either. State how large a gap your sample could have found.
- The pass reveals about as much to the opponents as to the partner, because all of them see it and
  know the policy. To find a difference, study listeners with different models, or partners from
  different trainings.
- The study has no control, such as a player without conventions. `goita signals worth AGENT --where
  first_pass` adds controls and measures what the pass is worth in points.

To write your own paper, replace the two methods by runs of your own
([training](../training.md#several-seeds)). The folder `runs/NAME` is an agent like these.
"""

# %% [markdown]
"""
## The same question, exactly

In a [small game](../coordination.md) the same kind of question has an exact answer, without
intervals. An agent plays with each of ten test partners against several pairs of opponents, some of
which know the signals of the partner. How many points does the agent lose because it does not know
its partner and opponents, and how many of them could it have avoided? *Regret* is the points per
round that the best response to the actual partner and opponents gains over the agent. *Avoidable*
is this regret minus the regret of the best possible agent that also does not know them. *Strength*
is the points per round with a copy of the agent as partner against the equilibria.
"""

# %%
from goita_lab.exact.teamwork import Benchmark

scores = Benchmark.load("mini_3", "test").measure(["heuristic", "greedy", "champion", "gradient-0"])
print(f"{'':38}{'points':>8}{'regret':>8}{'avoidable':>11}{'strength':>10}")
for row in scores.rows:
    score = row.score
    figures = f"{score.points.mean():+8.2f}{score.regret.mean():8.2f}{score.avoidable_regret:11.2f}"
    print(f"{row.name:38}{figures}{score.strength:+10.2f}")

# %% [markdown]
"""
The first row is the Bayes-optimal agent: it knows the list of partners and opponents, but not which
of them it meets. Its regret, 1.68 points, is the price of not knowing and cannot be avoided. The
second row is the Bayes-optimal agent for another list, that of the training partners.
`predictive-0` and `equilibrium-a` are equilibria that were learned by PCFR+, and `gradient-0` was
learned by policy gradients.

An agent that plays well with these partners need not be strong: the Bayes-optimal agent is weak
with a copy of itself. Strength is not distance from an equilibrium, either. The best response to
uniform play is stronger than `equilibrium-a`, because an equilibrium only ensures that no single
seat gains by deviating. Two partners together can still gain against it.
"""
