"""Measures what some decisions of agents are worth, in nats and in points, with controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from goita_agents.registry import short_name
from goita_env.actions import CALL
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS, PARTNER
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.report.tables import Table
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals import measures
from goita_lab.signals.filters import Where, select
from goita_lab.signals.listening import POLICY, UNIFORM, Heard, listen, standard_models
from goita_lab.signals.measures.information_gain import InformationGain
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.plan import CONTROLS, DEFAULT_SETTINGS, Settings, Work, in_pieces
from goita_lab.signals.playing import load_policy, play
from goita_lab.work import HERE, Runner


@dataclass(frozen=True)
class Worth:
    """What the decisions that a filter selects are worth to the agent's partner."""

    agent: str
    control: bool
    revealed: Interval
    """Nats that a decision reveals to a partner that models the agent by its policy."""
    content: InformationGain
    """The same in detail; the model is the agent's policy."""
    uniform: InformationGain
    """The same for a partner that models the agent as a uniformly random player."""
    signal: Shuffled
    """In points a decision: of those with a choice, one a deal."""


_Piece = tuple[Heard, Shuffled | None]
"""Result of a piece of work; no ``Shuffled`` where fewer than two deals had a choice."""


def worth(
    agents: Sequence[str],
    where: Where | None,
    deals: int,
    *,
    controls: Sequence[str] = CONTROLS,
    settings: Settings = DEFAULT_SETTINGS,
    runner: Runner = HERE,
) -> list[Worth]:
    """Measures the decisions that ``where`` selects, in nats and in points.

    The nats are those of ``measures.information_gain`` for the partner. For the points,
    ``measures.shuffled_signal`` takes one decision with a choice of each deal. All agents play the
    same deals.

    Args:
        agents: policies, each at all seats.
        where: a filter of decisions (``goita_lab.signals.filters``); None: all.
        deals: deals of each agent.
        controls: policies without conventions, measured alike.
        settings: seed and rules.
        runner: of the pieces of work.
    """
    measured = tuple(dict.fromkeys((*agents, *controls)))
    for agent in measured:
        select(play([load_policy(agent)], 1, seed=settings.seed, rules=settings.rules), where)
    work = [Work("worth", partial(_measure, where, settings), _Piece, measured, deals)]
    arguments = settings.arguments(measure="worth", where=str(where))
    pieces = in_pieces(work, arguments, runner)
    rows = []
    for agent in measured:
        heard_parts, signal_parts = zip(*pieces["worth"][agent], strict=True)
        if not any(signal_parts):
            raise SettingError(
                f"expected decisions of {agent!r} to measure, got too few: {where!r}"
            )
        heard = Heard.join(heard_parts)
        # Without a grouping, the list of gains has a single entry.
        (content,), (uniform,) = (
            measures.information_gain(heard.play, heard.actions, name) for name in (POLICY, UNIFORM)
        )
        signal = Shuffled.join([part for part in signal_parts if part is not None])
        is_control = agent not in agents
        rows.append(Worth(agent, is_control, content.revealed, content, uniform, signal))
    return rows


def table(worths: Sequence[Worth]) -> Table:
    """Returns results as a table."""
    rows = [
        {
            "agent": f"{'control: ' if worth.control else ''}{short_name(worth.agent)}",
            "revealed, nats": estimate(worth.revealed, sign="-"),
            "under the uniform model": estimate(worth.uniform.revealed, sign="-"),
            "signals": str(worth.signal.points.shape[1]),
            "reading it, points": estimate(worth.signal.information),
            "as a move, points": estimate(worth.signal.material),
        }
        for worth in worths
    ]
    return Table.of("What decisions are worth", rows)


def _measure(where: Where | None, settings: Settings, agent: str, first: int, deals: int) -> _Piece:
    """Plays a piece of an agent's deals; partners listen, and one signal of each is shuffled."""
    played = play([agent], deals, seed=settings.seed, rules=settings.rules, first=first)
    models = standard_models(agent)
    actions, knowledge = listen(
        played,
        models,
        listeners=range(NUM_SEATS),
        knowledge=False,
        where=where,
        speakers=(PARTNER,),
    )
    candidates = select(played, where) & played.choice & (played.action < CALL)
    signal = None
    if len(np.unique(played.deal[candidates])) > 1:
        signal = measures.shuffled_signal(played, models[POLICY], agent, seed=first, where=where)
    return Heard(played, actions, knowledge), signal
