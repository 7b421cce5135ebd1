"""Rates agents from a finished tournament: Bradley-Terry strengths, written as Elo.

The model (Zermelo 1929; Bradley and Terry 1952): a wins a game against b with probability
1 / (1 + 10^((elo_b - elo_a) / 400)). Games are rounds, or whole matches where those were played.
The fit is the maximum likelihood of all win counts at once, by ``choix``; so the order of the games
does not matter. Each pair that met is given half a win on both sides beside its own, or an agent
that never lost would be rated without bound.

An interval holds the middle 95 % of fits to resampled deals. All pairs share their deals, so a deal
that is drawn is drawn for all of them. One number an agent cannot describe intransitive results;
the pairs' own results do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np

from goita_env.arrays import Float

ZERO: Final = "random"  #: The agent at 0 Elo; without it, the mean of all is.

RESAMPLES: Final = 1_000
_MOST_UNITS: Final = 5_000  # more deals are drawn as so many groups of neighbours
_ELO: Final = 400 / log(10)
_HALF_WIN: Final = 0.5


@dataclass(frozen=True)
class PairGames:
    """Holds the games of a pair, by deal."""

    a: str
    b: str
    won: Float  #: [n] games that a won
    played: Float  #: [n] games of the deal


@dataclass(frozen=True)
class Rating:
    """Holds an agent's strength."""

    agent: str
    elo: float
    ci95: tuple[float, float]


def rate(games: Sequence[PairGames], seed: int = 0, resamples: int = RESAMPLES) -> list[Rating]:
    """Returns the ratings of all agents that met, the strongest first.

    Games of an agent against itself are left out. There are no ratings where some agents cannot be
    compared with others, even through third ones.
    """
    names = list(dict.fromkeys(name for pair in games for name in (pair.a, pair.b)))
    pairs = [pair for pair in games if pair.a != pair.b]
    if not pairs or not _connected(names, pairs):
        return [Rating(names[0], 0.0, (0.0, 0.0))] if len(names) == 1 else []
    most = max(len(pair.won) for pair in pairs)
    size = -(-most // _MOST_UNITS)
    grouped = [(_grouped(pair.won, size), _grouped(pair.played, size)) for pair in pairs]
    places = [(names.index(pair.a), names.index(pair.b)) for pair in pairs]
    units = -(-most // size)

    sums = [(float(won.sum()), float(played.sum())) for won, played in grouped]
    best = _fit(_counts(len(names), places, sums), None)
    rng, fits = np.random.default_rng(seed), np.empty((resamples, len(names)))
    for fit in fits:
        drawn = np.bincount(rng.integers(units, size=units), minlength=units)
        sums = [(float(drawn[: len(w)] @ w), float(drawn[: len(p)] @ p)) for w, p in grouped]
        fit[:] = _fit(_counts(len(names), places, sums), best)
    anchor = names.index(ZERO) if ZERO in names else None
    elo, bounds = _elo(best, anchor), np.quantile(_elo(fits, anchor), (0.025, 0.975), axis=0)
    order = sorted(range(len(names)), key=lambda agent: -elo[agent])
    return [
        Rating(names[i], float(elo[i]), (float(bounds[0, i]), float(bounds[1, i]))) for i in order
    ]


def _fit(counts: Float, start: Float | None) -> Float:
    """Returns the logarithms of the strengths [A] for wins of rows over columns [A, A]."""
    import choix

    return choix.ilsr_pairwise_dense(counts, initial_params=start, max_iter=10_000)


def _counts(
    agents: int, places: Sequence[tuple[int, int]], sums: Sequence[tuple[float, float]]
) -> Float:
    """Returns the win counts, half a win more for pairs that met: [A, A]."""
    counts = np.zeros((agents, agents))
    for (a, b), (won, played) in zip(places, sums, strict=True):
        counts[a, b] += won + _HALF_WIN
        counts[b, a] += played - won + _HALF_WIN
    return counts


def _elo(strengths: Float, anchor: int | None) -> Float:
    """Returns strengths in Elo, an agent or the mean at 0: [..., A]."""
    zero = strengths.mean(axis=-1) if anchor is None else strengths[..., anchor]
    return _ELO * (strengths - zero[..., None]) + 0.0


def _grouped(values: Float, size: int) -> Float:
    """Returns the sums of groups of neighbours."""
    return np.add.reduceat(np.asarray(values, np.float64), np.arange(0, len(values), size))


def _connected(names: Sequence[str], pairs: Sequence[PairGames]) -> bool:
    reached = {names[0]}
    for _ in names:
        for pair in pairs:
            if reached & {pair.a, pair.b}:
                reached |= {pair.a, pair.b}
    return len(reached) == len(names)
