"""The rule bot in numpy, row by row over whole batches: the compiled one plays as this does.

``N`` is the number of rows; arrays over kinds are [N, 8], over pairs [N, 8, 8] (block, attack).
Everything here is read from the view and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from goita_agents.bots.heuristic.weights import _WEIGHTS, KEPT
from goita_agents.bots.heuristic.weights import CONVENTIONS as NAMES
from goita_agents.bots.heuristic.weights import READING as FACTORS
from goita_env.actions import CALL, CONTINUE, NUM_ACTIONS, PASS, REDEAL
from goita_env.tiles import (
    BISHOP,
    COUNTS,
    GOLD,
    KING,
    KNIGHT,
    LANCE,
    MAX_PLAYS,
    NUM_KINDS,
    NUM_TILES,
    PAWN,
    POINTS,
    ROOK,
)

_EVENTS = np.arange(MAX_PLAYS)
_KINDS = np.arange(NUM_KINDS)
_SHOWN = (_KINDS >= KNIGHT) & (_KINDS <= GOLD)
_ANSWERED = (_KINDS >= LANCE) & (_KINDS <= GOLD)
_CUT = (_KINDS > LANCE) & (_KINDS != KING)
_PARTNER_OF = [3, 0, 1]  # Partner of relative seats 1, 2, 3.


def _lack_chances():
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


_LACKING = _lack_chances()


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


COUNTS_ONLY = Reading()


def evidence(view):
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


def _unanswered(view):
    """Returns where a seat's partner began with a kind before the seat's last play: [N, 3, 8]."""
    plays = view.event_seat[:, None, :] == np.arange(4)[:, None]
    last = np.where(plays, _EVENTS, -1).max(axis=2)
    begun = np.where(plays, _EVENTS, MAX_PLAYS).min(axis=2)
    asked = last[:, 1:] > begun[:, _PARTNER_OF]
    first = view.attacks[:, _PARTNER_OF, 0, None] == _KINDS
    return np.asarray(asked[:, :, None] & first & _ANSWERED)


def holdings(view, reading, told=None):
    """Returns the chance that the other seats hold each kind: float64 [N, 3, 8].

    ``told``: further factors on the odds, of the same shape.
    """
    unseen = view.unseen.astype(np.int64)
    total = unseen.sum(axis=1)[:, None, None]
    lacks = _LACKING[total, view.hand_sizes[:, 1:, None], unseen[:, None, :]]
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
def _powers(factor):
    """Returns the first whole powers of a multiplier: float64 [9]."""
    return np.cumprod(np.array([1.0] + [factor] * 8))


NEXT, PARTNER, PREVIOUS = 1, 2, 3  # The other seats in a view.

SHOWN_KINDS = np.array([False, False, True, True, True, False, False, False])
"""[8] Knight, silver, gold: the kinds with which people show pairs."""

KINDS = _KINDS
ALIKE = np.eye(NUM_KINDS, dtype=np.int64)
_TENS = np.array(POINTS, np.int8) // 10
_UNCUT = (KINDS == PAWN) | (KINDS == LANCE) | (KINDS == KING)
"""[8] Kinds that a king cannot receive."""

_LEFT = -np.eye(NUM_KINDS, dtype=np.int8)[:, :, None] - np.eye(NUM_KINDS, dtype=np.int8)[:, None, :]
"""[8, 8, 8] Change of a hand by each pair."""


class Board:
    """Features of N positions, each computed when it is first used."""

    def __init__(self, view, reading, told=None):
        self.view = view
        self.reading, self.told = reading, told
        self.hand = view.hand.astype(np.int64)  # [N, 8] Tiles in hand.
        self.unseen = view.unseen.astype(np.int64)  # [N, 8] Tiles hidden from the viewer.
        self.sizes = view.hand_sizes.astype(np.int64)  # [N, 4] Tiles in each seat's hand.
        self.size = self.sizes[:, 0]
        self.leads = view.leads
        self.receives = ~view.leads
        self.attacker = view.attacker.astype(np.int64)
        self.attack = view.attack.astype(np.int64)
        self.by_partner = self.receives & (self.attacker == PARTNER)
        """[N] The attack is the partner's."""
        self.by_opponent = self.receives & ~self.by_partner
        self.opening = self.size == view.rules.hand_size
        self.early = self.size >= 6
        self.king_up = view.king_up

    @cached_property
    def face_up(self):
        """[N, 4, 8] Tiles that each seat has shown."""
        return self.view.face_up.astype(np.int64)

    @cached_property
    def attacked(self):
        """[N, 4, 8] Each seat has attacked with the kind."""
        return np.asarray((self.view.attacks[:, :, :, None] == KINDS).any(axis=2))

    @cached_property
    def holds(self):
        """[N, 3, 8] Chance that the next seat, the partner, the previous seat hold the kind."""
        return holdings(self.view, self.reading, self.told)

    @cached_property
    def opponents_hold(self):
        """[N, 8] Chance that an opponent holds the kind."""
        holds = self.holds
        return 1 - (1 - holds[:, 0]) * (1 - holds[:, 2])

    @cached_property
    def open(self):
        """[N, 8] Chance that no opponent can receive an attack with the kind."""
        hold = self.opponents_hold
        king = np.where(_UNCUT, 0.0, hold[:, KING, None])
        found = (1 - hold) * (1 - king)
        found[:, KING] = 1.0
        return found

    @cached_property
    def dead(self):
        """[N, 8] Nobody can receive an attack with the kind, as all copies are seen."""
        found = (self.unseen == 0) & (_UNCUT | (self.unseen[:, KING] == 0)[:, None])
        found[:, KING] = True
        return found

    @cached_property
    def left(self):
        """[8, N, 8, 8] Tiles of each kind after each pair (where it cannot be played: -1)."""
        # Kinds come first, so that reductions over them run along whole arrays.
        hand = np.ascontiguousarray(self.view.hand.T)
        return hand[:, :, None, None] + _LEFT[:, None]

    def summed_left(self, worth):
        """Sums a worth of tiles [N, 8] over the hand after each pair: [N, 8, 8]."""
        total = (worth * self.hand).sum(axis=1)[:, None, None]
        return total - worth[:, :, None] - worth[:, None, :]

    @cached_property
    def copies(self):
        """[N, 8, 8] Copies of the attack's kind that stay in hand after each pair."""
        return self.hand[:, None, :] - 1 - ALIKE

    @cached_property
    def king_may_follow(self):
        """[N, 8, 8] A king left in hand may attack after the pair."""
        ready = self.king_up | (self.hand[:, KING] == 2)
        found = np.broadcast_to(ready[:, None, None], (len(ready), NUM_KINDS, NUM_KINDS)).copy()
        found[:, KING, :] |= self.receives[:, None]
        found[:, :, KING] = True
        return found

    @cached_property
    def sure(self):
        """[N, 8, 8] After the pair nobody can keep this seat from emptying its hand."""
        # That needs a dead tile for every attack before the last pair.
        dead_left = self.summed_left(self.dead.astype(np.int64))
        dead_left = dead_left - np.maximum(self.left[KING], 0) * ~self.king_may_follow
        needed = (self.size - 4) // 2
        found = self.dead[:, None, :] & (dead_left >= needed[:, None, None])
        found |= (self.size == 2)[:, None, None]
        return found

    @cached_property
    def best_open(self):
        """[N, 8, 8] Chance that the best attack left after the pair is received by no opponent."""
        chance = (self.left > 0) * self.open.T[:, :, None, None]
        chance[KING] *= self.king_may_follow
        return np.asarray(chance.max(axis=0))

    @cached_property
    def cover(self):
        """[N, 8, 8] Kinds left after the pair, each as often as an opponent holds it."""
        hold = self.opponents_hold * (KINDS != KING)
        return np.asarray(((self.left > 0) * hold.T[:, :, None, None]).sum(axis=0))

    @cached_property
    def last_points(self):
        """[N, 8, 8] Tens of points of the dearest last pair in what is left (a lead: doubled)."""
        worth = np.clip(self.left, 0, 2) * _TENS[:, None, None, None]
        return np.asarray(np.minimum(worth.max(axis=0), self.wanted))

    @cached_property
    def wanted(self):
        """[N, 1, 1] Tens of points that win the match."""
        return (self.view.rules.match_points - self.view.scores[:, :1, None]) / 10

    @cached_property
    def now_points(self):
        """[N, 8, 8] Tens of points of the pair as the last of the hand."""
        return np.asarray(np.minimum(_TENS * (1 + ALIKE * self.leads[:, None, None]), self.wanted))

    @cached_property
    def partner_led(self):
        """[N, 8] The partner was early to attack with the kind."""
        return np.asarray((self.view.attacks[:, PARTNER, :2, None] == KINDS).any(axis=1))

    @cached_property
    def pairs(self):
        """[N] Kinds but pawns of which the hand holds two or more."""
        return np.asarray((self.hand[:, LANCE:] >= 2).sum(axis=1))

    @cached_property
    def shown_pairs(self):
        """[N] Kinds from lance to gold of which the hand holds two or more."""
        return np.asarray((self.hand[:, LANCE : KNIGHT + 3] >= 2).sum(axis=1))

    @cached_property
    def tiles_down(self):
        """[N] Tiles that all seats have played."""
        return np.asarray(4 * self.view.rules.hand_size - self.sizes.sum(axis=1))


