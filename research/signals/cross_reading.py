"""Measures how well agents read each other: each speaker, read as each of the agents.

::

    python research/signals/cross_reading.py population:selfplay-0 population:selfplay-1 heuristic

A row is the agent that plays, a column the agent that its partner assumes it to be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float
from goita_agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, OpponentModel, PolicyModel
from goita_agents.files import write_whole
from goita_agents.population import origin
from goita_agents.population.manifest import PREFIX
from goita_agents.registry import expand, short_name, unnamed
from goita_env.errors import SettingError
from goita_env.tiles import PARTNER
from goita_lab import cli
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.commands.signals import Measure, measured
from goita_lab.signals.listening import LEGAL, UNIFORM, ListenerModel, listen
from goita_lab.signals.measures.value import play_listening
from goita_lab.signals.plan import DEFAULT_SETTINGS, Settings, Work, in_pieces
from goita_lab.signals.playing import play
from goita_lab.signals.searching import InformationSources
from goita_lab.work import HERE, Runner
from research.drawing import grid
from research.drawing import table as markdown
from research.intervals import interval_over_runs

RUNS: Final = 3
"""Fewest runs of a method for an interval over runs."""
PIECE_DEALS: Final = 10
"""Deals of a piece of work."""

UNITS: Final = {
    "nats": "Nats of the speaker's hand beyond the rules",
    "points": "Points a round, minus those of reading the speaker as itself",
}
"""Description of the cells, by unit."""

_RUN: Final = re.compile(r"(.+)-\d+")


@dataclass(frozen=True)
class Reading:
    """A speaker read as an agent, with intervals over deals."""

    speaker: str
    model: str
    nats: Interval
    """Log-probability of the speaker's hand minus that by the rules alone."""
    points: Interval
    """Points a round with the speaker as partner, minus those of reading it as itself."""


@dataclass(frozen=True)
class Group:
    """The mean of some cells."""

    name: str
    cells: int
    over: str
    """Unit of the intervals: "runs" (by the jackknife) or "deals"."""
    nats: Interval
    points: Interval


@dataclass(frozen=True)
class CrossReading:
    """How well agents read each other."""

    agents: tuple[str, ...]
    methods: tuple[str, ...]
    """[n] The method of each agent; an agent that is not a run of a method is a method itself."""
    deals: int
    cells: tuple[Reading, ...]
    """[n * n] The speakers' rows, one after another."""
    groups: tuple[Group, ...]
    worth: Interval
    """Points a round that reading a speaker as itself gains over the rules alone, mean of all."""

    def table(self, unit: str) -> Float:
        """Returns the means in "nats" or "points": [n, n], the speakers in rows."""
        means = [getattr(cell, unit).mean for cell in self.cells]
        return np.array(means).reshape(len(self.agents), -1)


def label(agent: str) -> str:
    """Returns an agent's name in tables: its short name, of a member of the population the run."""
    return short_name(agent).removeprefix(PREFIX)


def method_of(agent: str) -> str:
    """Returns the method of an agent that is a run of one, else its short name.

    Runs are members of the population, and agents with short names METHOD-NUMBER.
    """
    run = _RUN.fullmatch(short_name(agent))
    return origin(unnamed(agent))[0] or (run[1] if run and "=" in agent else short_name(agent))


def cross_reading(
    agents: Sequence[str],
    deals: int,
    *,
    settings: Settings = DEFAULT_SETTINGS,
    runner: Runner = HERE,
) -> CrossReading:
    """Measures each agent as a speaker, read as each of the agents.

    The speaker plays all four seats. One seat, in turn, assumes that its partner is the agent of
    the column, and that its opponents are the speaker.

    Nats: the log-probability of the partner's real hand at the seat's decisions, minus that of a
    listener that only knows that the partner's actions were legal. A deal counts as the mean of its
    decisions.

    Points: the seat searches by this belief (``measures.play_listening``). Deals, random numbers,
    the policy in playouts and the models of the opponents are the same in a row: only the reading
    of the partner differs. The points are those of the column minus those of reading the speaker as
    itself, so they are 0 on the diagonal.

    Args:
        agents: policies, two or more.
        deals: deals of each speaker, the same for all.
        settings: seed and rules.
        runner: of the pieces of work.
    """
    if len(set(map(label, agents))) < max(2, len(agents)):
        raise SettingError(f"expected two agents or more of different names, got {agents!r}")
    speakers = tuple(agents)
    measure_piece = partial(_work, speakers, settings)
    work = Work("read", measure_piece, _Figures, speakers, deals, speakers, PIECE_DEALS)
    arguments = settings.arguments(measure="cross-reading", order=list(agents))
    pieces = in_pieces([work], arguments, runner)["read"]
    nats, points = (
        np.stack([np.concatenate([part[unit] for part in pieces[a]], axis=1) for a in agents])
        for unit in (0, 1)
    )
    return summarise(agents, nats, points)


