"""Seats the players of a block: which agent plays which seat of which game, with what generator.

One instance of a memoryless agent of this repository plays all seats of its player
(``registry.may_share``). Any other agent might see its partner's hand, or both games of a deal;
each seat of each seating gets an instance, or a process, of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from goita_agents.base import Agent, StatefulAgent
from goita_agents.bots.wrapped import unwrapped
from goita_agents.external.agent import ExternalAgent
from goita_agents.external.isolated import isolated
from goita_agents.faults import Fault, FaultTracking
from goita_agents.registry import is_own, load_agent, may_share
from goita_env.seeds import bot_generator, bot_seed
from goita_lab.arena.tournament.guarded import GuardedAgent, Watch
from goita_lab.arena.tournament.task import Task

PURPOSE = "tournament"  # Separates what a tournament derives from its seed from what others derive.


@dataclass(frozen=True)
class Seated:
    """Holds an agent with the seats that it plays."""

    agent: Agent
    player: int
    rng: np.random.Generator  #: Its random numbers; they reveal nothing of the deals.
    seats: tuple[tuple[int, int], ...]  #: Pairs of seating and seat.
    known: int = 0  #: Faults that it had made before.

    @property
    def is_stateful(self) -> bool:
        if isinstance(self.agent, GuardedAgent):
            return self.agent.is_stateful
        return isinstance(self.agent, StatefulAgent)


def seat_players(
    task: Task,
    objects: Mapping[int, Agent],
    *,
    guarded: bool,
    dead: Mapping[int, Fault],
    watch: Watch | None = None,
) -> Iterator[Seated]:
    """Builds and seats the agents of a block one by one; arguments as for ``play_block``."""
    for player, spec in enumerate(task.agents):
        seats = tuple(
            (seating, seat)
            for seating, owners in enumerate(task.seatings)
            for seat, owner in enumerate(owners)
            if owner == player
        )
        everywhere = (task.block, player, -1, -1)
        rng = bot_generator(task.seed, PURPOSE, *everywhere)
        if player in dead:
            chance = bot_generator(task.seed, "replacement", *everywhere)
            stand_in = GuardedAgent(spec, player, -1, chance, dead=dead[player])
            yield Seated(stand_in, player, rng, seats)
            continue
        agent = objects.get(player)
        if agent is not None:
            known = len(agent.faults) if isinstance(agent, FaultTracking) else 0
            yield Seated(agent, player, rng, seats, known)
            continue
        own = is_own(spec)
        if not own:
            agent = load_agent(spec)
            if may_share(agent, spec):
                yield Seated(agent, player, rng, seats)
                continue
        for seating, seat in seats:
            place = (task.block, player, seating, seat)
            rng = bot_generator(task.seed, PURPOSE, *place)
            seed = bot_seed(task.seed, PURPOSE, *place)
            if own and task.isolation is not None:
                limits = task.isolation
                agent = isolated(spec, ms=limits.ms, memory=limits.memory, seed=seed)
            elif own and guarded:
                chance = bot_generator(task.seed, "replacement", *place)
                agent = GuardedAgent(spec, player, seat, chance, watch)
            else:
                agent = agent or load_agent(spec)
                if isinstance(program := unwrapped(agent), ExternalAgent):
                    program.seed = seed
            yield Seated(agent, player, rng, ((seating, seat),))
            agent = None
