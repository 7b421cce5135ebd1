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

FORMAT: Final = "goita-exam-2"
SHIPPED: Final = Path(__file__).with_name("exam.npz")

READERS: Final = ("heuristic", "champion")
"""Agents whose beliefs are stored with the questions: each models all other seats as itself."""
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
    "lead": Column("f", ("N",), -MOST_POINTS, MOST_POINTS),
    "lead_error": Column("f", ("N",), 0, MOST_POINTS),
    "exact": Column("f", BELIEFS, 0, MOST_PROBABILITY),
    "facts": Column("f", BELIEFS, 0, MOST_PROBABILITY),
    "read": Column("f", ("N", len(READERS), *BELIEFS[1:]), 0, MOST_PROBABILITY),
}
"""The arrays of a file, with a row for each position."""
PLAYERS: Final = {"players": Column("U", ("N",))}
DTYPES: Final = {"u": np.uint64, "i": np.int64, "f": np.float64}


@dataclass(frozen=True)
class Question:
    """One position: a row of each array of ``Questions``, which explains them."""

    words: npt.NDArray[np.uint64]  #: [8]
    points: Float  #: [69]
    error: Float  #: [69]
    best: int
    lead: float
    lead_error: float
    exact: Float  #: [3, 8]
    facts: Float  #: [3, 8]
    read: Float  #: [R, 3, 8]
    players: tuple[str, ...]


@dataclass(frozen=True)
class Questions:
    """N positions. Seats of beliefs are next, partner and previous."""

    words: npt.NDArray[np.uint64]  #: [N, 8] The acting seat's packed view (``View.words``).
    points: Float  #: [N, 69] Of each legal action, for the acting seat's team; NaN where illegal.
    error: Float  #: [N, 69] Their standard errors.
    best: Int  #: [N] The best action, which was chosen in other worlds.
    lead: Float  #: [N] Points by which it leads the next best action that is not its equal.
    lead_error: Float  #: [N] Standard error of the lead.
    exact: Float  #: [N, 3, 8] Probability that a seat holds a tile of the kind, given the players.
    facts: Float  #: [N, 3, 8] The same by the tiles and rules only.
    read: Float  #: [N, R, 3, 8] The same by the beliefs of each of the R ``READERS``.
    players: tuple[tuple[str, ...], ...]  #: [N] Texts of the agents, from the acting seat on.
    asked: int  #: Number of positions that were valued.
    sure: int  #: Number of these with a clearly best action, from which the N were drawn.
    about: Mapping[str, Any] = field(default_factory=dict)  #: How they were made, as JSON.

    def columns(self) -> dict[str, Column]:
        """Returns the types, shapes and bounds of the arrays of a file, or of a stored task."""
        return QUESTION_COLUMNS

    def check(self) -> Self:
        """Returns the questions; raises a SettingError if they contradict positions or each other.

        A file is trusted where its numbers are possible in a game.
        """
        view, rows = self.view(), np.arange(len(self))
        # An ObservationError if bits without a meaning are set.
        from_observation(view.observation())
        legal = view.legal()
        tiles = view.hand + view.unseen + view.face_up.sum(axis=1)
        faults = {
            "a position or more": not len(self),
            "positions with a choice": (legal.sum(axis=1) < 2).any() or (tiles > COUNTS).any(),
            "points and errors of the legal actions": (np.isnan(self.points) == legal).any()
            or (np.isnan(self.error) == legal).any(),
            "legal best actions": not legal[rows, self.best].all(),
            "four players a position": {len(line) for line in self.players} != {NUM_SEATS}
            or len(self.players) != len(self),
            "positions of those that were looked at": not len(self) <= self.sure <= self.asked,
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

    def kept(self, reader: str) -> Float | None:
        """Returns the stored beliefs of one of ``READERS``: [N, 3, 8]; None if it has changed."""
        digests = self.about.get("readers", {})
        if reader not in READERS or digests.get(reader) != reader_digest(reader):
            return None
        return np.asarray(self.read[:, READERS.index(reader)])

    def select(self, rows: Int) -> Questions:
        """Returns the positions ``rows``, in this order."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in QUESTION_COLUMNS}
        players = tuple(self.players[row] for row in rows)
        return replace(self, **arrays, players=players)

    @classmethod
    def stack(cls, questions: Sequence[Question], asked: int) -> Self:
        """Returns questions as arrays; ``asked``: number of positions that were valued."""
        arrays: dict[str, Any] = {}
        for name, column in QUESTION_COLUMNS.items():
            values = [getattr(question, name) for question in questions]
            # Without a question, too, the array has the axes of its column after the first.
            shape = len(values), *column.shape[1:]
            arrays[name] = np.array(values, DTYPES[column.kind]).reshape(shape)
        players = tuple(question.players for question in questions)
        return cls(**arrays, players=players, asked=asked, sure=len(questions))

    @classmethod
    def join(cls, parts: Sequence[Questions]) -> Self:
        """Returns the positions of all parts."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in QUESTION_COLUMNS
        }
        players = tuple(line for part in parts for line in part.players)
        asked, sure = (sum(getattr(part, name) for part in parts) for name in ("asked", "sure"))
        return cls(**arrays, players=players, asked=asked, sure=sure)

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes the questions; ``about``: how they were made, as JSON."""
        arrays = {name: getattr(self, name) for name in QUESTION_COLUMNS}
        single = ("exact", "facts", "read", "points", "error")
        arrays |= {name: arrays[name].astype(np.float32) for name in single}
        players = {"players": np.array(["\n".join(line) for line in self.players])}
        counts = {"asked": self.asked, "sure": self.sure}
        write(path, {"format": FORMAT, **counts, **about}, arrays | players)

    @classmethod
    def load(cls, path: Path = SHIPPED) -> Questions:
        """Reads questions; raises a SettingError if the file is damaged or no exam."""
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
                **arrays, players=players, asked=counts.asked, sure=counts.sure, about=about
            )
            return questions.check()
        except ValueError as error:
            raise SettingError(f"expected an exam in {str(path)!r}: {error}") from error


Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True)
class Counts:
    """The types of a file's JSON keys: the counts, and the keys of ``about`` that pages show."""

    asked: Count
    sure: Count
    command: str = ""
    seed: Count = 0
    versions: dict[str, str] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)
    readers: dict[str, str] = field(default_factory=dict)


def reader_digest(reader: str) -> str:
    """Returns a digest of what beliefs of one of ``READERS`` depend on: its network or its code."""
    return digest(reader) or code(reader)
