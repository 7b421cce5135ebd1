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
from goita_lab.signals.plan import CONTROLS, STANDARD, Settings, Work, in_pieces
from goita_lab.signals.playing import load_policy, play
from goita_lab.work import HERE, Runner


@dataclass(frozen=True)
class Worth:
    """What the decisions that a filter selects are worth to the agent's partner."""

    agent: str
    control: bool
    told: Interval
    """Nats that a decision tells a partner that reads it by its policy."""
    content: InformationGain
    """The same in detail; the model is the agent's policy."""
    uniform: InformationGain
    """The same to a partner that takes the agent for a uniformly random player."""
    signal: Shuffled
    """In points a decision: of those with a choice, one a deal."""


_Found = tuple[Heard, Shuffled | None]
"""What a piece of work found: without a signal where too few were a choice."""


def worth(
    agents: Sequence[str],
    where: Where | None,
    deals: int,
    *,
    controls: Sequence[str] = CONTROLS,
    settings: Settings = STANDARD,
    runner: Runner = HERE,
) -> list[Worth]:
    """Measures the decisions that ``where`` selects, in nats and in points.

    The partner observes each (``measures.information_gain``). One of each deal that was a choice
    is taken for ``measures.shuffled_signal``. All agents play the same deals.

    Args:
        agents: policies, each at all seats.
        where: a filter of decisions (``goita_lab.signals.filters``); None: all.
        deals: deals of each agent.
        controls: policies without conventions, measured alike.
        settings: seed and rules.
        runner: of the pieces of work.
    """
    every = tuple(dict.fromkeys((*agents, *controls)))
    for agent in every:
        select(play([load_policy(agent)], 1, seed=settings.seed, rules=settings.rules), where)
    work = [Work("worth", partial(_measure, where, settings), _Found, every, deals)]
    arguments = settings.arguments(measure="worth", where=str(where))
    found = in_pieces(work, arguments, runner)
    rows = []
    for agent in every:
        heard, signals = zip(*found["worth"][agent], strict=True)
        if not any(signals):
            raise SettingError(
                f"expected decisions of {agent!r} to measure, got too few: {where!r}"
            )
        all_ = Heard.join(heard)
        (content,), (uniform,) = (
            measures.information_gain(all_.play, all_.actions, name) for name in (POLICY, UNIFORM)
        )
        signal = Shuffled.join([one for one in signals if one is not None])
        rows.append(Worth(agent, agent not in agents, content.told, content, uniform, signal))
    return rows


def table(found: Sequence[Worth]) -> Table:
    """Returns results as a table."""
    rows = [
        {
            "agent": f"{'control: ' if one.control else ''}{short_name(one.agent)}",
            "told, nats": estimate(one.told, sign="-"),
            "under the uniform model": estimate(one.uniform.told, sign="-"),
            "signals": str(one.signal.points.shape[1]),
            "reading it, points": estimate(one.signal.information),
            "as a move, points": estimate(one.signal.material),
        }
        for one in found
    ]
    return Table.of("What decisions are worth", rows)


def _measure(where: Where | None, settings: Settings, agent: str, first: int, deals: int) -> _Found:
    played = play([agent], deals, seed=settings.seed, rules=settings.rules, first=first)
    models = standard_models(agent)
    some = select(played, where)
    heard = listen(
        played, models, listeners=range(NUM_SEATS), known=False, where=where, speakers=(PARTNER,)
    )
    signals = played.deal[some & played.choice & (played.action < CALL)]
    signal = None
    if len(np.unique(signals)) > 1:
        signal = measures.shuffled_signal(played, models[POLICY], agent, seed=first, where=where)
    return Heard(played, *heard), signal