class Tally:
    """Scores of passing [N], of kinds as block and attack [N, 8], and of pairs [N, 8, 8]."""

    def __init__(self, rows, weights):
        self.weights = weights
        self.passing = np.zeros(rows)
        self.block = np.zeros((rows, NUM_KINDS))
        self.attack = np.zeros((rows, NUM_KINDS))
        self.pair = np.zeros((rows, NUM_KINDS, NUM_KINDS))

    def to_pass(self, name, feature):
        self.passing += self.weights[name] * feature

    def to_block(self, name, feature):
        self.block += self.weights[name] * feature

    def to_attack(self, name, feature):
        self.attack += self.weights[name] * feature

    def to_pair(self, name, feature):
        self.pair += self.weights[name] * feature

    def scores(self, legal, more=None):
        """Returns the score of passing and of every pair, minus infinity where illegal: [N, 69].

        ``more``: what is added to it, of the same shape.
        """
        found = np.full((len(self.passing), NUM_ACTIONS), -np.inf)
        found[:, PASS] = self.passing
        pairs = self.pair + self.block[:, :, None] + self.attack[:, None, :]
        found[:, 1 : 1 + NUM_KINDS**2] = pairs.reshape(len(pairs), -1)
        if more is not None:
            found += more
        # The last bits of a sum differ between machines; they must not decide.
        return np.where(legal, found.round(6), -np.inf)


