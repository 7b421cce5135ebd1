"""Seats the players of a block: who plays which seat of which game, and with what chance.

The agents of this repository play from one view alone, so one instance of each plays all of its
seats. A class of the user's or a program may remember, and would then see its partner's hand, or
both games of a deal; so each seat of each seating gets an instance, or a process, of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agents.base import Agent, Memory, close
from agents.external.agent import ExternalAgent
from agents.external.isolated import isolated
from agents.faults import Accountable, Fault
from agents.registry import is_own, load_agent, short_name
from agents.tournament.guarded import DeadAgent, GuardedAgent, Watch
from agents.tournament.task import Task
from goita_env.seeds import bot_generator, bot_seed

PURPOSE = "tournament"
"""Tells what a tournament derives from its seed from what others do."""

_ALL = -1
"""Stands for seating and seat of an agent that plays all of its player's."""


@dataclass(frozen=True)
class Seated:
    """Holds an agent with the seats that it plays."""

    agent: Agent
    player: int
    rng: np.random.Generator
    """What it draws from; it tells nothing of the deals."""
    seats: tuple[tuple[int, int], ...]
    """Seatings and seats."""
    known: int = 0
    """Faults that it had before."""

    @property
    def remembers(self) -> bool:
        """Tells whether it wants to know where rounds begin and end."""
        if isinstance(self.agent, GuardedAgent):
            return self.agent.remembers
        return isinstance(self.agent, Memory)


def seat_players(
    task: Task,
    objects: Mapping[int, Agent],
    *,
    guarded: bool,
    dead: Mapping[int, Fault] | None = None,
    watch: Watch | None = None,
) -> list[Seated]:
    """Builds the agents of a block and seats them.

    Args:
        task: the block.
        objects: agents that are at hand, by player; each plays all of its player's seats.
        guarded: what goes wrong in classes of the user's becomes faults; else it raises.
        dead: players whose code ended a process, with the fault.
        watch: is told when the code of a user's class runs.

    Raises:
        AgentError: if an agent cannot be built.
    """
    found: list[Seated] = []
    try:
        for player, spec in enumerate(task.agents):
            found += _seated(task, player, spec, objects.get(player), guarded, dead or {}, watch)
    except BaseException:
        close(one.agent for one in found)
        raise
    return found


def _seated(
    task: Task,
    player: int,
    spec: str,
    given: Agent | None,
    guarded: bool,
    dead: Mapping[int, Fault],
    watch: Watch | None,
) -> list[Seated]:
    """Seats one player."""
    seats = tuple(
        (seating, seat)
        for seating, owners in enumerate(task.seatings)
        for seat, owner in enumerate(owners)
        if owner == player
    )

    def chance(purpose: str, seating: int = _ALL, seat: int = _ALL) -> np.random.Generator:
        return bot_generator(task.seed, purpose, task.block, player, seating, seat)

    def together(agent: Agent) -> list[Seated]:
        known = len(agent.faults) if isinstance(agent, Accountable) else 0
        return [Seated(agent, player, chance(PURPOSE), seats, known)]

    if player in dead:
        stand_in = DeadAgent(short_name(spec), dead[player], chance("replacement"))
        return [Seated(stand_in, player, chance(PURPOSE), seats)]
    if given is not None:
        return together(given)
    own = is_own(spec)
    if not own:
        agent = load_agent(spec)
        if not isinstance(agent, Memory):
            return together(agent)
        close([agent])
    apart = []
    for seating, seat in seats:
        one = _alone(task, player, spec, seating, seat, own, guarded, watch)
        apart.append(Seated(one, player, chance(PURPOSE, seating, seat), ((seating, seat),)))
    return apart


def _alone(
    task: Task,
    player: int,
    spec: str,
    seating: int,
    seat: int,
    own: bool,
    guarded: bool,
    watch: Watch | None,
) -> Agent:
    """Builds an agent that plays one seat of one seating."""
    place = (task.block, player, seating, seat)
    if own and task.isolation is not None:
        limits = task.isolation
        seed = bot_seed(task.seed, PURPOSE, *place)
        return isolated(spec, ms=limits.ms, memory=limits.memory, seed=seed)
    if own and guarded:
        chance = bot_generator(task.seed, "replacement", *place)
        return GuardedAgent(spec, player, seat, chance, watch)
    agent = load_agent(spec)
    if isinstance(agent, ExternalAgent):
        agent.seed = bot_seed(task.seed, PURPOSE, *place)
    return agent
