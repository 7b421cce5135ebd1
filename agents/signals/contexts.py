"""Sorts decisions by what is public about them: phase, context, kind of action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.base import Int
from agents.signals.playing import Play
from goita_env import View
from goita_env.actions import CALL, PASS
from goita_env.tiles import NUM_KINDS
from goita_env.views import NONE

KINDS: Final = ("pawn", "lance", "knight", "silver", "gold", "bishop", "rook", "king")
"""The kinds of tiles in order."""

PHASES: Final = ("0-8 tiles out", "9-16", "17-24")
"""Phases of a round by the tiles that all seats have played before a decision."""

CONTEXTS: Final = ("first lead", "lead", "partner's attack", "opponent's attack", "question")
"""What a decision answers: leads lay a block face down, the first opens the round; the others may
receive the attack of the partner or of an opponent; questions come before play."""

DEEDS: Final = ("pass", "lead", "receive", "answer")
"""Kinds of action."""


@dataclass(frozen=True)
class Labels:
    """Names a group for each of n rows."""

    title: str
    names: tuple[str, ...]
    which: Int
    """[n] Place among the names."""


def phase(view: View) -> Labels:
    """Sorts by tiles out: 0-8, 9-16, 17-24."""
    out = 2 * view.num_plays.astype(np.int64)
    return Labels("phase", PHASES, np.maximum(out - 1, 0) // 8)


def context(view: View) -> Labels:
    """Sorts by what is answered."""
    first = view.attack == NONE
    lead = view.leads
    question = view.asked_call | view.asked_choice | (first & ~lead)
    partner = view.attacker == 2
    which = np.select([question, first, lead, partner], [4, 0, 1, 2], 3)
    return Labels("context", CONTEXTS, which)


def attack(view: View) -> Labels:
    """Sorts by the kind of the attack that is answered, leads apart."""
    names = (*(f"{kind} attack" for kind in KINDS), "lead")
    faced = (view.attack != NONE) & ~view.leads
    return Labels("attack", names, np.where(faced, view.attack, NUM_KINDS).astype(np.int64))


def deed(view: View, action: Int) -> Labels:
    """Sorts by the kind of the action taken."""
    play = np.where(view.leads, 1, 2)
    which = np.select([action == PASS, action >= CALL], [0, 3], play)
    return Labels("action", DEEDS, which)


def attacked(action: Int) -> Labels:
    """Sorts by the kind that an action attacks with."""
    names = (*KINDS, "none")
    which = np.where((action > PASS) & (action < CALL), (action - 1) % NUM_KINDS, NUM_KINDS)
    return Labels("attacks with", names, which.astype(np.int64))


def labels(play: Play, rows: Int) -> list[Labels]:
    """Returns the labels of some decisions of a play: phase, context, attack, kind of action."""
    view, action = play.view(rows), play.action[rows].astype(np.int64)
    return [phase(view), context(view), attack(view), deed(view, action), attacked(action)]


def cross(first: Labels, second: Labels) -> Labels:
    """Returns the pairs of two labels as one."""
    names = tuple(f"{a}, {b}" for a in first.names for b in second.names)
    which = first.which * len(second.names) + second.which
    return Labels(f"{first.title} and {second.title}", names, which)
