"""Draws the worlds that a decision is searched in.

A listener's are drawn from its posterior. Without one, all worlds are taken where they are few,
else a sample. With a policy, these count by how well it explains in them what the others did
(``weighing``). Many more are weighed than are searched, since most of them turn out hopeless; where
too few are left that count, the weights are levelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from agents.base import AgentError, Float, Int, Policy
from agents.beliefs.sampled import dealt_prior
from agents.search.hearing import Hearing
from agents.search.playout import Keys
from agents.search.weighing import likelihood, resample
from goita_env import View
from goita_env.worlds import Positions, Worlds, determinize, enumerate_worlds, sample

WEIGHED: Final = 16
"""Worlds that are weighed for each world that is searched."""

LISTED: Final = 10
"""Most unseen tiles with which it is tried to list all worlds."""

TRUST: Final = np.array([1.0, 0.85, 0.5, 0.85])
"""How far the policy is believed to be that of each relative seat, found by experiment: little in
the case of the partner, which is likely to search as well."""

TREMBLE: Final = (0.0, 0.1, 0.3, 0.1)
"""How often each relative seat is believed to do anything else, for a listener."""

ENOUGH: Final = 32
"""Effective number of worlds below which weights are levelled."""

POWERS: Final = (1.0, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3)
"""Powers of the weights that are tried for it."""


@dataclass(frozen=True)
class Drawn:
    """Holds the worlds of R rows, W places each."""

    worlds: Worlds
    """Those of R * W places, row after row; a row with fewer worlds repeats them."""
    weight: Float
    """[R, W] Of each world, 0 in places beyond the row's worlds."""
    count: Int
    """[R] Worlds of each row, in its first places."""


def draw(
    view: View,
    seeds: Keys,
    count: Int,
    places: int,
    policy: Policy | None,
    hearing: Hearing | None = None,
    mixed: bool = False,
) -> Drawn:
    """Draws worlds for each row, by that row's seed alone.

    Args:
        view: R positions.
        seeds: [R] of all that is random in a row.
        count: [R] most worlds of each row, at most ``places``.
        places: W.
        policy: explains what the others did; None: every deal is as likely as it was dealt.
        hearing: draws from the exact posterior, its own policy explaining; None: worlds are
            weighed.
        mixed: a row's worlds come in a random order, so that the first of them are a sample by
            themselves, however few they are.
    """
    rngs = [np.random.default_rng(int(seed)) for seed in seeds]
    if hearing is None:
        drawn = _weighed(view, rngs, count, places, policy)
    else:
        drawn = _heard(view, rngs, count, places, hearing)
    return _mixed(drawn, rngs) if mixed else drawn


def _heard(
    view: View, rngs: list[np.random.Generator], count: Int, places: int, hearing: Hearing
) -> Drawn:
    """Draws worlds for each row from a listener's posterior: see ``draw``; ``rngs``: one a row."""
    heard = [
        hearing.worlds(view[row : row + 1], int(count[row]), rngs[row]) for row in range(len(view))
    ]
    weight = (np.arange(places) < count[:, None]) / count[:, None]
    worlds = join([one[np.resize(np.arange(len(one)), places)] for one in heard])
    return Drawn(worlds, weight, count)


def _weighed(
    view: View, rngs: list[np.random.Generator], count: Int, places: int, policy: Policy | None
) -> Drawn:
    """Draws worlds for each row and weighs them: see ``draw``; ``rngs``: one a row."""
    few = view.unseen.sum(axis=1) <= LISTED
    many = count * (WEIGHED if policy else 1)
    found = [
        _candidates(view[row : row + 1], int(many[row]), rngs[row], listed=bool(few[row]))
        for row in range(len(view))
    ]
    worlds = join(found)
    number = np.array([len(part) for part in found])
    first = number.cumsum() - number
    weight = worlds.weight
    if policy:
        owner = np.repeat(np.arange(len(view)), number)
        weight = weight * dealt_prior(worlds) * likelihood(policy, view, worlds, owner, TRUST)
    chosen = np.empty((len(view), places), np.int64)
    weights, counts = np.zeros((len(view), places)), np.empty(len(view), np.int64)
    for row, rng in enumerate(rngs):
        here = weight[first[row] : first[row] + number[row]]
        here = _levelled(here) if policy else here
        index, kept = _thin_out(here, int(count[row]), rng.random())
        chosen[row] = first[row] + np.resize(index, places)
        counts[row] = len(index)
        weights[row, : len(index)] = kept
    return Drawn(worlds[chosen.ravel()], weights, counts)


def _mixed(drawn: Drawn, rngs: list[np.random.Generator]) -> Drawn:
    """Returns each row's worlds in a random order; ``rngs``: one a row."""
    weight, place = drawn.weight.copy(), np.empty(drawn.weight.shape, np.int64)
    for row, (rng, count) in enumerate(zip(rngs, drawn.count, strict=True)):
        order = rng.permutation(count)
        weight[row, :count] = weight[row, order]
        place[row] = row * weight.shape[1] + np.resize(order, weight.shape[1])
    return Drawn(drawn.worlds[place.ravel()], weight, drawn.count)


def lay_out(view: View, worlds: Worlds) -> Positions:
    """Returns the positions of worlds, seat 0 of each to decide.

    Raises:
        AgentError: if a view is not that of the asked seat.
    """
    positions = determinize(view, worlds)
    wrong = np.flatnonzero(positions.seat != 0)
    if len(wrong):
        row = int(wrong[0]) * len(view) // len(worlds)
        raise AgentError(f"expected views of seats that are asked, got another in row {row}")
    return positions


def _candidates(view: View, number: int, rng: np.random.Generator, *, listed: bool) -> Worlds:
    """Returns all worlds of one row in a random order if they are few, else so many drawn ones."""
    worlds = enumerate_worlds(view, number) if listed else None
    if worlds is None:
        return sample(view, number, rng)
    return worlds[rng.permutation(len(worlds))]


def _thin_out(weight: Float, count: int, number: float) -> tuple[Int, Float]:
    """Returns at most so many worlds of a row and their weights, [n] each, the heavy ones first.

    Args:
        weight: [m] of the row's worlds.
        count: most to return.
        number: random, from 0 to below 1.
    """
    possible = np.flatnonzero(weight)
    if 0 < len(possible) <= count:
        order = possible[np.argsort(-weight[possible], kind="stable")]
        return order, weight[order]
    return resample(weight, count, number), np.full(count, 1 / count)


def _levelled(weight: Float) -> Float:
    """Returns weights [m] raised to a power at most 1 that lets enough worlds count.

    How many count is measured by the effective sample size (sum squared over sum of squares).
    """
    for power in POWERS:
        flat: Float = weight**power * (weight > 0)
        if flat.sum() ** 2 >= ENOUGH * (flat**2).sum():
            break
    return flat


def join(parts: Sequence[Worlds]) -> Worlds:
    """Returns the worlds of several rows as one."""
    names = [field.name for field in fields(Worlds)]
    return Worlds(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})
