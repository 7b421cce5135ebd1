"""Plays one block of duplicate deals: the unit of work and of randomness.

``play_block`` is a function of its task alone, whoever runs it, in whatever order. All games of the
block step together, and each agent is handed, as one batch, the rows in which it is asked and has
a choice; a seat with a single legal action plays it unasked. Agents see views and masks, no state.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, Bool, Int, Memory, Results, only_action
from agents.faults import Accountable, Fault
from agents.registry import load_agent
from goita_env import actions
from goita_env.engine import core
from goita_env.engine.match import Episode, Match, Outcome
from goita_env.engine.state import State
from goita_env.rules import Rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import View, asked_view, seat_view, unpack_legal
from goita_env.views.layout import TABLE_ASKED_CALL, TABLE_ASKED_CHOICE, TABLE_WORD

U64 = np.uint64
_NOT_ASKED: Final = ~U64(1 << TABLE_ASKED_CALL | 1 << TABLE_ASKED_CHOICE)
Seating = tuple[int, int, int, int]

PAIR_SEATINGS: Final[tuple[Seating, ...]] = ((0, 1, 0, 1), (1, 0, 1, 0))
"""Who sits where when each agent is both partners of its team."""

MIXED_SEATINGS: Final[tuple[Seating, ...]] = (
    (0, 2, 1, 2),
    (2, 0, 2, 1),
    (1, 2, 0, 2),
    (2, 1, 2, 0),
)
"""Players 0 and 1 as partners against 2 and 2: at seats 0 and 2, at 1 and 3, and exchanged."""


@runtime_checkable
class ToldOfRedeals(Memory, Protocol):
    """Plays with a memory, and wants to know how a deal went that ended in a redeal."""

    def redeal(self, games: Int, view: View) -> None:
        """Takes notice of deals that ended in a redeal; ``begin`` tells of the next ones.

        Args:
            games: [n] their numbers.
            view: [n] the table after the last choice, as each seat sees it.
        """
        ...


@dataclass(frozen=True)
class Task:
    """Names a block of deals to be played; all that its result depends on."""

    agents: tuple[str, ...]
    """Names of the players, as ``load_agent`` takes them."""
    seed: int
    """Seed of the deals, and with block and player of each player's random numbers."""
    block: int
    """Number of the block, from 0."""
    first: int
    """Number of its first deal."""
    deals: int
    """How many deals."""
    rules: Rules
    episode: Episode = "round"
    seatings: tuple[Seating, ...] = PAIR_SEATINGS
    """[S] Players at seats 0 to 3 in each game of a deal; the first team sits at seats 0 and 2 in
    the first, third, ... of them, at 1 and 3 in the others."""


@dataclass(frozen=True)
class BlockResult:
    """Holds what came out of a block; S seatings, D deals, P players."""

    task: Task
    points: npt.NDArray[np.int32]
    """[S, D] Points of the first team minus those of the other."""
    rounds: npt.NDArray[np.int32]
    """[S, D] Rounds that were scored: 1 unless whole matches are played."""
    rounds_won: npt.NDArray[np.int32]
    """[S, D] Rounds that the first team won."""
    won: Bool
    """[S, D] The first team won the episode."""
    decisions: Int
    """[P] Decisions with a choice that each player made."""
    thinking: npt.NDArray[np.float64]
    """[P] Seconds that each player took for them."""
    seconds: float
    """Seconds that the block took."""
    faults: tuple[tuple[int, Fault], ...] = ()
    """Players and the faults that they made in this block, for agents that keep count."""
    forfeited: tuple[int, ...] = ()
    """Players that were out by the end: from some point on their decisions are random ones."""


def play_block(task: Task, players: Sequence[Agent] | None = None) -> BlockResult:
    """Plays a block of deals.

    Args:
        task: what is played.
        players: the task's agents, where they are at hand; None: built from their names, and
            closed in the end.

    Raises:
        AgentError: if an agent can't be built, or answers with an illegal action.
    """
    start = time.perf_counter()
    if players is not None:
        return _Block(task, players).play(start)
    built: list[Agent] = []
    try:
        built += (load_agent(name) for name in task.agents)
        return _Block(task, built).play(start)
    finally:
        close(built)


