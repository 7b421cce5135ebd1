"""Measures what some decisions of agents are worth, in nats and in points, beside controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from tabulate import tabulate

from goita_agents.models import EPSILON
from goita_agents.registry import short_name
from goita_env.actions import CALL
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.processes import on_processes
from goita_lab.signals import measures
from goita_lab.signals.filters import Where, select
from goita_lab.signals.listening import (
    PARTNER,
    POLICY,
    UNIFORM,
    ActionInformation,
    listen,
    standard_models,
)
from goita_lab.signals.measures.content import Content
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.plan import CONTROLS, PIECE
from goita_lab.signals.playing import Play, load_policy, play


@dataclass(frozen=True)
class Worth:
    """Holds what the decisions that a filter selects are worth to the agent's partner."""

    agent: str
    control: bool
    content: Content
    """In nats, to a partner that knows the agent's policy."""
    uniform: Content
    """The same to a partner that takes the agent for a uniformly random player."""
    signal: Shuffled
    """In points a decision: of those with a choice, one a deal."""


@dataclass(frozen=True)
class _Settings:
    where: Where | None
    temperature: float | None
    epsilon: float
    seed: int
    rules: Rules


_Piece = tuple[str, int, int]
"""Agent, first deal, number of deals."""
_Found = tuple[str, Play, ActionInformation, Shuffled | None]


def worth(
    agents: Sequence[str],
    where: Where | None,
    deals: int,
    *,
    controls: Sequence[str] = CONTROLS,
    temperature: float | None = None,
    epsilon: float = EPSILON,
    seed: int = 0,
    rules: Rules = JGA,
    workers: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Worth]:
    """Measures the decisions that ``where`` selects, in nats and in points.

    Each is heard by the partner (``measures.content``); one of each deal that was a choice is taken
    for ``measures.shuffled_signal``. All agents play the same deals. ``workers`` change no result.

    Args:
        agents: policies, each at all seats.
        where: a filter of decisions (``goita_lab.signals.filters``); None: all.
        deals: deals of each agent.
        controls: policies without conventions, measured alike.
        temperature: of the listeners' models; None: as the agents play.
        epsilon: of the listeners' models.
        seed: of everything that is random.
        rules: the rule set.
        workers: processes.
        progress: called with a text after each piece of work.

    Raises:
        AgentError: if an agent's probabilities are not known.
        SettingError: if there is no such filter, or it selects too few decisions.
    """
    every = tuple(dict.fromkeys((*agents, *controls)))
    for agent in every:
        select(play([load_policy(agent)], 1, seed=seed, rules=rules), where)
    settings = _Settings(where, temperature, epsilon, seed, rules)
    todo: list[_Piece] = [
        (agent, first, min(PIECE, deals - first))
        for first in range(0, deals, PIECE)
        for agent in every
    ]
    # Workers end in any order; the pieces of an agent are joined in theirs.
    done: dict[tuple[str, int], _Found] = {}
    for key, found in on_processes(partial(_work, settings), todo, workers):
        done[key] = found
        progress(f"{len(done)} of {len(todo)} pieces")
    parts = [done[agent, first] for agent, first, _ in todo]
    return [
        _joined(agent, agent not in agents, where, [part for part in parts if part[0] == agent])
        for agent in every
    ]


def table(found: Sequence[Worth]) -> str:
    """Returns results as a text."""
    heads = [
        "agent",
        "actions",
        "told, nats",
        "under the uniform model",
        "signals",
        "reading it, points",
        "as a move, points",
    ]
    rows = [
        [
            f"{'control: ' if one.control else ''}{short_name(one.agent)}",
            one.content.actions,
            _bounds(one.content.told),
            _bounds(one.uniform.told),
            one.signal.points.shape[1],
            _bounds(one.signal.information, "+"),
            _bounds(one.signal.material, "+"),
        ]
        for one in found
    ]
    return tabulate(rows, heads, "simple", disable_numparse=True)


def _bounds(found: Interval, sign: str = "") -> str:
    mean, low, high = (f"{v:{sign}z.2f}" for v in (found.mean, found.low, found.high))
    return f"{mean} [{low}, {high}]"


def _work(settings: _Settings, piece: _Piece) -> tuple[tuple[str, int], _Found]:
    agent, first, deals = piece
    played = play([agent], deals, seed=settings.seed, rules=settings.rules, first=first)
    models = standard_models(agent, settings.temperature, settings.epsilon)
    some = select(played, settings.where)
    heard, _ = listen(
        played,
        models,
        listeners=range(NUM_SEATS),
        known=False,
        where=settings.where,
        speakers=(PARTNER,),
    )
    signals = played.deal[some & played.choice & (played.action < CALL)]
    signal = None
    if len(np.unique(signals)) > 1:
        signal = measures.shuffled_signal(
            played, models[POLICY], agent, seed=first, where=settings.where
        )
    return (agent, first), (agent, played, heard, signal)


def _joined(agent: str, control: bool, where: Where | None, parts: Sequence[_Found]) -> Worth:
    plays = [played for _, played, _, _ in parts]
    signals = [signal for *_, signal in parts if signal is not None]
    if not signals:
        raise SettingError(f"expected decisions of {agent!r} to measure, got too few: {where!r}")
    played = Play.join(plays)
    heard = ActionInformation.join([actions for _, _, actions, _ in parts], plays)
    (told,), (uniform,) = (measures.content(played, heard, name) for name in (POLICY, UNIFORM))
    return Worth(agent, control, told, uniform, Shuffled.join(signals))
