"""Measures how well the champion's search predicts its opponents, by round of the match.

::

    goita evaluate --agents p=population:entropy-3 champion --deals 80 --save-games games
    python research/players/predicting.py games --player p

The rounds of a player are taken in order, eight for a match. Before each round the models have the
probabilities that the rounds before gave them, as in the search; the figure is the log-probability
of the decisions at both seats of the player, in nats a decision with a choice. Intervals are over
matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.hindsight import likelihoods as likelihoods_of
from goita_agents.beliefs.match_priors import next_prior
from goita_agents.beliefs.types import Types, make_types
from goita_agents.champion.agent import (
    FIRST_SHARES,
    FIRST_TYPES,
    first_opponents,
    known_players,
    network,
)
from goita_agents.files import json_text
from goita_agents.models import TYPE_EPSILONS, UNIFORM_MODEL
from goita_agents.registry import load_agent, short_name
from goita_agents.search.library import likeliest, with_library
from goita_env import View
from goita_env.tiles import NUM_SEATS
from goita_lab import cli
from goita_lab.arena.statistics.intervals import Interval, ratio_interval
from goita_lab.arena.tournament.games_folder import read_games
from goita_lab.provenance import plain
from goita_lab.work import Runner, stderr_progress
from research.drawing import bounds, table

NO_LIBRARY, SEARCH = "without a library", "the search"
ROUNDS = 8
GROUPS = {"first": range(1), "second": range(1, 2), "third on": range(2, ROUNDS)}


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    games: tuple[Path, ...] = field(metadata=cli.POSITIONAL)
    """folders of saved games"""
    player: tuple[str, ...] = ("p",)
    """players whose decisions are predicted, by name: one for all folders, or one for each"""
    deals: int = 160
    """most rounds of each folder"""
    workers: int = 1
    """processes"""
    json: Path | None = None
    """file for all figures"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    players = args.player * len(args.games) if len(args.player) == 1 else args.player
    todo = {
        str(folder): (folder, player, args.deals)
        for folder, player in zip(args.games, players, strict=True)
    }
    likely = Runner(args.workers, None, stderr_progress()).run(
        likelihoods, todo, lambda _: list, {}
    )
    rows, predictors = [], models()
    figures_of: dict[str, dict[str, dict[str, Interval]]] = {folder: {} for folder in likely}
    for folder, round_likelihoods in likely.items():
        for name, types in predictors.items():
            figures = figures_of[folder][name] = predicted(round_likelihoods, *types)
            if name == SEARCH:  # whose library begins with the second round
                figures["first"] = figures_of[folder][NO_LIBRARY]["first"]
            rows.append([Path(folder).name, name, *map(bounds, figures.values())])
    print(table(["player", "model", *GROUPS], rows))
    if args.json is not None:
        args.json.write_text(json_text(plain(figures_of)))
    return 0


def models() -> dict[str, tuple[list[int], Float]]:
    """Returns the predictors by name: indices of ``all_types``, and the prior of these types."""
    two, first, library = (types.prior().sum(axis=1) for types in known_types())
    narrow, num_types = list(range(len(FIRST_TYPES))), len(library)
    return {
        "the champion": ([0], np.ones(1)),
        "without crowd": ([*narrow[:2], num_types], two),
        NO_LIBRARY: ([*narrow, num_types - 1], first),
        SEARCH: (list(range(num_types)), library),
    }


def known_types() -> tuple[Types, Types, Types]:
    """Returns the types of a search without crowd, without a library, and with it."""
    first = make_types(first_opponents(network()), [network()], shares=FIRST_SHARES)
    two = make_types([load_agent(text) for text in FIRST_TYPES[:2]], [load_agent(FIRST_TYPES[0])])
    return two, first, with_library(first, known_players(()), (), TYPE_EPSILONS[0])


def all_types() -> Types:
    """Returns the types of all predictors, the fallback of two last, with one uniform partner."""
    two, _, library = known_types()
    return Types((*library.opponents, two.opponents[-1]), (UNIFORM_MODEL,))


def likelihoods(work: tuple[Path, str, int]) -> list[tuple[Float, int]]:
    """Returns each round's log-probability under each type [K], and its decisions."""
    folder, player, max_rounds = work
    types, likelihoods_of_rounds = all_types(), []
    for view, hands in rounds(folder, player):
        round_likelihoods = likelihoods_of(view, types, hands)
        decisions = int((round_likelihoods.opponents < 0).any(axis=0).sum())
        likelihoods_of_rounds.append((round_likelihoods.opponents.sum(axis=1), decisions))
        if len(likelihoods_of_rounds) == max_rounds:
            break
    return likelihoods_of_rounds


def rounds(folder: Path, player: str) -> Iterator[tuple[View, Int]]:
    """Yields the ends of rounds as an opponent of the player sees them, with the hands."""
    for deal in read_games(folder):
        names = [short_name(agent) for agent in deal.agents]
        if player not in names or deal.record.result().winner is None:
            continue
        *_, game = deal.record.replay()
        seat = (names.index(player) + 1) % NUM_SEATS
        yield game.view(seat), np.roll(game.dealt, -seat, axis=0).astype(np.int64)


def predicted(
    rounds_played: list[tuple[Float, int]], indices: list[int], first: Float
) -> dict[str, Interval]:
    """Returns nats a decision by group of rounds, with intervals over matches."""
    types = Types((UNIFORM_MODEL,) * len(indices), (UNIFORM_MODEL,), tuple(first.tolist()))
    totals: dict[str, list[Float]] = {name: [] for name in GROUPS}
    for begin in range(0, len(rounds_played) - ROUNDS + 1, ROUNDS):
        match = rounds_played[begin : begin + ROUNDS]
        prior, log_chances = types.prior(), []
        for likelihood, decisions in match:
            own = likelihood[indices, None]
            log_chances.append((np.log((searched(prior) * np.exp(own)).sum()), decisions))
            prior = next_prior(types, prior, own)
        for name, round_indices in GROUPS.items():
            totals[name].append(np.sum([log_chances[index] for index in round_indices], axis=0))
    return {name: ratio_interval(*np.transpose(matches)) for name, matches in totals.items()}


def searched(prior: Float) -> Float:
    """Returns the prior with only the types of a round's search: the likeliest, and the last."""
    if len(prior) == 1:
        return prior
    searched_types, prior_searched = [*likeliest(prior[:-1, 0]), -1], np.zeros(prior.shape)
    prior_searched[searched_types] = prior[searched_types]
    return np.asarray(prior_searched / prior_searched.sum())


if __name__ == "__main__":
    raise SystemExit(main())