_EVERY = np.ones(NUM_KINDS, bool)


def finishing(board, tally):
    """Takes the dearest finish; goes for sure wins and for good chances of one."""
    one = (board.size == 2)[:, None, None]
    two = (board.size == 4)[:, None, None]
    three = (board.size == 6)[:, None, None]
    tally.to_pair("finish", one * board.now_points)
    tally.to_pair("sure_win", board.sure.astype(float))
    tally.to_pair("sure_points", (board.sure & ~one) * board.last_points)
    chance = board.open[:, None, :]
    tally.to_pair("near_chance", two * np.broadcast_to(chance, board.sure.shape))
    tally.to_pair("near_points", two * board.last_points)
    tally.to_pair("near_worth", two * chance * board.last_points)
    tally.to_pair("next_open", three * board.best_open)
    tally.to_pair("next_both", three * board.best_open * chance)
    tally.to_pair("next_points", three * board.last_points)


def keeping(board, tally):
    """Keeps tiles in hand that receive what opponents may attack with."""
    stages = {"_near": 4, "_later": 6, "_first": 8}
    cover = board.receives[:, None, None] * board.cover
    king = board.left[KING] > 0
    for stage, size in stages.items():
        now = (board.size == size)[:, None, None]
        tally.to_pair("cover" + stage, now * cover)
        tally.to_pair("king_left" + stage, now & king)
    first = board.opening[:, None, None]
    tally.to_pair("first_open", first * board.best_open)
    tally.to_pair("first_points", first * board.last_points)


