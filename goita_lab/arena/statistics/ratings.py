"""Rates agents from a finished tournament: Bradley-Terry strengths, written as Elo.

The model (Zermelo 1929; Bradley and Terry 1952): a wins a game against b with probability
1 / (1 + 10^((elo_b - elo_a) / 400)). Games are rounds, or whole matches where those were played.
The fit is the maximum likelihood of all win counts at once, by ``choix``; so the order of the games
does not matter. Both agents of each pair that met get half a win in addition, so that the
fit is finite.

An interval contains the middle 95 % of fits to resampled deals. All pairs share their deals, so a
deal that is drawn is drawn for all of them. The fit of an agent without a loss depends on the added
half wins. Its interval therefore has no upper end, and its lower end comes from a fit with as many
losses as Wilson's interval allows. The reverse holds for an agent without a win. If nearly all
deals of a pair have the same result, because its wins cancel, resamples hardly differ. The
intervals then reach at least as far as that of the win rate (``rate_interval``), and are marked as
rough.

One number for each agent cannot describe intransitive results. The results of the pairs can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Final

import numpy as np

from goita_env.arrays import Bool, Float
from goita_env.errors import naming_extras
from goita_lab.arena.statistics.intervals import INTERVAL_TAILS, normal_quantile, rate_interval

ZERO_ELO_AGENT: Final = "random"  #: The agent at 0 Elo; without it the mean is 0.

RATING_RESAMPLES: Final = 1_000
_MOST_UNITS: Final = 5_000  # more deals are drawn as so many groups of neighbours
_ELO: Final = 400 / log(10)
_HALF_WIN: Final = 0.5


@dataclass(frozen=True)
class PairGames:
    """The games of a pair, by deal."""

    a: str
    b: str
    won: Float  #: [n] games that a won
    played: Float  #: [n] games of the deal


@dataclass(frozen=True)
class Rating:
    """An agent's strength."""

    agent: str
    elo: float
    ci95: tuple[float, float]
    """An end that the games do not determine is infinite; then ``elo`` is not an estimate."""
    few: bool = False
    """The interval is rough, because few deals have different results."""
    ranked: bool = True
    """False if the agent forfeited, so that some of its games were played at random."""


def rate(
    games: Sequence[PairGames], seed: int = 0, resamples: int = RATING_RESAMPLES
) -> list[Rating]:
    """Returns the ratings of all agents that met, the strongest first.

    Games of an agent against itself are left out. The list is empty if some agents cannot be
    compared, not even through common opponents.
    """
    names = list(dict.fromkeys(name for pair in games for name in (pair.a, pair.b)))
    pairs = [pair for pair in games if pair.a != pair.b]
    if not pairs or not _connected(names, pairs):
        return [Rating(names[0], 0.0, (0.0, 0.0))] if len(names) == 1 else []
    # A is the number of agents. Each pair as the indices of its two agents among ``names``.
    places = [(names.index(pair.a), names.index(pair.b)) for pair in pairs]
    anchor = names.index(ZERO_ELO_AGENT) if ZERO_ELO_AGENT in names else None
    sums = [(float(pair.won.sum()), float(pair.played.sum())) for pair in pairs]
    counts = _counts(len(names), places, sums)
    best = _fit(counts, None)
    elo = _elo(best, anchor)

    # Bounds [2, A]: the lower and the upper end of each agent's interval.
    fits, unknown = _resampled(pairs, places, best, anchor, np.random.default_rng(seed), resamples)
    bounds = np.quantile(_elo(fits, anchor), INTERVAL_TAILS, axis=0)
    bounds = _bounds_without_losses_or_wins(bounds, counts, best, anchor, pairs)
    # Where the wins of a pair cancel, a bound is at least as far as that of the pair's win rate.
    rough = np.zeros(len(names), bool)
    for index, shifts in _win_shifts_where_wins_cancel(pairs).items():
        a, b = places[index]
        rough[[a, b]] = True
        for shift in shifts:
            shifted = counts.copy()
            shifted[a, b] += shift
            shifted[b, a] -= shift
            end = _elo(_fit(shifted, best), anchor)
            bounds = np.stack([np.minimum(bounds[0], end), np.maximum(bounds[1], end)])
    bounds = np.where(unknown, [[-inf], [inf]], bounds)

    order = sorted(range(len(names)), key=lambda agent: -elo[agent])
    return [
        Rating(
            names[agent],
            float(elo[agent]),
            (float(bounds[0, agent]), float(bounds[1, agent])),
            bool(rough[agent] and agent != anchor),
        )
        for agent in order
    ]


