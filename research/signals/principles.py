"""Measures the evidence for the principles of play, and writes it beside them.

::

    python research/signals/principles.py

It takes about ten minutes of one core. What an action reveals is what it tells a listener who knows
that all play as the champion.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents import principles
from goita_agents.base import Bool
from goita_agents.beliefs import PolicyModel
from goita_agents.files import write_whole
from goita_agents.principles import PRINCIPLES, Principle
from goita_lab import provenance
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.exam.questions import SHIPPED, TABLES, Questions
from goita_lab.signals.listening import PARTNER, POLICY, ActionInformation, listen
from goita_lab.signals.measures.information_gain import over_deals
from goita_lab.signals.playing import Play, play

FORMAT: Final = "goita-principles-1"
FILE: Final = Path(principles.__file__).with_suffix(".json")
FEWEST: Final = 20
"""Positions, or actions, that make a figure."""
SEED: Final = 31
DEALS: Final = 400
SPEAKER: Final = "champion"
POPULATION: Final = tuple(sorted({one for two in TABLES for one in two if "population:" in one}))


@dataclass(frozen=True)
class Spoken:
    """Rounds of one policy, and what their actions told a seat of each deal."""

    made: Play
    heard: ActionInformation

    def told(self, principle: Principle, partner: bool) -> Interval | None:
        """Returns the nats that actions which follow it tell the partner, or an opponent."""
        rows = self.heard.row
        some = taken(principle, self.made)[0][rows] & ((self.heard.speaker == PARTNER) == partner)
        if some.sum() < FEWEST:
            return None
        return over_deals(self.made, rows[some], self.heard.told[some, self.heard.of(POLICY)])


def speak(deals: int) -> Spoken:
    """Plays rounds, and follows the actions that follow a principle."""
    made = play([SPEAKER], deals, seed=SEED)

    def follows(made: Play) -> Bool:
        return np.asarray(np.any([taken(one, made)[0] for one in PRINCIPLES], axis=0))

    models = {POLICY: PolicyModel(SPEAKER)}
    return Spoken(made, listen(made, models, known=False, where=follows)[0])


def taken(principle: Principle, made: Play) -> tuple[Bool, Bool]:
    """Returns which actions of a play follow a principle, and which go against it: bool [D]."""
    follow, against = principle.actions(made.view())
    rows = np.arange(len(made.action)), made.action
    return follow[rows], against[rows]


def worth(principle: Principle, exam: Questions) -> tuple[int, Interval | None]:
    """Returns in how many positions it applies, and what following it is worth, in points."""
    follow, against = principle.actions(exam.view())
    some = follow.any(axis=1)
    best = [np.where(one, exam.points, -np.inf).max(axis=1)[some] for one in (follow, against)]
    few = some.sum() < FEWEST
    return int(some.sum()), None if few else mean_interval(best[0] - best[1])


def followed(principle: Principle, made: Play) -> Interval:
    """Returns how often actions follow it, of those that follow it or go against it."""
    follow, against = taken(principle, made)
    (rows,) = np.nonzero(follow | against)
    return over_deals(made, rows, follow[rows])


def measure(exam: Questions, spoken: Spoken) -> dict[str, dict[str, Any]]:
    """Returns the evidence for each principle."""
    people, *others = [play([one], DEALS, seed=SEED) for one in ("people", *POPULATION)]
    found: dict[str, dict[str, Any]] = {}
    for one in PRINCIPLES:
        positions, points = worth(one, exam)
        members = mean_interval([followed(one, made).mean for made in others])
        rates = {"champion": followed(one, spoken.made), "people": followed(one, people)}
        found[one.key] = {
            "positions": positions,
            "worth": figure(points),
            "followed": {
                name: figure(rate) for name, rate in (rates | {"population": members}).items()
            },
            "partner": figure(spoken.told(one, partner=True)),
            "opponents": figure(spoken.told(one, partner=False)),
        }
    return found


def figure(found: Interval | None) -> Sequence[float] | None:
    return None if found is None else [round(x, 3) for x in (found.mean, found.low, found.high)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exam", type=Path, default=SHIPPED)
    parser.add_argument("--deals", type=int, default=DEALS, help="in which actions are followed")
    args = parser.parse_args()
    exam = Questions.load(args.exam)
    found = measure(exam, speak(args.deals))
    about = {"format": FORMAT, "exam": len(exam), "deals": args.deals, "seed": SEED}
    made = provenance.to_json({**about, "principles": found}, ["champion", "people", *POPULATION])
    write_whole(FILE, made)


if __name__ == "__main__":
    main()
