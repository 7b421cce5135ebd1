"""Makes the questions of an exam: positions, the points of each action, and what could be known.

Known players play rounds and matches. At a decision everything can be computed, given their
policies: worlds are drawn from the exact posterior of the acting seat, and each action is played
out in all of them. The others go on by the policies that played there, the acting seat by the
champion's. The best action is found in some worlds; its points are those of others, because the
worlds that chose it favour it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from math import inf
from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.base import Float, Int, Policy
from goita_agents.beliefs import Listener
from goita_agents.identity import code, digest
from goita_agents.models import LEGAL_MODEL, PolicyModel
from goita_agents.search.action_values import ActionValues, evaluate_actions
from goita_agents.search.sampling import SampledWorlds, TypedWorlds
from goita_env import View
from goita_env.actions import NUM_ACTIONS, PASS
from goita_env.errors import SettingError
from goita_env.rounds import Episode
from goita_env.rules import JGA
from goita_env.tiles import COUNTS, NUM_KINDS, NUM_SEATS, RELATIVE_SEATS
from goita_env.views import from_observation
from goita_lab.phases import phases_of
from goita_lab.signals.playing import Play, load_policy, play
from goita_lab.store import MOST_POINTS, Column, read, write
from goita_lab.work import HERE, Runner

FORMAT: Final = "goita-exam-2"
SHIPPED: Final = Path(__file__).with_name("exam.npz")

TABLES: Final = (
    ("champion", "heuristic"),
    ("people", "champion"),
    ("heuristic", "people"),
    ("champion", "population:selfplay-0"),
    ("population:entropy-0", "heuristic"),
    ("population:offbelief-0", "population:otherplay-0"),
    ("population:beside-heuristic-0", "people"),
    ("population:selfplay-1", "population:preferring-0"),
)
"""The two teams of each table."""

BASE: Final = "champion"
"""Who goes on for the acting seat."""
READERS: Final = ("heuristic", "champion")
"""Whose beliefs are kept with the questions: readers that take everybody for themselves."""
ROUNDS: Final[dict[Episode, int]] = {"round": 16, "match": 4}
"""Rounds, or matches, of a piece of work: each deal twice, with the teams exchanged."""
SPARE: Final = 1.5
"""Positions that are valued for each one that is drawn."""
FIRST: Final = 256
MOST: Final = 2048
"""Worlds in which the best action is sought: the first ones, and the most."""
FRESH: Final = 1024
"""Worlds of the points."""
SURE: Final = 2.0
"""Standard errors by which the best action must lead each other one."""

ANSWERS: Final = ("best to receive", "best to pass")
KINDS: Final = ("before play", "lead", *ANSWERS, "finish")
SUM: Final = 1 + 1e-6
"""Most that a stored probability is, by rounding."""
STAKES: Final = (5.0, 15.0)
"""Points between the best action and the mean of the others, that part low, middle and high."""


@dataclass(frozen=True)
class Questions:
    """N positions. Seats of beliefs are next, partner and previous."""

    words: npt.NDArray[np.uint64]  #: [N, 8] What the acting seat sees (``View.words``).
    points: Float  #: [N, 69] Of each legal action, for the acting seat's team; NaN where illegal.
    error: Float  #: [N, 69] Their standard errors.
    best: Int  #: [N] The best action, which was chosen in other worlds.
    lead: Float  #: [N] By how many points it leads the second best, and...
    lead_error: Float  #: [N] ...the standard error.
    exact: Float  #: [N, 3, 8] Probability that a seat holds a tile of the kind, given the players.
    facts: Float  #: [N, 3, 8] The same by the tiles and rules only.
    read: Float  #: [N, R, 3, 8] The same as each of ``READERS`` has it.
    players: tuple[tuple[str, ...], ...]  #: [N] Texts of those who played, from the acting seat on.
    asked: int  #: Positions that were looked at, and...
    sure: int  #: ...those with an action that was best for sure, of which these N were drawn.
    about: Mapping[str, Any] = field(default_factory=dict)  #: What made them, as JSON.

    def columns(self) -> dict[str, Column]:
        """Returns what the arrays of a file, or of a kept task, may be."""
        return COLUMNS

    def check(self) -> Self:
        """Returns the questions; a SettingError where they contradict the positions or each other.

        What a file says is believed as far as a game can be like that.
        """
        view, rows = self.view(), np.arange(len(self))
        from_observation(view.observation())  # an ObservationError if bits are set that are none
        legal = view.legal()
        seen = view.hand + view.unseen + view.face_up.sum(axis=1)
        faults = {
            "a position or more": not len(self),
            "positions with a choice": (legal.sum(axis=1) < 2).any() or (seen > COUNTS).any(),
            "points and errors of the legal actions": (np.isnan(self.points) == legal).any()
            or (np.isnan(self.error) == legal).any(),
            "legal best actions": not legal[rows, self.best].all(),
            "four players a position": {len(line) for line in self.players} != {NUM_SEATS}
            or len(self.players) != len(self),
            "positions of those that were looked at": not len(self) <= self.sure <= self.asked,
        }
        for wanted, wrong in faults.items():
            if wrong:
                raise SettingError(f"expected {wanted} in an exam, got others")
        return self

    def __len__(self) -> int:
        return len(self.words)

    def view(self) -> View:
        """Returns what the acting seats see."""
        return View(self.words, rules=JGA)

    def phase(self) -> Int:
        """Returns the phase of each position: int64 [N], an index of ``PHASES``."""
        return phases_of(self.view())

    def kind(self) -> Int:
        """Returns what is decided: int64 [N], an index of ``KINDS``.

        A finish is a play that can end the round. Else the best action says whether to receive.
        """
        view = self.view()
        found = np.where(view.mover_leads, 1, np.where(self.best == PASS, 3, 2))
        found = np.where(view.hand_sizes[:, 0] == 2, 4, found)
        return np.where(self.phase() == 0, 0, found)

    def stakes(self) -> Float:
        """Returns by how many points the best action leads the mean of the others: float64 [N]."""
        rows = np.arange(len(self))
        best = self.points[rows, self.best]
        others = self.points.copy()
        others[rows, self.best] = np.nan
        return np.asarray(best - np.nanmean(others, axis=1))

    def kept(self, reader: str) -> Float | None:
        """Returns the beliefs of one of ``READERS``: [N, 3, 8]; None if it has changed since."""
        if reader not in READERS or self.about.get("readers", {}).get(reader) != made_of(reader):
            return None
        return np.asarray(self.read[:, READERS.index(reader)])

    def select(self, rows: Int) -> Questions:
        """Returns some of the positions, in the order of ``rows``."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in ARRAYS}
        players = tuple(self.players[row] for row in rows)
        return replace(self, **arrays, players=players)

    @classmethod
    def join(cls, parts: Iterable[Questions]) -> Questions:
        """Returns the positions of all parts."""
        parts = list(parts)
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in parts]) for name in ARRAYS
        }
        players = tuple(line for one in parts for line in one.players)
        asked, sure = (sum(getattr(one, name) for one in parts) for name in ("asked", "sure"))
        return cls(**arrays, players=players, asked=asked, sure=sure)

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Writes the questions; ``about``: what made them, as JSON."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        short = ("exact", "facts", "read", "points", "error")
        arrays |= {name: arrays[name].astype(np.float32) for name in short}
        named = {"players": np.array(["\n".join(line) for line in self.players])}
        counts = {"asked": self.asked, "sure": self.sure}
        write(path, {"format": FORMAT, **counts, **about}, arrays | named)

    @classmethod
    def load(cls, path: Path = SHIPPED) -> Questions:
        """Reads questions; raises a SettingError if the file is damaged or none."""
        about, arrays = read(path, {"format": FORMAT}, COLUMNS | PLAYERS)
        players = tuple(tuple(line.split("\n")) for line in arrays.pop("players").tolist())
        arrays |= {name: arrays[name].astype(float) for name in arrays if COLUMNS[name].kind == "f"}
        try:
            counts = msgspec.convert(about, Counts)
            questions = cls(
                **arrays, players=players, asked=counts.asked, sure=counts.sure, about=about
            )
            return questions.check()
        except ValueError as error:
            raise SettingError(f"expected an exam in {str(path)!r}: {error}") from error


