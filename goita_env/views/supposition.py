"""Replays a deal as a seat would have seen it with other hands: what beliefs are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.checks import integers
from goita_env.engine import core
from goita_env.engine.deals import lay, prepare
from goita_env.engine.state import State
from goita_env.engine.tables import ALL_TILES, CALL_CHOICE, CHOOSE, FRESH, RADIX
from goita_env.errors import HandsError, SettingError
from goita_env.rules import Rules
from goita_env.tiles import COUNTS, HAND_SIZE, NUM_KINDS, NUM_SEATS
from goita_env.views.view import View, asked_view

Int = npt.NDArray[np.int64]
_KINDS = np.arange(NUM_KINDS)


class DealRecord(Protocol):
    """Describes a deal's record as ``suppose`` reads it."""

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
    record: DealRecord, seat: int, hands: npt.ArrayLike, face_down: npt.ArrayLike | None = None
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
        SettingError: if the seat is none.
    """
    if isinstance(seat, bool) or seat not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3, got {seat!r}")
    dealt = _supposed_kinds(hands, HAND_SIZE, "hands")
    down = None if face_down is None else _supposed_kinds(face_down, None, "tiles face down")
    plays = _plays(record, seat, dealt, down)
    own = (dealt[:, :, None] == _KINDS).sum(axis=1)
    _check_hands(record, seat, dealt, own, plays)

    # Slots are seats here (offset 0), and the others' hands are the whole set: never looked at.
    many = len(dealt)
    state = State.empty(many, record.rules)
    state.clock = record.dealer
    codes = np.full((many, NUM_SEATS), ALL_TILES)
    codes[:, seat] = own @ np.array(RADIX)
    scores = np.repeat(np.array(record.scores)[:, None], many, axis=1)
    dealers = np.full(many, record.dealer)
    lay(
        state,
        np.arange(many),
        prepare(record.rules, codes, dealers, scores, questions=False),
    )
    views: list[View] = []
    for number, (mover, action) in enumerate(record.moves):
        state.clock = mover
        if action >= actions.CALL:
            if mover == seat:
                choosing = action in (actions.REDEAL, actions.CONTINUE)
                state.status[:] = CHOOSE if choosing else CALL_CHOICE
                views.append(asked_view(state))
                state.status[:] = FRESH
            core.note(state, action)
            continue
        if mover == seat:
            views.append(asked_view(state))
        core.step(state, plays.get(number, np.full(many, action)))
    return views


def _supposed_kinds(values: npt.ArrayLike, width: int | None, what: str) -> Int:
    """Returns supposed kinds as int64 [M, width] after checking them."""
    kinds = integers(values)
    if kinds is None or kinds.ndim != 2 or (width is not None and kinds.shape[1] != width):
        raise HandsError(f"expected {what} as kinds of shape [M, {width or 'd'}], got {values!r}")
    if kinds.size and not 0 <= kinds.min() <= kinds.max() < NUM_KINDS:
        raise HandsError(f"expected kinds 0..7 as {what}, got {kinds.tolist()!r}")
    return kinds.astype(np.int64)


def _plays(record: DealRecord, seat: int, dealt: Int, down: Int | None) -> dict[int, Int]:
    """Returns the actions [M] that the seat is supposed to have played, by number of the move."""
    plays: dict[int, Int] = {}
    attacker, used = None, 0
    for number, (mover, action) in enumerate(record.moves):
        pair = actions.decode(action)
        if pair is None:
            continue
        if mover == seat:
            chosen = np.full(len(dealt), action)
            if attacker in (None, seat) and down is not None:
                if down.shape != (len(dealt), down.shape[1]) or used == down.shape[1]:
                    raise HandsError(
                        f"expected {len(dealt)} rows with a tile for each face-down block of "
                        f"seat {seat}, got shape {down.shape!r}"
                    )
                chosen = 1 + NUM_KINDS * down[:, used] + pair[1]
                used += 1
            plays[number] = chosen
        attacker = mover
    if down is not None and used != down.shape[1]:
        raise HandsError(f"expected {used} tiles face down of seat {seat}, got {down.shape[1]}")
    return plays


def _check_hands(
    record: DealRecord, seat: int, dealt: Int, own: Int, plays: dict[int, Int]
) -> None:
    """Checks that supposed hands hold what was played and leave the others theirs."""
    played = np.zeros_like(own)
    for chosen in plays.values():
        for kinds in np.divmod(chosen - 1, NUM_KINDS):
            played[np.arange(len(own)), kinds] += 1
    others, attacker = np.zeros(NUM_KINDS, np.int64), None
    for mover, action in record.moves:
        pair = actions.decode(action)
        if pair is not None:
            if mover != seat:
                others[pair[1]] += 1
                others[pair[0]] += attacker not in (None, mover)
            attacker = mover
    for wrong, expected in (
        (played > own, f"hands that hold what seat {seat} played"),
        (own + others > COUNTS, "no more tiles of a kind than in the set, face-up ones counted"),
    ):
        rows = np.flatnonzero(wrong.any(axis=1))
        if len(rows):
            row = int(rows[0])
            raise HandsError(f"expected {expected}, got {dealt[row].tolist()!r} (hand {row})")
