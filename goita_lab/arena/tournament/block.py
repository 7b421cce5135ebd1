"""Plays one block of duplicate deals: the unit of work and of randomness.

The result of ``play_block`` depends only on its task, not on the process or the order. All games
of the block step together. Each agent gets one batch of the rows in which it has a choice; a single
legal action is played without calling it. Agents receive views and masks, not the state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from goita_agents.asking import ask_actions, build_agent
from goita_agents.base import Agent, Bool, Int, StatefulAgent, close, uniform
from goita_agents.bots.wrapped import unwrapped
from goita_agents.external.agent import ExternalAgent
from goita_agents.registry import is_own
from goita_env import View
from goita_env.information import InformationStructure
from goita_env.rounds import PendingDecisions, Rounds
from goita_env.rounds.telling import notify_agents
from goita_env.rules import Rules
from goita_env.seeds import GameNumbers
from goita_env.tiles import NUM_SEATS
from goita_lab.arena.tournament.plan import GAME_FIGURES, BlockResult, Task
from goita_lab.arena.tournament.saved_games import Recorder, SavedDeal
from goita_lab.arena.tournament.seating import SEEDING_PURPOSE, BlockFaults, Seated, seat_players


def play_block(
    task: Task, players: Sequence[Agent | None] = (), *, save: bool = False, guarded: bool = False
) -> BlockResult:
    """Plays a block of deals.

    Args:
        task: the block.
        players: existing agents; missing ones are built from their texts, and closed at the end.
        save: let the result hold the games.
        guarded: record an exception of a user's class as a fault instead of raising it, and play a
            random legal action in its place.
    """
    agents = {player: agent for player, agent in enumerate(players) if agent is not None}
    for player, spec in enumerate(task.agents):
        if player not in agents:
            warm_up(spec, task.rules, task.information)
    start = time.perf_counter()
    seated: list[Seated] = []
    try:
        for instance in seat_players(task, agents, guarded=guarded):
            seated.append(instance)  # noqa: PERF402  (those built before an error are closed)
        block = _Block(task, seated, save)
        block.play()
    finally:
        close(instance.agent for instance in seated if instance.player not in agents)
    return block.result(start)


@cache
def warm_up(spec: str, rules: Rules, information: InformationStructure) -> None:
    """Has an agent make some decisions before it is timed, so that its code is compiled and loaded.

    The decisions are those of another instance with separate random numbers, once in a process.
    Users' classes and programs only act in games that count.
    """
    if is_own(spec):
        return
    agent = build_agent(spec)
    try:
        if isinstance(unwrapped(agent), ExternalAgent):
            return
        rounds = Rounds(1, rules=rules, seed=0, information=information)
        rng = np.random.default_rng(0)
        for step in count():
            decisions = rounds.decisions
            if len(decisions.rows) and step % 4 == 0:  # a quarter of the decisions is enough
                ask_actions(agent, decisions.view, decisions.legal, rng)
            if rounds.over:
                return
            rounds.step(uniform(decisions.legal, rng.random(len(decisions.rows))))
    finally:
        close([agent])


class _Block:
    """All N games of a block, played in parallel."""

    def __init__(self, task: Task, seated: Sequence[Seated], save: bool) -> None:
        self.task, self.seated = task, seated
        seatings = len(task.seatings)
        # Games are in order of seating, then of deal: [S * D], so that a reshape gives [S, D].
        deals = np.tile(task.first + np.arange(task.deals), seatings)
        numbers = GameNumbers(task.seed, SEEDING_PURPOSE, *task.agents)
        # Number of the first game; agents see the numbers in another, random order.
        first = seatings * task.first
        self.rounds = Rounds(
            len(deals),
            rules=task.rules,
            episode=task.episode,
            seed=task.seed,
            games=deals,
            numbers=numbers.numbers(first + np.arange(len(deals))),
            log=save,
            information=task.information,
        )
        self.recorder = Recorder(self.rounds) if save else None
        # [S, 4] Index in ``seated`` of the agent at each seat of each seating.
        instances = np.zeros((seatings, NUM_SEATS), np.int64)
        for index, instance in enumerate(seated):
            # The pairs (seating, seat) as a row of seatings and a row of seats: both index at once.
            instances[tuple(np.array(instance.seats).T)] = index
        self.owner = np.repeat(instances, task.deals, axis=0)
        """[N, 4] Index in ``seated`` of the agent at each seat."""
        # 1 in the first, third, ... seating, -1 in the others; each for all deals of the seating.
        self.sign = np.repeat(1 - 2 * (np.arange(seatings) & 1), task.deals)
        """[N] +1 where the first team sits at seats 0 and 2."""
        self.figures = {name: np.zeros(len(deals), np.int32) for name in GAME_FIGURES}
        self.decisions = np.zeros(len(task.agents), np.int64)
        self.thinking = np.zeros(len(task.agents))
        self.stateful = [index for index, instance in enumerate(seated) if instance.is_stateful]
        self.faults = BlockFaults(task, seated, numbers)

    def play(self) -> None:
        """Plays all games to their end, and adds up their figures."""
        self._notify(self.rounds.decisions)
        while not self.rounds.over:
            decisions = self.rounds.step(self._decide(self.rounds.decisions))
            self._notify(decisions)
            if self.recorder is not None:
                self.recorder.note(decisions)
            if decisions.ended is not None:
                ended, rows = decisions.ended, decisions.ended.rows
                won = self.sign[rows] * ended.gained > 0
                self.figures["points"][rows] += self.sign[rows] * (ended.gained - ended.cost)
                self.figures["rounds"][rows] += 1
                self.figures["rounds_won"][rows] += won
                self.figures["won"][rows] = won  # the last round of a match decides it

    def result(self, start: float) -> BlockResult:
        """Returns the result of the block, which began at ``start`` (``time.perf_counter``)."""
        self.faults.pool()
        shape = (len(self.task.seatings), self.task.deals)
        figures: dict[str, Any] = {
            name: values.reshape(shape) for name, values in self.figures.items()
        }
        figures["won"] = figures["won"].astype(bool)
        return BlockResult(
            task=self.task,
            **figures,
            decisions=self.decisions,
            thinking=self.thinking,
            seconds=time.perf_counter() - start,
            faults=tuple(self.faults.located()),
            forfeited=self.faults.forfeited(),
            games=tuple(self._games()),
        )

    def _games(self) -> Iterator[SavedDeal]:
        """Yields the deals of the saved games, by deal, seating and number."""
        if self.recorder is None:
            return
        # Games are in order of seating; transposed, those of a deal follow each other.
        for game in np.arange(len(self.sign)).reshape(-1, self.task.deals).T.ravel().tolist():
            seating, deal = divmod(game, self.task.deals)
            agents = tuple(self.task.agents[player] for player in self.task.seatings[seating])
            for record in self.recorder.deals[game]:
                yield SavedDeal(agents, self.task.block, self.task.first + deal, seating, record)

    def _decide(self, decisions: PendingDecisions) -> Int:
        """Returns the actions in the m games in which a seat has a choice now: int64 [m]."""
        actions = np.zeros(len(decisions.rows), np.int64)
        owners = self.owner[decisions.rows, decisions.seats]
        for index, instance in enumerate(self.seated):
            own = (owners == index).nonzero()[0]
            if len(own):
                actions[own] = self._ask(instance, decisions.view[own], decisions.legal[own])
        return actions

    def _ask(self, instance: Seated, view: View, legal: Bool) -> Int:
        start = time.perf_counter()
        actions = ask_actions(instance.agent, view, legal, instance.rng)
        self.thinking[instance.player] += time.perf_counter() - start
        self.decisions[instance.player] += len(view)
        self.faults.pool()
        return actions

    def _notify(self, decisions: PendingDecisions) -> None:
        if self.stateful:
            notify_agents(decisions, self._stateful_at)

    def _stateful_at(self, rows: Int) -> Iterator[tuple[StatefulAgent, Int, Int, Int]]:
        """Yields each stateful agent with its indices into ``rows``, its seats and its games."""
        for instance in self.stateful:
            agent = self.seated[instance].agent
            index, seats = np.nonzero(self.owner[rows] == instance)
            if len(index) and isinstance(agent, StatefulAgent):
                # For agents each seat of a game is a game of its own.
                yield agent, index, seats, NUM_SEATS * self.rounds.numbers[rows[index]] + seats
