"""Says what every legal action of a decision is worth by playouts, and how sure that is.

It is a race as ``rollout`` runs it, by halving, told in full: the points of all actions, and what
the one that was played lost against the best, both in the same worlds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agents.base import Bool, Float, Int, Policy
from agents.search.drawing import Drawn, draw, lay_out
from agents.search.elimination import Elimination
from agents.search.halving import Halving
from agents.search.hearing import Hearing
from agents.search.playout import Keys, Player
from agents.search.race import Play, Race
from goita_env import View
from goita_env.seeds import deal_keys
from goita_env.worlds import Worlds


@dataclass(frozen=True)
class Prices:
    """Holds what the A legal actions of one decision are worth to the mover's team, in points."""

    action: Int
    """[A] In order."""
    points: Float
    """[A] Average over the worlds in which the action was played out."""
    error: Float
    """[A] Standard error of it: of the drawing of worlds alone."""
    worlds: Int
    """[A] How many worlds those are: actions that fall back are dropped on the way."""
    best: int
    """The action that did best in all worlds; the one that was played among equals."""
    loss: float
    """By how much it did better than the action played, in the same worlds; at least 0."""
    loss_error: float
    """Standard error of the difference."""


def price(
    base: Policy,
    view: View,
    legal: Bool,
    played: int,
    *,
    worlds: int,
    seed: int,
    hearing: Hearing,
) -> Prices:
    """Plays every legal action of a decision out in drawn worlds.

    Args:
        base: plays all seats from then on, and is supposed to have played the others' so far; no
            memory of its own.
        view: what the seat that is asked sees: one row.
        legal: bool [1, 69] with two actions at least.
        played: the action that the others are compared with; it is never dropped.
        worlds: how many are drawn at most.
        seed: of all that is random.
        hearing: draws from the exact posterior.
    """
    seeds = np.array([seed], np.uint64)
    drawn = draw(view, seeds, np.array([worlds]), worlds, base, hearing)
    race, play = set_up(Player(base), view, legal, np.array([played]), drawn, seeds)
    seen = np.zeros(len(race.action), np.int64)

    def count(pair: Int, world: Int) -> Float:
        np.add.at(seen, pair, 1)
        return play(pair, world)

    best = int(race.run(count)[0])
    weight = drawn.weight[0]
    points, error = average(race.points, weight * (np.arange(worlds) < seen[:, None]))
    ahead = race.points[race.action == best] - race.points[race.action == played]
    loss, loss_error = average(ahead, weight[None])
    return Prices(race.action, points, error, seen, best, float(loss[0]), float(loss_error[0]))


def set_up(
    player: Player,
    view: View,
    legal: Bool,
    favourite: Int,
    drawn: Drawn,
    seeds: Keys,
    budget: float | None = None,
) -> tuple[Race, Play]:
    """Returns a race between the legal actions of R rows, and what plays it.

    Args:
        player: plays the rounds out.
        view: R positions.
        legal: bool [R, 69].
        favourite: [R] an action of each row that is never dropped.
        drawn: the worlds.
        seeds: [R] of all that is random in a row.
        budget: playouts of a row in a race by elimination, in which a world that was drawn twice is
            played once if the base surely draws no random numbers; None: by halving.
    """
    most = drawn.weight.shape[1]
    games = lay_out(view, drawn.worlds)
    # A world's key is the same whatever action is tried in it: common random numbers.
    keys = deal_keys(seeds.repeat(most), np.tile(np.arange(most), len(view)), 0)
    race: Race
    if budget is None:
        race = Halving(legal, favourite, drawn.weight, drawn.count)
    else:
        alike = _alike(drawn.worlds, most) if player.certain else None
        race = Elimination(legal, favourite, drawn.weight, drawn.count, alike, budget)

    def play(pair: Int, world: Int) -> Float:
        row = race.row[pair]
        place = row * most + world
        return player.finish(games, place, race.action[pair], keys[place], row)

    return race, play


def _alike(worlds: Worlds, most: int) -> Int:
    """Returns the first world of its row that is the same as each: int64 [R, ``most``]."""
    content = np.concatenate((worlds.hands, worlds.face_down), axis=2).reshape(len(worlds), -1)
    told = content.view(f"S{content.shape[1]}").reshape(-1, most)
    alike = np.empty(told.shape, np.int64)
    for row, texts in enumerate(told):
        _, first, same = np.unique(texts, return_index=True, return_inverse=True)
        alike[row] = first[same]
    return alike


def average(points: Float, weight: Float) -> tuple[Float, Float]:
    """Returns weighted averages and their standard errors: [P] each; points and weight: [P, W]."""
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = (share * points).sum(axis=1)
    return mean, np.sqrt((share**2 * (points - mean[:, None]) ** 2).sum(axis=1))
