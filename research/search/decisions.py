r"""Measures what agents lose in the positions of recorded games, against a model of the opponents.

::

    python research/search/decisions.py games --player champion \
        --model file:model.safetensors,temperature=1 --agents champion file:earlier.safetensors

In positions in which the player had a choice, worlds are drawn from the exact posterior, with the
model at both opponents and the player's policy at the partner, and every legal action is played
out. Each half of the worlds chooses the best action, and the other half tells what each agent's
action loses against it: the mean of both. Where no lead can be shown that difference is noise
around 0. Intervals are over games: deals in both seatings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from goita_agents.base import Float, Int, Policy
from goita_agents.beliefs.types import Types
from goita_agents.files import json_text
from goita_agents.models import EPSILONS, PolicyModel
from goita_agents.registry import load_agent, short_name
from goita_agents.search.action_values import MAX_UNSEEN_TILES, evaluate_actions
from goita_agents.search.sampling import PosteriorSampler, sample_worlds
from goita_env import View, actions
from goita_lab import cli
from goita_lab.arena.statistics.intervals import ratio_interval
from goita_lab.imitate.examples import Examples
from goita_lab.imitate.reading import read_examples
from goita_lab.pages.watch.decisions import phase_of
from goita_lab.provenance import plain
from goita_lab.work import Runner, shown
from research.tables import bounds, table

BLOCK = 32
"""Positions that are searched at once."""
MOST_QUERIES = 12_000.0
"""Positions whose posterior asks a model more often are left out."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    games: tuple[Path, ...] = field(metadata=cli.POSITIONAL)
    """folders of saved games"""
    player: str = "champion"
    """whose positions are taken, by the name in the games"""
    model: str = "heuristic"
    """how the opponents play: an agent with known probabilities"""
    agents: tuple[str, ...] = ("champion",)
    """whose actions are compared; the first one's policy plays the own team in playouts"""
    positions: int = 1000
    """most positions, drawn at random"""
    worlds: int = 256
    """worlds of a position"""
    seed: int = 0
    """of positions, worlds and playouts"""
    workers: int = 1
    """processes"""
    json: Path | None = None
    """file for all figures"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    examples = read_examples(args.games, args.player).examples
    base = load_agent(args.agents[0])
    rows = np.random.default_rng(args.seed).permutation(len(examples))
    rows = rows[searched(examples, rows, base, args.positions)]
    todo = {
        f"positions {first}": (args, examples.of_rows(rows[first : first + BLOCK]), first)
        for first in range(0, len(rows), BLOCK)
    }
    found = Runner(args.workers, None, shown()).run(values, todo, lambda _: list, {})
    lost = np.concatenate([np.array(found[key]) for key in todo])
    report(args, examples.of_rows(rows), lost)
    return 0


def searched(examples: Examples, rows: Int, base: Policy, most: int) -> Int:
    """Returns the first of some rows that can be searched, by their places: [at most ``most``]."""
    sampler, found = PosteriorSampler(base), []
    view = examples.view()
    for place, row in enumerate(rows.tolist()):
        one = view[row : row + 1]
        few = int(one.unseen.sum()) <= MAX_UNSEEN_TILES
        if few and one.num_plays.any() and sampler.queries(one) <= MOST_QUERIES:
            found.append(place)
        if len(found) == most:
            break
    return np.array(found, np.int64)


def values(work: tuple[Args, Examples, int]) -> list[list[float]]:
    """Returns what each agent's action loses in each position, in points: [R][agents]."""
    args, examples, first = work
    base, model = load_agent(args.agents[0]), load_agent(args.model)
    view = View(examples.words, np.arange(len(examples)), examples.rules)
    types = Types(
        (PolicyModel(model, epsilon=EPSILONS[0]),), (PolicyModel(base, epsilon=EPSILONS[1]),)
    )
    seeds = np.random.default_rng((args.seed, first)).integers(1 << 63, size=len(view)).astype("u8")
    worlds = sample_worlds(
        view, seeds, np.full(len(view), args.worlds), PosteriorSampler(types), places=args.worlds
    )
    rng = np.random.default_rng(args.seed)
    chosen = [
        load_agent(text).act(view, examples.legal, rng).astype(np.int64) for text in args.agents
    ]
    found = evaluate_actions(
        view,
        examples.legal,
        [base, model, base, model],
        worlds,
        prior_action=chosen[0],
        seeds=seeds,
        allocation="uniform",
    )
    half = np.zeros(worlds.weight.shape, bool)
    half[:, : args.worlds // 2] = True
    lost = [[0.0] * len(chosen) for _ in range(len(view))]
    legal = examples.legal
    lead = {
        action: found.leads(np.where(legal[:, action], action, chosen[0]), chosen[0])[0]
        for action in np.flatnonzero(legal.any(axis=0)).tolist()
    }
    for row in range(len(view)):
        mine = np.flatnonzero(legal[row]).tolist()
        weight = worlds.weight[row]
        mean = {
            part: {a: float(np.average(lead[a][row][where], weights=weight[where])) for a in mine}
            for part, where in enumerate((half[row], ~half[row]))
        }
        for number, own in enumerate(chosen):
            action = int(own[row])
            # Each half chooses for the other, so that no action is best by its own luck.
            lost[row][number] = float(
                np.mean(
                    [
                        mean[1 - part][max(mean[part], key=mean[part].__getitem__)]
                        - mean[1 - part][action]
                        for part in (0, 1)
                    ]
                )
            )
    return lost


def report(args: Args, examples: Examples, lost: Float) -> None:
    """Prints what each agent loses a decision, by phase and by kind, and writes it."""
    view = examples.view()
    played = [phase_of(int(tiles)) for tiles in 2 * view.num_plays]
    passing = examples.legal[:, actions.PASS]
    kinds = {
        "all": np.ones(len(lost), bool),
        **{phase: np.array(played) == phase for phase in dict.fromkeys(played)},
        "receive or pass": passing,
        "attack": ~passing,
    }
    names = [short_name(text) for text in args.agents]
    rows, told = [], {}
    for name, where in kinds.items():
        if not where.any():
            continue
        part = examples.of_rows(np.flatnonzero(where))
        figures = {}
        for number, agent in enumerate(names):
            figures[agent] = ratio_interval(*part.by_game(lost[where, number]))
            if number:
                figures[f"{agent} less {names[0]}"] = ratio_interval(
                    *part.by_game(lost[where, number] - lost[where, 0])
                )
        told[name] = {"positions": len(part), **figures}
        rows.append([name, str(len(part)), *(bounds(one) for one in figures.values())])
    heads = list(next(iter(told.values())))[1:]
    print(table(["decisions", "number", *heads], rows))
    if args.json is not None:
        args.json.write_text(json_text(plain(told)))


if __name__ == "__main__":
    raise SystemExit(main())