def close(players: Iterable[Agent]) -> None:
    """Ends what agents run beside them: those that have a ``close``."""
    for player in players:
        end = getattr(player, "close", None)
        if callable(end):
            end()


class _Block:
    """Steps all games of a block together until each is over."""

    def __init__(self, task: Task, players: Sequence[Agent]) -> None:
        self.task, self.players = task, players
        shape = (len(task.seatings), task.deals)
        numbers = np.tile(task.first + np.arange(task.deals), shape[0])
        self.match = Match(
            num_games=len(numbers),
            rules=task.rules,
            episode=task.episode,
            seed=task.seed,
            games=numbers,
            auto_reset=False,
        )
        self.owner = np.repeat(np.array(task.seatings), task.deals, axis=0)
        """[N, 4] Player at each seat."""
        self.chairs = 4 * (shape[0] * task.first + np.arange(len(numbers)))
        """[N] ``view.game`` of seat 0; the other seats follow."""
        self.sign = np.repeat(1 - 2 * (np.arange(shape[0]) & 1), task.deals)
        """[N] +1 where the first team sits at seats 0 and 2."""
        self.rngs = [
            np.random.default_rng(np.random.SeedSequence(task.seed, spawn_key=(task.block, player)))
            for player in range(len(players))
        ]
        self.decisions = np.zeros(len(players), np.int64)
        self.thinking = np.zeros(len(players))
        self.remember = any(isinstance(player, Memory) for player in players)
        self.known = [len(p.faults) if isinstance(p, Accountable) else 0 for p in players]
        """[P] Faults that each player had before the block."""

    def play(self, start: float) -> BlockResult:
        """Plays to the end; ``start``: when the block's clock began."""
        shape = (len(self.task.seatings), self.task.deals)
        points, rounds, rounds_won = np.zeros((3, len(self.sign)), np.int32)
        won = np.zeros(len(self.sign), bool)
        self.match.reset()
        self._begin(np.arange(len(self.sign)))
        while (chosen := self._decide()) is not None:
            outcome = self._step(chosen)
            if outcome is not None:
                rows = outcome.rows
                side = self.sign[rows] * (1 - 2 * (outcome.winner & 1))
                points[rows] += side * outcome.points
                rounds[rows] += 1
                rounds_won[rows] += side > 0
                won[rows] = side > 0  # who wins the last round of a match wins the match
        return BlockResult(
            self.task,
            points.reshape(shape),
            rounds.reshape(shape),
            rounds_won.reshape(shape),
            won.reshape(shape),
            self.decisions,
            self.thinking,
            time.perf_counter() - start,
            *self._faults(),
        )

    def _faults(self) -> tuple[tuple[tuple[int, Fault], ...], tuple[int, ...]]:
        """Returns the faults made in this block, and the players that have forfeited."""
        accountable = [(i, p) for i, p in enumerate(self.players) if isinstance(p, Accountable)]
        made = ((i, fault) for i, p in accountable for fault in p.faults[self.known[i] :])
        return tuple(made), tuple(i for i, p in accountable if p.forfeited)

    def _decide(self) -> Int | None:
        """Returns an action for each game, an agent's if it has a choice; None: all are over."""
        state = self.match.state
        low, high = core.legal_actions(state)
        chosen, number = only_action(low, high)
        rows = np.flatnonzero(number > 1)
        if len(rows) == 0:
            return chosen if number.any() else None
        seat = state.seat
        view = asked_view(state, self.chairs + seat)
        asked = self.owner[rows, seat[rows]]
        for player in range(len(self.players)):
            mine = rows[asked == player]
            if len(mine):
                legal = unpack_legal(low[mine], high[mine])
                chosen[mine] = self._ask(player, view[mine], legal)
        return chosen

    def _ask(self, player: int, view: View, legal: Bool) -> Int:
        """Returns a player's actions, timed and checked."""
        agent = self.players[player]
        start = time.perf_counter()
        chosen = np.asarray(agent.act(view, legal, self.rngs[player]))
        self.thinking[player] += time.perf_counter() - start
        self.decisions[player] += len(view)
        if chosen.shape != (len(view),) or chosen.dtype.kind not in "iu":
            raise AgentError(
                f"expected {len(view)} actions as whole numbers from {agent.name!r}, "
                f"got shape {chosen.shape!r} of {chosen.dtype}"
            )
        fine = (chosen >= 0) & (chosen < actions.NUM_ACTIONS)
        fine[fine] = legal[fine, chosen[fine]]
        if not fine.all():
            row = int(fine.argmin())
            raise AgentError(
                f"expected one of the actions {np.flatnonzero(legal[row]).tolist()} "
                f"from {agent.name!r}, got {int(chosen[row])!r} in game {int(view.game[row])}"
            )
        return chosen

    def _step(self, chosen: Int) -> Outcome | None:
        """Makes the decisions, and tells agents with a memory what began and ended."""
        if not self.remember:
            return self.match.step(chosen)
        before, deals = self.match.state.copy(), self.match.deals.copy()
        outcome = self.match.step(chosen)
        dealt = np.flatnonzero(self.match.deals != deals)
        if outcome is not None or len(dealt):
            # The match may have dealt the next round already: make the step once more without it.
            core.step(before, chosen)
            again = before.ended[before.winner[before.ended] < 0]
            if len(again):
                self._redeal(again, before.select(again))
        if outcome is not None:
            self._end(outcome, before.select(outcome.rows))
        self._begin(dealt)
        return outcome

    def _begin(self, rows: Int) -> None:
        """Tells agents with a memory about new deals."""
        if self.remember and len(rows):
            state = self.match.state.select(rows)
            for agent, index, seats in self._memories(rows):
                games = self.chairs[rows[index]] + seats
                view = seat_view(state.select(index), seats, games)
                # Who is asked first before play would show who else is asked before.
                view.words[:, TABLE_WORD] &= _NOT_ASKED
                agent.begin(games, seats, view)

    def _redeal(self, rows: Int, last: State) -> None:
        """Tells who wants to know about deals that ended in a redeal; ``last``: their states."""
        for agent, index, seats in self._memories(rows):
            if len(index) and isinstance(agent, ToldOfRedeals):
                games = self.chairs[rows[index]] + seats
                agent.redeal(games, seat_view(last.select(index), seats, games))

    def _end(self, outcome: Outcome, last: State) -> None:
        """Tells agents with a memory about scored rounds; ``last``: the states they ended in."""
        hands = _dealt(last)
        for agent, index, seats in self._memories(outcome.rows):
            games = self.chairs[outcome.rows[index]] + seats
            view = seat_view(last.select(index), seats, games)
            results = Results(outcome.winner[index], outcome.points[index], view)
            agent.end(games, results, hands[index])

    def _memories(self, rows: Int) -> Iterable[tuple[Memory, Int, Int]]:
        """Yields each agent with a memory, and where in ``rows`` and at which seats it sits."""
        for player, agent in enumerate(self.players):
            if isinstance(agent, Memory):
                index, seats = np.nonzero(self.owner[rows] == player)
                yield agent, index, seats


def _dealt(state: State) -> Int:
    """Returns the tiles that each seat was dealt, from hands and plays: int64 [n, 4, 8]."""
    plays = np.ascontiguousarray(state.own.T).view(np.uint8).reshape(-1, NUM_SEATS, 8)
    tiles = (plays[..., None] == 1 << np.arange(NUM_KINDS)).sum(axis=2)
    slots = (np.arange(NUM_SEATS) + state.offset[:, None]) & 3
    dealt: Int = state.hand_counts() + np.take_along_axis(tiles, slots[..., None], axis=1)
    return dealt