def _resampled(
    pairs: Sequence[PairGames],
    places: Sequence[tuple[int, int]],
    best: Float,
    anchor: int | None,
    rng: np.random.Generator,
    resamples: int,
) -> tuple[Float, Bool]:
    """Fits resampled deals: strengths [resamples, A], and which bounds [2, A] are not known.

    A bound is not known where it is missing in more resamples than lie beyond an interval's end.

    ``places`` are the indices of each pair's agents, ``best`` [A] the strengths by all deals, and
    ``anchor`` is the index of the agent at 0 Elo; None: the mean of all agents is at 0.
    """
    most_deals = max(len(pair.won) for pair in pairs)
    size = -(-most_deals // _MOST_UNITS)  # deals of a group, rounded up
    groups = [(_grouped(pair.won, size), _grouped(pair.played, size)) for pair in pairs]
    num_groups = -(-most_deals // size)
    fits, missing = np.empty((resamples, len(best))), np.zeros((2, len(best)))
    for fit in fits:
        # How often each group is drawn; a pair with fewer deals has the first of the groups.
        drawn = np.bincount(rng.integers(num_groups, size=num_groups), minlength=num_groups)
        sums = [
            (float(drawn[: len(won)] @ won), float(drawn[: len(played)] @ played))
            for won, played in groups
        ]
        counts = _counts(len(best), places, sums)
        fit[:] = _fit(counts, best)
        missing += _endless(counts, anchor)
    return fits, missing > INTERVAL_TAILS[0] * resamples


def _bounds_without_losses_or_wins(
    bounds: Float, counts: Float, best: Float, anchor: int | None, pairs: Sequence[PairGames]
) -> Float:
    """Widens bounds [2, A] of agents without losses or without wins, and returns them.

    A count of wins that is only the added half win becomes as many wins as Wilson's interval allows
    in games that were all lost; the fit to these counts gives the end that is known.
    """
    no_lower, no_upper = _endless(counts, anchor)
    if not (no_lower | no_upper).any():
        return bounds
    games_a_deal = max(float(pair.played.sum()) / len(pair.played) for pair in pairs)
    allowed = normal_quantile() ** 2 * games_a_deal
    cautious = _elo(_fit(np.where(counts == _HALF_WIN, allowed, counts), best), anchor)
    return np.stack(
        [
            np.where(no_upper, np.minimum(bounds[0], cautious), bounds[0]),
            np.where(no_lower, np.maximum(bounds[1], cautious), bounds[1]),
        ]
    )


def _win_shifts_where_wins_cancel(pairs: Sequence[PairGames]) -> dict[int, tuple[float, float]]:
    """Returns (low, high) by the index of each pair whose wins cancel in nearly all deals.

    Both are numbers of wins of the first agent: added to its wins they take its win rate to the
    lower and the upper end of the win rate's interval.
    """
    shifts = {}
    for index, pair in enumerate(pairs):
        if len(pair.won) < 2:
            continue
        win_rate = rate_interval(pair.won, pair.played)
        # The interval rests on few deals, and neither agent won all games: their wins cancel.
        if win_rate.few and 0 < win_rate.mean < 1:
            games = float(pair.played.sum())
            low, high = win_rate.low - win_rate.mean, win_rate.high - win_rate.mean
            shifts[index] = (games * low, games * high)
    return shifts


def _fit(counts: Float, start: Float | None) -> Float:
    """Returns the logarithms of the strengths [A] for wins of rows over columns [A, A]."""
    with naming_extras():
        import choix

    return choix.ilsr_pairwise_dense(counts, initial_params=start, max_iter=10_000)


def _counts(
    agents: int, places: Sequence[tuple[int, int]], sums: Sequence[tuple[float, float]]
) -> Float:
    """Returns the wins of each of A agents over each other one: [A, A].

    ``places`` are the indices of each pair's agents, ``sums`` the games that the first of them won,
    and that the pair played. Both agents get half a win in addition.
    """
    counts = np.zeros((agents, agents))
    for (a, b), (won, played) in zip(places, sums, strict=True):
        counts[a, b] += won + _HALF_WIN
        counts[b, a] += played - won + _HALF_WIN
    return counts


def _endless(counts: Float, anchor: int | None) -> Bool:
    """Returns which ratings have no lower end, and which no upper end, by these counts: [2, A].

    An agent's strength is bounded above only if a chain of wins leads to it from the anchor, or
    without one from every agent, and below only if such a chain leads back (Ford 1957).
    """
    # chains[a, b]: wins lead from a to b. Each product doubles the length of the chains.
    chains = (counts > _HALF_WIN) | np.eye(len(counts), dtype=bool)
    for _ in range(len(counts).bit_length()):
        chains = chains @ chains
    anchors = slice(None) if anchor is None else [anchor]
    return np.stack([~chains[:, anchors].all(axis=1), ~chains[anchors].all(axis=0)])


def _elo(strengths: Float, anchor: int | None) -> Float:
    """Returns strengths in Elo, with the anchor or without one the mean at 0: [..., A]."""
    zero = strengths.mean(axis=-1) if anchor is None else strengths[..., anchor]
    return _ELO * (strengths - zero[..., None]) + 0.0  # + 0.0: no negative zero


def _grouped(values: Float, size: int) -> Float:
    """Returns the sums of groups of neighbours."""
    return np.add.reduceat(np.asarray(values, np.float64), np.arange(0, len(values), size))


def _connected(names: Sequence[str], pairs: Sequence[PairGames]) -> bool:
    # Each pass reaches the opponents of the agents so far: as many passes as agents are enough.
    reached = {names[0]}
    for _ in names:
        for pair in pairs:
            if reached & {pair.a, pair.b}:
                reached |= {pair.a, pair.b}
    return len(reached) == len(names)
