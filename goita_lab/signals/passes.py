"""Measures what the partner's passes are worth to a seat that listens: no training, paired deals.

::

    goita signals passes champion --deals 400 --precision 0.5

One seat searches by its exact belief, the other three play the policy. The same deals are played
with listeners that differ in one thing, whether they use the partner's passes. So a difference in
points is what these passes tell, put to use. Exit code 0: done. 1: an error stopped it. 2: wrong
arguments. 130: interrupted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Final

import msgspec
import numpy as np

from goita_agents.base import Bool, Float
from goita_agents.beliefs import OpponentModel
from goita_agents.models import EPSILON
from goita_env import View
from goita_env.actions import PASS
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.arena.statistics.intervals import LEVEL, Interval, mean_interval, normal_quantile
from goita_lab.processes import on_processes
from goita_lab.provenance import provenance
from goita_lab.signals.listening import POLICY, listen, standard_models
from goita_lab.signals.measures.value import ALL, NOT_PARTNER, SourcePoints, play_listening
from goita_lab.signals.playing import play
from goita_lab.signals.searching import InformationSources

PIECE: Final = 10
"""Deals of a piece of work; the last may have one more."""

PARTNER: Final = 2
"""The attacker whose attack a seat leaves to its team, as the passing seat counts seats."""


class PassesIgnored:
    """Models a seat as another model does, except that its passes tell nothing.

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
NOT_ON_OWN: Final = "no passes on the listener's attacks"
NOT_ON_OTHERS: Final = "no passes on opponents' attacks"

IGNORED: Final = {NO_PASSES: "all", NOT_ON_OWN: "partner", NOT_ON_OTHERS: "opponents"}
"""Listeners' models of the partner by name, and the passes that each ignores."""

LISTENERS: Final = {name: InformationSources(POLICY, name, POLICY) for name in IGNORED}
SOURCES: Final = (ALL, *LISTENERS.values(), NOT_PARTNER)


@dataclass(frozen=True)
class Difference:
    """Holds what something is worth, deal by deal, in points a round."""

    name: str
    points: Interval
    sd: float
    """Standard deviation of a deal's difference: the deals are paired."""

    def deals(self, half_width: float) -> int | None:
        """Returns how many deals a 95 % interval of plus or minus so many points needs.

        None if no deal differed, so that there is nothing to estimate it from.
        """
        return ceil((normal_quantile(LEVEL) * self.sd / half_width) ** 2) or None


@dataclass(frozen=True)
class PassesValue:
    """Holds what the partner's passes tell and what they are worth."""

    agent: str
    models: Mapping[str, str]
    deals: int
    known: Interval
    """Nats that the partner's passes add to what a seat knows of its partner's hand as it decides:
    log-probability of the true hand, with them and without."""
    differences: tuple[Difference, ...]


def passes_value(
    agent: str,
    deals: int,
    *,
    epsilon: float = EPSILON,
    seed: int = 0,
    rules: Rules = JGA,
    workers: int = 1,
) -> PassesValue:
    """Measures what the partner's passes tell and are worth, on the same deals with and without.

    Args:
        agent: a policy; it plays all four seats, the listener's unless its search finds better.
        deals: deals, the listener at each seat in turn.
        epsilon: of the listeners' models.
        seed: of deals and play.
        rules: the rule set.
        workers: processes; they change no result.

    Raises:
        AgentError: if the agent is no policy.
        SettingError: if there are fewer than two deals.
    """
    if deals < 2:
        raise SettingError(f"expected two deals or more, got {deals!r}")
    firsts = range(0, deals - 1, PIECE)  # a single deal is no piece
    pieces = [(first, after - first) for first, after in pairwise([*firsts, deals])]
    work = partial(_piece, agent, epsilon, seed, rules)
    found = sorted(on_processes(work, pieces, workers), key=lambda one: one[0])
    value = SourcePoints.join([points for _, points, _ in found])
    known = np.concatenate([nats for _, _, nats in found])
    heard = value.of(ALL)
    each = {
        "all of the partner's passes": heard - value.of(LISTENERS[NO_PASSES]),
        "those on the listener's attacks": heard - value.of(LISTENERS[NOT_ON_OWN]),
        "those on opponents' attacks": heard - value.of(LISTENERS[NOT_ON_OTHERS]),
        "all that the partner does": heard - value.of(NOT_PARTNER),
        "all that the other seats do, and the search": heard - value.unsearched,
    }
    differences = tuple(
        Difference(name, mean_interval(points), float(points.std(ddof=1)))
        for name, points in each.items()
    )
    return PassesValue(value.policy, value.models, deals, mean_interval(known), differences)


