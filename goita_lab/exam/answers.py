"""Takes an exam: measures the points that an agent's decisions lose, and its knowledge of hands.

The share known compares scores of probabilities that a seat holds a tile of each kind. A score is
the expected logarithm under the exact posterior, summed over kinds and positions. The share is 0
for beliefs that follow only from tiles and rules, 1 for the exact posterior, and below 0 for worse
beliefs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Final

import numpy as np

from goita_agents.asking import (
    ask_beliefs,
    ask_probabilities,
    attempt_actions,
    build_agent,
    end_agent,
)
from goita_agents.base import (
    Agent,
    Bool,
    Float,
    Policy,
    is_stateless,
)
from goita_agents.faults import Fault
from goita_agents.identity import weights
from goita_agents.models import PolicyModel
from goita_agents.registry import every_part
from goita_env import View
from goita_env.rules import JGA
from goita_env.tiles import NUM_KINDS, RELATIVE_SEATS
from goita_lab.arena.statistics.intervals import Interval, mean_interval, ratio_interval
from goita_lab.exam.making import beliefs_of
from goita_lab.exam.questions import Questions
from goita_lab.work import HERE, Progress

PROBABILITY_CLIP: Final = 0.01
"""Probabilities are clipped to this number and 1 minus this number."""
COUNTING_CONTROL: Final = "(random, counts unseen tiles)"
"""Name of the control with which the agents' knowledge is compared."""
EQUAL_POINTS: Final = 1e-6
"""Points by which an action may be behind the best one and still be a best answer."""


@dataclass(frozen=True)
class Answers:
    """The graded answers of one agent to N questions."""

    name: str
    lost: Float  #: [N] Points that its decision loses against the best action, in expectation.
    right: Float  #: [N] The probability with which it took a best action.
    chosen: Float  #: [N, 69] The probability of each action.
    believed: Float | None  #: [N, 3, 8] Its beliefs; None: it has none.
    known: Float | None  #: [N, 3] Their score above the score of tiles and rules; before play 0.
    could: Float  #: [N, 3] The same for the exact posterior.
    played: int  #: Number of positions in which the agent played at one of the four seats.
    faults: tuple[Fault, ...]
    """Actions that are missing or illegal; legal actions replace them, all equally likely."""
    control: bool  #: The answers are computed, not an agent's.

    def points(self, rows: Bool | slice = slice(None)) -> Interval:
        """Returns the points lost a decision, with an interval over positions."""
        return mean_interval(self.lost[rows])

    def share(
        self, seats: list[int], rows: Bool | slice = slice(None), *, above: Answers | None = None
    ) -> Interval | None:
        """Returns the share known of what could be known about the hands of seats.

        Args:
            seats: columns of beliefs: 0 next, 1 partner, 2 previous.
            rows: the positions.
            above: answers whose score is subtracted, position by position; None: no answers.

        Returns:
            None without beliefs, or where in fewer than two positions anything could be known.
        """
        if self.known is None:
            return None
        known = self.known if above is None or above.known is None else self.known - above.known
        reached, possible = (score[rows][:, seats].sum(axis=1) for score in (known, self.could))
        counts = possible > 0
        return ratio_interval(reached[counts], possible[counts]) if counts.sum() > 1 else None


@dataclass(frozen=True)
class Sheet:
    """All answers to the questions of one exam."""

    questions: Questions
    agents: tuple[Answers, ...]  #: The agents that take the exam, as on the command line.
    readers: tuple[Answers, ...]  #: Agents of this distribution, for comparison.
    controls: tuple[Answers, ...]  #: As ``controls`` returns them.

    @property
    def everybody(self) -> tuple[Answers, ...]:
        """Returns all answers: of agents, readers and controls."""
        return (*self.agents, *self.readers, *self.controls)

    @property
    def counting(self) -> Answers:
        """Returns the answers of the control that only counts unseen tiles."""
        return next(control for control in self.controls if control.name == COUNTING_CONTROL)

    def ranked(self) -> list[Answers]:
        """Returns all answers, the fewest points lost first."""
        return sorted(self.everybody, key=lambda answers: float(answers.lost.mean()))


def take(
    spec: str | Agent,
    questions: Questions,
    seed: int = 0,
    *,
    believes: bool = True,
    progress: Progress = HERE.progress,
) -> Answers:
    """Lets an agent take an exam; ``believes``: its beliefs are graded, too.

    An agent with known probabilities answers with them, another agent with an action. Its beliefs
    come from its method ``beliefs``. For an agent without this method they are the exact beliefs
    under the model that all seats play as the agent does; for ``READERS`` these are stored with the
    questions.

    An action that is missing or illegal counts as a random action, and is listed in ``faults``.

    Raises:
        AgentError: if there is no such agent, its program does not start, it forfeits, or its
            probabilities or beliefs are not probabilities.
    """
    agent = build_agent(spec, JGA)
    try:
        chosen, faults = decisions(agent, questions, seed)
        believed = questions.kept(spec) if believes and isinstance(spec, str) else None
        if believes and believed is None:
            believed = beliefs(agent, questions.view(), progress)
    finally:
        end_agent(agent)
    # Positions in which a player has the same network or bot inside it. An agent that is not given
    # by its text has none.
    own_names = names(spec) if isinstance(spec, str) else set()
    played = sum(any(own_names & names(player) for player in line) for line in questions.players)
    return graded(agent.name, questions, chosen, believed, played=played, faults=faults)


