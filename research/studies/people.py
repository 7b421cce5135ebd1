"""Measures which players recorded people resemble: people.md.

At each decision of a seat an exact listener says how likely the partner's true hand is, if the
others play like some policy with an epsilon. The better a model, the more probability it gives to
the truth. Models are compared with the epsilon that fits other records best, and with that at which
all play equally well. The unit is what shares deals: a file, or all files that hold the same hands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import permutation_test

from goita_agents.base import Bool, Float, Int
from goita_agents.beliefs.listener import follow
from goita_agents.models import CachedModel, PolicyModel, SharedAnswers
from goita_agents.registry import load_agent
from goita_env import View
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord
from goita_env.rules import JGA
from goita_env.tiles import NUM_SEATS
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, ratio_interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import Task
from research.drawing import Colors, dots, table
from research.records import read_units
from research.studies import study
from research.studies.study import Options, corrected

Candidate = tuple[str, float]
"""A policy and its epsilon."""

ALL: Final = "heuristic"
NO_PASS: Final = "heuristic:pass_partner=off"
NONE: Final = "heuristic:conventions=off"
CHAMPION: Final = "champion"
NETWORK: Final = "population:selfplay-0"
EPSILONS: Final = (0.3, 0.6)
WARM_EPSILONS: Final = (0.05, 0.3)
"""Of networks, whose temperature is fitted, too."""
MODELS: Final[dict[str, tuple[Candidate, ...]]] = {
    **{name: tuple(product((name,), EPSILONS)) for name in (ALL, NO_PASS, NONE)},
    CHAMPION: tuple(product([f"{CHAMPION}:temperature={t}" for t in (1, 6)], WARM_EPSILONS)),
    NETWORK: tuple(product((f"{NETWORK},temperature=3",), WARM_EPSILONS)),
}
"""Policies of each model with their epsilons; what fits other records best is taken."""
UNIFORM: Final = ("random", 0.0)
"""What all models are at an epsilon of 1: any legal action is as likely as any other."""

WEAKEST: Final = (NONE, 0.6)
"""At equal points all models play as well as this."""
AGAINST: Final = "heuristic"
DEALS: Final = 1_000
SEED: Final = 16_400
HALVINGS: Final = 7

COMPARED: Final = ((ALL, NONE), (ALL, NO_PASS), (CHAMPION, ALL))
FLIPS: Final = 99_999
"""Random signs of a test."""

QUICK_RECORDS: Final = 3
QUICK_MODELS: Final = (ALL, NONE)
QUICK_DEALS: Final = 100

How = Literal["fitted", "equal points"]
Totals = tuple[Float, Float]
"""[n] Nats of each unit, and its decisions."""


@dataclass(frozen=True)
class Row:
    """How well a model predicts people."""

    model: str
    how: How
    policy: str
    epsilon: float
    """Fitted: those of the most units."""
    beyond_facts: Interval
    """Nats a decision beyond the rule constraints, over units."""
    beyond_uniform: Interval
    """Nats a decision beyond uniformly random players."""


@dataclass(frozen=True)
class Contrast:
    """Two models compared, in nats a decision."""

    first: str
    second: str
    how: How
    difference: Interval
    """First minus second, over units."""
    p_value: float
    """Two-sided, of random signs of the units' differences."""
    corrected: float
    """By Holm's method, for all contrasts."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    files: int
    units: int
    """Of files that share hands: each counts as one."""
    deals: int
    decisions: int
    points: dict[str, float]
    """What each model makes a round at equal points."""
    rows: tuple[Row, ...]
    contrasts: tuple[Contrast, ...]


def players(_: Result) -> tuple[str, ...]:
    """Returns the agents that the study asks and that have weights."""
    return (CHAMPION, NETWORK)


def run(options: Options) -> Result:
    """Scores recorded deals under each model."""
    folder = options.records or os.environ.get("GOITA_KIFU")
    if folder is None:
        raise SettingError("expected a folder of human records: --records, or GOITA_KIFU; got none")
    records = read_units([Path(folder)], JGA, "the study of people")
    sys.stderr.writelines(f"{note}\n" for note in records.notes)
    counted = records.deals
    if options.quick:
        files = list(dict.fromkeys(recorded.file for recorded in counted))[:QUICK_RECORDS]
        counted = tuple(recorded for recorded in counted if recorded.file in files)
    models = QUICK_MODELS if options.quick else tuple(MODELS)
    num_deals = QUICK_DEALS if options.quick else DEALS
    level = points(WEAKEST, num_deals)
    equal = {name: WEAKEST if name == NONE else weakened(name, level, num_deals) for name in models}
    fitted = {name: [*MODELS[name], UNIFORM] for name in models}
    candidates = sorted(
        {*equal.values(), *(candidate for group in fitted.values() for candidate in group)}
    )
    deals = {key_of(recorded.deal): recorded.deal for recorded in counted}
    scores = options.pieces(
        "people",
        npt.NDArray[np.float64],
        {"candidates": candidates},
        deals,
        partial(score_deal, candidates),
    )
    by_unit: dict[int, list[Float]] = {}
    for recorded in counted:
        by_unit.setdefault(recorded.game, []).append(scores[key_of(recorded.deal)])
    scored = [nats for parts in by_unit.values() if len(nats := np.concatenate(parts))]
    if len(scored) < 2:
        raise SettingError(f"expected two units with decisions or more, got {len(scored)}")
    rows, contrasts = summarise(scored, candidates, fitted, equal)
    return Result(
        len({recorded.file for recorded in counted}),
        len(scored),
        len(deals),
        sum(map(len, scored)),
        {name: points(candidate, num_deals) for name, candidate in equal.items()},
        rows,
        contrasts,
    )


def key_of(deal: DealRecord) -> str:
    """Returns a text that deals have in common if they are the same."""
    fields = deal.rules.to_keys(), deal.hands, deal.dealer, deal.scores, deal.moves
    return repr((*fields, deal.second_king_first))


def points(player: Candidate, deals: int) -> float:
    """Returns the points a round of a policy with an epsilon, on duplicate deals."""
    task = Task((f"{player}", AGAINST), SEED, 0, 0, deals, JGA)
    return float(play_block(task, [_Player(*player), load_agent(AGAINST)]).points.mean())


class _Player:
    """Plays as a model says that somebody does."""

    def __init__(self, policy: str, epsilon: float) -> None:
        self._model = PolicyModel(policy, epsilon=epsilon)
        self.name = self._model.name

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        edges = self._model.probabilities(view, legal).cumsum(axis=1)
        chosen: Int = (edges > rng.random((len(edges), 1)) * edges[:, -1:]).argmax(axis=1)
        return chosen


def weakened(model: str, level: float, deals: int) -> Candidate:
    """Returns the model's first policy with the epsilon at which it makes so many points."""
    policy, low, high = MODELS[model][0][0], 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if points((policy, middle), deals) > level:
            low = middle
        else:
            high = middle
    return policy, (low + high) / 2


