"""Plays games to the end of their round, a base policy at all seats, as one shrinking batch.

What is random in a game is drawn from the game's key: the next deals after redeals, and what a base
plays that draws random numbers, if its probabilities are known. So two games with one key share
their luck, and what happens in a game depends on nothing but its position, its key and the base.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Bool, Float, Int, Policy, Tempered, sample_at
from goita_env import View, seeds
from goita_env.rounds import Rounds
from goita_env.worlds import Positions

U64 = np.uint64
Keys = npt.NDArray[np.uint64]


class Player:
    """Asks a base policy such that the answer in a game depends on view, key and time alone.

    A base that draws no random number is simply asked. One that does is not handed a generator that
    all games share: where its probabilities are known, the action is drawn here by the game's key;
    else it is asked search by search, with a generator that belongs to the search.

    Args:
        base: the policy.
    """

    def __init__(self, base: Agent) -> None:
        self.base = base
        self._draws = False
        """The base has been seen to draw a random number."""
        self.certain = isinstance(base, Tempered) and base.temperature == 0
        """The base surely draws none: it is a network that takes the likeliest action."""

    def choose(self, view: View, legal: Bool, keys: Keys, owners: Int, time: int) -> Int:
        """Returns the base's action in each row: int64 [N].

        Args:
            view: N positions.
            legal: bool [N, 69].
            keys: [N] of the games.
            owners: [N] the search that each game belongs to, ascending.
            time: tells moments of a game apart.
        """
        if not self._draws:
            rng = np.random.default_rng(0)
            before = rng.bit_generator.state
            chosen = self.base.act(view, legal, rng)
            if rng.bit_generator.state == before:
                return chosen
            self._draws = True
        if isinstance(self.base, Policy):
            return sample_at(self.base.probabilities(view, legal), uniforms(keys, time))
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        parts = [
            self.base.act(
                view[rows], legal[rows], np.random.default_rng((int(keys[rows[0]]), time))
            )
            for rows in np.split(np.arange(len(view)), starts[1:])
        ]
        return np.concatenate(parts)

    def finish(
        self, positions: Positions, places: Int, actions: Int, keys: Keys, owners: Int
    ) -> Float:
        """Plays games to the end of their round.

        Args:
            positions: where games stand.
            places: [N] the positions to play on; they may repeat.
            actions: [N] a legal action of each asked seat, which is played first.
            keys: [N] of the games.
            owners: [N] the search that each game belongs to, ascending.

        Returns:
            [N] points of the seats 0 and 2, minus those of the others.
        """
        points = np.zeros(len(keys))
        rounds = Rounds.from_positions(positions, places, keys=keys, actions=actions)
        tick = rounds.tick
        while True:
            if tick.ended is not None:
                gained = tick.ended.points * (1 - 2 * (tick.ended.winner & 1))
                points[tick.ended.rows] = gained
            if rounds.over:
                return points
            chosen = rows = tick.rows
            if len(rows):
                chosen = self.choose(tick.view, tick.legal, keys[rows], owners[rows], rounds.time)
            tick = rounds.step(chosen)


def uniforms(keys: Keys, time: int) -> Float:
    """Returns a number from 0 to below 1 for each game at a moment: float64 [N]."""
    return seeds.uniforms(keys + np.array([time], U64) * seeds.GOLDEN)
