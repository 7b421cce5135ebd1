"""Plays one block of duplicate deals: the unit of work and of randomness.

The result of ``play_block`` depends on its task alone, not on the process or the order. All games
of the block step together. Each agent gets one batch of the rows in which it has a choice; a single
legal action is played without asking. Agents see views and masks, no state.
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
from goita_env.rounds.telling import tell
from goita_env.rules import Rules
from goita_env.seeds import GameNumbers
from goita_lab.arena.tournament.plan import GAME_FIGURES, BlockResult, Task
from goita_lab.arena.tournament.saved_games import Recorder, SavedDeal
from goita_lab.arena.tournament.seating import PURPOSE, BlockFaults, Seated, seat_players


def play_block(
    task: Task, players: Sequence[Agent | None] = (), *, save: bool = False, guarded: bool = False
) -> BlockResult:
    """Plays a block of deals.

    Args:
        task: the block.
        players: existing agents; missing ones are built from their texts, and closed at the end.
        save: let the result hold the games.
        guarded: record what goes wrong in a user's class as a fault instead of raising, and play a
            random legal action.
    """
    objects = {number: one for number, one in enumerate(players) if one is not None}
    for number, spec in enumerate(task.agents):
        if number not in objects:
            warm_up(spec, task.rules, task.information)
    start = time.perf_counter()
    seated: list[Seated] = []
    try:
        for one in seat_players(task, objects, guarded=guarded):
            seated.append(one)  # noqa: PERF402  (those built before an error are closed)
        block = _Block(task, seated, save)
        block.play()
    finally:
        close(one.agent for one in seated if one.player not in objects)
    return block.result(start)


@cache
def warm_up(spec: str, rules: Rules, information: InformationStructure) -> None:
    """Has an agent make some decisions before its clock runs: what it needs is compiled and loaded.

    It is another instance, with random numbers of its own, once in a process. Users' classes and
    programs are not asked more often than they play.
    """
    if is_own(spec):
        return
    agent = build_agent(spec)
    try:
        if isinstance(unwrapped(agent), ExternalAgent):
            return
        rounds, rng = (
            Rounds(1, rules=rules, seed=0, information=information),
            np.random.default_rng(0),
        )
        for step in count():
            now = rounds.decisions
            if len(now.rows) and step % 4 == 0:
                ask_actions(agent, now.view, now.legal, rng)
            if rounds.over:
                return
            rounds.step(uniform(now.legal, rng.random(len(now.rows))))
    finally:
        close([agent])


class _Block:
    """All N games of a block, played in parallel."""

    def __init__(self, task: Task, seated: Sequence[Seated], save: bool) -> None:
        self.task, self.seated = task, seated
        seatings = len(task.seatings)
        deals = np.tile(task.first + np.arange(task.deals), seatings)
        self.numbers = GameNumbers(task.seed, PURPOSE, *task.agents)
        self.first = seatings * task.first  # number of the first game, before the permutation
        self.rounds = Rounds(
            len(deals),
            rules=task.rules,
            episode=task.episode,
            seed=task.seed,
            games=deals,
            numbers=self.numbers.shown(self.first + np.arange(len(deals))),
            log=save,
            information=task.information,
        )
        self.recorder = Recorder(self.rounds) if save else None
        sitting = np.zeros((seatings, 4), np.int64)
        for place, one in enumerate(seated):
            sitting[tuple(np.array(one.seats).T)] = place
        self.owner = np.repeat(sitting, task.deals, axis=0)
        """[N, 4] Index in ``seated`` of the agent at each seat."""
        self.sign = np.repeat(1 - 2 * (np.arange(seatings) & 1), task.deals)
        """[N] +1 where the first team sits at seats 0 and 2."""
        self.figures = {name: np.zeros(len(deals), np.int32) for name in GAME_FIGURES}
        self.decisions = np.zeros(len(task.agents), np.int64)
        self.thinking = np.zeros(len(task.agents))
        self.stateful = [place for place, one in enumerate(seated) if one.is_stateful]
        self.faults = BlockFaults(task, seated, self.numbers)

    def play(self) -> None:
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
        for game in np.arange(len(self.sign)).reshape(-1, self.task.deals).T.ravel().tolist():
            seating, deal = divmod(game, self.task.deals)
            agents = tuple(self.task.agents[player] for player in self.task.seatings[seating])
            number = self.task.first + deal
            for record in self.recorder.deals[game]:
                yield SavedDeal(agents, self.task.block, number, seating, record)

    def _decide(self, decisions: PendingDecisions) -> Int:
        """Returns the players' actions in the m games that need one: int64 [m]."""
        actions = np.zeros(len(decisions.rows), np.int64)
        asked = self.owner[decisions.rows, decisions.seats]
        for place, one in enumerate(self.seated):
            mine = (asked == place).nonzero()[0]
            if len(mine):
                actions[mine] = self._ask(one, decisions.view[mine], decisions.legal[mine])
        return actions

    def _ask(self, one: Seated, view: View, legal: Bool) -> Int:
        start = time.perf_counter()
        actions = ask_actions(one.agent, view, legal, one.rng)
        self.thinking[one.player] += time.perf_counter() - start
        self.decisions[one.player] += len(view)
        self.faults.pool()
        return actions

    def _notify(self, decisions: PendingDecisions) -> None:
        if self.stateful:
            tell(decisions, self._sitting)

    def _sitting(self, rows: Int) -> Iterator[tuple[StatefulAgent, Int, Int, Int]]:
        """Yields each stateful agent with its indices into ``rows``, its seats and its games."""
        for place in self.stateful:
            agent = self.seated[place].agent
            index, seats = np.nonzero(self.owner[rows] == place)
            if len(index) and isinstance(agent, StatefulAgent):
                yield agent, index, seats, 4 * self.rounds.numbers[rows[index]] + seats
