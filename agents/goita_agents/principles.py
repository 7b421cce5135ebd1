"""Lists principles of play: the advice of each in a position, and the evidence for it.

Whether a principle applies depends only on what a seat sees. The evidence was measured once, by
``research/signals/principles.py``. Advice names only principles whose worth, in points, is above 0
and above that of a random principle, with the whole intervals.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from goita_agents.base import Bool
from goita_env import View
from goita_env.actions import CALL, NUM_ACTIONS, PASS
from goita_env.tiles import GOLD, KING, KNIGHT, LANCE, NONE, NUM_KINDS, NUM_SEATS, PARTNER, PAWN

CLEAR_LEAD: Final = 1.0  # Points by which the best action must lead actions against a principle.

_PLAYS: Final = (np.arange(NUM_ACTIONS) > PASS) & (np.arange(NUM_ACTIONS) < CALL)
_BLOCK, _ATTACK = np.where(_PLAYS, np.divmod(np.arange(NUM_ACTIONS) - 1, NUM_KINDS), NONE)
_KINDS: Final = np.arange(NUM_KINDS)
_PASSES: Final = np.arange(NUM_ACTIONS) == PASS

Figure = tuple[float, float, float]  # A mean and its 95 % interval.

Test = Callable[[View], tuple[Bool, Bool]]


@dataclass(frozen=True)
class Principle:
    """A principle of play."""

    key: str
    name: str
    sentence: str
    test: Test
    """Returns the views to which it applies, bool [N], and the actions that it advises, bool
    [N, 69] or [69]. Both may be too wide: only legal actions count."""
    passing: bool
    """A pass may be for or against it; else only plays are."""

    def actions(self, view: View) -> tuple[Bool, Bool]:
        """Returns the legal actions that follow it, and those against it: bool [N, 69] each.

        It applies where there are both; elsewhere both are empty.
        """
        speaks, advised = self.test(view)
        legal = view.legal()[:, :NUM_ACTIONS]
        concerned = legal & speaks[:, None] & (_PLAYS | (_PASSES & self.passing))
        follow, against = concerned & advised, concerned & ~advised
        applies = (follow.any(axis=1) & against.any(axis=1))[:, None]
        return follow & applies, against & applies


def principle(name: str, sentence: str, *, passing: bool = False) -> Callable[[Test], Principle]:
    """Makes a principle of its test, whose name is its key."""
    return lambda test: Principle(
        key=test.__name__, name=name, sentence=sentence, test=test, passing=passing
    )


def _attacks(kinds: Bool) -> Bool:
    """Returns the plays that attack with some kinds [N, 8]: bool [N, 69]."""
    return np.asarray(kinds[:, _ATTACK] & _PLAYS)


def _early(view: View) -> Bool:
    """[N] The seat has played one pair at most."""
    return np.asarray(view.hand_sizes[:, 0] >= view.rules.hand_size - 2)


def _attacked(view: View, seat: int, plays: int = 4) -> Bool:
    """[N, 8] Kinds that a seat has attacked with, in its first plays."""
    return np.asarray((view.attacks[:, seat, :plays, None] == _KINDS).any(axis=1))


def _by_opponent(view: View) -> Bool:
    """[N] The seat answers an attack of an opponent."""
    return np.asarray(~view.leads & (view.attacker % 2 == 1))


def _attacker_holds(view: View, tiles: int) -> Bool:
    """[N] The attacker is an opponent with ``tiles`` tiles in hand."""
    size = view.hand_sizes[np.arange(len(view)), view.attacker.clip(0)]
    return np.asarray(_by_opponent(view) & (size == tiles))


@principle("pass for the partner", "Your partner attacked: pass.", passing=True)
def pass_partner(view: View) -> tuple[Bool, Bool]:
    narrow = view.hand_sizes[:, 0] <= 4  # few tiles may be reason enough to receive
    return ~view.leads & (view.attacker == PARTNER) & ~narrow, _PASSES


@principle("stop the finish", "An opponent attacks with two tiles left: receive.", passing=True)
def stop(view: View) -> tuple[Bool, Bool]:
    return _attacker_holds(view, 2), _PLAYS


@principle("hold back", "An opponent attacks for the first time: pass.", passing=True)
def hold_back(view: View) -> tuple[Bool, Bool]:
    return _attacker_holds(view, view.rules.hand_size - 2), _PASSES


@principle("a king waits", "Few tiles are out: do not receive with a king.", passing=True)
def king_waits(view: View) -> tuple[Bool, Bool]:
    few = view.hand_sizes.sum(axis=1) >= NUM_SEATS * view.rules.hand_size - 4
    return np.asarray(_by_opponent(view) & few), np.asarray(_BLOCK != KING)


@principle("no king face down", "Do not lay a king face down.")
def no_king_down(view: View) -> tuple[Bool, Bool]:
    return view.leads, _BLOCK != KING


@principle("sure attack", "You have four tiles: attack with what nobody can receive.")
def sure_attack(view: View) -> tuple[Bool, Bool]:
    no_king = (view.unseen[:, KING] == 0)[:, None] | (_KINDS <= LANCE)
    return view.hand_sizes[:, 0] == 4, _attacks((view.unseen == 0) & no_king)


@principle("answer", "Your partner led this kind: attack with it, too.")
def answer(view: View) -> tuple[Bool, Bool]:
    led = _attacked(view, PARTNER, 2) & ~_attacked(view, 0)
    led &= (_KINDS >= LANCE) & (_KINDS <= GOLD)
    return np.asarray(led.any(axis=1)), _attacks(led)


@principle("pair lead", "Attack early with a gold, silver or knight of which you hold two.")
def pair(view: View) -> tuple[Bool, Bool]:
    kinds = (_ATTACK >= KNIGHT) & (_ATTACK <= GOLD)
    return _early(view), kinds & (view.hand[:, _ATTACK] - (_BLOCK == _ATTACK) >= 2)


@principle("a lance promises a second", "A lance lead promises a second: keep a single lance.")
def single_lance(view: View) -> tuple[Bool, Bool]:
    hides_kings = view.hand[:, KING] == 2  # a bluff of its own
    return _early(view) & (view.hand[:, LANCE] == 1) & ~hides_kings, _ATTACK != LANCE


@principle("lance run", "You attacked with a lance: go on with lances.")
def lance_run(view: View) -> tuple[Bool, Bool]:
    return _attacked(view, 0)[:, LANCE], _ATTACK == LANCE


@principle("join the pawns", "Your partner led a pawn and you hold three: attack with a pawn.")
def join_pawns(view: View) -> tuple[Bool, Bool]:
    led = _attacked(view, PARTNER, 2)[:, PAWN] & ~_attacked(view, 0)[:, PAWN]
    return led & (view.hand[:, PAWN] >= 3), _ATTACK == PAWN


@principle("keep a pawn", "Keep a pawn to finish with.")
def keep_pawn(view: View) -> tuple[Bool, Bool]:
    size, used = view.hand_sizes[:, 0], (_BLOCK == PAWN).astype(int) + (_ATTACK == PAWN)
    return (size > 2) & (size < view.rules.hand_size), view.hand[:, [PAWN]] > used


PRINCIPLES: Final = (
    *(pass_partner, stop, hold_back, king_waits, no_king_down, sure_attack),
    *(answer, pair, single_lance, lance_run, join_pawns, keep_pawn),
)


@dataclass(frozen=True)
class Evidence:
    """The measured evidence for a principle. Each figure is a mean and its 95 % interval."""

    positions: int  #: Positions of an exam in which the best action follows it or is against it.
    worth: Figure | None
    """Points by which the best action that follows it leads the best one against it, over these
    positions; None: they are too few."""
    beyond: Figure | None
    """The same minus the worth of a random principle, which advises as many of these actions."""
    followed: Mapping[str, Figure]
    """How often champion, people and population follow it, where it applies."""
    partner: Figure | None
    """Nats about the hand that the champion's actions which follow it reveal to the partner; None:
    they are too few."""
    opponents: Figure | None  #: The same for an opponent.

    @property
    def pays(self) -> bool:
        """Whether following it is worth something, and more than a random principle."""
        return all(figure is not None and figure[1] > 0 for figure in (self.worth, self.beyond))


@cache
def evidence() -> dict[str, Evidence]:
    """Returns the evidence for each principle, by its key."""
    text = files(__package__).joinpath("principles.json").read_text(encoding="utf-8")
    return {key: Evidence(**figures) for key, figures in json.loads(text)["principles"].items()}


def speaking(
    view: View, points: Mapping[int, float], best: int, chosen: int | None = None
) -> Principle | None:
    """Returns a principle for the best action, or against the chosen one.

    The evidence for it is positive, and the values of the position agree: the best action leads all
    actions against the principle by ``CLEAR_LEAD``. Of several principles, one that the chosen
    action breaks comes first, then the one by which people would gain most.

    Args:
        view: one row.
        points: of all legal actions. An action with more points than the best one was dropped early
            by a search, when it was behind others, and counts as worse.
        best: the best action.
        chosen: the chosen action; None: there is none.
    """
    reasons: list[tuple[bool, float, Principle]] = []
    for candidate in PRINCIPLES:
        measured = evidence()[candidate.key]
        follow, against = (actions[0] for actions in candidate.actions(view))
        if not measured.pays or measured.worth is None or not follow[best]:
            continue
        rivals = [points[action] for action in np.flatnonzero(against).tolist()]
        strongest = max((rival for rival in rivals if rival <= points[best]), default=-np.inf)
        if points[best] - strongest < CLEAR_LEAD:
            continue
        is_broken = chosen is not None and bool(against[chosen])
        gain = measured.worth[0] * (1 - measured.followed["people"][0])
        reasons.append((is_broken, gain, candidate))
    return max(reasons, key=lambda reason: reason[:2])[2] if reasons else None
