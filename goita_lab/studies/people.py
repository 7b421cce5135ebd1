"""Measures whether recorded people play the documented conventions: docs/studies/people.md.

At each decision of a seat an exact listener says how likely the partner's true hand is, if the
others play like the rule bot with all conventions, with none, or without one of them. The better a
model, the more probability it gives to the truth. The match of four people is the unit: a file, or
all files that share hands. A deal that several files hold counts once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, get_args

import numpy as np
import numpy.typing as npt
from scipy.stats import permutation_test

from goita_agents.beliefs.listener import follow
from goita_agents.bots.heuristic.weights import CONVENTIONS
from goita_agents.models import PolicyModel
from goita_agents.registry import load_agent
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord
from goita_env.rules import JGA
from goita_env.tiles import NUM_SEATS
from goita_lab.arena.grading.grades import PHASES, phase_of
from goita_lab.arena.statistics.intervals import Interval, ratio_interval
from goita_lab.pages import watch
from goita_lab.pages.watch.analysis import key_of
from goita_lab.pages.watch.decisions import Phase
from goita_lab.pages.watch.verdicts import Agreement, agreement
from goita_lab.record_files import Recorded, Records, read_records
from goita_lab.signals.tables import bounds, table
from goita_lab.studies.drawing import dots
from goita_lab.studies.study import Options

EPSILON: Final = 0.2
"""Share of their decisions that people are taken to make at random."""

ALL: Final = "heuristic"
NONE: Final = "heuristic:conventions=off"
SINGLE: Final = tuple(f"heuristic:{switch}=off" for switch in (*CONVENTIONS, "reading"))
"""Without one convention each."""

FLIPS: Final = 99_999
"""Random signs of a test."""

ANALYSED_BY: Final = "champion"
TYPES: Final = (ALL, NONE, "champion:temperature=1")
"""Types of the analysis. The one learned from people is left out: it knows these records."""

WORLDS: Final = 512
"""Of the analysis, a decision and type."""

QUICK_RECORDS: Final = 3
QUICK_WORLDS: Final = 32


@dataclass(frozen=True)
class Scored:
    """The n decisions of a deal, or of a match, at which a seat listened."""

    phase: npt.NDArray[np.int64]
    """[n] Number of the phase, as in ``PHASES``."""
    nats: npt.NDArray[np.float64]
    """[n, M] What each model gave the partner's true hand, beyond the rule constraints."""


@dataclass(frozen=True)
class Contrast:
    """Two models compared, in nats a decision."""

    first: str
    second: str
    difference: Interval
    """First minus second, over matches."""
    p_value: float
    """Two-sided, of random signs of the matches' differences."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    matches: int
    """Files, of which those that share hands count as one."""
    deals: int
    decisions: int
    epsilon: float
    beyond_facts: dict[str, Interval]
    """Nats a decision beyond the rule constraints, by model."""
    confirmatory: Contrast
    by_phase: dict[Phase, Interval]
    """The same difference, by phase of the round."""
    single: tuple[Contrast, ...]
    """All conventions against all but one each."""
    worlds: int
    verdicts: dict[str, dict[Agreement, int]]
    """How many decisions were errors, by phase."""


def players(_: Result) -> tuple[str, ...]:
    """Returns the agents that the study asks, of which the heuristic ones have no weights."""
    return (ANALYSED_BY, *TYPES)


def run(options: Options) -> Result:
    """Scores recorded deals under each model, and analyses their decisions."""
    records = find_records(options.records)
    files = list(dict.fromkeys(one.file for one in records.deals))
    sys.stderr.writelines(f"{note}\n" for note in records.notes)
    counted = records.deals
    if options.quick:
        files = files[:QUICK_RECORDS]
        counted = tuple(one for one in counted if one.file in files)
    models = (ALL, NONE) if options.quick else (ALL, NONE, *SINGLE)
    deals = {key_of(one.deal): one.deal for one in counted}
    arguments = {"models": models, "epsilon": EPSILON}
    found = options.pieces("people", Scored, arguments, deals, partial(score_deal, models))
    matches: dict[int, list[Scored]] = {}
    for one in counted:
        matches.setdefault(one.game, []).append(found[key_of(one.deal)])
    scored = [each for each in map(join, matches.values()) if len(each.nats)]
    if len(scored) < 2:
        raise SettingError(f"expected two matches with decisions or more, got {len(scored)}")
    worlds = QUICK_WORLDS if options.quick else WORLDS
    result = Result(
        matches=len(scored),
        deals=len(deals),
        decisions=sum(len(one.nats) for one in scored),
        epsilon=EPSILON,
        beyond_facts={name: _mean(scored, models.index(name)) for name in (ALL, NONE)},
        confirmatory=compare(scored, models, ALL, NONE),
        by_phase={name: _in_phase(scored, number) for number, name in enumerate(PHASES)},
        single=tuple(compare(scored, models, ALL, one) for one in models[2:]),
        worlds=worlds,
        verdicts=_verdicts(counted, worlds, options),
    )
    for name in ("people", *(file.stem for file in files)):
        options.kept(name).unlink(missing_ok=True)
    return result


def find_records(folder: Path | None) -> Records:
    """Returns the deals of a folder's records; raises a SettingError where there are none."""
    if folder is None:
        raise SettingError("expected a folder of human records: --records, or GOITA_KIFU; got none")
    if not folder.is_dir():
        raise SettingError(f"expected a folder of human records, got {str(folder)!r}")
    return read_records([folder], JGA, "the study of people")


