"""Builds the page of an exam: one HTML file without external resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.principles import speaking
from goita_env import View
from goita_env.render import svg, words
from goita_env.tiles import NAMES, RELATIVE_SEATS
from goita_lab.arena.report.to_html import Scale, environment
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.exam.answers import Answers, Sheet
from goita_lab.exam.questions import QUESTION_KINDS, Questions
from goita_lab.exam.report import all_tables, legend
from goita_lab.exam.scoring import EQUAL_POINTS, scores
from goita_lab.exam.weaknesses import Weakness, headline, weaknesses

COSTLIEST_SHOWN: Final = 20
"""Number of decisions shown on which two agents differ."""
NO_NOTES: Final[Mapping[int, str]] = {}
"""For positions without a sentence."""
BOARDS_SHOWN: Final = 5
"""Number of decisions shown of each weakness."""
MISREAD_SHOWN: Final = 5
"""Number of positions shown in which the first agent's beliefs are farthest off."""
CURVE_DECISIONS: Final = ((1, 4), (5, 8), (9, 12), (13, 16), (17, 46))
"""First and last decision of a round, passes included, of each point of the curve."""


@dataclass(frozen=True)
class Shown:
    """A position with the choices of one agent or two."""

    number: int
    kind: str
    drawing: str
    chosen: tuple[tuple[str, str, float], ...]
    """Agent, its likeliest action in words, points that its decision loses."""
    best: str  #: The best action in words.
    note: str
    """The principle that speaks for the best action, or the belief that is farthest off."""


@dataclass(frozen=True)
class ShownWeakness:
    """A weakness as the page shows it."""

    heading: str
    sentence: str
    lost: tuple[tuple[str, float, str], ...]  #: Agent, points lost, the width of its bar.
    positions: list[Shown]


def html(sheet: Sheet, command: str) -> str:
    """Returns the page; ``command``: what was run."""
    questions, first = sheet.questions, sheet.agents[0]
    other = sheet.agents[1] if len(sheet.agents) > 1 else None
    parted = []
    if other is not None:
        parted = shown(questions, differences(first, other), [first, other])
    curves = {answers.name: curve(answers, questions) for answers in sheet.agents}
    fields = {
        "answers": sheet.everybody,
        "headline": headline(sheet),
        "weaknesses": shown_weaknesses(sheet, first),
        "tables": all_tables(sheet),
        "curves": curves,
        "scale": Scale.of(points for rows in curves.values() for _, points in rows),
        "parted": parted,
        "misread": misread(questions, first),
        "legend": legend(sheet),
        "command": command,
        "about": questions.about,
    }
    return environment(__package__).get_template("exam.html").render(**fields)


def shown_weaknesses(sheet: Sheet, agent: Answers) -> list[ShownWeakness]:
    """Returns the weaknesses of an agent, each with its costliest decisions."""
    groups = weaknesses(sheet, agent)
    # Bars of all weaknesses have one scale.
    longest = max((lost for weakness in groups for _, lost in weakness.lost), default=1.0)
    return [
        ShownWeakness(
            heading=_heading(weakness),
            sentence=weakness.group.sentence,
            lost=tuple((name, lost, f"{100 * lost / longest:.1f}") for name, lost in weakness.lost),
            positions=shown(
                sheet.questions,
                weakness.costliest[:BOARDS_SHOWN],
                [agent],
                # The sentence of a principle stands above all of its boards.
                notes=NO_NOTES if weakness.group.grouping == "principle" else None,
            ),
        )
        for weakness in groups
    ]


def _heading(weakness: Weakness) -> str:
    return (
        f"{weakness.group.name}: {weakness.share_of_loss:.0%} of the loss in "
        f"{weakness.share_of_positions:.0%} of the positions"
    )


