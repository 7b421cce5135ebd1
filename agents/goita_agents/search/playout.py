"""Plays games to the end of their round, as one shrinking batch.

What is random in a game is drawn from the game's key: the next deals after redeals, and the actions
of agents that draw random numbers, if their probabilities are known. So two games with one key
share their luck, and a game depends only on its position, its key and the agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from goita_agents.asking import ask_actions, ask_probabilities
from goita_agents.base import Agent, AgentError, Bool, Float, Int, Policy, sample_at
from goita_env import View, seeds
from goita_env.arrays import U64
from goita_env.rounds import PendingDecisions, Rounds
from goita_env.tiles import NUM_SEATS
from goita_env.worlds import Positions

Keys = npt.NDArray[np.uint64]


class PlayoutPolicy:
    """An agent in playouts: its answer in a game depends only on view, key and time.

    An agent that draws no random number simply acts. An agent that does is not handed a generator
    that all games share: where its probabilities are known, the action is drawn by the game's key;
    else it acts search by search, with a generator that belongs to the search.

    Attributes:
        certain: the agent declares that it draws no random number: its ``deterministic`` is True.
    """

    def __init__(self, agent: Agent) -> None:
        self.base = agent
        self._draws = False
        self.certain = bool(getattr(agent, "deterministic", False))

    def choose(self, view: View, legal: Bool, keys: Keys, owners: Int, time: int) -> Int:
        """Returns the agent's action in each row: int64 [N].

        ``keys`` [N] are those of the games, ``owners`` [N] the search that each belongs to,
        ascending; ``time`` distinguishes moments of a game. Many worlds look alike to a seat, so
        the agent is queried once about equal views.
        """
        # ``rows`` are the first rows of distinct views, ``distinct`` [N] is each row's view.
        _, rows, distinct = np.unique(view.digest(), return_index=True, return_inverse=True)
        if not self._draws:
            rng = np.random.default_rng(0)
            before = rng.bit_generator.state
            chosen = ask_actions(self.base, view[rows], legal[rows], rng)
            if rng.bit_generator.state == before:
                return chosen[distinct]
            self._draws = True
        if isinstance(self.base, Policy):
            chances = ask_probabilities(self.base, view[rows], legal[rows])
            uniform = seeds.uniforms(keys + np.array([time], U64) * seeds.GOLDEN)
            return sample_at(chances[distinct], uniform)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))  # the first row of each search
        parts = [
            ask_actions(
                self.base,
                view[search_rows],
                legal[search_rows],
                np.random.default_rng((int(keys[search_rows[0]]), time)),
            )
            for search_rows in np.split(np.arange(len(view)), starts[1:])
        ]
        return np.concatenate(parts)


Players = Agent | Sequence[Agent] | Sequence[Sequence[Agent]]
"""One agent for all seats; four agents, by relative seat; or four for each type of world."""


class Playouts:
    """Rounds that are played to their end.

    Raises:
        AgentError: if there are not four agents.

    Attributes:
        certain: bool [T] for each type of world, whether its four agents draw no random number.
    """

    def __init__(self, players: Players) -> None:
        fours = [list(four) for four in _by_type(players)]
        for four in fours:
            if len(four) != NUM_SEATS:
                raise AgentError(f"expected {NUM_SEATS} agents, one for each seat, got {len(four)}")
        agents = [agent for four in fours for agent in four]
        # An agent with several seats or types is one player, known by its first place.
        first = [agents.index(agent) for agent in agents]
        self._players = {place: PlayoutPolicy(agents[place]) for place in sorted(set(first))}
        self._player_of = np.array(first).reshape(-1, NUM_SEATS)
        certain = [[self._players[n].certain for n in four] for four in self._player_of.tolist()]
        self.certain: Bool = np.array([all(four) for four in certain])

    def finish(
        self,
        positions: Positions,
        places: Int,
        actions: Int,
        keys: Keys,
        owners: Int,
        types: Int | None = None,
    ) -> Float:
        """Returns the points of seats 0 and 2 minus those of seats 1 and 3 in N games: float64 [N].

        Args:
            positions: where games begin.
            places: [N] index of each game's position; games may share a position.
            actions: [N] a legal action of each acting seat, which is played first.
            keys: [N] of the games.
            owners: [N] the search that each game belongs to, ascending.
            types: [N] the type of world of each game; None: all are of the first.
        """
        player_of = self._player_of[np.zeros_like(owners) if types is None else types]
        rounds = Rounds.from_positions(positions, places, keys=keys, actions=actions)
        points, decisions = np.zeros(len(keys)), rounds.decisions
        while True:
            if decisions.ended is not None:
                points[decisions.ended.rows] = decisions.ended.gained
            if rounds.over:
                return points
            rows, time = decisions.rows, rounds.time
            players = player_of[rows, decisions.seats]
            chosen = self._choose(decisions, players, keys[rows], owners[rows], time)
            decisions = rounds.step(chosen)

    def _choose(
        self, decisions: PendingDecisions, players: Int, keys: Keys, owners: Int, time: int
    ) -> Int:
        """Returns the actions [m] of acting seats whose players [m] are given."""
        chosen = np.empty_like(decisions.rows)
        if len(chosen) == 0:
            return chosen
        view, legal = decisions.view, decisions.legal
        if len(self._players) == 1:  # its first place is 0
            return self._players[0].choose(view, legal, keys, owners, time)
        for index, player in self._players.items():
            rows = np.flatnonzero(players == index)
            if len(rows):
                chosen[rows] = player.choose(
                    view[rows], legal[rows], keys[rows], owners[rows], time
                )
        return chosen


def _by_type(players: Players) -> Sequence[Sequence[Agent]]:
    """Returns four agents for each type of world."""
    if not isinstance(players, Sequence):
        return [[players] * NUM_SEATS]
    if any(isinstance(four, Sequence) for four in players):
        return cast(Sequence[Sequence[Agent]], players)
    return [cast(Sequence[Agent], players)]