def score_deal(models: Sequence[str], deal: DealRecord) -> Scored:
    """Returns the decisions of a deal under each model.

    Decisions of all seats with more than one legal action count, from the first lead on. A record
    that breaks off, or has an illegal move, counts up to there.
    """
    phases: list[int] = []
    rows: list[tuple[float, ...]] = []
    for seat in range(NUM_SEATS):
        each = [_follow(deal, seat, text) for text in models]
        rows += zip(*(nats for nats, _ in each), strict=True)
        phases += each[0][1]
    nats = np.array(rows, np.float64).reshape(-1, len(models))
    return Scored(np.array(phases, np.int64), nats)


def join(scored: Sequence[Scored]) -> Scored:
    """Returns the decisions of several deals."""
    return Scored(
        np.concatenate([one.phase for one in scored]),
        np.concatenate([one.nats for one in scored]),
    )


def compare(records: Sequence[Scored], models: Sequence[str], first: str, second: str) -> Contrast:
    """Compares two models: every decision counts as much, intervals are over matches."""
    a, b = models.index(first), models.index(second)
    totals = np.array([(one.nats[:, a] - one.nats[:, b]).sum() for one in records])
    counts = [len(one.nats) for one in records]
    flips = permutation_test(
        (totals,), np.sum, permutation_type="samples", n_resamples=FLIPS, rng=0
    )
    return Contrast(first, second, ratio_interval(totals, counts), float(flips.pvalue))


def _follow(deal: DealRecord, seat: int, text: str) -> tuple[list[float], list[int]]:
    """Returns nats beyond the rule constraints, and the phase, of each decision of a seat."""
    model = PolicyModel(load_agent(text), epsilon=EPSILON)
    nats: list[float] = []
    phases: list[int] = []
    with suppress(RecordError):
        for game, listener in follow(deal, seat, model):
            if game.done or game.seat != seat:
                continue
            view = game.view(seat)
            if view.legal().sum() > 1:
                hand = game.dealt[(seat + 2) % NUM_SEATS]
                belief = listener.posterior("partner")
                fact = float(np.log(belief.facts[belief.index(hand)]))
                nats.append(belief.log_probability(hand) - fact)
                tiles = NUM_SEATS * view.rules.hand_size - int(view.hand_sizes.sum())
                phases.append(tuple(PHASES).index(phase_of(tiles)))
    return nats, phases


def _mean(records: Sequence[Scored], model: int) -> Interval:
    totals = [one.nats[:, model].sum() for one in records]
    return ratio_interval(totals, [len(one.nats) for one in records])


def _in_phase(records: Sequence[Scored], phase: int) -> Interval:
    """Returns all conventions minus none in one phase, over records with such decisions."""
    some = [one.nats[one.phase == phase] for one in records if (one.phase == phase).any()]
    return ratio_interval(
        [(one[:, 0] - one[:, 1]).sum() for one in some], [len(one) for one in some]
    )


def _verdicts(
    counted: Sequence[Recorded], worlds: int, options: Options
) -> dict[str, dict[Agreement, int]]:
    """Returns how many decisions of the deals were errors, by phase."""
    names = ("before play", *PHASES)
    counts = {name: dict.fromkeys(get_args(Agreement), 0) for name in names}
    deals = {(one.file, one.deal.number) for one in counted}
    files = list(dict.fromkeys(one.file for one in counted))
    for number, file in enumerate(files):
        options.progress("records analysed", number, len(files))
        source = watch.read(str(file))
        analysis = watch.analyse(
            source,
            ANALYSED_BY,
            worlds=worlds,
            types=TYPES,
            workers=options.workers,
            keep=options.kept(file.stem),
        )
        # Repeats are analysed, since the rounds after them go by them, and not counted.
        for watched, decisions in zip(source.deals, analysis.deals, strict=True):
            for decision in decisions if (file, watched.deal.number) in deals else ():
                counts[decision.phase][agreement(decision)] += 1
    options.progress("records analysed", len(files), len(files))
    return counts


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    main = result.confirmatory
    rows = [[f"`{name}`", bounds(one, "+")] for name, one in result.beyond_facts.items()]
    rows += [[f"**difference**, p = {main.p_value:.2g}", f"**{bounds(main.difference, '+')}**"]]
    rows += [
        [f"difference, {name} phase", bounds(one, "+")] for name, one in result.by_phase.items()
    ]
    single = [
        [f"`{one.second}`", bounds(one.difference, "+"), f"{one.p_value:.2g}"]
        for one in result.single
    ]
    verdicts = [
        [phase, *(f"{one[name]:,}" for name in ("agreed", "depends", "fine", "forced"))]
        for phase, one in result.verdicts.items()
    ]
    sample = f"{result.matches} matches, {result.deals} deals, {result.decisions:,} decisions"
    return "\n\n".join(
        (
            f"{sample}, epsilon {result.epsilon:g}; 95 % intervals over matches.",
            table(["others are taken for", "nats a decision beyond the rule constraints"], rows),
            table(["all conventions against", "nats a decision", "p"], single),
            table(["phase", "agreed errors", "depends", "fine", "forced"], verdicts),
        )
    )


def figure(result: Result) -> bytes:
    """Draws what each convention adds, as SVG."""
    rows = [("all conventions", result.confirmatory.difference)]
    switches = [(one.second.partition(":")[2].removesuffix("=off"), one) for one in result.single]
    return dots(rows + [(name, one.difference) for name, one in switches], "nats a decision")