def curve(answers: Answers, questions: Questions) -> list[tuple[str, Interval]]:
    """Returns the mean points lost in each of ``CURVE_DECISIONS``, with the name of the range."""
    decision = questions.view().decisions().length.astype(np.int64) + 1
    points = []
    for low, high in CURVE_DECISIONS:
        rows: Bool = (decision >= low) & (decision <= high) & (questions.phase() > 0)
        if rows.sum() > 1:
            points.append((f"{low} to {high}", answers.points(rows)))
    return points


def differences(first: Answers, second: Answers) -> Int:
    """Returns the positions in which two agents choose differently, the costliest first."""
    rows = np.flatnonzero(first.chosen.argmax(axis=1) != second.chosen.argmax(axis=1))
    cost: Float = abs(first.lost - second.lost)[rows]
    return np.asarray(rows[np.argsort(-cost, kind="stable")[:COSTLIEST_SHOWN]])


def misread(questions: Questions, answers: Answers) -> list[Shown]:
    """Returns the positions in which an agent's beliefs are farthest off, with the worst belief.

    The distance is the score that the belief loses against the exact posterior.
    """
    if answers.believed is None:
        return []
    exact, believed = questions.exact, answers.believed
    lost = scores(exact, exact) - scores(believed, exact)
    rows = np.argsort(-lost.sum(axis=(1, 2)), kind="stable")[:MISREAD_SHOWN]
    notes = {}
    for row in rows.tolist():
        # ``lost`` of a row is [3, 8]: the place of the largest is a seat and a kind.
        seat, kind = np.unravel_index(lost[row].argmax(), lost[row].shape)
        agent, posterior, rules = (
            f"{float(beliefs[row, seat, kind]):.2f}"
            for beliefs in (believed, exact, questions.facts)
        )
        holding = f"the {list(RELATIVE_SEATS)[seat]} seat has a {NAMES[kind]}"
        notes[row] = (
            f"It says that {holding} with probability {agent}; exact: {posterior}; "
            f"by tiles and rules: {rules}."
        )
    return shown(questions, rows, [answers], notes)


def shown(
    questions: Questions,
    rows: Int,
    answers: Sequence[Answers],
    notes: Mapping[int, str] | None = None,
) -> list[Shown]:
    """Returns positions to show.

    Args:
        questions: the questions.
        rows: int64 [n] the questions shown, in order.
        answers: of the agents whose choices are listed; a drawing marks that of the first agent.
        notes: by row; None: the principle that speaks for the best action.
    """
    view, kinds = questions.view(), questions.kind()
    positions = []
    for row in rows.tolist():
        best = int(questions.best[row])
        first_choice = int(answers[0].chosen[row].argmax())
        drawing = svg.render(
            view[row : row + 1],
            size=None,
            marked={"played": first_choice, "best": best},
            values=questions.points[row],
        )
        chosen = tuple(
            (
                agent_answers.name,
                words.action_in_sentence(int(agent_answers.chosen[row].argmax())),
                float(agent_answers.lost[row]),
            )
            for agent_answers in answers
        )
        if notes is None:
            note = principle_sentence(questions, view[row : row + 1], row, first_choice)
        else:
            note = notes.get(row, "")
        kind = QUESTION_KINDS[int(kinds[row])]
        positions.append(Shown(row, kind, drawing, chosen, _best_in_words(questions, row), note))
    return positions


def _best_in_words(questions: Questions, row: int) -> str:
    """Returns the best action, and how many others are equal to it."""
    best, points = int(questions.best[row]), questions.points[row]
    said = words.action_in_sentence(best)
    equal = int((np.abs(points - points[best]) < EQUAL_POINTS).sum()) - 1  # NaN is not less
    return f"{said} ({equal} more equal to it)" if equal else said


def principle_sentence(questions: Questions, view: View, row: int, chosen: int) -> str:
    """Returns the sentence of the principle that speaks for the best action; "" if none does.

    ``view``: the position of ``row``; ``chosen``: the action that an agent took instead.
    """
    points = questions.points[row]
    legal = {action: float(points[action]) for action in np.flatnonzero(~np.isnan(points)).tolist()}
    principle = speaking(view, legal, int(questions.best[row]), chosen)
    return principle.sentence if principle else ""