def attacking(board, tally):
    """Attacks with what is hard to receive and can be repeated."""
    early, near = board.early[:, None], (board.size == 4)[:, None]
    tally.to_attack("attack_kind", early & _EVERY)
    tally.to_attack("attack_kind_near", near & _EVERY)
    copies = board.copies * (KINDS != PAWN)  # there are ten: to hold many is common
    tally.to_pair("copies", board.opening[:, None, None] * copies)
    tally.to_pair("copies_later", (board.size == 6)[:, None, None] * copies)
    tally.to_attack("open", board.opening[:, None] * board.open)
    tally.to_attack("open_later", (board.size == 6)[:, None] * board.open)
    tally.to_attack("dead", early & board.dead & (KINDS != KING))
    holds = board.holds
    tally.to_attack("next_holds", early * holds[:, NEXT - 1])
    tally.to_attack("partner_holds", early * holds[:, PARTNER - 1])
    tally.to_attack("partner_holds_near", near * holds[:, PARTNER - 1])
    tally.to_attack("feed_partner", (board.sizes[:, PARTNER] == 2)[:, None] & ~board.dead)
    close = (board.sizes[:, NEXT] == 2) | (board.sizes[:, PREVIOUS] == 2)
    tally.to_attack("shut_out", close[:, None] * board.open)


def laying_down(board, tally):
    """Chooses the tile face down by its use, and keeps what is left playable."""
    lead = board.leads[:, None]
    tally.to_block("down_kind", lead & board.early[:, None] & _EVERY)
    tally.to_block("down_kind_near", lead & (board.size == 4)[:, None] & _EVERY)
    tally.to_block("down_useless", lead & (board.unseen == 0) & (board.hand == 1))
    tally.to_block("down_open", lead * board.open)
    tally.to_pair("down_alike", lead[:, :, None] * ALIKE)


def receiving(board, tally):
    """Weighs receiving an opponent's attack against passing it."""
    opponent = board.by_opponent
    behind = opponent & (board.attacker == PREVIOUS)
    attacker = np.take_along_axis(board.sizes, np.maximum(board.attacker, 0)[:, None], axis=1)[:, 0]
    tally.to_pass("pass_last", opponent & ~behind)
    tally.to_pass("pass_first", behind)
    tally.to_pass("pass_danger_last", opponent & ~behind & (attacker == 2))
    tally.to_pass("pass_danger_first", behind & (attacker == 2))
    tally.to_pass("pass_threat", opponent & (attacker == 4))
    tally.to_pass("pass_full", opponent & board.opening)
    tally.to_pass("pass_near", opponent & (board.size == 4))
    tally.to_pass("pass_one", opponent & (board.size == 2))
    tally.to_pass("partner_one", opponent & (board.sizes[:, PARTNER] == 2))
    rows = np.arange(len(attacker))
    partner = board.holds[rows, PARTNER - 1, np.maximum(board.attack, 0)]
    tally.to_pass("partner_may", behind * partner)
    copies = board.hand[rows, np.maximum(board.attack, 0)]
    tally.to_pass("pass_spare", opponent & (copies >= 2))
    others = np.where(behind, board.sizes[:, NEXT], board.sizes[:, PREVIOUS])
    tally.to_pass("pass_other_near", opponent & (others == 4))
    tally.to_pass("pass_other_one", opponent & (others == 2))
    tally.to_pass("pass_king", opponent & (board.hand[:, KING] == 1))
    tally.to_pass("pass_kings", opponent & (board.hand[:, KING] == 2))
    cut = (board.receives & (board.attack != KING))[:, None] & (KINDS == KING)
    tally.to_block("cut", cut & board.opening[:, None])
    tally.to_block("cut_later", cut & (board.size == 6)[:, None])
    tally.to_block("cut_near", cut & (board.size == 4)[:, None])
    tally.to_block("cut_danger", cut & (attacker == 2)[:, None])
    tally.to_block("cut_second", cut & (board.hand[:, KING] == 2)[:, None])


