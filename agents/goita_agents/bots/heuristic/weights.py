"""Holds the weight of each feature (found by self-play; four set by hand).

See ``docs/strength.md``. Frozen: a bot with other weights gets a new name.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env.tiles import NUM_KINDS

_WEIGHTS: Final[dict[str, dict[str, float | tuple[float, ...]]]] = {
    "finishing": {
        "finish": 41.4,
        "sure_win": 22.3,
        "sure_points": 5.2,
        "near_chance": 20.1,
        "near_points": -1.5,
        "near_worth": 6.3,
        "next_open": 1.3,
        "next_both": 3.2,
        "next_points": 2.2,
    },
    "keeping": {
        "cover_near": 2.7,
        "cover_later": 1.0,
        "cover_first": 0.9,
        "king_left_near": 28.3,
        "king_left_later": 4.8,
        "king_left_first": 8.2,
        "first_open": -0.8,
        "first_points": 1.1,
    },
    "attacking": {
        "attack_kind": (2.6, -9.4, 0.3, 0.8, 0.6, 3.2, 3.3, -30.0),
        "attack_kind_near": (10.6, 4.0, 8.4, 6.5, 6.6, 6.0, 5.6, -17.7),
        "copies": 7.2,
        "copies_later": 15.8,
        "open": -4.3,
        "open_later": 9.0,
        "dead": -27.5,
        "next_holds": -11.4,
        "partner_holds": 5.0,
        "partner_holds_near": 2.3,
        "feed_partner": -4.8,
        "shut_out": 14.4,
    },
    "laying_down": {
        "down_kind": (1.8, 1.3, 2.3, 1.8, 2.2, 0.9, 0.4, -26.8),
        "down_kind_near": (2.7, 1.6, 3.1, 0.8, 0.6, -4.5, -7.3, -1.4),
        "down_useless": 3.0,
        "down_open": -17.6,
        "down_alike": 1.6,
    },
    "receiving": {
        "pass_last": 4.2,
        "pass_first": 1.1,
        "pass_danger_last": -26.6,
        "pass_danger_first": -10.2,
        "pass_threat": 0.8,
        "pass_full": -2.3,
        "pass_near": -9.6,
        "pass_one": 4.3,
        "partner_one": -1.5,
        "partner_may": 9.3,
        "pass_spare": -20.0,
        "pass_other_near": 1.4,
        "pass_other_one": -2.8,
        "pass_king": 3.8,
        "pass_kings": 5.2,
        "cut": -5.0,
        "cut_later": -13.0,
        "cut_near": -37.0,
        "cut_danger": 9.9,
        "cut_second": 2.5,
    },
    "pair_lead": {"pair_lead": 1.1, "pair_lead_single": -4.3},
    "answer": {"answer": 10.2, "answer_again": 8.3},
    "lance_lead": {"lance_lead": 6.9, "lance_run": 3.2},
    "false_lance": {"false_lance": 22.0},
    "pawn_lead": {"pawn_lead": 2.0, "pawn_lead_again": 0.4, "pawn_join": 7.2, "pawn_decline": -0.5},
    "scattered_lead": {"pawn_first": 2.0, "biggest_first": 1.2, "partner_scattered": 0.8},
    "king_signal": {
        "king_signal": 5.2,
        "king_signal_none": -5.9,
        "partner_has_king": 2.2,
        "keep_pawns": -2.6,
    },
    "king_attack": {"king_attack": 34.0, "partner_king_attack": 2.9},
    "pass_partner": {
        "pass_partner": 28.4,
        "pass_partner_near": 3.4,
        "pass_partner_one": 11.2,
        "pass_partner_lance": 15.8,
        "partner_narrow": -19.8,
        "partner_narrow_open": 28.8,
        "partner_danger": -17.8,
        "partner_blocked": -17.0,
    },
    "hold_back": {
        "hold_back": 7.4,
        "hold_back_lance": 7.3,
        "hold_back_big": -3.4,
        "hold_back_pair": -1.3,
        "early_cut": -1.7,
    },
    "bury": {"bury_narrows": -4.4, "bury_keep": 0.6, "bury_lance": -2.2},
}
"""By rule and name of the feature: a number, or one for each kind [8]."""

SKILLS: Final = ("finishing", "keeping", "attacking", "laying_down", "receiving")
"""Rules that a partner need not understand; they have no switch."""

CONVENTIONS: Final = tuple(name for name in _WEIGHTS if name not in SKILLS)
"""Every convention except reading, by the name of its switch."""

READING_FACTORS: Final[dict[str, float]] = {
    "passed": 0.18,  # it passed on an opponent's attack with the kind
    "passed_pawn": 0.05,
    "passed_king": 0.8,  # for the king, for each kind that it could have received
    "passed_own_attack": 4.0,  # the partner passed on the viewer's own attack
    "lead": 50.0,  # its first attack led knight, silver or gold, which it has shown once
    "lead_other": 8.0,  # likewise lance, pawn, bishop or rook
    "attacked": 4.0,  # it attacked with the kind behind a block face up
    "repeated": 2.0,  # it has shown the kind twice or more
    "no_answer": 0.2,  # its partner led the kind, and it attacked with others only
    "king_attack": 50.0,  # it attacked with a king, and the other is not in sight
}
"""Factors on the odds that a seat holds a kind, fitted to self-play and rounded."""

KEPT_FACTORS: Final = (
    (0.25, 1.5, 1.0, 1.8, 1.6, 0.9, 0.9, 3.0),
    (0.35, 2.3, 1.5, 1.5, 1.6, 1.1, 1.2, 2.0),
    (0.9, 1.6, 1.3, 1.3, 1.3, 1.1, 1.2, 1.4),
    (1.2, 1.2, 1.2, 1.2, 1.1, 1.2, 1.2, 1.0),
)
"""[4, 8] Likewise a factor for each kind, with 2, 4, 6 and 8 tiles in hand."""


def weigh(rules: Collection[str], reading: bool) -> npt.NDArray[Any]:
    """Returns the weights of a bot that plays by these conventions, as ``rules.choose`` takes them.

    Rules that are off have weight 0. Without ``reading`` odds follow only from counts of tiles.

    Returns:
        Structured [1], a field for each feature; fields named ``read_...`` are factors on odds.
    """
    fields: dict[str, Any] = {}
    for rule, features in _WEIGHTS.items():
        is_on = rule in SKILLS or rule in rules
        fields |= {name: np.multiply(weight, is_on) for name, weight in features.items()}  # or 0
    fields |= {
        f"read_{name}": factor if reading else 1.0 for name, factor in READING_FACTORS.items()
    }
    fields["read_kept"] = np.array(KEPT_FACTORS) if reading else np.ones((4, NUM_KINDS))
    fields["counts_only"] = int(not reading)
    types = [(name, np.asarray(value).dtype, np.shape(value)) for name, value in fields.items()]
    return np.array([tuple(fields.values())], np.dtype(types, align=True))
