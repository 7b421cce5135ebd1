"""Lays out what agents answered in an exam: tables for the terminal, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from goita_agents.asking import fault_lines
from goita_agents.base import Bool
from goita_agents.principles import PRINCIPLES
from goita_env import actions
from goita_lab.arena.report.figures import ROUGH, estimate
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.exam.answers import COUNTING, Answers
from goita_lab.exam.questions import ANSWERS, KINDS, STAKES, Questions
from goita_lab.phases import PHASES

PARTNER: Final = [1]
OPPONENTS: Final = [0, 2]
EVERYBODY: Final = [0, 1, 2]
"""Seats of beliefs."""
FEW: Final = 30
"""A group with fewer positions is marked."""
LOW, HIGH = STAKES
STAKE_NAMES: Final = (f"below {LOW:g}", f"{LOW:g} to {HIGH:g}", f"{HIGH:g} or more")

LEGEND: Final = (
    "Points lost: against the best action, given the true policies of the other seats; the own "
    "seat goes on as the champion. This is not equilibrium play. An illegal action is scored as a "
    "random one. Known: 0 as tiles and rules, 1 as the exact posterior, below 0 worse than tiles "
    "and rules. Who only counts unseen tiles is above 0: compare with that control. Positions "
    'before play do not count there. 95 % intervals over positions. A group marked "few" is too '
    f"small to rely on. {ROUGH}."
)


def groups(questions: Questions) -> Iterator[tuple[str, str, Bool]]:
    """Yields how positions are grouped, the name of each group, and which they are: bool [N]."""
    phase, kind = questions.phase(), questions.kind()
    stakes = np.digitize(questions.stakes(), STAKES)
    for index, name in enumerate(PHASES):
        yield "phase", name, phase == index
    for index, decision in enumerate(KINDS[1:], 1):
        yield "decision", decision, kind == index
    yield "decision", "receive or pass", np.isin(kind, [KINDS.index(one) for one in ANSWERS])
    for index, stake in enumerate(STAKE_NAMES):
        yield "stake, points", stake, stakes == index
    view = questions.view()
    for one in PRINCIPLES:
        follow, against = one.actions(view)
        yield "principle", one.name, np.asarray((follow | against).any(axis=1))


def main_table(answers: Sequence[Answers], questions: Questions) -> Table:
    """Returns what each agent lost and knew, the fewest points lost first.

    Points lost are compared with those of the first answers, what was known with the control that
    counts tiles; both position by position.
    """
    first, counting = answers[0], counting_control(answers)
    rows = [
        (
            one.name,
            estimate(one.points(), sign="-"),
            "" if one is first else estimate(mean_interval(one.lost - first.lost)),
            f"{one.right.mean():.0%}",
            estimate(one.share(PARTNER), sign="-"),
            estimate(one.share(OPPONENTS), sign="-"),
            "" if one.control else estimate(one.share(EVERYBODY, above=counting)),
            ", ".join(_remarks(one)),
        )
        for one in ranked(answers)
    ]
    heads = (
        *("agent", "points lost", f"more than {first.name}", "best answers"),
        *("known of partner", "of opponents", "above counting", "remarks"),
    )
    return Table(f"{len(questions)} positions", heads, tuple(rows), notes=("remarks",))


def _remarks(one: Answers) -> Iterator[str]:
    if one.played:
        yield f"played in {one.played} of them"
    if one.faults:
        yield f"{len(one.faults)} faults"


def groups_tables(answers: Sequence[Answers], questions: Questions) -> list[Table]:
    """Returns what each agent lost by group, and what it knew of all seats.

    Before play next to nothing can be known, so the second table leaves it out. The control of both
    plays at random and counts tiles.
    """
    agents = [counting_control(answers), *(one for one in ranked(answers) if not one.control)]
    knowing = [one for one in agents if one.known is not None]
    lost, knew = [], []
    for title, name, rows in groups(questions):
        head = f"{title}: {name}", _count(rows)
        lost.append((*head, *(_lost(one, rows) for one in agents)))
        if title in ("phase", "decision") and name != PHASES[0]:
            knew.append(
                (*head, *(estimate(one.share(EVERYBODY, rows), sign="-") for one in knowing))
            )
    return [
        Table(title, ("", "positions", *(one.name for one in who)), tuple(cells))
        for title, who, cells in (
            ("Points lost a decision", agents, lost),
            ("Known of all seats", knowing, knew),
        )
    ]


def _count(rows: Bool) -> str:
    count = int(rows.sum())
    return f"{count} (few)" if count < FEW else f"{count}"


def counting_control(answers: Sequence[Answers]) -> Answers:
    """Returns the answers of the control that only counts unseen tiles."""
    return next(one for one in answers if one.control and one.name == COUNTING)


def ranked(answers: Sequence[Answers]) -> list[Answers]:
    """Returns answers, the fewest points lost first."""
    return sorted(answers, key=lambda one: float(one.lost.mean()))


def terminal(answers: Sequence[Answers], questions: Questions) -> str:
    """Returns the tables of an exam."""
    tables = main_table(answers, questions), *groups_tables(answers, questions)
    faults = [line for one in answers for line in fault_lines(one.name, one.faults)]
    return "\n\n".join([*map(draw, tables), *faults, LEGEND]) + "\n"


def figures(answers: Sequence[Answers], questions: Questions) -> dict[str, Any]:
    """Returns all figures."""
    grouped = [group for group in groups(questions) if group[2].sum() > 1]
    counting = counting_control(answers)
    return {
        "exam": questions.about,
        "positions": len(questions),
        "looked_at": questions.asked,
        "dropped": 1 - questions.sure / questions.asked,
        "best": [actions.name(action) for action in questions.best.tolist()],
        "phase": [PHASES[phase] for phase in questions.phase().tolist()],
        "decision": [KINDS[kind] for kind in questions.kind().tolist()],
        "could_be_known": answers[0].could,
        "agents": [
            {
                "name": one.name,
                "points_lost": one.points(),
                "best_answers": float(one.right.mean()),
                "known_of_partner": one.share(PARTNER),
                "known_of_opponents": one.share(OPPONENTS),
                "known_above_counting": one.share(EVERYBODY, above=counting),
                "played_in": one.played,
                "faults": len(one.faults),
                "groups": {
                    f"{title}: {name}": {
                        "positions": int(some.sum()),
                        "points_lost": one.points(some),
                        "known": one.share(EVERYBODY, some),
                    }
                    for title, name, some in grouped
                },
                "lost": one.lost,
                "known": one.known,
                "action": [actions.name(action) for action in one.chosen.argmax(axis=1).tolist()],
            }
            for one in answers
        ],
    }


def _lost(one: Answers, some: Bool) -> str:
    return f"{one.lost[some].mean():.2f}" if some.any() else ""
