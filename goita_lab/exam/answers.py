"""Takes an exam: measures the points that an agent's decisions lose, and its knowledge of hands.

The share known compares scores of probabilities that a seat holds a tile of each kind. A score is
the expected log score, or Brier score, under the exact posterior, summed over kinds and positions.
The share is 0 for beliefs that follow only from tiles and rules, 1 for the exact posterior, and
below 0 for worse beliefs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.asking import (
    ask_beliefs,
    ask_probabilities,
    attempt_actions,
    build_agent,
    end_agent,
)
from goita_agents.base import (
    Agent,
    AgentError,
    Bool,
    Float,
    Int,
    Policy,
    is_stateless,
)
from goita_agents.faults import FAULTS, Fault, FaultTracking
from goita_agents.identity import weights
from goita_agents.models import PolicyModel
from goita_agents.registry import every_part
from goita_env import View
from goita_env.rules import JGA
from goita_lab.arena.statistics.intervals import Interval, ratio_interval
from goita_lab.exam.making import beliefs_of
from goita_lab.exam.questions import FORMAT, Questions
from goita_lab.exam.scoring import SCORING_RULES, counted, points_lost, score_interval
from goita_lab.work import Runner

COUNTING_CONTROL: Final = "(counts unseen tiles)"
"""Name of the control with which the agents' knowledge is compared."""
POSITIONS_PER_TASK: Final = 25
"""Positions that an agent answers at a time: what is kept after a stop."""
OWN_BELIEFS: Final = "its own"
"""Where the beliefs of an agent come from that states them by a method ``beliefs``."""


@dataclass(frozen=True)
class Answers:
    """The graded answers of one agent to N questions."""

    name: str
    lost: Float  #: [N] Points that its decision loses against the best action, in expectation.
    other_lost: Float  #: [N] The same if the acting seat continues as ``heuristic``.
    right: Float  #: [N] The probability with which it took a best action.
    chosen: Float  #: [N, 69] The probability of each action.
    table: Int  #: [N] The table of each position.
    believed: Float | None  #: [N, 3, 8] The agent's beliefs; None if it has no beliefs.
    belief_source: str  #: The source of the beliefs, in words; empty without beliefs.
    known: Mapping[str, Float] | None
    """By the name of a scoring rule, [N, 3] the score of its beliefs above that of tiles and rules;
    0 before play."""
    could: Mapping[str, Float]  #: The same for the exact posterior.
    played: int  #: Number of positions in which the agent played at one of the four seats.
    faults: tuple[Fault, ...]
    """Actions that are missing or illegal; legal actions replace them, all equally likely."""
    control: bool  #: Whether the answers are those of a control and not of an agent.

    def points(self, rows: Bool | slice = slice(None)) -> Interval:
        """Returns the points lost a decision, with the interval of ``score_interval``."""
        return score_interval(self.lost[rows], self.table[rows])

    def other_points(self) -> Interval:
        """Returns the same if the acting seat continues as ``heuristic``."""
        return score_interval(self.other_lost, self.table)

    def share(
        self,
        seats: list[int],
        rows: Bool | slice = slice(None),
        *,
        rule: str = "log",
        above: Answers | None = None,
    ) -> Interval | None:
        """Returns the share known of what could be known about the hands of seats.

        Args:
            seats: columns of beliefs: 0 next, 1 partner, 2 previous.
            rows: the positions.
            rule: the scoring rule, a name of ``SCORING_RULES``.
            above: answers whose score is subtracted, position by position; None: no answers.

        Returns:
            None without beliefs, or where in fewer than two positions anything could be known.
        """
        if self.known is None:
            return None
        known = self.known[rule]
        if above is not None and above.known is not None:
            known = known - above.known[rule]
        reached, possible = (
            score[rows][:, seats].sum(axis=1) for score in (known, self.could[rule])
        )
        counts = possible > 0
        return ratio_interval(reached[counts], possible[counts]) if counts.sum() > 1 else None


