"""Measures the worth of the partner's passes to a seat that listens: no training, paired deals.

::

    python research/signals/passes.py champion --deals 400 --precision 0.5

One seat searches by its exact belief, the other three play the policy. The same deals are played
with listeners that only differ in the passes of the partner that they use. So a difference in
points is the worth of the information in these passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float
from goita_agents.beliefs import OpponentModel
from goita_agents.registry import short_name
from goita_env import View
from goita_env.actions import PASS
from goita_env.errors import SettingError
from goita_env.tiles import PARTNER
from goita_lab import cli
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, mean_interval, normal_quantile
from goita_lab.commands.signals import Measure, measured
from goita_lab.signals.listening import POLICY, listen, standard_models
from goita_lab.signals.measures.value import ALL_SEATS, NOT_PARTNER, SourcePoints, play_listening
from goita_lab.signals.plan import DEFAULT_SETTINGS, Settings, Work, in_pieces
from goita_lab.signals.playing import play
from goita_lab.signals.searching import InformationSources
from goita_lab.work import HERE, Runner
from research.drawing import table as markdown

PIECE_DEALS: Final = 10
"""Deals of a piece of work."""


class PassesIgnored:
    """A model of a seat that plays as another model says, except that its passes reveal nothing.

    A pass has the same likelihood whatever the seat holds, 1, as under ``LEGAL_MODEL``. Its plays
    reveal as much as before.

    Args:
        model: of the seat.
        on: the passes that reveal nothing: "all", or those on attacks of the seat's "partner" (the
            listener, if the seat is the listener's partner) or "opponents".
    """

    def __init__(self, model: OpponentModel, on: str = "all") -> None:
        self.model, self.on = model, on
        self.name = f"{model.name}, passes ignored ({on})"

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the likelihood of each action: float64 [N, 69]; rows need not sum to 1."""
        likelihood = self.model.probabilities(view, legal).copy()
        partners = view.attacker == PARTNER
        ignored = {"all": partners | ~partners, "partner": partners, "opponents": ~partners}
        likelihood[:, PASS] = np.where(ignored[self.on], legal[:, PASS], likelihood[:, PASS])
        return likelihood


NO_PASSES: Final = "no passes"
IGNORED: Final = {
    NO_PASSES: ("all", "all of the partner's passes"),
    "no passes on the listener's attacks": ("partner", "those on the listener's attacks"),
    "no passes on opponents' attacks": ("opponents", "those on opponents' attacks"),
}
"""Listeners' models of the partner by name: the passes that each ignores, with a description."""

LISTENERS: Final = {name: InformationSources(POLICY, name, POLICY) for name in IGNORED}
SOURCES: Final = (ALL_SEATS, *LISTENERS.values(), NOT_PARTNER)


@dataclass(frozen=True)
class Difference:
    """The worth of some information, deal by deal, in points a round."""

    name: str
    points: Interval
    sd: float
    """Standard deviation of a deal's difference: the deals are paired."""

    def deals(self, half_width: float) -> int | None:
        """Returns the deals that a 95 % interval with a half width in points needs.

        None if no deal differed, so that it cannot be estimated.
        """
        return ceil((normal_quantile() * self.sd / half_width) ** 2) or None


@dataclass(frozen=True)
class PassesValue:
    """The information in the partner's passes, and its worth."""

    agent: str
    models: Mapping[str, str]
    deals: int
    known: Interval
    """Nats that the partner's passes add to a seat's knowledge of its partner's hand at decisions:
    the log-probability of the true hand with the passes, minus that without."""
    differences: tuple[Difference, ...]


def passes_value(
    agent: str, deals: int, *, settings: Settings = DEFAULT_SETTINGS, runner: Runner = HERE
) -> PassesValue:
    """Measures the information in the partner's passes, and its worth on the same deals.

    Args:
        agent: a policy; it plays all four seats, except where the listener's search finds better.
        deals: deals, with the listener at each seat in turn.
        settings: seed and rules.
        runner: of the pieces of work.
    """
    work = Work("passes", partial(_work, settings), _Figures, (agent,), deals, step=PIECE_DEALS)
    arguments = settings.arguments(measure="passes")
    pieces = in_pieces([work], arguments, runner)["passes"][agent]
    value = SourcePoints.join([points for points, _ in pieces])
    nats_by_deal = np.concatenate([nats for _, nats in pieces])
    of_all = value.of(ALL_SEATS)
    gains = {
        **{text: of_all - value.of(LISTENERS[name]) for name, (_, text) in IGNORED.items()},
        "all that the partner does": of_all - value.of(NOT_PARTNER),
        "all that the other seats do, and the search": of_all - value.unsearched,
    }
    differences = tuple(
        Difference(name, mean_interval(points), float(points.std(ddof=1)))
        for name, points in gains.items()
    )
    return PassesValue(agent, value.models, deals, mean_interval(nats_by_deal), differences)


_Figures = tuple[SourcePoints, npt.NDArray[np.float64]]
"""Points, and nats by deal."""


def _work(settings: Settings, agent: str, first: int, deals: int) -> _Figures:
    """Plays ``deals`` deals, from the ``first`` on."""
    seed, rules = settings.seed, settings.rules
    models = standard_models(agent)
    models |= {name: PassesIgnored(models[POLICY], on) for name, (on, _) in IGNORED.items()}
    points = play_listening(
        agent, models, deals, sources=SOURCES, seed=seed, rules=rules, first=first
    )
    rounds = play([agent], deals, seed=seed, rules=rules, first=first)
    compared = {name: models[name] for name in (POLICY, NO_PASSES)}
    _, knowledge = listen(rounds, compared, revealed=False)
    with_passes, without = knowledge.log_probability[:, :, 1].T
    deal = rounds.round[rounds.deal[knowledge.row]] - first
    count = np.bincount(deal, minlength=deals)
    nats = np.bincount(deal, with_passes - without, minlength=deals) / np.maximum(count, 1)
    return points, nats


def table(value: PassesValue, precision: float) -> str:
    """Returns the results as a table in Markdown, with the deals that a precision needs."""
    heads = ["worth of", "points a round", "paired sd of a deal"]
    heads.append(f"deals for ± {precision:g} points")
    rows = [
        [gain.name, estimate(gain.points), f"{gain.sd:.1f}", _count(gain.deals(precision))]
        for gain in value.differences
    ]
    lines = [
        f"What are the partner's passes worth? {short_name(value.agent)}, {value.deals:,} deals.",
        f"Model of all seats: {value.models[POLICY]}.",
        f"They add {estimate(value.known)} nats to what a seat knows of its partner's hand.",
        "",
        markdown(heads, rows),
    ]
    return "\n".join(lines)


def _count(deals: int | None) -> str:
    return "unknown: no deal differed" if deals is None else f"{deals:,}"


@dataclass(frozen=True)
class Args(Measure):
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """policy that plays all four seats, and that the listener knows"""
    deals: int = 400
    """deals, each played with every listener"""
    precision: float = 0.5
    """half width of the 95 % interval, in points a round, for which deals are counted"""

    def run(self, command: str) -> int:
        if not self.precision > 0:
            raise SettingError(f"expected a precision above 0 points, got {self.precision!r}")
        value = passes_value(self.agent, self.deals, settings=self.settings, runner=self.runner)
        needed = {gain.name: gain.deals(self.precision) for gain in value.differences}
        figures = {**vars(value), "precision": self.precision, "deals_needed": needed}
        return self.report(table(value, self.precision), figures)


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and returns the exit code."""
    return measured(cli.parse(Args, argv, __doc__))


if __name__ == "__main__":
    cli.run(main)
