"""Says which decisions were errors, by what the seat could know, and sums them up.

A loss against open hands is no mistake: nobody at the table sees all hands. So decisions are ranked
by the search, which knows no more than the seat did, and only as far as its sampling error allows:

======== ==========================================================================================
best     nothing did better
level    something did, by no more than one standard error
close    by more, but not beyond doubt
clear    beyond doubt: by ``threshold`` standard errors, so that of decisions which lost nothing
         no more than one in twenty is called so, however many actions there were to be lucky
shared   as clear, but the policy itself gives the move most of its probability: it would have
         played this, too, so search and policy of one agent differ
======== ==========================================================================================

The search is no truth: it plays rounds out by a policy, and believes what that policy makes of the
others' moves. The error is that of its sampling alone; how the others play is the larger
uncertainty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

from agents.grading.grades import PHASES
from agents.watch.decisions import BEFORE_PLAY, Decision
from agents.watch.reading import Watched

Verdict = Literal["forced", "best", "level", "close", "clear", "shared"]

DOUBT: Final = 0.05
"""Share of the decisions that lost nothing which may be called clear losses."""

MOST_PROBABLE: Final = 0.5
"""A policy that gives a move so much of its probability would have played it, too."""

MOST: Final = 20
"""Errors that are listed."""


@dataclass(frozen=True)
class Judged:
    """Holds a decision of a page, and what is to be said of it."""

    deal: int
    """Which deal of the page, from 1."""
    player: str
    """Who sat there; empty where no name is known."""
    decision: Decision
    verdict: Verdict


@dataclass(frozen=True)
class Total:
    """Sums up decisions that were not forced."""

    name: str
    """What they have in common."""
    decisions: int
    likeliest: int
    """How often the policy's likeliest action was chosen."""
    clear: int
    shared: int
    close: int
    level: int
    """Best or level."""
    lost: float
    """Points that the clear losses add up to, by what the seats could know."""
    open_lost: int
    """Points that all of them lost against perfect play, all hands open; before play nothing."""


def verdict(decision: Decision) -> Verdict:
    """Says whether a decision was an error, by what the seat could know."""
    if not decision.options:
        return "forced"
    if decision.loss <= 0:
        return "best"
    if decision.loss <= decision.loss_error:
        return "level"
    if decision.loss <= threshold(len(decision.options)) * decision.loss_error:
        return "close"
    return "shared" if too(decision) else "clear"


def too(decision: Decision) -> bool:
    """Tells whether the policy would have played what was chosen, too; not where it was forced."""
    chances = [one.probability for one in decision.options if one.action == decision.action]
    return bool(chances) and chances[0] >= MOST_PROBABLE


def threshold(choices: int) -> float:
    """Returns the standard errors above which a loss is clear (Bonferroni's correction).

    Args:
        choices: legal actions, 2 at least; each but the chosen one may look better by luck.
    """
    return NormalDist().inv_cdf(1 - DOUBT / (choices - 1))


def judge(watched: Sequence[Watched], analysed: Iterable[Sequence[Decision]]) -> list[Judged]:
    """Judges all decisions of some deals, in order."""
    return [
        Judged(number, one.players[decision.seat], decision, verdict(decision))
        for number, (one, decisions) in enumerate(zip(watched, analysed, strict=True), 1)
        for decision in decisions
    ]


def worst(judged: Iterable[Judged], most: int = MOST) -> list[Judged]:
    """Returns the worst errors: clear ones, close ones, shared ones, each by what they lost."""
    order = ("clear", "close", "shared")
    errors = [one for one in judged if one.verdict in order]
    return sorted(errors, key=lambda one: (order.index(one.verdict), -one.decision.loss))[:most]


def totals(judged: Sequence[Judged]) -> dict[str, list[Total]]:
    """Returns sums by seat, by phase and, where names are known, by player.

    Returns:
        Rows by what they go by: "seat", "phase", "player".
    """
    chosen = [one for one in judged if one.verdict != "forced"]
    seats = {
        f"seat {seat}": [one for one in chosen if one.decision.seat == seat] for seat in range(4)
    }
    phases = {
        name: [one for one in chosen if one.decision.phase == name]
        for name in (BEFORE_PLAY, *PHASES)
    }
    names = dict.fromkeys(one.player for one in judged if one.player)
    players = {name: [one for one in chosen if one.player == name] for name in names}
    found = {"seat": seats, "phase": phases, "player": players}
    return {
        by: [_total(name, some) for name, some in groups.items() if some]
        for by, groups in found.items()
    }


def _total(name: str, some: Sequence[Judged]) -> Total:
    """Returns the sum of some decisions."""
    verdicts = [one.verdict for one in some]
    return Total(
        name,
        len(some),
        sum(_likeliest(one.decision) for one in some),
        verdicts.count("clear"),
        verdicts.count("shared"),
        verdicts.count("close"),
        verdicts.count("level") + verdicts.count("best"),
        sum(one.decision.loss for one in some if one.verdict == "clear"),
        sum(one.decision.open_loss for one in some),
    )


def _likeliest(decision: Decision) -> bool:
    """Tells whether no action was more probable than the chosen one."""
    chances = {one.action: one.probability for one in decision.options}
    return chances[decision.action] == max(chances.values())
