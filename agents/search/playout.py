"""Plays games to the end of their round, a base policy at all seats, as one shrinking batch.

What is random in a game is drawn from the game's key: the next deals after redeals, and what a base
plays that draws random numbers, if its probabilities are known. So two games with one key share
their luck, and what happens in a game hangs on nothing but its position, its key and the base.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, Bool, Float, Int, Policy, only_action, sample_at
from goita_env import View, seeds
from goita_env.engine import core, deals
from goita_env.engine.deals import lay, prepare
from goita_env.engine.state import State
from goita_env.views import asked_view, unpack_legal

U64 = np.uint64
Keys = npt.NDArray[np.uint64]

_CROWDED: Final = 0.75
"""Finished games are dropped once less than this share of the batch is still played."""

_GOLDEN: Final = 0x9E3779B97F4A7C15


class Player:
    """Asks a base policy such that the answer in a game hangs on view, key and time alone.

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

    def finish(self, state: State, chosen: Int, keys: Keys, owners: Int) -> Float:
        """Plays games to the end of their round.

        Args:
            state: N games; consumed.
            chosen: [N] a legal action of each asked seat, which is played first.
            keys: [N] of the games.
            owners: [N] the search that each game belongs to, ascending.

        Returns:
            [N] points of the seats 0 and 2, minus those of the others.
        """
        points, games = np.zeros(len(keys)), np.arange(len(keys))
        playing, time = len(keys), 0
        while True:
            core.step(state, chosen)
            ended = state.ended
            if len(ended):
                again = ended[state.winner[ended] < 0]
                if len(again):
                    deal_again(state, again, keys[games[again]], time)
                playing -= len(ended) - len(again)
                if playing < _CROWDED * len(games):
                    over = state.winner >= 0
                    gained = state.points[over] * (1 - 2 * (state.winner[over] & 1))
                    points[games[over]] = gained
                    if playing == 0:
                        return points
                    kept = np.flatnonzero(~over)
                    state, games = state.select(kept), games[kept]
            time += 1
            low, high = core.legal_actions(state)
            chosen, number = only_action(low, high)
            asked = np.flatnonzero(number > 1)
            if len(asked):
                view = asked_view(state)[asked]
                legal = unpack_legal(low[asked], high[asked])
                whose = games[asked]
                chosen[asked] = self.choose(view, legal, keys[whose], owners[whose], time)


def deal_again(state: State, rows: Int, keys: Keys, time: int) -> None:
    """Deals games that wait after a redeal: new hands, the same dealer and scores.

    Args:
        state: the games, in place.
        rows: [n] those that wait.
        keys: [n] their keys.
        time: tells moments of a game apart.
    """
    codes = deals.hand_codes(seeds.deal_keys(keys, np.full(len(keys), time), 1))
    lay(state, rows, prepare(state.rules, codes, state.dealer[rows], state.scores[:, rows]))


def uniforms(keys: Keys, time: int) -> Float:
    """Returns a number from 0 to below 1 for each game at a moment: float64 [N]."""
    mixed = seeds.mix(keys + U64(time * _GOLDEN % 2**64))
    return (mixed >> U64(11)).astype(np.float64) * 2.0**-53