@dataclass(frozen=True)
class Sheet:
    """All answers to the questions of one exam."""

    questions: Questions
    agents: tuple[Answers, ...]  #: The agents that take the exam, as on the command line.
    references: tuple[Answers, ...]  #: Agents of this distribution, for comparison.
    controls: tuple[Answers, ...]  #: As ``controls`` returns them.

    @property
    def everybody(self) -> tuple[Answers, ...]:
        """Returns all answers: of agents, references and controls."""
        return (*self.agents, *self.references, *self.controls)

    @property
    def counting(self) -> Answers:
        """Returns the answers of the control that only counts unseen tiles."""
        return next(control for control in self.controls if control.name == COUNTING_CONTROL)

    def ordered(self) -> list[Answers]:
        """Returns all answers: those of the agents first, then the fewest points lost first."""

        def lost(answers: Answers) -> float:
            return float(answers.lost.mean())

        others = sorted((*self.references, *self.controls), key=lost)
        return [*sorted(self.agents, key=lost), *others]


@dataclass(frozen=True)
class AnswerTask:
    """Some questions for one agent."""

    spec: str
    questions: Questions
    seed: int
    with_beliefs: bool


@dataclass(frozen=True)
class RawAnswers:
    """An agent's answers to n questions before they are graded, as a file keeps them."""

    name: str
    chosen: npt.NDArray[np.float64]  #: [n, 69] The probability of each action.
    beliefs: npt.NDArray[np.float64] | None  #: [n, 3, 8]
    belief_source: str
    faults: tuple[Fault, ...]
    forfeits: bool  #: A program: it forfeits after ``FAULTS`` faults.


def take(
    spec: str | Agent, questions: Questions, seed: int = 0, *, with_beliefs: bool = True
) -> Answers:
    """Lets an agent take an exam; ``with_beliefs``: its beliefs are graded, too.

    An agent with known probabilities answers with them, another agent with an action. Its beliefs
    come from its method ``beliefs``. For an agent without this method they are the exact beliefs
    under the model that all seats play as the agent does; for ``STORED_MODELS`` these are stored
    with the questions.

    An action that is missing or illegal counts as a random action, and is listed in ``faults``.

    Raises:
        AgentError: if there is no such agent, its program does not start, it forfeits, or its
            probabilities or beliefs are not probabilities.
    """
    text = spec if isinstance(spec, str) else ""
    agent = build_agent(spec, JGA)
    try:
        parts = [
            answer(agent, AnswerTask(text, part, seed + first, with_beliefs))
            for first, part in parts_of(questions)
        ]
    finally:
        end_agent(agent)
    return grade_parts(text, questions, parts)


def take_all(
    specs: Sequence[str],
    questions: Questions,
    seed: int,
    runner: Runner,
    *,
    with_beliefs: bool = True,
) -> dict[str, Answers]:
    """Lets several agents take an exam as ``take`` does, on workers; a file keeps the answers."""
    tasks = {
        f"{spec} from {first}": AnswerTask(spec, part, seed + first, with_beliefs)
        for spec in specs
        for first, part in parts_of(questions)
    }
    arguments = {
        "format": FORMAT,
        "exam": sha256(questions.words.tobytes() + questions.points.tobytes()).hexdigest(),
        "seed": seed,
        "beliefs": with_beliefs,
    }
    raw = runner.run(
        answer_task, tasks, lambda _: RawAnswers, arguments, "answers", lambda task: [task.spec]
    )
    parts: dict[str, list[RawAnswers]] = {spec: [] for spec in specs}
    for key, answers in raw.items():
        parts[tasks[key].spec].append(answers)
    return {spec: grade_parts(spec, questions, parts[spec]) for spec in specs}


def parts_of(questions: Questions) -> Iterator[tuple[int, Questions]]:
    """Yields the questions of each task, with the index of the first."""
    for first in range(0, len(questions), POSITIONS_PER_TASK):
        rows = np.arange(first, min(first + POSITIONS_PER_TASK, len(questions)))
        yield first, questions.select(rows)


def answer_task(task: AnswerTask) -> RawAnswers:
    """Builds an agent for some questions, and returns its answers."""
    agent = build_agent(task.spec, JGA)
    try:
        return answer(agent, task)
    finally:
        end_agent(agent)


def answer(agent: Agent, task: AnswerTask) -> RawAnswers:
    """Returns an agent's answers to the questions of a task."""
    questions = task.questions
    chosen, faults = decisions(agent, questions, task.seed)
    believed, source = None, ""
    if task.with_beliefs:
        stored = questions.stored_beliefs(task.spec)
        if stored is not None:
            believed, source = stored, _source_of_model(agent)
        else:
            believed, source = beliefs(agent, questions.view())
    return RawAnswers(
        agent.name, chosen, believed, source, faults, forfeits=isinstance(agent, FaultTracking)
    )


