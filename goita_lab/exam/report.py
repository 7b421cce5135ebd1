"""Shows the answers of agents in an exam: as tables for the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from goita_agents.asking import fault_lines
from goita_agents.base import Bool
from goita_agents.principles import PRINCIPLES
from goita_env import actions
from goita_env.tiles import RELATIVE_SEATS
from goita_lab.arena.report.figures import ROUGH_INTERVAL_NOTE, estimate
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.exam.answers import Answers, Sheet
from goita_lab.exam.questions import ANSWER_KINDS, QUESTION_KINDS, STAKE_BOUNDS, Questions
from goita_lab.phases import PHASES

PARTNER: Final = [RELATIVE_SEATS["partner"] - 1]
OPPONENTS: Final = [RELATIVE_SEATS["next"] - 1, RELATIVE_SEATS["previous"] - 1]
ALL_SEATS: Final = [*range(len(RELATIVE_SEATS))]
"""Columns of beliefs: the seats whose hands they are about."""
FEW_POSITIONS: Final = 30
"""A group with fewer positions is marked."""
LOW, HIGH = STAKE_BOUNDS
STAKE_NAMES: Final = (f"below {LOW:g}", f"{LOW:g} to {HIGH:g}", f"{HIGH:g} or more")

EXAM_LEGEND: Final = (
    "Points lost: against the best action, given the true policies of the other seats; the own "
    "seat continues as the champion. This is not equilibrium play. An illegal action is scored as "
    "a random action. Known: 0 for tiles and rules, 1 for the exact posterior, below 0 worse than "
    "tiles and rules. An agent that only counts unseen tiles is above 0: compare with that "
    "control. Known leaves out positions before play. 95 % intervals over positions. A group "
    f'marked "few" is too small to rely on. {ROUGH_INTERVAL_NOTE}.'
)


def groups(questions: Questions) -> Iterator[tuple[str, str, Bool]]:
    """Yields groups of positions: the grouping, the group's name, and its members as bool [N]."""
    phase, kind = questions.phase(), questions.kind()
    stakes = np.digitize(questions.stakes(), STAKE_BOUNDS)
    for index, name in enumerate(PHASES):
        yield "phase", name, phase == index
    for index, decision in enumerate(QUESTION_KINDS[1:], 1):
        yield "decision", decision, kind == index
    yield (
        "decision",
        "receive or pass",
        np.isin(kind, list(map(QUESTION_KINDS.index, ANSWER_KINDS))),
    )
    for index, stake in enumerate(STAKE_NAMES):
        yield "stake, points", stake, stakes == index
    view = questions.view()
    for principle in PRINCIPLES:
        follow, against = principle.actions(view)
        yield "principle", principle.name, np.asarray((follow | against).any(axis=1))


def main_table(sheet: Sheet) -> Table:
    """Returns the table of all answers, those that lost the fewest points first.

    Its columns are the points lost and the shares known of other hands. Points lost are compared
    with those of the first agent, shares known with those of the control that counts tiles; both
    position by position.
    """
    first, counting = sheet.agents[0], sheet.counting
    rows = [
        (
            answers.name,
            estimate(answers.points(), sign="-"),
            "" if answers is first else estimate(mean_interval(answers.lost - first.lost)),
            f"{answers.right.mean():.0%}",
            estimate(answers.share(PARTNER), sign="-"),
            estimate(answers.share(OPPONENTS), sign="-"),
            "" if answers.control else estimate(answers.share(ALL_SEATS, above=counting)),
            ", ".join(_remarks(answers)),
        )
        for answers in sheet.ranked()
    ]
    heads = (
        *("agent", "points lost", f"more than {first.name}", "best answers"),
        *("known of partner", "of opponents", "above counting", "remarks"),
    )
    return Table(f"{len(sheet.questions)} positions", heads, tuple(rows), notes=("remarks",))


def _remarks(answers: Answers) -> Iterator[str]:
    if answers.played:
        yield f"played in {answers.played} of them"
    if answers.faults:
        yield f"{len(answers.faults)} faults"


def groups_tables(sheet: Sheet) -> list[Table]:
    """Returns a table of the points that each agent lost by group, and one of its shares known.

    Before play next to nothing can be known, so the second table leaves this phase out. The control
    in both tables plays at random and counts tiles.
    """
    players = [sheet.counting, *(answers for answers in sheet.ranked() if not answers.control)]
    believers = [answers for answers in players if answers.known is not None]
    lost, known = [], []  # rows of the tables
    for grouping, name, members in groups(sheet.questions):
        head = f"{grouping}: {name}", _count(members)
        lost.append((*head, *(_lost(answers, members) for answers in players)))
        if grouping in ("phase", "decision") and name != PHASES[0]:
            shares = (answers.share(ALL_SEATS, members) for answers in believers)
            known.append((*head, *(estimate(share, sign="-") for share in shares)))
    return [
        Table(title, ("", "positions", *(answers.name for answers in columns)), tuple(rows))
        for title, columns, rows in (
            ("Points lost a decision", players, lost),
            ("Known of all seats", believers, known),
        )
    ]


def _count(rows: Bool) -> str:
    count = int(rows.sum())
    return f"{count} (few)" if count < FEW_POSITIONS else f"{count}"


def _lost(answers: Answers, rows: Bool) -> str:
    return f"{answers.lost[rows].mean():.2f}" if rows.any() else ""


def terminal(sheet: Sheet) -> str:
    """Returns the tables of an exam."""
    tables = main_table(sheet), *groups_tables(sheet)
    faults = [
        line for answers in sheet.agents for line in fault_lines(answers.name, answers.faults)
    ]
    return "\n\n".join([*map(draw, tables), *faults, EXAM_LEGEND]) + "\n"


def figures(sheet: Sheet) -> dict[str, Any]:
    """Returns all figures."""
    questions = sheet.questions
    grouped = [group for group in groups(questions) if group[2].sum() > 1]
    return {
        "exam": questions.about,
        "positions": len(questions),
        "valued": questions.valued,
        "dropped": 1 - questions.clear / questions.valued,
        "best": [actions.name(action) for action in questions.best.tolist()],
        "phase": [PHASES[phase] for phase in questions.phase().tolist()],
        "decision": [QUESTION_KINDS[kind] for kind in questions.kind().tolist()],
        "could_be_known": sheet.agents[0].could,
        "agents": [
            {
                "name": answers.name,
                "points_lost": answers.points(),
                "best_answers": float(answers.right.mean()),
                "known_of_partner": answers.share(PARTNER),
                "known_of_opponents": answers.share(OPPONENTS),
                "known_above_counting": answers.share(ALL_SEATS, above=sheet.counting),
                "played_in": answers.played,
                "faults": len(answers.faults),
                "groups": {
                    f"{title}: {name}": {
                        "positions": int(rows.sum()),
                        "points_lost": answers.points(rows),
                        "known": answers.share(ALL_SEATS, rows),
                    }
                    for title, name, rows in grouped
                },
                "lost": answers.lost,
                "known": answers.known,
                "action": list(map(actions.name, answers.chosen.argmax(axis=1).tolist())),
            }
            for answers in sheet.everybody
        ],
    }
