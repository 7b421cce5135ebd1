"""Measures the evidence for the principles of play, and writes it beside them.

::

    python research/signals/principles.py

It takes about ten minutes of one core. What an action reveals is what it tells a listener who knows
that all play as the champion.
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
RANDOM: Final = 200
"""Random principles behind a control."""
OPPONENTS: Final = {*RELATIVE_SEATS.values()} - {PARTNER}
SPEAKER: Final = "champion"
POPULATION: Final = tuple(sorted({one for two in TABLES for one in two if "population:" in one}))


def speak() -> tuple[Play, ActionInformation]:
    """Plays rounds, and follows the actions that follow a principle: what they tell a seat."""
    made = play([SPEAKER], DEALS, seed=SEED)

    def follows(made: Play) -> Bool:
        return np.asarray(np.any([taken(one, made)[0] for one in PRINCIPLES], axis=0))

    models = {POLICY: PolicyModel(SPEAKER)}
    return made, listen(made, models, knowledge=False, where=follows)[0]


def worth(principle: Principle, exam: Questions) -> tuple[int, Interval | None, Interval | None]:
    """Returns what following a principle is worth, in points.

    Returns:
        In how many positions the best action takes a side; what following is worth there; and how
        much more than following a random principle, which advises as many of the same actions.
    """
    rng, rows = np.random.default_rng(SEED), np.arange(len(exam))
    follow, against = principle.actions(exam.view())
    some = (follow | against)[rows, exam.best]
    follow, meant, points = follow[some], (follow | against)[some], exam.points[some]

    def leads(follow: Bool) -> Float:
        best = [np.where(one, points, -np.inf).max(axis=1) for one in (follow, meant & ~follow)]
        return np.asarray(best[0] - best[1])

    def at_random() -> Bool:
        order = np.where(meant, rng.random(meant.shape), 1.0).argsort(axis=1).argsort(axis=1)
        return np.asarray(order < follow.sum(axis=1, keepdims=True))

    if some.sum() < MIN_PRINCIPLE_ACTIONS:
        return int(some.sum()), None, None
    control = np.mean([leads(at_random()) for _ in range(RANDOM)], axis=0)
    return int(some.sum()), mean_interval(leads(follow)), mean_interval(leads(follow) - control)


def measure(exam: Questions, spoken: Play, heard: ActionInformation) -> dict[str, dict[str, Any]]:
    """Returns the evidence for each principle."""

    def rate(one: Principle, made: Play) -> Interval | None:
        return followed(made, *taken(one, made))

    people, *others = [play([one], DEALS, seed=SEED) for one in ("people", *POPULATION)]
    found: dict[str, dict[str, Any]] = {}
    for one in PRINCIPLES:
        positions, points, beyond = worth(one, exam)
        members = [share.mean for made in others if (share := rate(one, made))]
        follow, _ = taken(one, spoken)
        rates = {
            "champion": rate(one, spoken),
            "people": rate(one, people),
            "population": mean_interval(members),
        }
        found[one.key] = {
            "positions": positions,
            "worth": figure(points),
            "beyond": figure(beyond),
            "followed": {name: figure(each) for name, each in rates.items()},
            "partner": figure(information_revealed(spoken, heard, follow)),
            "opponents": figure(information_revealed(spoken, heard, follow, speakers=OPPONENTS)),
        }
    return found


def figure(found: Interval | None) -> Sequence[float] | None:
    return None if found is None else [round(x, 3) for x in (found.mean, found.low, found.high)]


def main() -> None:
    exam = Questions.load(SHIPPED)
    found = measure(exam, *speak())
    about = {"format": FORMAT, "exam": len(exam), "deals": DEALS, "seed": SEED}
    made = provenance.to_json({**about, "principles": found}, ["champion", "people", *POPULATION])
    write_whole(FILE, made)


if __name__ == "__main__":
    main()