def score_deal(candidates: Sequence[Candidate], deal: DealRecord) -> npt.NDArray[np.float64]:
    """Returns what each candidate gave the partner's true hand, beyond the rule constraints.

    In nats, [n, C]. Decisions of all seats with more than one legal action count, from the first
    lead on. A record that breaks off, or has an illegal move, counts up to there.
    """
    columns: list[list[float]] = []
    for _, group in groupby(candidates, lambda candidate: candidate[0]):
        shared = SharedAnswers([PolicyModel(policy, epsilon=epsilon) for policy, epsilon in group])
        models = [CachedModel(model) for model in shared.models]
        nats: list[list[float]] = [[] for _ in models]
        for seat, (index, model) in product(range(NUM_SEATS), enumerate(models)):
            nats[index] += _follow(deal, seat, model)
        columns += nats
    return np.array(columns, np.float64).T.reshape(-1, len(candidates))


def _follow(deal: DealRecord, seat: int, model: CachedModel) -> list[float]:
    """Returns nats beyond the rule constraints of each decision of a seat."""
    nats: list[float] = []
    with suppress(RecordError):
        for game, listener in follow(deal, seat, model):
            if game.done or game.seat != seat or game.view(seat).legal().sum() < 2:
                continue
            hand = game.dealt[(seat + 2) % NUM_SEATS]
            belief = listener.posterior("partner")
            fact = float(np.log(belief.facts[belief.index(hand)]))
            nats.append(belief.log_probability(hand) - fact)
    return nats


