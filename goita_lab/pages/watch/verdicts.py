"""Decides which decisions were errors, by what the seat could know, and sums them up.

Nobody sees all hands during play, so a loss against open hands is no error. Decisions are ranked by
the search, which knows no more than the seat did, and only as far as its sampling error allows:

======== ==========================================================================================
best     no action did better
level    one did, by no more than one standard error
close    by more, but not by ``threshold`` standard errors
clear    by more than that: of decisions that lost nothing at most one in twenty is called clear,
         however many actions there were
shared   as clear, but the policy itself gives the move at least ``MOST_PROBABLE``: search and
         policy of one agent differ
======== ==========================================================================================

The standard error is that of sampling worlds alone. How the others play is the larger uncertainty.
So a decision has such a verdict for each type of opponents and for their posterior, and they are
brought together. The types that count are those more likely than ``typed_values.COUNTS``:

======== ==========================================================================================
agreed   clear under every type that counts
depends  clear under some of them
fine     clear under none
======== ==========================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, get_args

from goita_agents.search.typed_values import TypeGrade
from goita_env.tiles import NUM_SEATS
from goita_lab.pages.watch.decisions import Decision, Phase
from goita_lab.pages.watch.reading import Watched

Verdict = Literal["forced", "best", "level", "close", "clear", "shared"]

Agreement = Literal["forced", "agreed", "depends", "fine"]

FALSE_ALARMS: Final = 0.05
"""Share of the decisions that lost nothing which may be called clear losses."""

MOST_PROBABLE: Final = 0.5
"""A policy that gives a move this probability or more would have played it, too."""

MOST_LISTED: Final = 20


@dataclass(frozen=True)
class Judged:
    """A decision of a page with its verdict."""

    deal: int
    """Which deal of the page, from 1."""
    player: str
    """Who sat there; empty where no name is known."""
    decision: Decision
    verdict: Verdict
    """Under the posterior over types."""
    agreement: Agreement
    """Of the verdicts by type."""


@dataclass(frozen=True)
class Total:
    """The sum over decisions that were not forced."""

    name: str
    decisions: int
    likeliest: int
    """How often the policy's likeliest action was chosen."""
    agreed: int
    depends: int
    fine: int
    clear: int
    """As the next three: under the posterior over types."""
    shared: int
    close: int
    level: int
    """Level or best."""
    lost: float
    """Points that the agreed errors add up to, under the posterior over types."""
    open_lost: int
    """Points that all of them lost against perfect play, all hands open; before play nothing."""


def verdict(decision: Decision, under: TypeGrade | None = None) -> Verdict:
    """Returns whether a decision was an error, by what the seat could know.

    ``under``: one of its types; None: their posterior.
    """
    if not decision.options:
        return "forced"
    one = under or decision
    if one.loss <= 0:
        return "best"
    if one.loss <= one.loss_error:
        return "level"
    if one.loss <= threshold(len(decision.options)) * one.loss_error:
        return "close"
    return "shared" if policy_agrees(decision) else "clear"


def agreement(decision: Decision) -> Agreement:
    """Returns whether a decision was an error under every type, or for some of them."""
    if not decision.options:
        return "forced"
    clear = {verdict(decision, one) == "clear" for one in decision.counted}
    return "fine" if True not in clear else "depends" if False in clear else "agreed"


def policy_agrees(decision: Decision) -> bool:
    """Tells whether the policy would have played the chosen action; False where it was forced."""
    return any(
        one.action == decision.action and one.probability >= MOST_PROBABLE
        for one in decision.options
    )


def threshold(choices: int) -> float:
    """Returns the standard errors above which a loss is clear (Bonferroni's correction).

    Each of the legal actions but the chosen one may look better by luck.
    """
    return NormalDist().inv_cdf(1 - FALSE_ALARMS / (choices - 1))


def judge(watched: Sequence[Watched], analysed: Iterable[Sequence[Decision]]) -> list[Judged]:
    """Returns all decisions of some deals with their verdicts, in order."""
    return [
        Judged(number, one.players[decision.seat], decision, verdict(decision), agreement(decision))
        for number, (one, decisions) in enumerate(zip(watched, analysed, strict=True), 1)
        for decision in decisions
    ]


def worst(
    judged: Iterable[Judged], agreement: Agreement = "agreed", most: int = MOST_LISTED
) -> list[Judged]:
    """Returns the decisions of a kind that lost most, under the posterior over types."""
    some = [one for one in judged if one.agreement == agreement]
    return sorted(some, key=lambda one: -one.decision.loss)[:most]


def totals(judged: Sequence[Judged]) -> dict[str, list[Total]]:
    """Returns rows of sums by "seat", by "phase" and, where names are known, by "player"."""
    chosen = [one for one in judged if one.verdict != "forced"]
    seats = [f"seat {seat}" for seat in range(NUM_SEATS)]
    groups: dict[str, tuple[Iterable[str], Callable[[Judged], str]]] = {
        "seat": (seats, lambda one: seats[one.decision.seat]),
        "phase": (get_args(Phase), lambda one: one.decision.phase),
        "player": (dict.fromkeys(one.player for one in judged), lambda one: one.player),
    }
    return {
        by: [
            _total(name, some)
            for name in names
            if name and (some := [one for one in chosen if key(one) == name])
        ]
        for by, (names, key) in groups.items()
    }


def _total(name: str, some: Sequence[Judged]) -> Total:
    count = Counter(one.verdict for one in some)
    agreements = Counter(one.agreement for one in some)
    return Total(
        name,
        decisions=len(some),
        likeliest=sum(_likeliest(one.decision) for one in some),
        agreed=agreements["agreed"],
        depends=agreements["depends"],
        fine=agreements["fine"],
        clear=count["clear"],
        shared=count["shared"],
        close=count["close"],
        level=count["level"] + count["best"],
        lost=sum(one.decision.loss for one in some if one.agreement == "agreed"),
        open_lost=sum(one.decision.open_loss for one in some),
    )


def _likeliest(decision: Decision) -> bool:
    chances = {one.action: one.probability for one in decision.options}
    return chances[decision.action] == max(chances.values())
