"""Seats the agents of a block, and counts what goes wrong in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from goita_agents.asking import GuardedAgent, build_agent
from goita_agents.base import Agent, StatefulAgent
from goita_agents.bots.wrapped import unwrapped
from goita_agents.external.agent import ExternalAgent
from goita_agents.faults import FAULTS, Fault, FaultTracking
from goita_agents.registry import is_own, may_share, short_name
from goita_env.seeds import GameNumbers, bot_generator, bot_seed
from goita_env.tiles import NUM_SEATS
from goita_lab.arena.tournament.plan import Task

SEEDING_PURPOSE: Final = "tournament"
"""Separates random numbers of a tournament from those that others derive from the same seed."""


@dataclass(frozen=True)
class Seated:
    """An instance of an agent with the seats that it plays."""

    agent: Agent
    player: int
    rng: np.random.Generator  #: Its random numbers; they reveal nothing of the deals.
    seats: tuple[tuple[int, int], ...]  #: Pairs of seating and seat.
    earlier_faults: int = 0  #: Faults that it had made before this block.

    @property
    def is_stateful(self) -> bool:
        if isinstance(self.agent, GuardedAgent):
            return self.agent.is_stateful
        return isinstance(self.agent, StatefulAgent)


def seat_players(task: Task, agents: Mapping[int, Agent], *, guarded: bool) -> Iterator[Seated]:
    """Builds and seats the agents of a block one by one.

    One instance of a memoryless agent of this repository plays all seats of its player
    (``registry.may_share``). An instance of any other agent might use its partner's hand, or the
    other game of the deal; so it plays one seat of one seating only.

    Args:
        task: the block.
        agents: existing agents by their index in the task.
        guarded: as for ``play_block``.
    """
    for player, spec in enumerate(task.agents):
        seats = tuple(
            (seating, seat)
            for seating, owners in enumerate(task.seatings)
            for seat, owner in enumerate(owners)
            if owner == player
        )
        # For an instance that plays everywhere, -1 is in place of the seating and of the seat.
        rng = bot_generator(task.seed, SEEDING_PURPOSE, task.block, player, -1, -1)
        agent = agents.get(player)
        if agent is not None:
            earlier = len(agent.faults) if isinstance(agent, FaultTracking) else 0
            yield Seated(agent, player, rng, seats, earlier)
            continue
        is_user_code = is_own(spec)
        if not is_user_code:
            agent = build_agent(spec)
            if may_share(agent, spec):
                yield Seated(agent, player, rng, seats)
                continue
        for seating, seat in seats:
            place = (task.block, player, seating, seat)
            rng = bot_generator(task.seed, SEEDING_PURPOSE, *place)
            seed = bot_seed(task.seed, SEEDING_PURPOSE, *place)
            if is_user_code and guarded:
                replacement_rng = bot_generator(task.seed, "replacement", *place)
                build = partial(build_agent, spec)
                agent = GuardedAgent(short_name(spec), build, seat, replacement_rng)
            else:
                agent = agent or build_agent(spec)
                if isinstance(program := unwrapped(agent), ExternalAgent):
                    program.seed = seed
            yield Seated(agent, player, rng, ((seating, seat),))
            agent = None  # the next seat builds another instance


class BlockFaults:
    """The faults of a block's agents; closing an agent may still add some.

    Args:
        task: the block.
        seated: its agents.
        numbers: of the block's games, as agents see them.
    """

    def __init__(self, task: Task, seated: Sequence[Seated], numbers: GameNumbers) -> None:
        self._task, self._numbers = task, numbers
        self._tracking = [
            (instance, instance.agent)
            for instance in seated
            if isinstance(instance.agent, FaultTracking)
        ]

    def pool(self) -> None:
        """Counts the faults of a player's instances together: it forfeits as a whole."""
        counts = [0] * len(self._task.agents)
        for instance, agent in self._tracking:
            new_faults = len(agent.faults) - instance.earlier_faults
            counts[instance.player] += FAULTS if agent.forfeited else new_faults
        for instance, agent in self._tracking:
            if counts[instance.player] >= FAULTS and not agent.forfeited:
                agent.forfeit()

    def forfeited(self) -> tuple[int, ...]:
        """Returns the players that forfeited."""
        return tuple(sorted({seated.player for seated, agent in self._tracking if agent.forfeited}))

    def located(self) -> Iterator[tuple[int, Fault]]:
        """Yields the faults of this block with their players, and with deal and seating."""
        for instance, agent in self._tracking:
            for fault in agent.faults[instance.earlier_faults :]:
                yield instance.player, self._located(fault)

    def _located(self, fault: Fault) -> Fault:
        """Returns a fault with deal and seating, or as it is if its game is not of this block."""
        # An agent sees a game as four times its shuffled number, which is below 2**51, plus the
        # seat; ``games`` undoes the shuffle. -1 stands for no game.
        if not 0 <= fault.game < NUM_SEATS << 51:
            return fault
        task, seatings = self._task, len(self._task.seatings)
        (game,) = self._numbers.games(np.array([fault.game // NUM_SEATS])).tolist()
        # Games are numbered seating by seating within a block.
        seating, deal = divmod(game - seatings * task.first, task.deals)
        if not 0 <= seating < seatings:
            return fault
        return replace(fault, deal=task.first + deal, seating=seating)
