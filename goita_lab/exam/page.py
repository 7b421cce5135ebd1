"""Builds the page of an exam: one HTML file that loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.principles import speaking
from goita_env import View, actions
from goita_env.render import svg
from goita_env.tiles import NAMES, RELATIVE_SEATS
from goita_lab.arena.report.to_html import Scale, environment
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.exam.answers import Answers, Sheet, scores
from goita_lab.exam.questions import KINDS, Questions
from goita_lab.exam.report import LEGEND, groups_tables, main_table

COSTLIEST: Final = 20
"""Decisions that are shown of the first agent, and of those on which two agents part."""
MISREAD: Final = 5
"""Positions that are shown in which the first agent's beliefs are farthest off."""
NUMBERS: Final = ((1, 4), (5, 8), (9, 12), (13, 16), (17, 46))
"""Decisions of a round, passes included, that make up a point of the curve."""


@dataclass(frozen=True)
class Shown:
    """A position with what an agent, or two, chose there."""

    number: int
    kind: str
    drawing: str
    chosen: tuple[tuple[str, str, float], ...]  #: Agent, its likeliest action, points lost.
    best: str
    note: str
    """The principle that speaks for the best action, or the belief that is farthest off."""


def html(sheet: Sheet, command: str) -> str:
    """Returns the page; ``command``: what was run."""
    questions, first = sheet.questions, sheet.agents[0]
    other = sheet.agents[1] if len(sheet.agents) > 1 else None
    costly = np.argsort(-first.lost, kind="stable")[:COSTLIEST]
    parted = [] if other is None else shown(questions, part(first, other), [first, other])
    curves = {answers.name: curve(answers, questions) for answers in sheet.agents}
    fields = {
        "answers": sheet.everybody,
        "tables": [main_table(sheet), *groups_tables(sheet)],
        "curves": curves,
        "scale": Scale.of(points for rows in curves.values() for _, points in rows),
        "costly": shown(questions, costly, [first]),
        "parted": parted,
        "misread": misread(questions, first),
        "legend": LEGEND,
        "command": command,
        "about": questions.about,
    }
    return environment(__package__).get_template("exam.html").render(**fields)


def curve(answers: Answers, questions: Questions) -> list[tuple[str, Interval]]:
    """Returns the points lost by the number of the decision in its round."""
    number = questions.view().decisions().length.astype(np.int64) + 1
    points = []
    for low, high in NUMBERS:
        rows: Bool = (number >= low) & (number <= high) & (questions.phase() > 0)
        if rows.sum() > 1:
            points.append((f"{low} to {high}", answers.points(rows)))
    return points


def part(one: Answers, other: Answers) -> Int:
    """Returns the positions in which two agents choose differently, the dearest first."""
    differ = np.flatnonzero(one.chosen.argmax(axis=1) != other.chosen.argmax(axis=1))
    dear: Float = abs(one.lost - other.lost)[differ]
    return np.asarray(differ[np.argsort(-dear, kind="stable")[:COSTLIEST]])


def misread(questions: Questions, one: Answers) -> list[Shown]:
    """Returns the positions in which an agent's beliefs are farthest off, and where they are."""
    if one.believed is None:
        return []
    exact, believed = questions.exact, one.believed
    behind = scores(exact, exact) - scores(believed, exact)
    rows = np.argsort(-behind.sum(axis=(1, 2)), kind="stable")[:MISREAD]
    notes = {}
    for row in rows.tolist():
        seat, kind = np.unravel_index(behind[row].argmax(), behind[row].shape)
        said, true, ruled = (
            f"{float(of[row, seat, kind]):.2f}" for of in (believed, exact, questions.facts)
        )
        where = f"the {list(RELATIVE_SEATS)[seat]} seat has a {NAMES[kind]}"
        notes[row] = (
            f"It says that {where} with probability {said}; exact: {true}; "
            f"by tiles and rules: {ruled}."
        )
    return shown(questions, rows, [one], notes)


def shown(
    questions: Questions,
    rows: Int,
    answers: Sequence[Answers],
    notes: Mapping[int, str] | None = None,
) -> list[Shown]:
    """Returns positions as they are shown; ``notes`` by row, else they name the principle."""
    view, kinds = questions.view(), questions.kind()
    found = []
    for row in rows.tolist():
        best, one = int(questions.best[row]), int(answers[0].chosen[row].argmax())
        drawing = svg.render(
            view[row : row + 1],
            faces="letters",
            size=None,
            marked={"played": one, "best": best},
            values=questions.points[row],
        )
        chosen = tuple(
            (each.name, actions.name(int(each.chosen[row].argmax())), float(each.lost[row]))
            for each in answers
        )
        note = notes[row] if notes else principle(questions, view[row : row + 1], row, one)
        found.append(Shown(row, KINDS[int(kinds[row])], drawing, chosen, actions.name(best), note))
    return found


def principle(questions: Questions, view: View, row: int, chosen: int) -> str:
    """Returns the principle that speaks for the best action, in a sentence, or nothing."""
    points = questions.points[row]
    legal = {action: float(points[action]) for action in np.flatnonzero(~np.isnan(points)).tolist()}
    found = speaking(view, legal, int(questions.best[row]), chosen)
    return found.sentence if found else ""