def made_of(reader: str) -> str:
    """Returns what the beliefs of one of ``READERS`` depend on: its network, or its code."""
    return digest(reader) or code(reader)


COLUMNS: Final = {
    "words": Column("u", ("N", 8), 0, inf),
    "points": Column("f", ("N", NUM_ACTIONS), -MOST_POINTS, MOST_POINTS, gaps=True),
    "error": Column("f", ("N", NUM_ACTIONS), 0, MOST_POINTS, gaps=True),
    "best": Column("i", ("N",), 0, NUM_ACTIONS - 1),
    "lead": Column("f", ("N",), -MOST_POINTS, MOST_POINTS),
    "lead_error": Column("f", ("N",), 0, MOST_POINTS),
    "exact": Column("f", ("N", len(RELATIVE_SEATS), NUM_KINDS), 0, SUM),
    "facts": Column("f", ("N", len(RELATIVE_SEATS), NUM_KINDS), 0, SUM),
    "read": Column("f", ("N", len(READERS), len(RELATIVE_SEATS), NUM_KINDS), 0, SUM),
}
"""The fields with a row for each position."""
PLAYERS: Final = {"players": Column("U", ("N",))}
ARRAYS: Final = tuple(COLUMNS)


Count = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True)
class Counts:
    """The keys of a file's JSON that are read back, besides those of ``about`` that are shown."""

    asked: Count
    sure: Count
    command: str = ""
    seed: Count = 0
    versions: dict[str, str] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)
    readers: dict[str, str] = field(default_factory=dict)


