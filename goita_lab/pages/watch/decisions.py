"""Defines what an analysis says of a decision, and decides which decisions were errors.

Points are those of the mover's team in the round (``docs/reference/analysis.md``).

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

The standard error is that of sampling worlds alone. How the others play is the larger uncertainty;
points are averages under what the seat could infer of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Final, Literal

from msgspec import Meta

from goita_agents.search.typed_search import Deciding, Seat
from goita_lab.pages.watch.reading import Watched
from goita_lab.phases import Phase
from goita_lab.store import MOST_POINTS, Column

FORMAT: Final = "goita-analysis-10"
"""Names this kind of JSON; the number grows when the meaning of a field changes."""

Code = Annotated[str, Meta(pattern="^[a-z0-9]*$")]
"""An action as records write it: two digits, "p" for a pass, the word of an answer."""


@dataclass(frozen=True)
class ActionGrade:
    """The grade of a legal action."""

    action: Code
    probability: float
    """With which the policy chooses it."""
    points: float
    """By search, under the posterior over types."""
    error: float
    """Standard error of the points, by sampling alone."""
    worlds: int
    """In which it was played out, of all types."""
    open: int | None
    """With perfect play from there on, all hands open; None before play."""

    def columns(self) -> dict[str, Column]:
        """Returns what kept grades may be."""
        return {
            "probability": Column("f", (), 0, 1 + 1e-6),
            "points": Column("f", (), -MOST_POINTS, MOST_POINTS),
            "error": Column("f", (), 0, MOST_POINTS),
            "worlds": Column("i", (), 0),
        }


@dataclass(frozen=True)
class Decision:
    """The analysis of a recorded decision."""

    move: int
    """Number of the move in the deal, from 1, passes and recorded answers counted."""
    seat: Seat
    action: Code
    phase: Phase
    options: tuple[ActionGrade, ...]
    """The legal actions; empty where the move was forced: it is neither searched nor judged."""
    best: Code
    """The action that did best by search; the chosen one where it did, or was forced."""
    loss: float
    """By how many points the best did better than the chosen one, in the same worlds, under the
    posterior over types."""
    loss_error: float
    """Standard error of the loss."""
    rival: Code
    """The action that was played; where nothing is better, the next best one; empty where the move
    was forced."""
    deciding: tuple[Deciding, ...]
    """The tiles on which the choice between ``best`` and ``rival`` hangs most, the first most."""
    principle: str
    """Key of the principle that speaks for ``best``, or against the chosen one; empty: none."""
    value: float | None
    """What the policy's network expects its team to gain; None: it does not predict points."""
    open_value: int | None
    """Points with perfect play of all, all hands open; None before play."""
    open_loss: int
    """How much of them the chosen action gave away; 0 before play."""

    @property
    def expected(self) -> float | None:
        """Points of the best action by search, None where there was no choice."""
        return next((one.points for one in self.options if one.action == self.best), None)


Verdict = Literal["forced", "best", "level", "close", "clear", "shared"]

FALSE_ALARMS: Final = 0.05
"""Share of the decisions that lost nothing which may be called clear losses."""

MOST_PROBABLE: Final = 0.5
"""A policy that gives a move this probability or more would have played it, too."""


@dataclass(frozen=True)
class Judged:
    """A decision of a page with its verdict."""

    deal: int
    """Which deal of the page, from 1."""
    player: str
    """Who sat there; empty where no name is known."""
    decision: Decision
    verdict: Verdict


@dataclass(frozen=True)
class Total:
    """The sum over decisions that were not forced."""

    name: str
    decisions: int
    likeliest: int
    """How often the policy's likeliest action was chosen."""
    clear: int
    """Errors."""
    shared: int
    close: int
    level: int
    """Level or best."""
    lost: float
    """Points that the errors add up to."""
    open_lost: int
    """Points that all of them lost against perfect play, all hands open; before play nothing."""


def verdict(decision: Decision) -> Verdict:
    """Returns whether a decision was an error ("clear"), by what the seat could know."""
    if not decision.options:
        return "forced"
    if decision.loss <= 0:
        return "best"
    if decision.loss <= decision.loss_error:
        return "level"
    if decision.loss <= threshold(len(decision.options)) * decision.loss_error:
        return "close"
    return "shared" if policy_agrees(decision) else "clear"


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
        Judged(number, one.players[decision.seat], decision, verdict(decision))
        for number, (one, decisions) in enumerate(zip(watched, analysed, strict=True), 1)
        for decision in decisions
    ]


def errors(judged: Iterable[Judged]) -> list[Judged]:
    """Returns the errors, those that lost most first."""
    clear = (one for one in judged if one.verdict == "clear")
    return sorted(clear, key=lambda one: one.decision.loss, reverse=True)


def totals(judged: Sequence[Judged]) -> list[Total]:
    """Returns sums by player, or by seat where no name is known; forced moves are left out."""
    chosen = [one for one in judged if one.verdict != "forced"]
    names = sorted({_name(one) for one in judged})
    return [
        _total(name, some)
        for name in names
        if (some := [one for one in chosen if _name(one) == name])
    ]


def _name(one: Judged) -> str:
    return one.player or f"seat {one.decision.seat}"


def _total(name: str, some: Sequence[Judged]) -> Total:
    count = Counter(one.verdict for one in some)
    return Total(
        name,
        decisions=len(some),
        likeliest=sum(_likeliest(one.decision) for one in some),
        clear=count["clear"],
        shared=count["shared"],
        close=count["close"],
        level=count["level"] + count["best"],
        lost=sum(one.decision.loss for one in some if one.verdict == "clear"),
        open_lost=sum(one.decision.open_loss for one in some),
    )


def _likeliest(decision: Decision) -> bool:
    chances = {one.action: one.probability for one in decision.options}
    return chances[decision.action] == max(chances.values())