_Figures = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Nats [n, deals] and points [n + 1, deals] of a speaker, the last points by the rules alone."""


def _work(
    agents: tuple[str, ...], settings: Settings, speaker: str, first: int, deals: int
) -> _Figures:
    """Measures ``deals`` deals of a speaker, from the ``first`` on."""
    models: dict[str, OpponentModel] = {agent: PolicyModel(agent) for agent in agents}
    models[LEGAL] = LEGAL_MODEL
    seed, rules = settings.seed, settings.rules
    played = play([speaker], deals, seed=seed, rules=rules, first=first)
    own = models[speaker]
    readings: dict[str, ListenerModel] = {
        name: {"next": own, "partner": model, "previous": own} for name, model in models.items()
    }
    _, knowledge = listen(played, readings, revealed=False)
    log = knowledge.log_probability[:, :, PARTNER - 1]
    deal = played.round[played.deal[knowledge.row]] - first
    count = np.maximum(np.bincount(deal, minlength=deals), 1)
    beyond = (log[:, :-1] - log[:, -1:]).T
    nats = np.array([np.bincount(deal, gain, minlength=deals) / count for gain in beyond])
    sources = [InformationSources(speaker, name, speaker) for name in models]
    value = play_listening(
        speaker,
        {**models, UNIFORM: UNIFORM_MODEL},
        deals,
        sources=sources,
        seed=seed,
        rules=rules,
        first=first,
    )
    return nats, value.points


def summarise(agents: Sequence[str], nats: Float, points: Float) -> CrossReading:
    """Returns the figures from nats [n, n, deals] and points [n, n + 1, deals] of each speaker."""
    count, methods = len(agents), np.array([method_of(agent) for agent in agents])
    own, rules = points[range(count), range(count)], points[:, -1]
    points = points[:, :-1] - own[:, None]
    cells = tuple(
        Reading(agents[a], agents[b], mean_interval(nats[a, b]), mean_interval(points[a, b]))
        for a, b in product(range(count), repeat=2)
    )
    itself, same_method = np.eye(count, dtype=bool), methods[:, None] == methods[None, :]
    masks = {
        "itself": itself,
        "another run of its method": same_method & ~itself,
        "another method": ~same_method,
    }
    distinct = list(dict.fromkeys(methods.tolist()))
    for speaker, model in product(distinct, repeat=2):
        pairs = np.outer(methods == speaker, methods == model) & ~itself
        name = f"{speaker} as {'another run of it' if speaker == model else model}"
        masks |= {name: pairs} if pairs.sum() > 1 else {}
    groups = tuple(
        _group(name, mask, methods, nats, points) for name, mask in masks.items() if mask.any()
    )
    return CrossReading(
        tuple(agents),
        tuple(methods.tolist()),
        nats.shape[2],
        cells,
        groups,
        mean_interval((own - rules).mean(axis=0)),
    )


def _group(
    name: str, mask: Bool, methods: npt.NDArray[np.str_], nats: Float, points: Float
) -> Group:
    """Returns the mean of the cells of a mask [n, n], with its intervals.

    They are over runs if cells remain without any single run. The runs of a method with fewer than
    ``RUNS`` are not left out: intervals are for these runs.
    """
    concerned = mask.any(axis=0) | mask.any(axis=1)
    strata = [(methods == method) & concerned for method in np.unique(methods[concerned])]
    strata = [stratum for stratum in strata if stratum.sum() >= RUNS]
    samples = [np.arange(len(mask)) != run for runs in strata for run in np.flatnonzero(runs)]
    if samples and all(mask[np.ix_(sample, sample)].any() for sample in samples):

        def mean(figures: Float, sample: Bool) -> float:
            return float(figures[mask & np.outer(sample, sample)].mean())

        means = [table.mean(axis=2) for table in (nats, points)]
        intervals = [interval_over_runs(partial(mean, figures), strata) for figures in means]
        return Group(name, int(mask.sum()), "runs", *intervals)
    by_deal = [mean_interval(table[mask].mean(axis=0)) for table in (nats, points)]
    return Group(name, int(mask.sum()), "deals", *by_deal)


def table(study: CrossReading) -> str:
    """Returns the results as tables in Markdown."""
    names = [label(agent) for agent in study.agents]
    lines = [f"Rows play, columns are whom their partner takes them for; {study.deals:,} deals."]
    for unit, text in UNITS.items():
        rows = zip(names, study.table(unit).tolist(), strict=True)
        figures = [[name, *(f"{value:+z.2f}" for value in row)] for name, row in rows]
        lines += ["", f"{text}:", "", markdown(["speaker", *names], figures)]
    groups = [
        [group.name, str(group.cells), estimate(group.nats), estimate(group.points), group.over]
        for group in study.groups
    ]
    heads = ["read as", "cells", "nats", "points against itself", "interval over"]
    lines += [
        *("", markdown(heads, groups), ""),
        f"Reading a speaker as itself gains {estimate(study.worth)} points a round over the "
        "rules alone.",
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class Args(Measure):
    """Options of the command line."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies, two or more, or a set of them such as population:train"""
    deals: int = 100
    """deals of each agent as the speaker; four times as many make intervals half as wide"""
    svg: Path | None = None
    """file for a picture of the nats; that of the points gets -points behind its name"""

    def run(self, command: str) -> int:
        agents = expand(self.agents)
        study = cross_reading(agents, self.deals, settings=self.settings, runner=self.runner)
        code = self.report(table(study), vars(study))
        if self.svg is not None:
            names = [label(agent) for agent in agents]
            for unit, end in (("nats", ""), ("points", "-points")):
                file = self.svg.with_stem(f"{self.svg.stem}{end}")
                write_whole(file, grid(names, study.table(unit), UNITS[unit]))
        return code


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and returns the exit code."""
    return measured(cli.parse(Args, argv, __doc__))


if __name__ == "__main__":
    cli.run(main)