NOTHING: Final = Questions(
    np.zeros((0, 8), np.uint64),
    np.zeros((0, NUM_ACTIONS)),
    np.zeros((0, NUM_ACTIONS)),
    np.zeros(0, np.int64),
    np.zeros(0),
    np.zeros(0),
    np.zeros((0, 3, NUM_KINDS)),
    np.zeros((0, 3, NUM_KINDS)),
    np.zeros((0, len(READERS), 3, NUM_KINDS)),
    (),
    0,
    0,
)


@dataclass(frozen=True)
class Piece:
    """Rounds or matches of one table, in which positions are sought."""

    table: tuple[str, str]
    episode: Episode
    number: int
    seed: int


def make(
    count: int, seed: int, runner: Runner = HERE, tables: Sequence[tuple[str, str]] = TABLES
) -> Questions:
    """Makes an exam.

    Args:
        count: positions; pieces of work are added until there are enough of them.
        seed: of deals, worlds and playouts.
        runner: how the work is done.
        tables: the two teams of each table.
    """
    constants = {
        "rounds": ROUNDS,
        "worlds": [FIRST, MOST, FRESH],
        "sure": SURE,
        "players": [BASE, *READERS],
    }
    arguments = {"seed": seed, "format": FORMAT, "tables": tables, **constants}
    questions: list[Questions] = []
    with runner.opened(arguments) as opened:
        while sum(map(len, questions)) < SPARE * count:
            begun, kinds = len(questions), product(tables, ROUNDS)
            todo = {
                f"{number}": Piece(table, episode, number, seed)
                for number, (table, episode) in enumerate(kinds, begun)
            }
            parts = opened.run(sought, todo, lambda _: Questions, "pieces of an exam", players_of)
            questions += parts.values()
    return chosen(Questions.join(questions).check(), count, seed)


def players_of(piece: Piece) -> tuple[str, ...]:
    """Returns the texts of the agents that a piece depends on."""
    return tuple(dict.fromkeys((*piece.table, BASE, *READERS)))


def chosen(found: Questions, count: int, seed: int) -> Questions:
    """Draws positions, as many of each phase and stake as there are."""
    cell = found.phase() * 3 + np.digitize(found.stakes(), STAKES)
    order = np.random.default_rng(seed).permutation(len(found))
    _, place = np.unique(cell[order], return_inverse=True)
    turn = np.zeros(len(order), np.int64)  # how many of its cell come before each
    for one in range(int(place.max(initial=-1)) + 1):
        some = place == one
        turn[some] = np.arange(some.sum())
    return found.select(np.sort(order[np.argsort(turn, kind="stable")[:count]]))


def sought(piece: Piece) -> Questions:
    """Plays a piece's rounds, and values a decision of each deal in one of its seatings."""
    names, rounds = [*piece.table], ROUNDS[piece.episode]
    first = max(ROUNDS.values()) * piece.number  # no deal in two pieces
    made = play(names, rounds, seed=piece.seed, first=first, episode=piece.episode)
    rng = np.random.default_rng([piece.seed, piece.number])
    rows = drawn(made, rng)
    valued = []
    for row in rows.tolist():
        seat, seating = int(made.seat[row]), made.seating[made.deal[row]]
        players = tuple(names[seating[(seat + turn) % NUM_SEATS]] for turn in range(NUM_SEATS))
        if (one := question(made.view(np.array([row])), players, rng)) is not None:
            valued.append(one)
    return replace(Questions.join([NOTHING, *valued]), asked=len(rows))


