"""The questions of an exam: positions, the points of each action, and exact beliefs.

``making`` computes them. This module defines the format of their file, reads it and checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.base import Float, Int
from goita_agents.identity import code, digest
from goita_env import View
from goita_env.actions import NUM_ACTIONS, PASS
from goita_env.errors import SettingError
from goita_env.rules import JGA
from goita_env.tiles import COUNTS, NUM_KINDS, NUM_SEATS, RELATIVE_SEATS
from goita_env.views import from_observation
from goita_lab.phases import phases_of
from goita_lab.store import MOST_POINTS, Column, read, write

FORMAT: Final = "goita-exam-3"
SHIPPED: Final = Path(__file__).with_name("exam.npz")

STORED_MODELS: Final = ("heuristic", "champion")
"""Agents whose beliefs are stored with the questions: each models all other seats as itself."""
BEST_ACTION_MIN_Z: Final = 2.0
"""Standard errors by which the best action must lead each other action."""
ANSWER_KINDS: Final = ("best to receive", "best to pass")
QUESTION_KINDS: Final = ("before play", "lead", *ANSWER_KINDS, "finish")
MOST_PROBABILITY: Final = 1 + 1e-6
"""Bound on stored probabilities, which are rounded."""
STAKE_BOUNDS: Final = (5.0, 15.0)
"""Bounds between low, middle and high stakes, in points. The stake of a position is the lead of
the best action over the mean of the others."""

BELIEFS: Final = ("N", len(RELATIVE_SEATS), NUM_KINDS)
QUESTION_COLUMNS: Final = {
    "words": Column("u", ("N", 8), 0, inf),
    "points": Column("f", ("N", NUM_ACTIONS), -MOST_POINTS, MOST_POINTS, gaps=True),
    "error": Column("f", ("N", NUM_ACTIONS), 0, MOST_POINTS, gaps=True),
    "best": Column("i", ("N",), 0, NUM_ACTIONS - 1),
    "lead": Column("f", ("N", NUM_ACTIONS), -MOST_POINTS, MOST_POINTS, gaps=True),
    "lead_error": Column("f", ("N", NUM_ACTIONS), 0, MOST_POINTS, gaps=True),
    "choosing_lead": Column("f", ("N", NUM_ACTIONS), -MOST_POINTS, MOST_POINTS, gaps=True),
    "choosing_lead_error": Column("f", ("N", NUM_ACTIONS), 0, MOST_POINTS, gaps=True),
    "best_by_rules": Column("i", ("N",), 0, NUM_ACTIONS - 1),
    "other_points": Column("f", ("N", NUM_ACTIONS), -MOST_POINTS, MOST_POINTS, gaps=True),
    "other_best": Column("i", ("N",), 0, NUM_ACTIONS - 1),
    "exact": Column("f", BELIEFS, 0, MOST_PROBABILITY),
    "facts": Column("f", BELIEFS, 0, MOST_PROBABILITY),
    "modelled": Column("f", ("N", len(STORED_MODELS), *BELIEFS[1:]), 0, MOST_PROBABILITY),
    "match": Column("i", ("N",), 0),
}
"""The arrays of a file, with a row for each position."""
BY_ACTION: Final = tuple(name for name, column in QUESTION_COLUMNS.items() if column.gaps)
"""The arrays with a value for each legal action."""
PLAYERS: Final = {"players": Column("U", ("N",))}
DTYPES: Final = {"u": np.uint64, "i": np.int64, "f": np.float64}


@dataclass(frozen=True)
class Question:
    """One position: one row of each array of ``Questions``, where the arrays are explained."""

    words: npt.NDArray[np.uint64]  #: [8]
    points: Float  #: [69]
    error: Float  #: [69]
    best: int
    lead: Float  #: [69]
    lead_error: Float  #: [69]
    choosing_lead: Float  #: [69]
    choosing_lead_error: Float  #: [69]
    best_by_rules: int
    other_points: Float  #: [69]
    other_best: int
    exact: Float  #: [3, 8]
    facts: Float  #: [3, 8]
    modelled: Float  #: [M, 3, 8]
    match: int
    players: tuple[str, ...]


@dataclass(frozen=True)
class Questions:
    """N positions. Seats of beliefs are next, partner and previous."""

    words: npt.NDArray[np.uint64]  #: [N, 8] The acting seat's packed view (``View.words``).
    points: Float  #: [N, 69] Of each legal action, for the acting seat's team; NaN where illegal.
    error: Float  #: [N, 69] Their standard errors.
    best: Int  #: [N] The best action, which was chosen in other worlds.
    lead: Float
    """[N, 69] Points by which the best action leads each legal action in the worlds of ``points``;
    0 with error 0 for actions that tie with it in each world; NaN where illegal."""
    lead_error: Float  #: [N, 69] Standard errors of these leads.
    choosing_lead: Float  #: [N, 69] The same leads in the worlds in which ``best`` was chosen.
    choosing_lead_error: Float  #: [N, 69] Their standard errors.
    best_by_rules: Int
    """[N] The best action in worlds that follow from tiles and rules only, if all seats continue as
    the champion: the choice of a strong player that learns nothing from the others' moves."""
    other_points: Float
    """[N, 69] The same as ``points``, in the same worlds, if the acting seat continues as
    ``heuristic``."""
    other_best: Int  #: [N] The best action for that seat, chosen in other worlds.
    exact: Float  #: [N, 3, 8] Probability that a seat holds a tile of the kind, given the policies.
    facts: Float  #: [N, 3, 8] The same probability if only tiles and rules are known.
    modelled: Float
    """[N, M, 3, 8] The same probability if all other seats are modelled as one of the M
    ``STORED_MODELS``."""
    match: Int  #: [N] Number of the round or match that a position is from.
    players: tuple[tuple[str, ...], ...]  #: [N] Texts of the agents, from the acting seat on.
    valued: int  #: Number of positions whose actions were valued.
    clear: int  #: Number of these with a clearly best action, from which the N were drawn.
    about: Mapping[str, Any] = field(default_factory=dict)  #: How they were made, as JSON.

    def columns(self) -> dict[str, Column]:
        """Returns the types, shapes and bounds of the arrays of a file, or of a stored task."""
        return QUESTION_COLUMNS

    def check(self) -> Self:
        """Returns the questions; raises a SettingError if they contradict positions or each other.

        Numbers that are possible in a game are trusted.
        """
        view, rows = self.view(), np.arange(len(self))
        # An ObservationError if bits without a meaning are set.
        from_observation(view.observation())
        legal = view.legal()
        tiles = view.hand + view.unseen + view.face_up.sum(axis=1)
        faults = {
            "a position or more": not len(self),
            "positions with a choice": (legal.sum(axis=1) < 2).any() or (tiles > COUNTS).any(),
            "points, leads and errors of the legal actions": any(
                (np.isnan(getattr(self, name)) == legal).any() for name in BY_ACTION
            ),
            "legal best actions": not all(
                legal[rows, actions].all()
                for actions in (self.best, self.best_by_rules, self.other_best)
            ),
            "best actions that lead each other one": not self.leads_clearly().all(),
            "four players a position": {len(line) for line in self.players} != {NUM_SEATS}
            or len(self.players) != len(self),
            "positions of those that were valued": not len(self) <= self.clear <= self.valued,
        }
        for expected, fails in faults.items():
            if fails:
                raise SettingError(f"expected {expected} in an exam, got others")
        return self

    def __len__(self) -> int:
        return len(self.words)

    def view(self) -> View:
        """Returns the acting seats' views."""
        return View(self.words, rules=JGA)

    def leads_clearly(self) -> npt.NDArray[np.bool_]:
        """Returns whether the best action led clearly where it was chosen: bool [N]."""
        return clear_lead(self.choosing_lead, self.choosing_lead_error)

    def table(self) -> Int:
        """Returns the table of each position, int64 [N]: an index of its two teams among all."""
        teams = [tuple(sorted(line[:2])) for line in self.players]
        index = {pair: place for place, pair in enumerate(dict.fromkeys(teams))}
        return np.array([index[pair] for pair in teams], np.int64)

    def phase(self) -> Int:
        """Returns the phase of each position: int64 [N], an index of ``PHASES``."""
        return phases_of(self.view())

    def kind(self) -> Int:
        """Returns the kind of each decision: int64 [N], an index of ``QUESTION_KINDS``.

        At a finish a play can end the round. The kind of an answer depends on the best action.
        """
        view = self.view()
        before_play, lead, receive, pass_, finish = range(len(QUESTION_KINDS))
        answer = np.where(self.best == PASS, pass_, receive)
        in_play = np.where(view.mover_leads, lead, answer)
        in_play = np.where(view.hand_sizes[:, 0] == 2, finish, in_play)  # a play has two tiles
        return np.where(self.phase() == 0, before_play, in_play)

    def stakes(self) -> Float:
        """Returns the points by which the best action leads the mean of the others: float64 [N]."""
        rows = np.arange(len(self))
        best = self.points[rows, self.best]
        others = self.points.copy()
        others[rows, self.best] = np.nan
        return np.asarray(best - np.nanmean(others, axis=1))

    def stored_beliefs(self, spec: str) -> Float | None:
        """Returns the stored beliefs of an agent of ``STORED_MODELS``: [N, 3, 8].

        None for another agent, and for an agent that has changed since.
        """
        digests = self.about.get("models", {})
        if spec not in STORED_MODELS or digests.get(spec) != model_digest(spec):
            return None
        return np.asarray(self.modelled[:, STORED_MODELS.index(spec)])

    def select(self, rows: Int) -> Questions:
        """Returns the positions ``rows``, in this order."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in QUESTION_COLUMNS}
        players = tuple(self.players[row] for row in rows)
        return replace(self, **arrays, players=players)

    @classmethod
    def stack(cls, questions: Sequence[Question], valued: int) -> Self:
        """Returns questions as arrays; ``valued``: number of positions, those dropped included."""
        arrays: dict[str, Any] = {}
        for name, column in QUESTION_COLUMNS.items():
            values = [getattr(question, name) for question in questions]
            # Without a question, too, the array has the axes of its column after the first.
            shape = len(values), *column.shape[1:]
            arrays[name] = np.array(values, DTYPES[column.kind]).reshape(shape)
        players = tuple(question.players for question in questions)
        return cls(**arrays, players=players, valued=valued, clear=len(questions))

    @classmethod
    def join(cls, parts: Sequence[Questions]) -> Self:
        """Returns the positions of all parts."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in QUESTION_COLUMNS
        }
        players = tuple(line for part in parts for line in part.players)
        valued, clear = (sum(getattr(part, name) for part in parts) for name in ("valued", "clear"))
        return cls(**arrays, players=players, valued=valued, clear=clear)

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes the questions; ``about``: how they were made, as JSON."""
        arrays = {name: getattr(self, name) for name in QUESTION_COLUMNS}
        arrays |= {
            name: arrays[name].astype(np.float32)
            for name, column in QUESTION_COLUMNS.items()
            if column.kind == "f"
        }
        players = {"players": np.array(["\n".join(line) for line in self.players])}
        counts = {"valued": self.valued, "clear": self.clear}
        write(path, {"format": FORMAT, **counts, **about}, arrays | players)

    @classmethod
    def load(cls, path: Path = SHIPPED) -> Questions:
        """Reads questions; raises a SettingError if the file is damaged or not an exam."""
        about, arrays = read(path, {"format": FORMAT}, QUESTION_COLUMNS | PLAYERS)
        players = tuple(tuple(line.split("\n")) for line in arrays.pop("players").tolist())
        arrays |= {
            name: arrays[name].astype(float)
            for name in arrays
            if QUESTION_COLUMNS[name].kind == "f"
        }
        try:
            counts = msgspec.convert(about, Counts)
            questions = cls(
                **arrays, players=players, valued=counts.valued, clear=counts.clear, about=about
            )
            return questions.check()
        except ValueError as error:
            raise SettingError(f"expected an exam in {str(path)!r}: {error}") from error


Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True)
class Counts:
    """The types of a file's JSON keys: the counts, and the keys of ``about`` that pages show."""

    valued: Count
    clear: Count
    command: str = ""
    seed: Count = 0
    versions: dict[str, str] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)


def model_digest(model: str) -> str:
    """Returns a digest of what beliefs of a stored model depend on: its network or its code."""
    return digest(model) or code(model)


def clear_lead(lead: Float, error: Float) -> npt.NDArray[np.bool_]:
    """Returns whether an action leads each other action by ``BEST_ACTION_MIN_Z``: bool [N].

    Two actions are equal if they tie in each world: lead and error are 0. If all legal actions are
    equal, there is no leader.

    Args:
        lead: [N, 69] points by which the action leads each action; NaN for illegal ones.
        error: [N, 69] standard errors of these leads.
    """
    equal = (lead == 0) & (error == 0)
    clear = np.isnan(lead) | equal | (lead > BEST_ACTION_MIN_Z * error)
    return np.asarray(clear.all(axis=1) & (lead > 0).any(axis=1))
