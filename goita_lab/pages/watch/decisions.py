"""Defines what an analysis says of a decision, and decides which decisions were errors.

Points are those of the acting seat's team in the round (``docs/reference/analysis.md``).

Nobody sees all hands during play, so points lost against open hands are not an error. The verdict
follows from the points that a search gives, which knows only what the seat knew, and allows for
the standard error of these points:

======== ==========================================================================================
best     no action did better
level    another action did better, by at most one standard error
close    another action did better by more, but by at most ``clear_min_z`` standard errors
clear    another action did better by more than ``clear_min_z`` standard errors: of the decisions
         that lost nothing at most one in twenty is called clear, however many actions there were
shared   as clear, but the agent's policy gives the move at least ``MOST_PROBABLE``: the search of
         the agent and its policy disagree
======== ==========================================================================================

The standard error is that of sampling worlds only. How the other seats play is the larger
uncertainty; points are averages under what the seat could infer of their play.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from goita_agents.search.typed_search import Deciding, Seat, clear_min_z
from goita_lab.pages.watch.reading import Watched
from goita_lab.phases import Phase
from goita_lab.store import MOST_POINTS, Column

FORMAT: Final = "goita-analysis-11"
"""Names this kind of JSON; the number grows when the meaning of a field changes."""

Code = Annotated[str, Meta(pattern="^[a-z0-9]*$")]
"""An action as records write it: two digits, "p" for a pass, the word of an answer."""


@dataclass(frozen=True)
class ActionGrade:
    """The grade of a legal action."""

    action: Code
    probability: float
    """Probability with which the policy chooses the action."""
    points: float
    """By search, under the posterior over types."""
    error: float
    """Standard error of the points, by sampling only."""
    worlds: int
    """Worlds in which the action was played out, of all types together."""
    open: int | None
    """Points with perfect play from there on, all hands open; None before play."""

    def columns(self) -> dict[str, Column]:
        """Returns the types and bounds of stored grades."""
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
    """The legal actions; empty for a forced move, which is neither searched nor judged."""
    best: Code
    """The action that did best by search, or the chosen one if none did better or it was forced."""
    loss: float
    """By how many points ``best`` did better than the chosen action, in the same worlds, under the
    posterior over types."""
    loss_error: float
    """Standard error of the loss."""
    rival: Code
    """The chosen action, or if it is ``best``, the next best action; empty: the move was forced."""
    deciding: tuple[Deciding, ...]
    """The tiles on which the choice between ``best`` and ``rival`` depends, the first most."""
    principle: str
    """Key of the principle that speaks for ``best`` or against the chosen action; empty: none."""
    value: float | None
    """What the policy's network expects its team to gain; None: it does not predict points."""
    open_value: int | None
    """Points with perfect play of all, all hands open; None before play."""
    open_loss: int
    """How many points of ``open_value`` the chosen action gave away; 0 before play."""

    @property
    def expected(self) -> float | None:
        """Points of the best action by search; None: the move was forced."""
        points = (grade.points for grade in self.options if grade.action == self.best)
        return next(points, None)


Verdict = Literal["forced", "best", "level", "close", "clear", "shared"]

MOST_PROBABLE: Final = 0.5
"""A policy that gives a move this probability or more would have played it, too."""


@dataclass(frozen=True)
class Judged:
    """A decision of a page with its verdict."""

    deal: int
    """Which deal of the page, from 1."""
    player: str
    """Name of the player of the seat; empty: unknown."""
    decision: Decision
    verdict: Verdict


@dataclass(frozen=True)
class Total:
    """The sum over the decisions of a player that were not forced."""

    name: str
    decisions: int
    likeliest: int
    """How often the policy's likeliest action was chosen."""
    clear: int
    """Errors; this field and the next three count decisions by verdict."""
    shared: int
    close: int
    level: int
    """Decisions that are level or best."""
    lost: float
    """Points that the errors add up to."""
    open_lost: int
    """Points that all decisions lost against perfect play, all hands open; 0 before play."""


def verdict(decision: Decision) -> Verdict:
    """Returns whether a decision was an error ("clear"), by what the seat could know."""
    if not decision.options:
        return "forced"
    if decision.loss <= 0:
        return "best"
    if decision.loss <= decision.loss_error:
        return "level"
    if decision.loss <= clear_min_z(len(decision.options)) * decision.loss_error:
        return "close"
    return "shared" if policy_agrees(decision) else "clear"


ERROR_NAMES: Final = ("a small error", "an error", "a large error")
"""Errors by size, which a page marks by one to three exclamation marks."""

ERROR_LOSSES: Final = (5.0, 12.0)
"""Points that an error loses at least if it is of the second and of the third size."""


def error_size(decision: Decision) -> int:
    """Returns the size of an error, 1 to 3; 0: the decision was no error."""
    if verdict(decision) != "clear":
        return 0
    return 1 + sum(decision.loss >= least for least in ERROR_LOSSES)


def policy_agrees(decision: Decision) -> bool:
    """Returns whether the policy would have played the chosen action; False: it was forced."""
    return any(
        grade.action == decision.action and grade.probability >= MOST_PROBABLE
        for grade in decision.options
    )


def judge(watched: Sequence[Watched], analysed: Iterable[Sequence[Decision]]) -> list[Judged]:
    """Returns all decisions of some deals with their verdicts, in order."""
    return [
        Judged(deal_number, deal.players[decision.seat], decision, verdict(decision))
        for deal_number, (deal, decisions) in enumerate(zip(watched, analysed, strict=True), 1)
        for decision in decisions
    ]


def errors(judged: Iterable[Judged]) -> list[Judged]:
    """Returns the errors, the greatest loss first."""
    clear = (judgement for judgement in judged if judgement.verdict == "clear")
    return sorted(clear, key=lambda judgement: judgement.decision.loss, reverse=True)


def totals(judged: Sequence[Judged], *, by_seat: bool = False) -> list[Total]:
    """Returns sums by player, or by seat if a name is unknown; forced moves are left out.

    Args:
        judged: the decisions.
        by_seat: sum by seat, also where players of the same name sit at several seats.
    """
    by_name = defaultdict[str, list[Judged]](list)
    for judgement in judged:
        if judgement.verdict != "forced":
            player = "" if by_seat else judgement.player
            by_name[player or f"seat {judgement.decision.seat}"].append(judgement)
    return [_total(name, by_name[name]) for name in sorted(by_name)]


def _total(name: str, judged: Sequence[Judged]) -> Total:
    """Returns the sum over a player's decisions; none of them was forced."""
    count = Counter(judgement.verdict for judgement in judged)
    decisions = [judgement.decision for judgement in judged]
    return Total(
        name,
        decisions=len(decisions),
        likeliest=sum(map(_is_likeliest, decisions)),
        clear=count["clear"],
        shared=count["shared"],
        close=count["close"],
        level=count["level"] + count["best"],
        lost=sum(judgement.decision.loss for judgement in judged if judgement.verdict == "clear"),
        open_lost=sum(decision.open_loss for decision in decisions),
    )


def _is_likeliest(decision: Decision) -> bool:
    """Returns whether the chosen action is the one that the policy would choose most often."""
    chances = {grade.action: grade.probability for grade in decision.options}
    return chances[decision.action] == max(chances.values())