@cache
def names(spec: str) -> set[str]:
    """Returns the names of the networks and bots inside an agent's text, without their options."""
    return {*weights([spec]), *(part.name for part in every_part(spec))} - {"population"}


def graded(
    name: str,
    questions: Questions,
    chosen: Float,
    believed: Float | None,
    *,
    played: int = 0,
    faults: tuple[Fault, ...] = (),
    control: bool = False,
) -> Answers:
    """Grades decisions [N, 69] and beliefs [N, 3, 8].

    Before play next to nothing can be known, so beliefs do not count in these positions.
    """
    # [N, 69] Points that each action loses, and whether it is a best one. Points of illegal actions
    # are NaN; they lose 0 here, because their probability is 0.
    legal, rows = ~np.isnan(questions.points), np.arange(len(questions))
    lost = questions.points[rows, questions.best][:, None] - questions.points
    lost = np.where(legal, lost, 0)
    is_best = legal & (abs(lost) < EQUAL_POINTS)
    exact, in_play = questions.exact, (questions.phase() > 0)[:, None]
    score_of_facts = score(questions.facts, exact)

    def above_facts(belief: Float) -> Float:
        return np.where(in_play, score(belief, exact) - score_of_facts, 0)

    return Answers(
        name,
        lost=(chosen * lost).sum(axis=1),
        right=(chosen * is_best).sum(axis=1),
        chosen=chosen,
        believed=believed,
        known=None if believed is None else above_facts(believed),
        could=above_facts(exact),
        played=played,
        faults=faults,
        control=control,
    )


def score(believed: Float, exact: Float) -> Float:
    """Returns the expected logarithmic score of beliefs [N, 3, 8], summed over kinds: [N, 3]."""
    return np.asarray(scores(believed, exact).sum(axis=2))


def scores(believed: Float, exact: Float) -> Float:
    """Returns the expected logarithmic score of each belief: float64 [N, 3, 8]."""
    clipped = believed.clip(PROBABILITY_CLIP, 1 - PROBABILITY_CLIP)
    return np.asarray(exact * np.log(clipped) + (1 - exact) * np.log(1 - clipped))


def decisions(agent: Agent, questions: Questions, seed: int) -> tuple[Float, tuple[Fault, ...]]:
    """Returns the probability of each action, float64 [N, 69], and the agent's faults."""
    view = questions.view()
    legal = view.legal()
    if isinstance(agent, Policy) and is_stateless(agent):
        return ask_probabilities(agent, view, legal), ()
    attempt = attempt_actions(agent, view, legal, seed)
    return attempt.policy(legal), attempt.faults


def beliefs(agent: Agent, view: View, progress: Progress = HERE.progress) -> Float | None:
    """Returns an agent's beliefs, float64 [N, 3, 8]; None if it has none and no probabilities."""
    if (own_beliefs := ask_beliefs(agent, view)) is not None:
        return own_beliefs
    if not (isinstance(agent, Policy) and is_stateless(agent)):
        return None
    model, probabilities = PolicyModel(agent), np.zeros((len(view), len(RELATIVE_SEATS), NUM_KINDS))
    for row in range(len(view)):
        probabilities[row] = beliefs_of(model, view[row : row + 1])
        progress(f"beliefs of {agent.name}", row + 1, len(view))
    return probabilities


BINOMIALS: Final = np.array([[comb(n, k) for k in range(33)] for n in range(33)], np.float64)
"""Number of ways to choose k of n tiles, for n and k up to the 32 tiles of a game."""


def counted(view: View) -> Float:
    """Returns beliefs for which every unseen tile is equally likely in every place: [N, 3, 8].

    A place is in a hand or under a block. Treating all deals as equally likely gives other beliefs:
    there a shown tile counts as drawn from the hand at random.
    """
    places = view.hand_sizes + view.face_down.sum(axis=2)
    unseen = view.unseen.astype(np.int64)
    # Axes: position, seat, kind.
    total, places = unseen.sum(axis=1)[:, None, None], places[:, 1:, None]
    # A seat without the kind got all its tiles from the other unseen ones: hypergeometric.
    lacks = BINOMIALS[total - unseen[:, None, :], places] / BINOMIALS[total, places]
    return np.asarray(1 - lacks)


def controls(questions: Questions) -> tuple[Answers, ...]:
    """Returns the controls: best play with exact beliefs, and random play with two others."""
    view = questions.view()
    legal = view.legal()
    uniform = legal / legal.sum(axis=1, keepdims=True)
    best = np.eye(legal.shape[1])[questions.best]  # probability 1 for the best action
    rows = [
        ("(best actions, exact posterior)", best, questions.exact),
        ("(random, tiles and rules)", uniform, questions.facts),
        (COUNTING_CONTROL, uniform, counted(view)),
    ]
    return tuple(graded(name, questions, *answer, control=True) for name, *answer in rows)
