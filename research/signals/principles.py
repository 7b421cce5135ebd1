"""Measures the evidence for the principles of play, and writes it next to them.

::

    python research/signals/principles.py

It takes about ten minutes of one core. The information of an action is that for a listener which
knows that all play as the champion.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents import principles
from goita_agents.base import Bool, Float
from goita_agents.beliefs import PolicyModel
from goita_agents.files import write_whole
from goita_agents.principles import PRINCIPLES, Principle
from goita_env.tiles import PARTNER, RELATIVE_SEATS
from goita_lab import provenance
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.exam.making import TABLES
from goita_lab.exam.questions import SHIPPED, Questions
from goita_lab.signals.listening import POLICY, ActionInformation, listen
from goita_lab.signals.measures.principles import (
    MIN_PRINCIPLE_ACTIONS,
    followed,
    information_revealed,
    taken,
)
from goita_lab.signals.playing import Play, play

FORMAT: Final = "goita-principles-2"
FILE: Final = Path(principles.__file__).with_suffix(".json")
SEED: Final = 31
DEALS: Final = 400
RANDOM_PRINCIPLES: Final = 200
"""Random principles of which a control is the mean."""
OPPONENTS: Final = {*RELATIVE_SEATS.values()} - {PARTNER}
SPEAKER: Final = "champion"
POPULATION: Final = tuple(
    sorted({agent for table in TABLES for agent in table if "population:" in agent})
)


def speak() -> tuple[Play, ActionInformation]:
    """Plays rounds; returns them, and the information of the actions that follow a principle."""
    rounds = play([SPEAKER], DEALS, seed=SEED)

    def follows(rounds: Play) -> Bool:
        by_principle = [taken(principle, rounds)[0] for principle in PRINCIPLES]
        return np.asarray(np.any(by_principle, axis=0))

    models = {POLICY: PolicyModel(SPEAKER)}
    return rounds, listen(rounds, models, knowledge=False, where=follows)[0]


def worth(principle: Principle, exam: Questions) -> tuple[int, Interval | None, Interval | None]:
    """Returns the worth of following a principle, in points.

    Returns:
        The number of positions in which the best action takes a side; the worth of following there;
        and the worth minus that of a random principle, which advises as many of the same actions.
    """
    rng, rows = np.random.default_rng(SEED), np.arange(len(exam))
    follow, against = principle.actions(exam.view())
    decided = (follow | against)[rows, exam.best]
    follow, concerned = follow[decided], (follow | against)[decided]
    points, count = exam.points[decided], int(decided.sum())

    def leads(follow: Bool) -> Float:
        sides = follow, concerned & ~follow
        best, best_against = (np.where(side, points, -np.inf).max(axis=1) for side in sides)
        return np.asarray(best - best_against)

    def at_random() -> Bool:
        # The ranks of random numbers; actions that the principle does not concern come last.
        numbers = np.where(concerned, rng.random(concerned.shape), 1.0)
        rank = numbers.argsort(axis=1).argsort(axis=1)
        return np.asarray(rank < follow.sum(axis=1, keepdims=True))

    if count < MIN_PRINCIPLE_ACTIONS:
        return count, None, None
    control = np.mean([leads(at_random()) for _ in range(RANDOM_PRINCIPLES)], axis=0)
    return count, mean_interval(leads(follow)), mean_interval(leads(follow) - control)


def measure(
    exam: Questions, champion: Play, information: ActionInformation
) -> dict[str, dict[str, Any]]:
    """Returns the evidence for each principle."""

    def rate(principle: Principle, rounds: Play) -> Interval | None:
        return followed(rounds, *taken(principle, rounds))

    people = play(["people"], DEALS, seed=SEED)
    population = [play([agent], DEALS, seed=SEED) for agent in POPULATION]
    evidence: dict[str, dict[str, Any]] = {}
    for principle in PRINCIPLES:
        positions, points, beyond = worth(principle, exam)
        members = [share.mean for rounds in population if (share := rate(principle, rounds))]
        follow, _ = taken(principle, champion)
        rates = {
            "champion": rate(principle, champion),
            "people": rate(principle, people),
            "population": mean_interval(members),
        }
        evidence[principle.key] = {
            "positions": positions,
            "worth": figure(points),
            "beyond": figure(beyond),
            "followed": {name: figure(share) for name, share in rates.items()},
            "partner": figure(information_revealed(champion, information, follow)),
            "opponents": figure(
                information_revealed(champion, information, follow, speakers=OPPONENTS)
            ),
        }
    return evidence


def figure(interval: Interval | None) -> Sequence[float] | None:
    if interval is None:
        return None
    return [round(bound, 3) for bound in (interval.mean, interval.low, interval.high)]


def main() -> None:
    exam = Questions.load(SHIPPED)
    about = {"format": FORMAT, "exam": len(exam), "deals": DEALS, "seed": SEED}
    figures = {**about, "principles": measure(exam, *speak())}
    write_whole(FILE, provenance.to_json(figures, ["champion", "people", *POPULATION]))


if __name__ == "__main__":
    main()
