"""Plays one block of duplicate deals: the unit of work and of randomness.

``play_block`` is a function of its task alone, whoever runs it, in whatever order. All games of the
block step together, and each agent is handed, as one batch, the rows in which it is asked and has
a choice; a seat with a single legal action plays it unasked. Agents see views and masks, no state.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentError, Bool, Int, Memory, Results, ToldOfRedeals
from agents.faults import Accountable, Fault
from agents.registry import load_agent
from agents.tournament.games import SavedDeal, is_saved
from agents.tournament.recording import Recorder
from goita_env import View
from goita_env.checks import came, first_illegal
from goita_env.rounds import Episode, Rounds, Tick
from goita_env.rules import Rules

U64 = np.uint64
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


@dataclass(frozen=True)
class Task:
    """Names a block of deals to be played; all that its result depends on."""

    agents: tuple[str, ...]
    """Texts of the players, as ``load_agent`` takes them."""
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
    games: tuple[SavedDeal, ...] = ()
    """Every deal of the games that are saved, by deal, seating and number."""


def play_block(
    task: Task,
    players: Sequence[Agent] | None = None,
    *,
    save_share: float = 0.0,
) -> BlockResult:
    """Plays a block of deals.

    Args:
        task: what is played.
        players: the task's agents, where they are at hand; None: built from their names, and
            closed in the end.
        save_share: share of the deals whose games the result holds (``games.is_saved``).

    Raises:
        AgentError: if an agent can't be built, or answers with an illegal action.
    """
    start = time.perf_counter()
    if players is not None:
        return _Block(task, players, save_share).play(start)
    built: list[Agent] = []
    try:
        built += (load_agent(name) for name in task.agents)
        return _Block(task, built, save_share).play(start)
    finally:
        close(built)


def close(players: Iterable[Agent]) -> None:
    """Ends what agents run beside them: those that have a ``close``."""
    for player in players:
        end = getattr(player, "close", None)
        if callable(end):
            end()


class _Block:
    """Plays all games of a block side by side until each is over."""

    def __init__(self, task: Task, players: Sequence[Agent], save_share: float = 0.0) -> None:
        self.task, self.players = task, players
        shape = (len(task.seatings), task.deals)
        deals = np.tile(task.first + np.arange(task.deals), shape[0])
        self.rounds = Rounds(
            len(deals),
            rules=task.rules,
            episode=task.episode,
            seed=task.seed,
            games=deals,
            numbers=shape[0] * task.first + np.arange(len(deals)),
            log=save_share > 0,
        )
        self.recorder: Recorder | None = None
        if save_share > 0:
            saved = [is_saved(task.seed, deal, save_share) for deal in deals.tolist()]
            self.recorder = Recorder(self.rounds, set(np.flatnonzero(saved).tolist()))
        self.owner = np.repeat(np.array(task.seatings), task.deals, axis=0)
        """[N, 4] Player at each seat."""
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
        self._tell(self.rounds.tick)
        while not self.rounds.over:
            tick = self.rounds.step(self._decide(self.rounds.tick))
            self._tell(tick)
            if self.recorder is not None:
                self.recorder.note(tick)
            if tick.ended is not None:
                rows = tick.ended.rows
                side = self.sign[rows] * (1 - 2 * (tick.ended.winner & 1))
                points[rows] += side * tick.ended.points
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
            games=tuple(self._games()),
        )

    def _games(self) -> Iterator[SavedDeal]:
        """Yields the deals of the games that are saved, by deal, seating and number."""
        if self.recorder is None:
            return
        for game in np.arange(len(self.sign)).reshape(-1, self.task.deals).T.ravel().tolist():
            seating, deal = divmod(game, self.task.deals)
            agents = tuple(self.task.agents[player] for player in self.task.seatings[seating])
            found = zip(self.recorder.deals[game], self.recorder.results[game], strict=True)
            for record, (winner, points) in found:
                seat = winner if winner >= 0 else None
                yield SavedDeal(agents, self.task.first + deal, seating, record, seat, points)

    def _faults(self) -> tuple[tuple[tuple[int, Fault], ...], tuple[int, ...]]:
        """Returns the faults made in this block, and the players that have forfeited."""
        accountable = [(i, p) for i, p in enumerate(self.players) if isinstance(p, Accountable)]
        made = ((i, fault) for i, p in accountable for fault in p.faults[self.known[i] :])
        return tuple(made), tuple(i for i, p in accountable if p.forfeited)

    def _decide(self, tick: Tick) -> Int:
        """Returns the players' actions in the games that are asked: int64 [m]."""
        actions = np.zeros(len(tick.rows), np.int64)
        asked = self.owner[tick.rows, tick.seats]
        for player in range(len(self.players)):
            mine = (asked == player).nonzero()[0]
            if len(mine):
                actions[mine] = self._ask(player, tick.view[mine], tick.legal[mine])
        return actions

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
                f"got {came(chosen)}"
            )
        row = first_illegal(chosen, legal)
        if row is not None:
            raise AgentError(
                f"expected one of the actions {np.flatnonzero(legal[row]).tolist()} "
                f"from {agent.name!r}, got {int(chosen[row])!r} in game {int(view.game[row])}"
            )
        return chosen

    def _tell(self, tick: Tick) -> None:
        """Tells agents with a memory what ended and what was dealt."""
        if not self.remember:
            return
        if tick.redealt is not None:
            for agent, index, seats, games in self._memories(tick.redealt.rows):
                if len(index) and isinstance(agent, ToldOfRedeals):
                    agent.redeal(games, tick.redealt.view(index, seats))
        if tick.ended is not None:
            ended, hands = tick.ended, tick.ended.hands
            for agent, index, seats, games in self._memories(ended.rows):
                view = ended.view(index, seats)
                results = Results(ended.winner[index], ended.points[index], view)
                agent.end(games, results, hands[index])
        if tick.dealt is not None:
            for agent, index, seats, games in self._memories(tick.dealt.rows):
                agent.begin(games, seats, tick.dealt.view(index, seats))

    def _memories(self, rows: Int) -> Iterable[tuple[Memory, Int, Int, Int]]:
        """Yields each agent with a memory: where in ``rows`` it sits, at which seats, its games."""
        for player, agent in enumerate(self.players):
            if isinstance(agent, Memory):
                index, seats = np.nonzero(self.owner[rows] == player)
                yield agent, index, seats, 4 * self.rounds.numbers[rows[index]] + seats