def _piece(
    agent: str, epsilon: float, seed: int, rules: Rules, piece: tuple[int, int]
) -> tuple[int, SourcePoints, Float]:
    """Plays a piece, so many deals from one on; returns that one, points, and nats by deal."""
    first, many = piece
    models = standard_models(agent, epsilon=epsilon)
    models |= {name: PassesIgnored(models[POLICY], on) for name, on in IGNORED.items()}
    points = play_listening(
        agent, models, many, sources=SOURCES, seed=seed, rules=rules, first=first
    )
    told = play([agent], many, seed=seed, rules=rules, first=first)
    some = {name: models[name] for name in (POLICY, NO_PASSES)}
    _, knowledge = listen(told, some, told=False)
    with_passes, without = knowledge.log_probability[:, :, 1].T
    deal = told.round[told.deal[knowledge.row]] - first
    count = np.bincount(deal, minlength=many)
    nats = np.bincount(deal, with_passes - without, minlength=many) / np.maximum(count, 1)
    return first, points, nats


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """policy that plays all four seats, and that the listener knows"""
    deals: int = 400
    """deals, each played with every listener"""
    precision: float = 0.5
    """half width of the 95 % interval, in points a round, for which deals are counted"""
    epsilon: float = EPSILON
    """probability with which the models take a random legal action"""
    seed: int = 0
    """seed of deals and play"""
    rules: Rules = JGA
    """rule set"""
    workers: int = 1
    """number of processes; they change no result"""
    json: bool = False
    """print JSON instead of a table"""

    def __post_init__(self) -> None:
        if not self.precision > 0:
            raise SettingError(f"expected a precision above 0 points, got {self.precision!r}")


def table(value: PassesValue, precision: float) -> str:
    """Returns the results as a Markdown table."""
    lines = [
        f"What are the partner's passes worth? {value.agent}, {value.deals:,} deals.",
        f"Model of all seats: {value.models[POLICY]}.",
        f"They add {_shown(value.known)} nats to what a seat knows of its partner's hand.",
        "",
        f"| worth of | points a round | paired sd of a deal | deals for ± {precision:g} points |",
        "|---|--:|--:|--:|",
    ]
    lines += [
        f"| {one.name} | {_shown(one.points)} | {one.sd:.1f} | {_count(one.deals(precision))} |"
        for one in value.differences
    ]
    return "\n".join(lines)


def _count(deals: int | None) -> str:
    return "unknown: no deal differed" if deals is None else f"{deals:,}"


def _shown(found: Interval) -> str:
    return f"{found.mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit code."""
    args = cli.parse(Args, argv, __doc__, command="passes")
    start = time.perf_counter()
    options = {name: vars(args)[name] for name in ("epsilon", "seed", "rules", "workers")}
    try:
        value = passes_value(args.agent, args.deals, **options)
    except SettingError as error:
        cli.fail(error)
    except (GoitaError, ImportError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    if args.json:
        needed = {one.name: one.deals(args.precision) for one in value.differences}
        found = msgspec.to_builtins(value) | {"precision": args.precision, "deals_needed": needed}
        found |= provenance([args.agent])
        print(msgspec.json.encode(found).decode())
    else:
        print(table(value, args.precision))
    sys.stderr.write(f"{time.perf_counter() - start:.0f} s\n")
    return 0