SKILL_RULES = (finishing, keeping, attacking, laying_down, receiving)
"""Every skill; they have no switch."""


_BIG = (KINDS == BISHOP) | (KINDS == ROOK)


def pair_lead(board, tally):
    """Attacks early with gold, silver or knight from two or more: "Pair lead"."""
    early = board.early[:, None, None] & SHOWN_KINDS
    tally.to_pair("pair_lead", early & (board.copies >= 1))
    tally.to_pair("pair_lead_single", early & board.opening[:, None, None] & (board.copies == 0))


def answer(board, tally):
    """Attacks with the kind that the partner led: "Answer"."""
    asked = board.partner_led & _ANSWERED
    tally.to_attack("answer", asked & ~board.attacked[:, 0])
    tally.to_attack("answer_again", asked & board.attacked[:, 0])


def lance_lead(board, tally):
    """Attacks with lance from two, and goes on with them: "Lance lead"."""
    lance = board.early[:, None, None] & (KINDS == LANCE)
    tally.to_pair("lance_lead", lance & (board.copies >= 1))
    tally.to_attack("lance_run", board.attacked[:, 0] & (KINDS == LANCE))


def false_lance(board, tally):
    """Hides two kings behind a single lance: "False lance"."""
    kings = board.early & (board.hand[:, KING] == 2) & (board.hand[:, LANCE] == 1)
    tally.to_attack("false_lance", kings[:, None] & (KINDS == LANCE))


def pawn_lead(board, tally):
    """Leads a pawn from about four, joins the partner's with three or more: "Pawn lead"."""
    pawns = board.hand[:, PAWN]
    pawn = KINDS == PAWN
    partner = board.partner_led[:, PAWN] & ~board.attacked[:, 0, PAWN]
    tally.to_attack("pawn_lead", (board.opening & (pawns >= 4))[:, None] & pawn)
    tally.to_attack("pawn_lead_again", ((board.size == 6) & (pawns >= 3))[:, None] & pawn)
    joins = (pawns >= 3) & (board.shown_pairs == 0)
    tally.to_attack("pawn_join", (partner & joins)[:, None] & pawn)
    tally.to_attack("pawn_decline", (partner & ~joins)[:, None] & pawn)


def scattered_lead(board, tally):
    """Shows a hand without pairs by a pawn or the biggest first: "Scattered lead"."""
    scattered = board.opening & (board.pairs == 0)
    few = scattered & (board.hand[:, PAWN] <= 3)
    tally.to_attack("pawn_first", few[:, None] & (KINDS == PAWN))
    tally.to_attack("biggest_first", scattered[:, None] & _BIG)
    # A partner that began with bishop or rook has no pair to go on with: save strength.
    weak = board.partner_led[:, BISHOP:KING].any(axis=1) & board.early
    tally.to_pass("partner_scattered", weak & board.by_opponent)


def king_signal(board, tally):
    """Shows a king by a pawn as third attack, or second after a lance: "King signal"."""
    lance_first = board.attacked[:, 0, LANCE] & (board.size == 6)
    moment = (board.size == 4) | lance_first
    king = board.hand[:, KING] == 1
    pawn = KINDS == PAWN
    tally.to_attack("king_signal", (moment & king)[:, None] & pawn)
    tally.to_attack("king_signal_none", (moment & ~king)[:, None] & pawn)
    attacks = board.view.attacks[:, PARTNER]
    signalled = (attacks[:, 2] == PAWN) | ((attacks[:, 0] == LANCE) & (attacks[:, 1] == PAWN))
    signalled &= board.unseen[:, KING] > 0
    tally.to_pass("partner_has_king", signalled & board.by_opponent)
    tally.to_block("keep_pawns", (signalled & board.leads)[:, None] & pawn)