def summarise(
    scored: Sequence[Float],
    candidates: Sequence[Candidate],
    fitted: Mapping[str, Sequence[Candidate]],
    equal: Mapping[str, Candidate],
) -> tuple[tuple[Row, ...], tuple[Contrast, ...]]:
    """Returns the tables of the page.

    Args:
        scored: nats [n, C] of each unit.
        candidates: what the C columns are of.
        fitted: candidates of each model, of which the one that fits other units best is taken.
        equal: the candidate of each model that plays as well as the others.
    """
    rows, totals = [], dict[tuple[str, How], Totals]()
    uniform, _ = _totals(scored, [candidates.index(UNIFORM)] * len(scored))
    for name, several in fitted.items():
        chosen = fit(scored, [candidates.index(candidate) for candidate in several])
        ways: dict[How, list[int]] = {
            "fitted": chosen,
            "equal points": [candidates.index(equal[name])] * len(scored),
        }
        for how, places in ways.items():
            totals[name, how] = nats, counts = _totals(scored, places)
            policy, epsilon = candidates[max(set(places), key=places.count)]
            beyond = ratio_interval(nats, counts), ratio_interval(nats - uniform, counts)
            rows.append(Row(name, how, policy, epsilon, *beyond))
    return tuple(rows), compare(totals)


def fit(scored: Sequence[Float], places: Sequence[int]) -> list[int]:
    """Returns for each unit the column, of some, that is best over all other units."""
    totals = np.array([rows[:, places].sum(axis=0) for rows in scored])
    return [places[place] for place in (totals.sum(axis=0) - totals).argmax(axis=1).tolist()]


def _totals(scored: Sequence[Float], places: Sequence[int]) -> Totals:
    """Returns the nats of each unit in its column, and its decisions."""
    nats = [rows[:, place].sum() for rows, place in zip(scored, places, strict=True)]
    return np.array(nats), np.array([float(len(rows)) for rows in scored])


def compare(totals: Mapping[tuple[str, How], Totals]) -> tuple[Contrast, ...]:
    """Compares models: every decision counts as much, intervals are over units."""
    tests: list[tuple[str, str, How, Interval, float]] = []
    hows: tuple[How, ...] = ("fitted", "equal points")
    for (first, second), how in product(COMPARED, hows):
        if (first, how) not in totals or (second, how) not in totals:
            continue
        (nats, counts), (other_nats, _) = totals[first, how], totals[second, how]
        flips = permutation_test(
            (nats - other_nats,), np.sum, permutation_type="samples", n_resamples=FLIPS, rng=0
        )
        difference = ratio_interval(nats - other_nats, counts)
        tests.append((first, second, how, difference, float(flips.pvalue)))
    p_values = corrected([test[-1] for test in tests])
    return tuple(Contrast(*test, p) for test, p in zip(tests, p_values, strict=True))


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    rows = [
        [
            f"`{row.policy}`",
            row.how,
            f"{row.epsilon:.2f}",
            f"{result.points[row.model]:+.1f}" if row.how == "equal points" else "",
            estimate(row.beyond_facts),
            estimate(row.beyond_uniform),
        ]
        for row in result.rows
    ]
    heads = ["others are taken for", "epsilon", "is", "points", "nats a decision", "beyond random"]
    contrasts = [
        [
            f"`{row.first}` - `{row.second}`",
            row.how,
            estimate(row.difference),
            f"{row.p_value:.2g}",
            f"{row.corrected:.2g}",
        ]
        for row in result.contrasts
    ]
    sample = f"{result.files} files, {result.units} units, {result.deals} deals"
    return "\n\n".join(
        (
            f"{sample}, {result.decisions:,} decisions; nats a decision beyond the rule "
            "constraints, 95 % intervals over units.",
            table(heads, rows),
            table(["models", "epsilon", "difference, nats", "p", "p, corrected"], contrasts),
        )
    )


def figure(result: Result, colors: Colors) -> bytes:
    """Draws how well each model predicts people, as SVG."""
    how = {"fitted": "fitted", "equal points": "at equal strength"}  # in the words of the page
    rows: dict[str, dict[str, Interval]] = {row.model: {} for row in result.rows}
    for row in result.rows:
        rows[row.model][how[row.how]] = row.beyond_facts
    return dots(rows, "nats a decision beyond the rule constraints", colors)


if __name__ == "__main__":
    study.main("people")
