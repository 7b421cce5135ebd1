"""Computes the features of the rules: hands, stages, chances, and what is left after a pair.

``N`` is the number of rows; arrays over kinds are [N, 8], over pairs [N, 8, 8] (block, attack).
Everything here is read from the view and from nothing else.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float, Int
from goita_agents.bots.heuristic.reading import Reading, holdings
from goita_agents.bots.heuristic.tally import Feature
from goita_env import View
from goita_env.tiles import HAND_SIZE, KING, KNIGHT, LANCE, NUM_KINDS, PAWN, POINTS

NEXT, PARTNER, PREVIOUS = 1, 2, 3  # The other seats in a view.

SHOWN_KINDS: Final = np.array([False, False, True, True, True, False, False, False])
"""[8] Knight, silver, gold: the kinds with which people show pairs."""

KINDS: Final = np.arange(NUM_KINDS)
ALIKE: Final = np.eye(NUM_KINDS, dtype=np.int64)
_TENS: Final = np.array(POINTS, np.int8) // 10
_UNCUT: Final = (KINDS == PAWN) | (KINDS == LANCE) | (KINDS == KING)
"""[8] Kinds that a king cannot receive."""

_LEFT: Final = (
    -np.eye(NUM_KINDS, dtype=np.int8)[:, :, None] - np.eye(NUM_KINDS, dtype=np.int8)[:, None, :]
)
"""[8, 8, 8] Change of a hand by each pair."""


class Board:
    """Features of N positions, each computed when it is first used."""

    def __init__(self, view: View, reading: Reading, told: Float | None = None) -> None:
        self.view = view
        self.reading, self.told = reading, told
        self.hand: Int = view.hand.astype(np.int64)  # [N, 8] Tiles in hand.
        self.unseen: Int = view.unseen.astype(np.int64)  # [N, 8] Tiles hidden from the viewer.
        self.sizes: Int = view.hand_sizes.astype(np.int64)  # [N, 4] Tiles in each seat's hand.
        self.size: Int = self.sizes[:, 0]
        self.leads: Bool = view.leads
        self.receives: Bool = ~view.leads
        self.attacker: Int = view.attacker.astype(np.int64)
        self.attack: Int = view.attack.astype(np.int64)
        self.by_partner: Bool = self.receives & (self.attacker == PARTNER)
        """[N] The attack is the partner's."""
        self.by_opponent: Bool = self.receives & ~self.by_partner
        self.opening: Bool = self.size == HAND_SIZE
        self.early: Bool = self.size >= 6
        self.king_up: Bool = view.king_up

    @cached_property
    def face_up(self) -> Int:
        """[N, 4, 8] Tiles that each seat has shown."""
        return self.view.face_up.astype(np.int64)

    @cached_property
    def attacked(self) -> Bool:
        """[N, 4, 8] Each seat has attacked with the kind."""
        return np.asarray((self.view.attacks[:, :, :, None] == KINDS).any(axis=2))

    @cached_property
    def holds(self) -> Float:
        """[N, 3, 8] Chance that the next seat, the partner, the previous seat hold the kind."""
        return holdings(self.view, self.reading, self.told)

    @cached_property
    def opponents_hold(self) -> Float:
        """[N, 8] Chance that an opponent holds the kind."""
        holds = self.holds
        return 1 - (1 - holds[:, 0]) * (1 - holds[:, 2])

    @cached_property
    def open(self) -> Float:
        """[N, 8] Chance that no opponent can receive an attack with the kind."""
        hold = self.opponents_hold
        king = np.where(_UNCUT, 0.0, hold[:, KING, None])
        found: Float = (1 - hold) * (1 - king)
        found[:, KING] = 1.0
        return found

    @cached_property
    def dead(self) -> Bool:
        """[N, 8] Nobody can receive an attack with the kind, as all copies are seen."""
        found: Bool = (self.unseen == 0) & (_UNCUT | (self.unseen[:, KING] == 0)[:, None])
        found[:, KING] = True
        return found

    @cached_property
    def left(self) -> npt.NDArray[np.int8]:
        """[8, N, 8, 8] Tiles of each kind after each pair (where it cannot be played: -1)."""
        # Kinds come first, so that reductions over them run along whole arrays.
        hand = np.ascontiguousarray(self.view.hand.T)
        return hand[:, :, None, None] + _LEFT[:, None]

    def summed_left(self, worth: Feature) -> Feature:
        """Sums a worth of tiles [N, 8] over the hand after each pair: [N, 8, 8]."""
        total: Feature = (worth * self.hand).sum(axis=1)[:, None, None]
        return total - worth[:, :, None] - worth[:, None, :]

    @cached_property
    def copies(self) -> Int:
        """[N, 8, 8] Copies of the attack's kind that stay in hand after each pair."""
        return self.hand[:, None, :] - 1 - ALIKE

    @cached_property
    def king_may_follow(self) -> Bool:
        """[N, 8, 8] A king left in hand may attack after the pair."""
        ready = self.king_up | (self.hand[:, KING] == 2)
        found = np.broadcast_to(ready[:, None, None], (len(ready), NUM_KINDS, NUM_KINDS)).copy()
        found[:, KING, :] |= self.receives[:, None]
        found[:, :, KING] = True
        return found

    @cached_property
    def sure(self) -> Bool:
        """[N, 8, 8] After the pair nobody can keep this seat from emptying its hand."""
        # That needs a dead tile for every attack before the last pair.
        dead_left = self.summed_left(self.dead.astype(np.int64))
        dead_left = dead_left - np.maximum(self.left[KING], 0) * ~self.king_may_follow
        needed = (self.size - 4) // 2
        found: Bool = self.dead[:, None, :] & (dead_left >= needed[:, None, None])
        found |= (self.size == 2)[:, None, None]
        return found

    @cached_property
    def best_open(self) -> Float:
        """[N, 8, 8] Chance that the best attack left after the pair is received by no opponent."""
        chance = (self.left > 0) * self.open.T[:, :, None, None]
        chance[KING] *= self.king_may_follow
        return np.asarray(chance.max(axis=0))

    @cached_property
    def cover(self) -> Float:
        """[N, 8, 8] Kinds left after the pair, each as often as an opponent holds it."""
        hold = self.opponents_hold * (KINDS != KING)
        return np.asarray(((self.left > 0) * hold.T[:, :, None, None]).sum(axis=0))

    @cached_property
    def last_points(self) -> Float:
        """[N, 8, 8] Tens of points of the dearest last pair in what is left (a lead: doubled)."""
        worth = np.clip(self.left, 0, 2) * _TENS[:, None, None, None]
        return np.asarray(np.minimum(worth.max(axis=0), self.wanted))

    @cached_property
    def wanted(self) -> Float:
        """[N, 1, 1] Tens of points that win the match."""
        return (self.view.rules.match_points - self.view.scores[:, :1, None]) / 10

    @cached_property
    def now_points(self) -> Float:
        """[N, 8, 8] Tens of points of the pair as the last of the hand."""
        return np.asarray(np.minimum(_TENS * (1 + ALIKE * self.leads[:, None, None]), self.wanted))

    @cached_property
    def partner_led(self) -> Bool:
        """[N, 8] The partner was early to attack with the kind."""
        return np.asarray((self.view.attacks[:, PARTNER, :2, None] == KINDS).any(axis=1))

    @cached_property
    def pairs(self) -> Int:
        """[N] Kinds but pawns of which the hand holds two or more."""
        return np.asarray((self.hand[:, LANCE:] >= 2).sum(axis=1))

    @cached_property
    def shown_pairs(self) -> Int:
        """[N] Kinds from lance to gold of which the hand holds two or more."""
        return np.asarray((self.hand[:, LANCE : KNIGHT + 3] >= 2).sum(axis=1))

    @cached_property
    def tiles_down(self) -> Int:
        """[N] Tiles that all seats have played."""
        return np.asarray(4 * HAND_SIZE - self.sizes.sum(axis=1))