def drawn(made: Play, rng: np.random.Generator) -> Int:
    """Draws a decision with a choice of each deal, of a phase that is drawn first.

    Of the two rounds with the same deals one is left out, by turns.
    """
    phase = phases_of(made.view())
    found = []
    for deal, number in enumerate(made.round.tolist()):
        if (number // 2 + number) % 2:
            continue
        (rows,) = np.nonzero(made.choice & (made.deal == deal))
        if len(rows):
            one = rng.choice(np.unique(phase[rows]))
            found.append(rng.choice(rows[phase[rows] == one]))
    return np.array(found, np.int64)


def question(view: View, players: tuple[str, ...], rng: np.random.Generator) -> Questions | None:
    """Values a position; returns None where no action is best by ``SURE`` standard errors."""
    listener = Listener(view, dict(zip(RELATIVE_SEATS, map(model, players[1:]), strict=True)))
    deals = listener.deals()
    worlds, best = FIRST, -1
    while best < 0 and worlds <= MOST:
        found = values(view, players, deals.sample(worlds, rng), rng)
        best, worlds = leader(found), 2 * worlds
    if best < 0:
        return None
    fresh = values(view, players, deals.sample(FRESH, rng), rng)
    points, error = np.full((2, 1, NUM_ACTIONS), np.nan)
    points[0, fresh.action], error[0, fresh.action] = fresh.points, fresh.error
    lead, lead_error = second(fresh, best)
    return Questions(
        view.words,
        points,
        error,
        np.array([best]),
        np.array([lead]),
        np.array([lead_error]),
        held(listener, view)[None],
        held(Listener(view, LEGAL_MODEL), view)[None],
        np.array([[read_as(PolicyModel(one), view) for one in READERS]]),
        (players,),
        1,
        1,
    )


def read_as(model: PolicyModel, view: View) -> Float:
    """Returns what a reader believes who takes everybody for one model, as ``held``: [3, 8]."""
    return held(Listener(view, model), view)


def held(listener: Listener, view: View) -> Float:
    """Returns the probability that a seat holds a tile of each kind, not lying face up: [3, 8]."""
    found = np.zeros((len(RELATIVE_SEATS), NUM_KINDS))
    for name, seat in RELATIVE_SEATS.items():
        belief = listener.posterior(name)
        found[seat - 1] = belief.probability @ (belief.hands > view.face_up[0, seat])
    return found


def values(view: View, players: tuple[str, ...], worlds: Any, rng: Any) -> ActionValues:
    """Plays all legal actions out in the same worlds."""
    legal = view.legal()
    return evaluate_actions(
        view,
        legal,
        [policy(BASE), *map(policy, players[1:])],
        SampledWorlds.join([TypedWorlds.alike(worlds)]),
        prior_action=legal.argmax(axis=1),
        seeds=rng.integers(0, 1 << 63, 1).astype(np.uint64),
        allocation="uniform",
    )


def leader(found: ActionValues) -> int:
    """Returns the action that leads all others by enough, but those that are the same; else -1.

    Actions are the same that tie in each world. There is no leader if all are.
    """
    best = int(found.action[found.points.argmax()])
    lead, error = second(found, best)
    return best if lead > SURE * error else -1


def second(found: ActionValues, best: int) -> tuple[float, float]:
    """Returns the smallest lead of an action over any that is not the same, and its error.

    Both are 0 if all are the same.
    """
    leads = [found.lead(np.array([best]), np.array([other])) for other in found.action]
    pairs = [(float(lead[0]), float(error[0])) for lead, error in leads]
    return min((pair for pair in pairs if pair != (0.0, 0.0)), default=(0.0, 0.0))


@cache
def policy(text: str) -> Policy:
    return load_policy(text)


@cache
def model(text: str) -> PolicyModel:
    """Returns the true policy of a player, as a model."""
    return PolicyModel(policy(text), epsilon=0)
