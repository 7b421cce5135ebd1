"""Plays one block of duplicate deals: the unit of work and of randomness.

``play_block`` is a function of its task alone, whoever runs it, in whatever order. All games of the
block step together, and each agent is handed, as one batch, the rows in which it is asked and has
a choice; a seat with a single legal action plays it unasked. Agents see views and masks, no state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from agents.answers import check_actions
from agents.base import Agent, AgentError, Bool, Int, Memory, Results, ToldOfRedeals, close
from agents.faults import FAULTS, Accountable, Fault
from agents.tournament.games import SavedDeal, is_saved
from agents.tournament.guarded import Watch
from agents.tournament.recording import Recorder
from agents.tournament.seated import PURPOSE, Seated, seat_players
from agents.tournament.task import BlockResult, Task
from goita_env import View
from goita_env.rounds import Rounds, Tick
from goita_env.seeds import GameNumbers


def play_block(
    task: Task,
    players: Sequence[Agent | None] = (),
    *,
    save_share: float = 0.0,
    guarded: bool = False,
    strict: bool = False,
    dead: Mapping[int, Fault] | None = None,
    watch: Watch | None = None,
) -> BlockResult:
    """Plays a block of deals.

    Args:
        task: what is played.
        players: the task's agents, where they are at hand; None: built from its text, and closed
            in the end.
        save_share: share of the deals whose games the result holds (``games.is_saved``).
        guarded: what goes wrong in classes of the user's that are built here is a fault on record,
            and random legal actions take its place; else it raises.
        strict: the first fault of any agent ends the block.
        dead: players whose code has ended a process: they are out, with this fault.
        watch: is told when the code of a user's class runs.

    Raises:
        AgentError: if an agent can't be built, or answers with an illegal action.
    """
    start = time.perf_counter()
    objects = {number: one for number, one in enumerate(players) if one is not None}
    seated = seat_players(task, objects, guarded=guarded, dead=dead, watch=watch)
    try:
        block = _Block(task, seated, save_share, strict)
        block.play()
    finally:
        close(one.agent for one in seated if one.player not in objects)
    return block.result(start)


class _Block:
    """Plays all games of a block side by side until each is over."""

    def __init__(
        self, task: Task, seated: Sequence[Seated], save_share: float = 0.0, strict: bool = False
    ) -> None:
        self.task, self.seated, self.strict = task, seated, strict
        seatings = len(task.seatings)
        deals = np.tile(task.first + np.arange(task.deals), seatings)
        self.numbers = GameNumbers(task.seed, PURPOSE, *task.agents)
        self.first = seatings * task.first
        """Number of the first game, before it is shown as another."""
        self.rounds = Rounds(
            len(deals),
            rules=task.rules,
            episode=task.episode,
            seed=task.seed,
            games=deals,
            numbers=self.numbers.shown(self.first + np.arange(len(deals))),
            log=save_share > 0,
        )
        self.recorder: Recorder | None = None
        if save_share > 0:
            saved = [is_saved(task.seed, deal, save_share) for deal in deals.tolist()]
            self.recorder = Recorder(self.rounds, set(np.flatnonzero(saved).tolist()))
        sitting = np.zeros((seatings, 4), np.int64)
        for place, one in enumerate(seated):
            sitting[tuple(np.array(one.seats).T)] = place
        self.owner = np.repeat(sitting, task.deals, axis=0)
        """[N, 4] Who of ``seated`` plays each seat."""
        self.sign = np.repeat(1 - 2 * (np.arange(seatings) & 1), task.deals)
        """[N] +1 where the first team sits at seats 0 and 2."""
        self.points, self.scored, self.won_rounds = np.zeros((3, len(deals)), np.int32)
        self.won = np.zeros(len(deals), bool)
        self.decisions = np.zeros(len(task.agents), np.int64)
        self.thinking = np.zeros(len(task.agents))
        self.remember = [place for place, one in enumerate(seated) if one.remembers]
        self.accountable = [
            (one, one.agent) for one in seated if isinstance(one.agent, Accountable)
        ]

    def play(self) -> None:
        """Plays to the end."""
        self._tell(self.rounds.tick)
        while not self.rounds.over:
            tick = self.rounds.step(self._decide(self.rounds.tick))
            self._tell(tick)
            if self.recorder is not None:
                self.recorder.note(tick)
            if tick.ended is not None:
                rows = tick.ended.rows
                side = self.sign[rows] * (1 - 2 * (tick.ended.winner & 1))
                self.points[rows] += side * tick.ended.points
                self.scored[rows] += 1
                self.won_rounds[rows] += side > 0
                self.won[rows] = side > 0  # who wins the last round of a match wins the match

    def result(self, start: float) -> BlockResult:
        """Returns what came out, once the agents are closed; ``start``: when the clock began."""
        self._hold_together()
        shape = (len(self.task.seatings), self.task.deals)
        out = {one.player for one, agent in self.accountable if agent.forfeited}
        return BlockResult(
            self.task,
            self.points.reshape(shape),
            self.scored.reshape(shape),
            self.won_rounds.reshape(shape),
            self.won.reshape(shape),
            self.decisions,
            self.thinking,
            time.perf_counter() - start,
            faults=tuple(self._faults()),
            forfeited=tuple(sorted(out)),
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

    def _faults(self) -> Iterator[tuple[int, Fault]]:
        """Yields the faults made in this block, and whose they are, with their deals."""
        for one, agent in self.accountable:
            for fault in agent.faults[one.known :]:
                yield one.player, self._placed(fault)

    def _placed(self, fault: Fault) -> Fault:
        """Returns a fault with the deal and the seating that its game stands for."""
        if not 0 <= fault.game < 1 << 53:
            return fault
        game = int(self.numbers.games(np.array([fault.game >> 2]))[0]) - self.first
        if not 0 <= game < len(self.sign):
            return fault
        seating, deal = divmod(game, self.task.deals)
        return replace(fault, deal=self.task.first + deal, seating=seating)

    def _decide(self, tick: Tick) -> Int:
        """Returns the players' actions in the games that are asked: int64 [m]."""
        actions = np.zeros(len(tick.rows), np.int64)
        asked = self.owner[tick.rows, tick.seats]
        for place in range(len(self.seated)):
            mine = (asked == place).nonzero()[0]
            if len(mine):
                actions[mine] = self._ask(self.seated[place], tick.view[mine], tick.legal[mine])
        return actions

    def _ask(self, one: Seated, view: View, legal: Bool) -> Int:
        """Returns an agent's actions, timed and checked."""
        start = time.perf_counter()
        answer = one.agent.act(view, legal, one.rng)
        self.thinking[one.player] += time.perf_counter() - start
        self.decisions[one.player] += len(view)
        if self.accountable:
            self._hold_together()
        return check_actions(answer, legal, one.agent.name, view.game)

    def _hold_together(self) -> None:
        """Counts the faults of a player's instances together: it is out as a whole.

        Raises:
            AgentError: if there are any, and the first is to end the block.
        """
        if self.strict:
            for player, fault in self._faults():
                text = f"{self.task.agents[player]!r}: {fault}\n{fault.traceback}"
                raise AgentError(text.rstrip())
        counts = [0] * len(self.task.agents)
        for one, agent in self.accountable:
            made = len(agent.faults) - one.known
            counts[one.player] += FAULTS if agent.forfeited else made
        for one, agent in self.accountable:
            if counts[one.player] >= FAULTS and not agent.forfeited:
                agent.forfeit()

    def _tell(self, tick: Tick) -> None:
        """Tells agents with a memory what ended and what was dealt."""
        if not self.remember:
            return
        if tick.redealt is not None:
            for agent, index, seats, games in self._memories(tick.redealt.rows):
                if isinstance(agent, ToldOfRedeals):
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

    def _memories(self, rows: Int) -> Iterator[tuple[Memory, Int, Int, Int]]:
        """Yields each agent with a memory: where in ``rows`` it sits, at which seats, its games."""
        for place in self.remember:
            agent = self.seated[place].agent
            index, seats = np.nonzero(self.owner[rows] == place)
            if len(index) and isinstance(agent, Memory):
                yield agent, index, seats, 4 * self.rounds.numbers[rows[index]] + seats