def grade_parts(spec: str, questions: Questions, parts: Sequence[RawAnswers]) -> Answers:
    """Grades the answers to all questions, which were given in parts.

    Raises:
        AgentError: if a program made so many faults that it forfeits.
    """
    first = parts[0]
    faults = tuple(fault for part in parts for fault in part.faults)
    if first.forfeits and len(faults) >= FAULTS:
        raise AgentError(
            f"expected {first.name!r} to answer, but it forfeits after {FAULTS} faults, the last "
            f"({faults[-1].kind}): {faults[-1].text}"
        )
    believed = [part.beliefs for part in parts if part.beliefs is not None]
    # Positions in which a player has the same network or bot inside it. An agent that is not given
    # by its text has none.
    own_names = names(spec) if spec else set()
    played = sum(any(own_names & names(player) for player in line) for line in questions.players)
    return graded(
        first.name,
        questions,
        np.concatenate([part.chosen for part in parts]),
        np.concatenate(believed) if len(believed) == len(parts) else None,
        belief_source=first.belief_source,
        played=played,
        faults=faults,
    )


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
    belief_source: str = OWN_BELIEFS,
    played: int = 0,
    faults: tuple[Fault, ...] = (),
    control: bool = False,
) -> Answers:
    """Grades decisions [N, 69] and beliefs [N, 3, 8].

    Before play next to nothing can be known, so beliefs do not count in these positions.
    """
    lost, is_best = points_lost(questions.points, questions.best)
    other_lost, _ = points_lost(questions.other_points, questions.other_best)
    in_play = (questions.phase() > 0)[:, None]

    def above_facts(belief: Float) -> dict[str, Float]:
        return {
            rule: np.where(in_play, score(belief, exact) - score(questions.facts, exact), 0)
            for rule, score in SCORING_RULES.items()
        }

    exact = questions.exact
    return Answers(
        name,
        lost=(chosen * lost).sum(axis=1),
        other_lost=(chosen * other_lost).sum(axis=1),
        right=(chosen * is_best).sum(axis=1),
        chosen=chosen,
        table=questions.table(),
        believed=believed,
        belief_source="" if believed is None else belief_source,
        known=None if believed is None else above_facts(believed),
        could=above_facts(exact),
        played=played,
        faults=faults,
        control=control,
    )


def decisions(agent: Agent, questions: Questions, seed: int) -> tuple[Float, tuple[Fault, ...]]:
    """Returns the probability of each action, float64 [N, 69], and the agent's faults."""
    view = questions.view()
    legal = view.legal()
    if isinstance(agent, Policy) and is_stateless(agent):
        return ask_probabilities(agent, view, legal), ()
    attempt = attempt_actions(agent, view, legal, seed)
    return attempt.policy(legal), attempt.faults


def beliefs(agent: Agent, view: View) -> tuple[Float | None, str]:
    """Returns an agent's beliefs, float64 [N, 3, 8], and where they come from, in words.

    None if the agent has no beliefs of its own, and no known probabilities.
    """
    if (own_beliefs := ask_beliefs(agent, view)) is not None:
        return own_beliefs, OWN_BELIEFS
    if not (isinstance(agent, Policy) and is_stateless(agent)):
        return None, ""
    model = PolicyModel(agent)
    rows = [beliefs_of(model, view[row : row + 1]) for row in range(len(view))]
    return np.array(rows), _source_of_model(agent)


def _source_of_model(agent: Agent) -> str:
    return f"all others play as {agent.name}"


def controls(questions: Questions) -> tuple[Answers, ...]:
    """Returns the controls.

    Two choose an action, with the exact posterior and with what follows from the rules; one plays
    at random, with the beliefs of tiles and rules; and one counts unseen tiles.
    """
    view = questions.view()
    legal = view.legal()
    uniform = legal / legal.sum(axis=1, keepdims=True)
    one_hot = np.eye(legal.shape[1])
    rows = (
        ("(best actions, exact posterior)", one_hot[questions.best], questions.exact),
        ("(best actions by tiles and rules)", one_hot[questions.best_by_rules], None),
        ("(random, tiles and rules)", uniform, questions.facts),
        (COUNTING_CONTROL, uniform, counted(view)),
    )
    return tuple(graded(name, questions, *answer, control=True) for name, *answer in rows)
