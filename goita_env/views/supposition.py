"""Replays a deal as a seat would have seen it with other hands: what beliefs are computed from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.checks import integers
from goita_env.errors import HandsError, SettingError
from goita_env.rules import Rules
from goita_env.tiles import COUNTS, HAND_SIZE, NUM_KINDS, NUM_SEATS
from goita_env.views.replay import Replay
from goita_env.views.view import View

Int = npt.NDArray[np.int64]
_KINDS: Final = np.arange(NUM_KINDS)


class RecordedDeal(Protocol):
    """Describes a deal's record as ``suppose`` reads it: one of ``records``, for instance."""

    @property
    def rules(self) -> Rules:
        """Returns the rule set."""

    @property
    def dealer(self) -> int:
        """Returns the seat that dealt."""

    @property
    def scores(self) -> tuple[int, int]:
        """Returns the teams' points before the round."""

    @property
    def moves(self) -> Sequence[tuple[int, int]]:
        """Returns (seat, action) of every decision in order, passes and questions included."""


def suppose(
    record: RecordedDeal, seat: int, hands: npt.ArrayLike, face_down: npt.ArrayLike | None = None
) -> list[View]:
    """Replays what a seat would have seen at each of its decisions, had it been dealt other hands.

    Args:
        record: a deal: dealer, scores, and (seat, action) of every decision.
        seat: the seat whose eyes are borrowed.
        hands: int [M, 8] the hands supposed for it, kinds 0 to 7.
        face_down: int [M, d] the tiles supposed for its face-down blocks, in order of play;
            None: those of the record.

    Returns:
        A view [M] for each decision of the seat, in order.

    Raises:
        HandsError: if a supposed hand doesn't hold what the seat played, or with it there would be
            more tiles of a kind than in the set.
        SettingError: if the seat is none, or decides in the record when it isn't its turn.
    """
    if isinstance(seat, bool) or seat not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3, got {seat!r}")
    dealt = _supposed_kinds(hands, HAND_SIZE, "hands")
    down = None if face_down is None else _supposed_kinds(face_down, None, "tiles face down")
    plays = _supposed_plays(record, seat, dealt, down)
    own = (dealt[:, :, None] == _KINDS).sum(axis=1)
    _check_hands(record, seat, dealt, own, plays)

    replay, views = Replay.of_seat(record.rules, seat, own, record.dealer, record.scores), []
    for number, (mover, action) in enumerate(record.moves):
        before_play = action >= actions.CALL
        if mover == seat:
            views.append(replay.question(action) if before_play else replay.view())
        if before_play:
            replay.answer(mover, action)
        else:
            replay.step(plays.get(number, action))
    return views


def _supposed_kinds(values: npt.ArrayLike, width: int | None, what: str) -> Int:
    """Returns supposed kinds as int64 [M, width] after checking them."""
    kinds = integers(values)
    if kinds is None or kinds.ndim != 2 or (width is not None and kinds.shape[1] != width):
        raise HandsError(f"expected {what} as kinds of shape [M, {width or 'd'}], got {values!r}")
    if kinds.size and not 0 <= kinds.min() <= kinds.max() < NUM_KINDS:
        raise HandsError(f"expected kinds 0..7 as {what}, got {kinds.tolist()!r}")
    return kinds.astype(np.int64)


def _plays(record: RecordedDeal) -> Iterator[tuple[int, int, tuple[int, int], bool]]:
    """Yields number, seat, block and attack of each play, and whether its block lies face down."""
    attacker = None
    for number, (mover, action) in enumerate(record.moves):
        pair = actions.decode(action)
        if pair is not None:
            yield number, mover, pair, attacker in (None, mover)
            attacker = mover


def _supposed_plays(
    record: RecordedDeal, seat: int, dealt: Int, down: Int | None
) -> dict[int, Int]:
    """Returns the actions [M] that the seat is supposed to have played, by number of the move."""
    plays: dict[int, Int] = {}
    used = 0
    for number, mover, (block, attack), face_down in _plays(record):
        if mover != seat:
            continue
        plays[number] = np.full(len(dealt), actions.encode(block, attack))
        if face_down and down is not None:
            if len(down) != len(dealt) or used == down.shape[1]:
                raise HandsError(
                    f"expected {len(dealt)} rows with a tile for each face-down block of "
                    f"seat {seat}, got shape {down.shape!r}"
                )
            plays[number] += NUM_KINDS * (down[:, used] - block)
            used += 1
    if down is not None and used != down.shape[1]:
        raise HandsError(f"expected {used} tiles face down of seat {seat}, got {down.shape[1]}")
    return plays


def _check_hands(
    record: RecordedDeal, seat: int, dealt: Int, own: Int, plays: dict[int, Int]
) -> None:
    """Checks that supposed hands hold what was played and leave the others theirs."""
    played = np.zeros_like(own)
    for chosen in plays.values():
        for kinds in np.divmod(chosen - 1, NUM_KINDS):
            played[np.arange(len(own)), kinds] += 1
    others = np.zeros(NUM_KINDS, np.int64)
    for _, mover, (block, attack), face_down in _plays(record):
        if mover != seat:
            others[attack] += 1
            others[block] += not face_down
    for wrong, expected in (
        (played > own, f"hands that hold what seat {seat} played"),
        (own + others > COUNTS, "no more tiles of a kind than in the set, face-up ones counted"),
    ):
        rows = np.flatnonzero(wrong.any(axis=1))
        if len(rows):
            row = int(rows[0])
            raise HandsError(f"expected {expected}, got {dealt[row].tolist()!r} (hand {row})")
