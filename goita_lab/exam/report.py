"""Shows the answers of agents in an exam: as tables for the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from goita_agents.asking import fault_lines
from goita_agents.base import Bool
from goita_env import actions
from goita_env.tiles import RELATIVE_SEATS
from goita_lab.arena.report.figures import ROUGH_INTERVAL_NOTE, estimate
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.exam.answers import COUNTING_CONTROL, Answers, Sheet
from goita_lab.exam.questions import QUESTION_KINDS
from goita_lab.exam.scoring import score_interval
from goita_lab.exam.weaknesses import FEW_POSITIONS, groups, headline, weaknesses
from goita_lab.phases import PHASES

PARTNER: Final = [RELATIVE_SEATS["partner"] - 1]
OPPONENTS: Final = [RELATIVE_SEATS["next"] - 1, RELATIVE_SEATS["previous"] - 1]
ALL_SEATS: Final = [*range(len(RELATIVE_SEATS))]
"""Columns of beliefs: the seats whose hands they are about."""
BAR_WIDTH: Final = 20
"""Characters of a bar of 100 % in the terminal."""

EXAM_LEGEND: Final = (
    "Points lost: points of the best action minus those of the agent's action, if all other seats "
    "play their true policies and the acting seat continues as the champion (in the last column of "
    "points: as heuristic). The positions are a balanced selection, so this is a score, not a mean "
    "over play, and the best action is not equilibrium play. An illegal action is scored as a "
    "random action. The 95 % interval is the wider one of two: over positions, and over tables of "
    "players."
)
KNOWLEDGE_LEGEND: Final = (
    "Knowledge of other hands, from the first lead on: 0 is the score of beliefs that use only the "
    "tiles and the rules, 1 that of the exact posterior; worse beliefs are below 0. The last "
    "column has the Brier score, all others the log score, which punishes confident errors. "
    "Counting unseen tiles scores above 0, so one column shows the gain over this control."
)
FEW_NOTE: Final = f'A group marked "few" has fewer than {FEW_POSITIONS} positions.'


def weaknesses_table(sheet: Sheet, agent: Answers) -> Table | None:
    """Returns what an agent should fix first; None if it loses nowhere more than the reference."""
    rows = [
        {
            "fix first": f"{rank}. {weakness.group.name}",
            "share of the loss": _bar(weakness.share_of_loss),
            "positions": f"{weakness.positions} ({weakness.share_of_positions:.0%})",
            **{f"{name} loses": f"{lost:.1f}" for name, lost in weakness.lost},
        }
        for rank, weakness in enumerate(weaknesses(sheet, agent), 1)
    ]
    title = f"Where {agent.name} loses its points (groups overlap)"
    return Table.of(title, rows, notes=("share of the loss",)) if rows else None


def _bar(share: float) -> str:
    return f"{'█' * max(1, round(BAR_WIDTH * share))} {share:.0%}"


def main_table(sheet: Sheet) -> Table:
    """Returns the points of all answers: the agents' first, then the fewest points lost first.

    Several agents are compared with the first of them, position by position.
    """
    first, several = sheet.agents[0], len(sheet.agents) > 1

    def more(answers: Answers) -> str:
        difference = score_interval(answers.lost - first.lost, answers.table)
        return "" if answers is first else estimate(difference)

    rows = [
        {
            "agent": answers.name,
            "points lost": estimate(answers.points(), sign="-"),
            **({f"more than {first.name}": more(answers)} if several else {}),
            "best answers": f"{answers.right.mean():.0%}",
            "points lost, heuristic continuing": f"{answers.other_lost.mean():.2f}",
            "remarks": ", ".join(_remarks(answers)),
        }
        for answers in sheet.ordered()
        if answers.name != COUNTING_CONTROL
    ]
    return Table.of(f"{len(sheet.questions)} positions", rows, notes=("remarks",))


def _remarks(answers: Answers) -> Iterator[str]:
    if answers.played:
        yield f"played in {answers.played} of them"
    if answers.faults:
        yield f"{len(answers.faults)} faults"


def knowledge_table(sheet: Sheet) -> Table | None:
    """Returns what agents know of other hands; None if no agent has beliefs."""
    believers = [answers for answers in sheet.ordered() if answers.known is not None]
    if all(answers.control for answers in believers):
        return None
    counting = sheet.counting
    rows = [
        (
            answers.name,
            answers.belief_source if not answers.control else "control",
            estimate(answers.share(PARTNER), sign="-"),
            estimate(answers.share(OPPONENTS), sign="-"),
            "" if answers.control else estimate(answers.share(ALL_SEATS, above=counting)),
            estimate(answers.share(ALL_SEATS, rule="Brier"), sign="-"),
        )
        for answers in believers
    ]
    heads = ("agent", "model", "partner", "opponents", "gain over counting", "Brier score")
    return Table("Knowledge of other hands", heads, tuple(rows), notes=("model",))


def groups_tables(sheet: Sheet) -> list[Table]:
    """Returns a table of the points that each agent lost by group, and one of its shares known.

    Before play next to nothing can be known, so the second table leaves this phase out. The control
    of the first table plays at random; that of the second counts tiles.
    """
    everybody = [answers for answers in sheet.ordered() if not answers.control]
    players = [*everybody, sheet.counting]
    believers = [answers for answers in players if answers.known is not None]
    lost, known = [], []  # rows of the tables
    for group in groups(sheet.questions):
        head = f"{group.grouping}: {group.name}", _count(group.members)
        lost.append((*head, *(_lost(answers, group.members) for answers in players)))
        if group.grouping in ("phase", "decision") and group.name != PHASES[0]:
            shares = (answers.share(ALL_SEATS, group.members) for answers in believers)
            known.append((*head, *(estimate(share, sign="-") for share in shares)))
    random = tuple("(random)" if answers.control else answers.name for answers in players)
    tables = [Table("Points lost a decision", ("group", "positions", *random), tuple(lost))]
    if len(believers) > 1:
        names = (answers.name for answers in believers)
        heads = ("group", "positions", *names)
        tables.append(Table("Knowledge of all other hands", heads, tuple(known)))
    return tables


def _count(rows: Bool) -> str:
    count = int(rows.sum())
    return f"{count} (few)" if count < FEW_POSITIONS else f"{count}"


def _lost(answers: Answers, rows: Bool) -> str:
    return f"{answers.lost[rows].mean():.2f}" if rows.any() else ""


def all_tables(sheet: Sheet) -> list[Table]:
    """Returns all tables after those of weaknesses."""
    knowledge = knowledge_table(sheet)
    return [main_table(sheet), *([knowledge] if knowledge else []), *groups_tables(sheet)]


def legend(sheet: Sheet) -> str:
    """Returns what the columns of the tables mean."""
    knowledge = [KNOWLEDGE_LEGEND] if knowledge_table(sheet) else []
    return " ".join([EXAM_LEGEND, *knowledge, FEW_NOTE, f"{ROUGH_INTERVAL_NOTE}."])


def terminal(sheet: Sheet) -> str:
    """Returns the results of an exam: a sentence, what to fix first, and all tables."""
    first = [weaknesses_table(sheet, agent) for agent in sheet.agents]
    tables = [*(table for table in first if table), *all_tables(sheet)]
    faults = [
        line for answers in sheet.agents for line in fault_lines(answers.name, answers.faults)
    ]
    return "\n\n".join([headline(sheet), *map(draw, tables), *faults, legend(sheet)]) + "\n"


def figures(sheet: Sheet) -> dict[str, Any]:
    """Returns all figures."""
    questions = sheet.questions
    grouped = [group for group in groups(questions) if group.members.sum() > 1]
    return {
        "exam": questions.about,
        "positions": len(questions),
        "valued": questions.valued,
        "dropped": 1 - questions.clear / questions.valued,
        "best": [actions.name(action) for action in questions.best.tolist()],
        "phase": [PHASES[phase] for phase in questions.phase().tolist()],
        "decision": [QUESTION_KINDS[kind] for kind in questions.kind().tolist()],
        "table": questions.table(),
        "match": questions.match,
        "could_be_known": sheet.agents[0].could["log"],
        "agents": [
            {
                "name": answers.name,
                "points_lost": answers.points(),
                "points_lost_heuristic_continuing": answers.other_points(),
                "best_answers": float(answers.right.mean()),
                "belief_model": answers.belief_source,
                "known_of_partner": answers.share(PARTNER),
                "known_of_opponents": answers.share(OPPONENTS),
                "known_above_counting": answers.share(ALL_SEATS, above=sheet.counting),
                "known_brier": answers.share(ALL_SEATS, rule="Brier"),
                "played_in": answers.played,
                "faults": len(answers.faults),
                "groups": {
                    f"{group.grouping}: {group.name}": {
                        "positions": int(group.members.sum()),
                        "points_lost": answers.points(group.members),
                        "known": answers.share(ALL_SEATS, group.members),
                    }
                    for group in grouped
                },
                "weaknesses": [
                    {
                        "group": f"{weakness.group.grouping}: {weakness.group.name}",
                        "positions": weakness.positions,
                        "share_of_loss": weakness.share_of_loss,
                        "points_lost": dict(weakness.lost),
                    }
                    for weakness in ([] if answers.control else weaknesses(sheet, answers))
                ],
                "lost": answers.lost,
                "known": None if answers.known is None else answers.known["log"],
                "action": list(map(actions.name, answers.chosen.argmax(axis=1).tolist())),
            }
            for answers in sheet.everybody
        ],
    }
