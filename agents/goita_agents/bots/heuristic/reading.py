"""Infers hands: the chance that another seat holds a kind, from counts and its actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_env import View
from goita_env.tiles import COUNTS, GOLD, KING, KNIGHT, LANCE, MAX_PLAYS, NUM_KINDS, NUM_TILES, PAWN

_EVENTS: Final = np.arange(MAX_PLAYS)
_KINDS: Final = np.arange(NUM_KINDS)
_SHOWN: Final = (_KINDS >= KNIGHT) & (_KINDS <= GOLD)
_ANSWERED: Final = (_KINDS >= LANCE) & (_KINDS <= GOLD)
_CUT: Final = (_KINDS > LANCE) & (_KINDS != KING)
_PARTNER_OF: Final = [3, 0, 1]  # Partner of relative seats 1, 2, 3.


def _lack_chances() -> Float:
    """Tabulates the chance that a seat lacks a kind: float64 [33, 9, 11].

    Index: tiles unseen, of these in the seat's hand, of these of the kind; hypergeometric.
    """
    table = np.zeros((NUM_TILES + 1, 9, COUNTS[PAWN] + 1))
    for unseen in range(NUM_TILES + 1):
        for size in range(9):
            chance = 1.0
            for number in range(COUNTS[PAWN] + 1):
                table[unseen, size, number] = chance
                chance *= max(unseen - size - number, 0) / max(unseen - number, 1)
    return table


_LACKING: Final = _lack_chances()


@dataclass(frozen=True)
class Reading:
    """Factors on the odds that a seat holds a kind; 1 everywhere: counts alone."""

    passed: float = 1.0  # it passed on an opponent's attack with the kind
    passed_pawn: float = 1.0
    passed_king: float = 1.0  # for the king, for each kind that it could have received
    passed_own_attack: float = 1.0  # the partner passed on the viewer's own attack
    lead: float = 1.0  # its first attack led knight, silver or gold, which it has shown once
    lead_other: float = 1.0  # likewise with lance, pawn, bishop or rook
    attacked: float = 1.0  # it attacked with the kind behind a block face up
    repeated: float = 1.0  # it has shown the kind twice or more
    no_answer: float = 1.0  # its partner led the kind, and it attacked with others only
    king_attack: float = 1.0  # it attacked with a king, and the other is not in sight
    kept: tuple[tuple[float, ...], ...] = ((1.0,) * NUM_KINDS,) * 4
    """[4, 8] Each kind's odds with 2, 4, 6, 8 tiles in hand."""


COUNTS_ONLY: Final = Reading()


def evidence(view: View) -> dict[str, Int]:
    """Returns how often each multiplier of ``Reading`` applies: int64 [N, 3, 8] by field."""
    passed = np.zeros((len(view), 3, NUM_KINDS), np.int64)
    passed[:, :, :KING] = view.passed_opponents[:, 1:]
    left = np.zeros_like(passed)
    left[:, 1, :KING] = view.passed_partner[:, 2]
    attacks, shown = view.attacks, view.face_up[:, 1:]
    attacked = (attacks[:, :, :, None] == _KINDS).any(axis=2)
    led = (attacks[:, 1:, 0, None] == _KINDS) & view.face_down[:, 1:, 0, None]
    once = shown == 1
    kings = attacked[:, 1:, KING] & (view.unseen[:, KING] > 0)[:, None]
    return {
        "passed": passed * (_KINDS != PAWN),
        "passed_pawn": passed * (_KINDS == PAWN),
        "passed_king": (passed * _CUT).sum(axis=2)[:, :, None] * (_KINDS == KING),
        "passed_own_attack": left,
        "lead": (led & once & _SHOWN) * 1,
        "lead_other": (led & once & ~_SHOWN) * 1,
        "attacked": (attacked[:, 1:] & ~led & once) * 1,
        "repeated": (shown >= 2) * 1,
        "no_answer": (_unanswered(view) & ~attacked[:, 1:]) * 1,
        "king_attack": (kings[:, :, None] & (_KINDS == KING)) * 1,
    }


def _unanswered(view: View) -> Bool:
    """Returns where a seat's partner began with a kind before the seat's last play: [N, 3, 8]."""
    plays = view.event_seat[:, None, :] == np.arange(4)[:, None]
    last = np.where(plays, _EVENTS, -1).max(axis=2)
    begun = np.where(plays, _EVENTS, MAX_PLAYS).min(axis=2)
    asked = last[:, 1:] > begun[:, _PARTNER_OF]
    first = view.attacks[:, _PARTNER_OF, 0, None] == _KINDS
    return np.asarray(asked[:, :, None] & first & _ANSWERED)


def holdings(view: View, reading: Reading, told: Float | None = None) -> Float:
    """Returns the chance that the other seats hold each kind: float64 [N, 3, 8].

    ``told``: further factors on the odds, of the same shape.
    """
    unseen = view.unseen.astype(np.int64)
    total = unseen.sum(axis=1)[:, None, None]
    lacks: Float = _LACKING[total, view.hand_sizes[:, 1:, None], unseen[:, None, :]]
    if reading == COUNTS_ONLY and told is None:
        return 1 - lacks
    kept = np.array(reading.kept)[np.maximum(view.hand_sizes[:, 1:], 2) // 2 - 1]
    odds = (1 - lacks) * kept
    for name, times in evidence(view).items():
        odds = odds * _powers(getattr(reading, name))[times]
    if told is not None:
        odds = odds * told
    return np.asarray(odds / (odds + lacks + 1e-12))


@cache
def _powers(factor: float) -> Float:
    """Returns the first whole powers of a multiplier: float64 [9]."""
    return np.cumprod(np.array([1.0] + [factor] * 8))
