"""Finds in which groups of positions an agent loses its points: what to fix first.

Groups overlap: a lead may also be a position of several principles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Bool, Int
from goita_agents.principles import PRINCIPLES
from goita_lab.exam.answers import Answers, Sheet
from goita_lab.exam.questions import ANSWER_KINDS, QUESTION_KINDS, STAKE_BOUNDS, Questions
from goita_lab.phases import PHASES

FEW_POSITIONS: Final = 20
"""A group with fewer positions is marked, and is not a weakness."""
MOST_WEAKNESSES: Final = 3
"""Number of weaknesses that are named."""
MIN_SHARE: Final = 0.1
"""Least share of the agent's whole loss that a weakness loses beyond the reference."""
MOST_OVERLAP: Final = 0.5
"""A group is left out if a larger share of its loss beyond the reference lies in earlier groups."""
LOW, HIGH = STAKE_BOUNDS
STAKE_NAMES: Final = (f"below {LOW:g}", f"{LOW:g} to {HIGH:g}", f"{HIGH:g} or more")
DECISION_ADVICE: Final = {
    "before play": "A decision before the first lead: a call, or whether a deal is played.",
    "lead": "The seat leads: it lays a tile face down and attacks.",
    "best to receive": "The best action is to receive the attack.",
    "best to pass": "The best action is to pass.",
    "finish": "The seat has two tiles: a play ends the round.",
}
"""What the group of each kind of decision is, in a sentence."""


@dataclass(frozen=True)
class Group:
    """A group of positions of the same phase, decision, stake or principle."""

    grouping: str  #: "phase", "decision", "stake, points" or "principle".
    name: str
    members: Bool  #: [N]
    sentence: str = ""  #: What the positions are, or what the principle says.


def groups(questions: Questions) -> Iterator[Group]:
    """Yields the groups of positions, grouping by grouping.

    The group of a principle has the positions in which the best action follows it, and another
    legal action breaks it.
    """
    phase, kind = questions.phase(), questions.kind()
    stakes = np.digitize(questions.stakes(), STAKE_BOUNDS)
    for index, name in enumerate(PHASES):
        yield Group("phase", name, phase == index)
    for index, decision in enumerate(QUESTION_KINDS):
        yield Group("decision", decision, kind == index, DECISION_ADVICE[decision])
    answers = np.isin(kind, [QUESTION_KINDS.index(name) for name in ANSWER_KINDS])
    yield Group("decision", "receive or pass", answers)
    for index, stake in enumerate(STAKE_NAMES):
        yield Group("stake, points", stake, stakes == index)
    view = questions.view()
    for principle in PRINCIPLES:
        follow, _ = principle.actions(view)
        members = np.asarray(follow[np.arange(len(follow)), questions.best])
        yield Group("principle", principle.name, members, principle.sentence)


@dataclass(frozen=True)
class Weakness:
    """A group in which an agent loses more points than the reference, and its figures."""

    group: Group
    share_of_loss: float  #: Share of the group in all points that the agent loses.
    lost: tuple[tuple[str, float], ...]
    """Points lost a decision in these positions, by name: of the agent, then of the references."""
    costliest: Int  #: The positions in which the agent loses points, the costliest first.

    @property
    def positions(self) -> int:
        """Number of positions of the group."""
        return int(self.group.members.sum())

    @property
    def share_of_positions(self) -> float:
        """Share of all positions that are of the group."""
        return float(self.group.members.mean())


def reference(sheet: Sheet, agent: Answers) -> Answers:
    """Returns the answers with which an agent is compared.

    They are those of the reference that loses the fewest points, or of the best of the other agents
    where all references are the agent itself.
    """
    rivals = [answers for answers in sheet.references if answers is not agent]
    rivals = rivals or [answers for answers in sheet.agents if answers is not agent]
    rivals = rivals or [sheet.controls[0]]
    return min(rivals, key=lambda answers: float(answers.lost.mean()))


def weaknesses(sheet: Sheet, agent: Answers) -> list[Weakness]:
    """Returns the groups in which an agent loses most beyond the reference, the worst first.

    Groups are ranked by these points, divided by the square root of their number of positions: of
    two groups with the same loss the smaller one says more precisely what is wrong. Only kinds of
    decisions and principles are such groups, because a phase or a stake gives no advice.
    """
    rival, whole = reference(sheet, agent), float(agent.lost.sum())
    references = [answers for answers in sheet.references if answers is not agent] or [rival]
    candidates = [
        group
        for group in groups(sheet.questions)
        if group.sentence and group.members.sum() >= FEW_POSITIONS
    ]

    def beyond(members: Bool) -> float:
        return float((agent.lost - rival.lost)[members].sum())

    def rank(group: Group) -> float:
        return beyond(group.members) / float(np.sqrt(group.members.sum()))

    chosen, named = list[Group](), np.zeros(len(agent.lost), bool)  # positions of chosen groups
    for group in sorted(candidates, key=rank, reverse=True):
        loss = beyond(group.members)
        is_new = beyond(group.members & named) <= MOST_OVERLAP * loss
        if loss > MIN_SHARE * whole and is_new and len(chosen) < MOST_WEAKNESSES:
            chosen.append(group)
            named |= group.members
    return [
        Weakness(
            group,
            share_of_loss=float(agent.lost[group.members].sum()) / whole,
            lost=tuple(
                (answers.name, float(answers.lost[group.members].mean()))
                for answers in (agent, *references)
            ),
            costliest=_costliest(agent, group.members),
        )
        for group in chosen
    ]


def _costliest(agent: Answers, members: Bool) -> Int:
    order = np.argsort(-agent.lost, kind="stable")
    return np.asarray(order[members[order] & (agent.lost[order] > 0)])


def headline(sheet: Sheet) -> str:
    """Returns the points lost of the agents and of the references, in a sentence."""
    parts = [f"{answers.name} loses {answers.lost.mean():.1f}" for answers in sheet.agents]
    parts[0] += " points a decision"
    if sheet.references:
        parts.append(
            ", ".join(f"{answers.name} {answers.lost.mean():.1f}" for answers in sheet.references)
        )
    return "; ".join(parts) + "."
