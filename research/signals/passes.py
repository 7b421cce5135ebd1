"""Measures what the partner's passes are worth to a seat that listens: no training, paired deals.

::

    python research/signals/passes.py champion --deals 400 --precision 0.5

One seat searches by its exact belief, the other three play the policy. The same deals are played
with listeners that differ in one thing, whether they use the partner's passes. So a difference in
points is what these passes tell, put to use.
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

PIECE: Final = 10
"""Deals of a piece of work."""


class PassesIgnored:
    """A model of a seat that plays as another model says, except that its passes reveal nothing.

    A pass has the same likelihood whatever the seat holds, 1, as under ``LEGAL_MODEL``. What it
    plays tells as much as before.

    Args:
        model: of the seat.
        on: the passes that tell nothing: "all", those on attacks of the seat's "partner", who is
            the listener where the seat is the listener's partner, or of its "opponents".
    """

    def __init__(self, model: OpponentModel, on: str = "all") -> None:
        self.model, self.on = model, on
        self.name = f"{model.name}, passes ignored ({on})"

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the likelihood of each action: float64 [N, 69]; rows need not sum to 1."""
        found = self.model.probabilities(view, legal).copy()
        partners = view.attacker == PARTNER
        ignored = {"all": partners | ~partners, "partner": partners, "opponents": ~partners}
        found[:, PASS] = np.where(ignored[self.on], legal[:, PASS], found[:, PASS])
        return found


NO_PASSES: Final = "no passes"
IGNORED: Final = {
    NO_PASSES: ("all", "all of the partner's passes"),
    "no passes on the listener's attacks": ("partner", "those on the listener's attacks"),
    "no passes on opponents' attacks": ("opponents", "those on opponents' attacks"),
}
"""Listeners' models of the partner by name: the passes that each ignores, and these in words."""

LISTENERS: Final = {name: InformationSources(POLICY, name, POLICY) for name in IGNORED}
SOURCES: Final = (ALL_SEATS, *LISTENERS.values(), NOT_PARTNER)


@dataclass(frozen=True)
class Difference:
    """What something is worth, deal by deal, in points a round."""

    name: str
    points: Interval
    sd: float
    """Standard deviation of a deal's difference: the deals are paired."""

    def deals(self, half_width: float) -> int | None:
        """Returns how many deals a 95 % interval of plus or minus so many points needs.

        None if no deal differed, so that there is nothing to estimate it from.
        """
        return ceil((normal_quantile() * self.sd / half_width) ** 2) or None


@dataclass(frozen=True)
class PassesValue:
    """What the partner's passes tell and what they are worth."""

    agent: str
    models: Mapping[str, str]
    deals: int
    known: Interval
    """Nats that the partner's passes add to what a seat knows of its partner's hand as it decides:
    log-probability of the true hand, with them and without."""
    differences: tuple[Difference, ...]


def passes_value(
    agent: str, deals: int, *, settings: Settings = DEFAULT_SETTINGS, runner: Runner = HERE
) -> PassesValue:
    """Measures what the partner's passes tell and are worth, on the same deals with and without.

    Args:
        agent: a policy; it plays all four seats, the listener's unless its search finds better.
        deals: deals, the listener at each seat in turn.
        settings: seed and rules.
        runner: of the pieces of work.
    """
    work = Work("passes", partial(_work, settings), _Found, (agent,), deals, step=PIECE)
    arguments = settings.arguments(measure="passes")
    found = in_pieces([work], arguments, runner)["passes"][agent]
    value = SourcePoints.join([points for points, _ in found])
    known = np.concatenate([nats for _, nats in found])
    heard = value.of(ALL_SEATS)
    each = {
        **{text: heard - value.of(LISTENERS[name]) for name, (_, text) in IGNORED.items()},
        "all that the partner does": heard - value.of(NOT_PARTNER),
        "all that the other seats do, and the search": heard - value.unsearched,
    }
    differences = tuple(
        Difference(name, mean_interval(points), float(points.std(ddof=1)))
        for name, points in each.items()
    )
    return PassesValue(agent, value.models, deals, mean_interval(known), differences)


_Found = tuple[SourcePoints, npt.NDArray[np.float64]]
"""Points, and nats by deal."""


def _work(settings: Settings, agent: str, first: int, many: int) -> _Found:
    """Plays so many deals, from one on."""
    seed, rules = settings.seed, settings.rules
    models = standard_models(agent)
    models |= {name: PassesIgnored(models[POLICY], on) for name, (on, _) in IGNORED.items()}
    points = play_listening(
        agent, models, many, sources=SOURCES, seed=seed, rules=rules, first=first
    )
    told = play([agent], many, seed=seed, rules=rules, first=first)
    some = {name: models[name] for name in (POLICY, NO_PASSES)}
    _, knowledge = listen(told, some, revealed=False)
    with_passes, without = knowledge.log_probability[:, :, 1].T
    deal = told.round[told.deal[knowledge.row]] - first
    count = np.bincount(deal, minlength=many)
    nats = np.bincount(deal, with_passes - without, minlength=many) / np.maximum(count, 1)
    return points, nats


def table(value: PassesValue, precision: float) -> str:
    """Returns the results as a table in Markdown, with the deals that a precision needs."""
    heads = ["worth of", "points a round", "paired sd of a deal"]
    heads.append(f"deals for ± {precision:g} points")
    rows = [
        [one.name, estimate(one.points), f"{one.sd:.1f}", _count(one.deals(precision))]
        for one in value.differences
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
        needed = {one.name: one.deals(self.precision) for one in value.differences}
        told = {**vars(value), "precision": self.precision, "deals_needed": needed}
        return self.report(table(value, self.precision), told)


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and returns the exit code."""
    return measured(cli.parse(Args, argv, __doc__))


if __name__ == "__main__":
    cli.run(main)
