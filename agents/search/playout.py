"""Plays games to the end of their round, as one shrinking batch.

What is random in a game is drawn from the game's key: the next deals after redeals, and the actions
of agents that draw random numbers, if their probabilities are known. So two games with one key
share their luck, and a game depends on its position, its key and the agents alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, Bool, Float, HasTemperature, Int, Policy, sample_at
from goita_env import View, seeds
from goita_env.arrays import U64
from goita_env.rounds import Decisions, Rounds
from goita_env.tiles import NUM_SEATS
from goita_env.worlds import Positions

Keys = npt.NDArray[np.uint64]


class PlayoutPolicy:
    """Asks an agent such that its answer in a game depends on view, key and time alone.

    An agent that draws no random number is simply asked. One that does is not handed a generator
    that all games share: where its probabilities are known, the action is drawn by the game's key;
    else it is asked search by search, with a generator that belongs to the search.

    Attributes:
        certain: the agent surely draws none: it is a network that takes the likeliest action.
    """

    def __init__(self, agent: Agent) -> None:
        self.base = agent
        self._draws = False
        self.certain = isinstance(agent, HasTemperature) and agent.temperature == 0

    def choose(self, view: View, legal: Bool, keys: Keys, owners: Int, time: int) -> Int:
        """Returns the agent's action in each row: int64 [N].

        ``keys`` [N] are those of the games, ``owners`` [N] the search that each belongs to,
        ascending; ``time`` distinguishes moments of a game.
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


class Playouts:
    """Plays rounds to their end: each relative seat by an agent of its own, or all by one.

    Raises:
        AgentError: if there are not four agents.

    Attributes:
        certain: all are, as ``PlayoutPolicy.certain``.
    """

    def __init__(self, models: Agent | Sequence[Agent]) -> None:
        four = models if isinstance(models, Sequence) else [models] * NUM_SEATS
        if len(four) != NUM_SEATS:
            raise AgentError(f"expected {NUM_SEATS} agents, one for each seat, got {len(four)}")
        first = [next(n for n, one in enumerate(four) if one is agent) for agent in four]
        self._players = {seat: PlayoutPolicy(four[seat]) for seat in sorted(set(first))}
        self._player_of_seat = np.array(first)
        self.certain = all(player.certain for player in self._players.values())

    def finish(
        self, positions: Positions, places: Int, actions: Int, keys: Keys, owners: Int
    ) -> Float:
        """Returns the points of seats 0 and 2, minus those of the others, of N games: float64 [N].

        Args:
            positions: where games begin.
            places: [N] the position of each game; they may repeat.
            actions: [N] a legal action of each asked seat, which is played first.
            keys: [N] of the games.
            owners: [N] the search that each game belongs to, ascending.
        """
        points = np.zeros(len(keys))
        rounds = Rounds.from_positions(positions, places, keys=keys, actions=actions)
        decisions = rounds.decisions
        while True:
            if decisions.ended is not None:
                points[decisions.ended.rows] = decisions.ended.gained
            if rounds.over:
                return points
            rows = decisions.rows
            decisions = rounds.step(self._choose(decisions, keys[rows], owners[rows], rounds.time))

    def _choose(self, decisions: Decisions, keys: Keys, owners: Int, time: int) -> Int:
        chosen = decisions.rows
        if len(chosen) == 0:
            return chosen
        view, legal = decisions.view, decisions.legal
        if len(self._players) == 1:
            return self._players[0].choose(view, legal, keys, owners, time)
        chosen, who = np.empty_like(chosen), self._player_of_seat[decisions.seats]
        for number, player in self._players.items():
            some = np.flatnonzero(who == number)
            if len(some):
                chosen[some] = player.choose(
                    view[some], legal[some], keys[some], owners[some], time
                )
        return chosen


def uniforms(keys: Keys, time: int) -> Float:
    """Returns a number from 0 to below 1 for each game at a moment: float64 [N]."""
    return seeds.uniforms(keys + np.array([time], U64) * seeds.GOLDEN)