def king_attack(board, tally):
    """Attacks with a king from two; stays out of the way of a partner who did: "King attack"."""
    two = (board.hand[:, KING] == 2) & ~board.king_up
    tally.to_attack("king_attack", two[:, None] & (KINDS == KING))
    signalled = board.attacked[:, PARTNER, KING] & (board.unseen[:, KING] > 0)
    tally.to_pass("partner_king_attack", signalled & board.by_partner)


def pass_partner(board, tally):
    """Leaves the partner its attack, but in need or with a strong narrow hand: "Pass"."""
    partner = board.by_partner
    tally.to_pass("pass_partner", partner)
    tally.to_pass("pass_partner_near", partner & (board.sizes[:, PARTNER] <= 4))
    tally.to_pass("pass_partner_one", partner & (board.sizes[:, PARTNER] == 2))
    tally.to_pass("pass_partner_lance", partner & (board.attack == LANCE))
    narrow = partner & (board.size == 4)
    tally.to_pass("partner_narrow", narrow)
    tally.to_pass("partner_narrow_open", narrow * (board.open * (board.hand > 0)).max(axis=1))
    may = board.holds[np.arange(len(partner)), PREVIOUS - 1, np.maximum(board.attack, 0)]
    tally.to_pass("partner_danger", partner * (board.sizes[:, PREVIOUS] == 2) * may)
    tally.to_pass("partner_blocked", partner * may)


def hold_back(board, tally):
    """Passes on an opponent's first attack, cuts with a king late: "Hold back"."""
    attacker = np.take_along_axis(board.sizes, np.maximum(board.attacker, 0)[:, None], axis=1)[:, 0]
    first = board.by_opponent & (attacker == 6)
    tally.to_pass("hold_back", first)
    tally.to_pass("hold_back_lance", first & (board.attack == LANCE))
    tally.to_pass("hold_back_big", first & (board.attack >= BISHOP))
    tally.to_pass("hold_back_pair", first & (board.pairs == 0))
    early = board.receives & (board.tiles_down <= 4)
    tally.to_block("early_cut", early[:, None] & (KINDS == KING))


def bury(board, tally):
    """Lays face down what narrows the hand least, and keeps lances: "Bury"."""
    lead = board.leads & board.early
    tally.to_block("bury_narrows", lead[:, None] * (board.hand == 1) * board.opponents_hold)
    tally.to_pair("bury_keep", lead[:, None, None] * board.cover)
    tally.to_block("bury_lance", lead[:, None] & (KINDS == LANCE))


CONVENTION_RULES = {
    rule.__name__: rule
    for rule in (
        pair_lead,
        answer,
        lance_lead,
        false_lance,
        pawn_lead,
        scattered_lead,
        king_signal,
        king_attack,
        pass_partner,
        hold_back,
        bury,
    )
}

WEIGHTS = {name: np.array(one) for rule in _WEIGHTS.values() for name, one in rule.items()}
ALL = Reading(kept=KEPT, **FACTORS)


def oracle(view, legal, conventions=NAMES, reading=True, more=None, told=None):
    """Returns the action of the bot with these conventions: int64 [N]."""
    board = Board(view, ALL if reading else COUNTS_ONLY, told)
    tally = Tally(len(view), WEIGHTS)
    for rule in (*SKILL_RULES, *(CONVENTION_RULES[name] for name in conventions)):
        rule(board, tally)
    chosen = tally.scores(legal, more).argmax(axis=1)
    # It calls whatever it may; as a caller's partner it redeals unless it holds both kings.
    chosen = np.where(legal[:, CALL], CALL, chosen)
    answer = np.where(board.hand[:, KING] == 2, CONTINUE, REDEAL)
    return np.where(legal[:, REDEAL], answer, chosen)
