"""Chooses actions by the rules of the bot, compiled: skills, and the conventions of people.

A row of packed words (``goita_env.views.observation``) is read into a ``Board``. Each rule adds
weights to a ``Score``, under the names of ``weights.py``. Only legal actions are scored. Everything
here depends only on the view of the seat. docs/strength.md describes each convention under the name
of its switch, which is in quotes here.

All compiled code is in this file, because numba's cache notices changes only in a function's own
file.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.compiling import compiled
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL
from goita_env.rules import Rules
from goita_env.tiles import (
    BISHOP,
    COUNTS,
    GOLD,
    HAND_SIZE,
    KING,
    KNIGHT,
    LANCE,
    NONE,
    NUM_KINDS,
    NUM_SEATS,
    NUM_TILES,
    PAWN,
    POINTS,
    ROOK,
)
from goita_env.views.observation import (
    HAND_COUNTS,
    NOTES_WORD,
    PLAYS_WORD,
    SLICES,
    TABLE_WORD,
    TILES_WORD,
)

SELF, NEXT, PARTNER, PREVIOUS = range(4)  # The seats in a view.
NUM_PAIRS: Final = NUM_KINDS * NUM_KINDS
TENS_OF_POINTS: Final = np.array(POINTS) // 10
SCORE_ROUNDING: Final = 1e6  # The last bits of a sum differ between machines; they must not decide.

_PLACE: Final = {part.name: part.start % 64 for part in SLICES}  # First bit of a slice in its word.
AT_EVENTS, AT_PASSED = _PLACE["events_0"], _PLACE["passed_opponents_0"]
AT_PASSED_PARTNER, NOTE_BITS = _PLACE["passed_partner_0"], _PLACE["events_1"]
AT_UNSEEN, AT_ATTACK, AT_ATTACKER = _PLACE["unseen"], _PLACE["attack"], _PLACE["attacker"]
AT_PASSES, AT_DEALER, AT_KING_UP = _PLACE["passes"], _PLACE["dealer"], _PLACE["king_up"]
AT_SCORE, AT_KINGS = _PLACE["own_score"], sum(HAND_COUNTS[:KING])
_SIZE: Final = {part.name: part.size for part in SLICES}
EVENT_BITS, SCORE_BITS = _SIZE["events_0"], _SIZE["own_score"]


def _lack_chances() -> Float:
    """Tabulates the chance that a seat lacks a kind: float64 [33, 9, 11].

    The indices count unseen tiles: all, those in the seat's hand, those of the kind. The chances
    are hypergeometric.
    """
    table = np.zeros((NUM_TILES + 1, HAND_SIZE + 1, COUNTS[PAWN] + 1))
    for unseen in range(NUM_TILES + 1):
        for size in range(HAND_SIZE + 1):
            chance = 1.0
            for count in range(COUNTS[PAWN] + 1):
                table[unseen, size, count] = chance
                chance *= max(unseen - size - count, 0) / max(unseen - count, 1)
    return table


LACK_CHANCES: Final = _lack_chances()

BOARD: Final = np.dtype(
    [
        ("hand", "i8", NUM_KINDS),  # Tiles in hand.
        ("unseen", "i8", NUM_KINDS),  # Tiles hidden from the seat.
        ("match_points", "i8"),
        ("dealt", "i8"),  # Tiles in a dealt hand.
        ("sizes", "i8", NUM_SEATS),  # Tiles in each seat's hand.
        ("attacked", "i8", NUM_SEATS),  # Bits of the kinds that each seat has attacked with.
        ("size", "i8"),  # Tiles in hand.
        ("in_hands", "i8"),  # Tiles in all hands.
        ("leads", "i1"),
        ("attack", "i8"),  # Kind of the attack, NONE before the first.
        ("attacker", "i8"),  # Seat of the attack.
        ("by_partner", "i1"),  # The seat receives, and the attack is the partner's.
        ("by_opponent", "i1"),
        ("king_up", "i1"),
        ("partner_led", "i8"),  # Bits of the kinds of the partner's first two attacks.
        ("pairs", "i8"),  # Kinds, except pawns, of which the hand holds two or more.
        ("shown_pairs", "i8"),  # Likewise, only kinds from lance to gold.
        ("signalled", "i1"),  # The partner showed a king that is not in sight.
        # Chances that the next seat, the partner, the previous seat hold the kind.
        ("holds", "f8", (NUM_SEATS - 1, NUM_KINDS)),
        ("opponents_hold", "f8", NUM_KINDS),  # Chance that an opponent holds the kind.
        ("open", "f8", NUM_KINDS),  # Chance that no opponent can receive an attack with the kind.
        ("dead", "i1", NUM_KINDS),  # Nobody can receive it, as all copies are seen.
        ("count", "i8"),  # Legal pairs. Each has an entry in the following fields.
        ("block", "i8", NUM_PAIRS),  # Kind of the block.
        ("follow", "i8", NUM_PAIRS),  # Kind of the attack.
        ("copies", "i8", NUM_PAIRS),  # Copies of the attack's kind that stay in hand.
        ("sure", "i1", NUM_PAIRS),  # Nobody can then keep this seat from emptying its hand.
        ("best_open", "f8", NUM_PAIRS),  # Greatest chance that no opponent receives an attack left.
        ("cover", "f8", NUM_PAIRS),  # Sum of ``opponents_hold`` over kinds left, except kings.
        ("king_left", "i1", NUM_PAIRS),  # A king stays in hand.
        ("last_points", "f8", NUM_PAIRS),  # Tens of points of the dearest last pair left.
        ("now_points", "f8", NUM_PAIRS),  # Tens of points of the pair as the last of the hand.
    ],
    align=True,
)
"""A position, as its seat knows it."""

SCORE: Final = np.dtype(
    [
        ("passing", "f8"),
        ("block", "f8", NUM_KINDS),  # By kind.
        ("attack", "f8", NUM_KINDS),  # By kind.
        ("pair", "f8", NUM_PAIRS),  # By legal pair.
    ],
    align=True,
)
"""Sums of weights."""


# ---------------------------------------------------------------------------------- reading a row


@compiled
def _count_bits(bits: int) -> int:
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@compiled
def _place(bits: int) -> int:
    """Returns the place of the lowest bit, NONE if there is none."""
    if bits == 0:
        return NONE
    place = 0
    while not bits >> place & 1:
        place += 1
    return place


@compiled
def _last(bits: int) -> int:
    """Returns the place of the highest bit, -1 if there is none."""
    place = -1
    while bits:
        bits >>= 1
        place += 1
    return place


@compiled
def _notes(words: Int, seat: int, start: int, size: int) -> Any:
    return words[NOTES_WORD + seat // 2] >> (NOTE_BITS * (seat % 2) + start) & ((1 << size) - 1)


@compiled
def _read_tiles(words: Int, hand: Int, unseen: Int) -> None:
    place, tiles = 0, words[TILES_WORD]
    for kind in range(NUM_KINDS):
        hand[kind] = _count_bits(tiles >> place & ((1 << HAND_COUNTS[kind]) - 1))
        place += HAND_COUNTS[kind]
    place = AT_UNSEEN
    for kind in range(NUM_KINDS):
        unseen[kind] = _count_bits(tiles >> place & ((1 << COUNTS[kind]) - 1))
        place += COUNTS[kind]


@compiled
def _attack_of(words: Int, seat: int, play: int) -> Any:
    """Returns the bit of the kind that a seat attacked with in a play, 0 for none."""
    return words[PLAYS_WORD + seat] >> (16 * play + 8) & 255


@compiled
def _block_of(words: Int, seat: int, play: int) -> Any:
    """Returns the bit of a block, 0 if it is not known."""
    return words[PLAYS_WORD + seat] >> 16 * play & 255


# ---------------------------------------------------------------------------- inference from moves


@compiled
def _infer(words: Int, factors: Float, w: Any, board: Any) -> None:
    """Computes the chance that the other seats hold each kind, from counts and their actions.

    ``factors``: [3, 8] further factors on the odds; empty: there are none.
    """
    unseen, sizes, holds = board.unseen, board.sizes, board.holds
    total = 0
    for kind in range(NUM_KINDS):
        total += unseen[kind]
    for seat in range(1, NUM_SEATS):
        passed = _notes(words, seat, AT_PASSED, KING)
        first_attack, led_down = _place(_attack_of(words, seat, 0)), _block_of(words, seat, 0) == 0
        # The kind that the seat's partner led, if it did before the seat's last play.
        partner_seat = (seat + PARTNER) % NUM_SEATS
        partner_kind = -1
        last_play = _last(_notes(words, seat, AT_EVENTS, EVENT_BITS))
        partner_lead = _place(_notes(words, partner_seat, AT_EVENTS, EVENT_BITS))
        if partner_lead != NONE and last_play > partner_lead:
            partner_kind = _place(_attack_of(words, partner_seat, 0))
        for kind in range(NUM_KINDS):
            num_shown = 0  # tiles of the kind among the seat's blocks and attacks
            for play in range(4):
                num_shown += _attack_of(words, seat, play) == 1 << kind
                num_shown += _block_of(words, seat, play) == 1 << kind
            has_attacked = board.attacked[seat] >> kind & 1
            lacks = LACK_CHANCES[total, sizes[seat], unseen[kind]]
            if w.counts_only and len(factors) == 0:
                holds[seat - 1, kind] = 1 - lacks
                continue
            odds = (1 - lacks) * w.read_kept[max(sizes[seat], 2) // 2 - 1, kind]
            if passed >> kind & 1:
                odds *= w.read_passed_pawn if kind == PAWN else w.read_passed
            if kind == KING:
                factor = 1.0
                for _ in range(_count_bits(passed >> KNIGHT)):
                    factor *= w.read_passed_king
                odds *= factor
            elif seat == PARTNER and _notes(words, seat, AT_PASSED_PARTNER, KING) >> kind & 1:
                odds *= w.read_passed_own_attack
            led = led_down and first_attack == kind
            if led and num_shown == 1:
                odds *= w.read_lead if KNIGHT <= kind <= GOLD else w.read_lead_other
            if has_attacked and not led and num_shown == 1:
                odds *= w.read_attacked
            if num_shown >= 2:
                odds *= w.read_repeated
            if kind == partner_kind and LANCE <= kind <= GOLD and not has_attacked:
                odds *= w.read_no_answer
            if kind == KING and has_attacked and unseen[KING] > 0:
                odds *= w.read_king_attack
            if len(factors):
                odds *= factors[seat - 1, kind]
            holds[seat - 1, kind] = odds / (odds + lacks + 1e-12)


# ------------------------------------------------------------------------------------- the board


@compiled
def _read(words: Int, legal: Bool, factors: Float, w: Any, board: Any) -> None:
    """Reads a position into ``board``."""
    hand, unseen = board.hand, board.unseen
    _read_tiles(words, hand, unseen)
    board.in_hands = 0
    for seat in range(NUM_SEATS):
        plays = _count_bits(_notes(words, seat, AT_EVENTS, EVENT_BITS))
        board.sizes[seat] = board.dealt - 2 * plays
        board.in_hands += board.sizes[seat]
        board.attacked[seat] = 0
        for play in range(4):
            board.attacked[seat] |= _attack_of(words, seat, play)
    board.size = board.sizes[SELF]

    table = words[TABLE_WORD]
    attack, attacker = _place(table >> AT_ATTACK & 255), _place(table >> AT_ATTACKER & 15)
    if attack == NONE:
        leads = _place(table >> AT_DEALER & 15) == SELF
    else:
        leads = attacker == SELF and _count_bits(table >> AT_PASSES & 7) == NUM_SEATS - 1
    board.attack, board.attacker, board.leads = attack, attacker, leads
    board.by_partner = not leads and attacker == PARTNER
    board.by_opponent = not leads and attacker != PARTNER
    board.king_up = table >> AT_KING_UP & 1 == 1

    board.pairs = board.shown_pairs = 0
    for kind in range(LANCE, NUM_KINDS):
        board.pairs += hand[kind] >= 2
        board.shown_pairs += hand[kind] >= 2 and kind <= GOLD
    first, second = _attack_of(words, PARTNER, 0), _attack_of(words, PARTNER, 1)
    pawn_third = _attack_of(words, PARTNER, 2) == 1 << PAWN
    board.partner_led = first | second
    signalled = pawn_third or (first == 1 << LANCE and second == 1 << PAWN)
    board.signalled = signalled and unseen[KING] > 0

    _infer(words, factors, w, board)
    opponents_hold = board.opponents_hold
    for kind in range(NUM_KINDS):
        holds = board.holds[:, kind]
        opponents_hold[kind] = 1 - (1 - holds[NEXT - 1]) * (1 - holds[PREVIOUS - 1])
    for kind in range(NUM_KINDS):
        king_receives = kind > LANCE
        no_king = 1 - opponents_hold[KING] if king_receives else 1.0
        board.open[kind] = (1 - opponents_hold[kind]) * no_king
        board.dead[kind] = unseen[kind] == 0 and (not king_receives or unseen[KING] == 0)
    board.open[KING], board.dead[KING] = 1.0, True

    board.count = _list_pairs(legal, board.block, board.follow)
    own_score = _count_bits(table >> AT_SCORE & ((1 << SCORE_BITS) - 1))
    _look_ahead(board, board.match_points / 10 - own_score)


@compiled
def _list_pairs(legal: Bool, block: Int, follow: Int) -> int:
    """Writes the kinds of the legal pairs into ``block`` and ``follow``; returns their number."""
    count = 0
    for pair in range(NUM_PAIRS):
        if legal[1 + pair]:
            block[count], follow[count] = pair // NUM_KINDS, pair % NUM_KINDS
            count += 1
    return count


@compiled
def _look_ahead(board: Any, points_to_win: float) -> None:
    """Evaluates the tiles left after each legal pair; ``points_to_win``: tens, to win the match."""
    hand = board.hand  # each pair is taken out of it, and put back
    for i in range(board.count):
        block, attack = board.block[i], board.follow[i]
        hand[block] -= 1
        hand[attack] -= 1
        board.copies[i] = hand[attack]
        king_may_follow = (
            board.king_up
            or hand[KING] + (block == KING) + (attack == KING) == 2
            or (block == KING and not board.leads)
            or attack == KING
        )
        dead_left, best_open, cover, dearest = 0, 0.0, 0.0, 0
        for kind in range(NUM_KINDS):
            if hand[kind] > 0:
                if kind != KING or king_may_follow:
                    dead_left += board.dead[kind] * hand[kind]
                    best_open = max(best_open, board.open[kind])
                if kind != KING:
                    cover += board.opponents_hold[kind]
                dearest = max(dearest, min(hand[kind], 2) * TENS_OF_POINTS[kind])
        needed = board.size // 2 - 2  # a dead tile for every attack before the last pair
        board.sure[i] = board.size == 2 or (board.dead[attack] and dead_left >= needed)
        board.best_open[i], board.cover[i] = best_open, cover
        board.king_left[i] = hand[KING] > 0
        board.last_points[i] = min(float(dearest), points_to_win)
        doubled = 2 if block == attack and board.leads else 1
        board.now_points[i] = min(float(TENS_OF_POINTS[attack] * doubled), points_to_win)
        hand[block] += 1
        hand[attack] += 1


# --------------------------------------------------------------------------------------- the skills


@compiled
def finishing(board: Any, score: Any, w: Any) -> None:
    """Takes the dearest finish; prefers sure wins and good chances to win."""
    for i in range(board.count):
        chance = board.open[board.follow[i]]
        worth = 0.0
        if board.size == 2:
            worth += w.finish * board.now_points[i]
        if board.sure[i]:
            worth += w.sure_win
            if board.size != 2:
                worth += w.sure_points * board.last_points[i]
        if board.size == 4:
            worth += w.near_chance * chance
            worth += w.near_points * board.last_points[i]
            worth += w.near_worth * chance * board.last_points[i]
        if board.size == 6:
            worth += w.next_open * board.best_open[i]
            worth += w.next_both * board.best_open[i] * chance
            worth += w.next_points * board.last_points[i]
        score.pair[i] += worth


@compiled
def keeping(board: Any, score: Any, w: Any) -> None:
    """Keeps tiles in hand that receive likely attacks of opponents."""
    cover_weight, king_weight = 0.0, 0.0
    if board.size == 4:
        cover_weight, king_weight = w.cover_near, w.king_left_near
    elif board.size == 6:
        cover_weight, king_weight = w.cover_later, w.king_left_later
    elif board.size == board.dealt:
        cover_weight, king_weight = w.cover_first, w.king_left_first
    for i in range(board.count):
        if not board.leads:
            score.pair[i] += cover_weight * board.cover[i]
        score.pair[i] += king_weight * board.king_left[i]
        if board.size == board.dealt:
            score.pair[i] += w.first_open * board.best_open[i]
            score.pair[i] += w.first_points * board.last_points[i]


@compiled
def attacking(board: Any, score: Any, w: Any) -> None:
    """Attacks with kinds that are hard to receive and can be repeated."""
    early, near = board.size >= 6, board.size == 4
    close = board.sizes[NEXT] == 2 or board.sizes[PREVIOUS] == 2
    for kind in range(NUM_KINDS):
        worth = 0.0
        partner_holds = board.holds[PARTNER - 1, kind]
        if early:
            worth += w.attack_kind[kind]
            worth += w.next_holds * board.holds[NEXT - 1, kind]
            worth += w.partner_holds * partner_holds
            if board.dead[kind] and kind != KING:
                worth += w.dead
        if near:
            worth += w.attack_kind_near[kind] + w.partner_holds_near * partner_holds
        if board.size == board.dealt:
            worth += w.open * board.open[kind]
        if board.size == 6:
            worth += w.open_later * board.open[kind]
        if board.sizes[PARTNER] == 2 and not board.dead[kind]:
            worth += w.feed_partner
        if close:
            worth += w.shut_out * board.open[kind]
        score.attack[kind] += worth
    if early:
        weight = w.copies if board.size == board.dealt else w.copies_later
        for i in range(board.count):
            if board.follow[i] != PAWN:  # there are ten pawns, so to hold many is common
                score.pair[i] += weight * board.copies[i]


@compiled
def laying_down(board: Any, score: Any, w: Any) -> None:
    """Weighs each tile as a block face down: by its kind, and by its use if it stays in hand."""
    if not board.leads:
        return
    for kind in range(NUM_KINDS):
        if board.size >= 6:
            score.block[kind] += w.down_kind[kind]
        if board.size == 4:
            score.block[kind] += w.down_kind_near[kind]
        # No other seat can attack with the kind, so its only tile has nothing to receive.
        if board.unseen[kind] == 0 and board.hand[kind] == 1:
            score.block[kind] += w.down_useless
        # As an attack the tile might be one that no opponent can receive.
        score.block[kind] += w.down_open * board.open[kind]
    for i in range(board.count):
        if board.block[i] == board.follow[i]:
            score.pair[i] += w.down_alike


@compiled
def receiving(board: Any, score: Any, w: Any) -> None:
    """Weighs passing on an opponent's attack, and receiving any attack with a king."""
    if board.leads:
        return
    # Views of seats that do not act may have no attack: before the first play, or at the end.
    attacker_size = board.sizes[board.attacker] if board.attack != NONE else board.dealt
    kings = board.hand[KING]
    if board.by_opponent:
        passing = 0.0
        if board.attacker == PREVIOUS:
            passing += w.pass_first
            passing += w.partner_may * board.holds[PARTNER - 1, board.attack]
            passing += w.pass_danger_first if attacker_size == 2 else 0.0
            other_size = board.sizes[NEXT]
        else:
            passing += w.pass_last
            passing += w.pass_danger_last if attacker_size == 2 else 0.0
            other_size = board.sizes[PREVIOUS]
        passing += w.pass_threat if attacker_size == 4 else 0.0
        passing += w.pass_full if board.size == board.dealt else 0.0
        passing += w.pass_near if board.size == 4 else 0.0
        passing += w.pass_one if board.size == 2 else 0.0
        passing += w.partner_one if board.sizes[PARTNER] == 2 else 0.0
        passing += w.pass_spare if board.hand[board.attack] >= 2 else 0.0
        passing += w.pass_other_near if other_size == 4 else 0.0
        passing += w.pass_other_one if other_size == 2 else 0.0
        passing += w.pass_king if kings == 1 else 0.0
        passing += w.pass_kings if kings == 2 else 0.0
        score.passing += passing
    if board.attack != KING:
        cut = 0.0
        cut += w.cut if board.size == board.dealt else 0.0
        cut += w.cut_later if board.size == 6 else 0.0
        cut += w.cut_near if board.size == 4 else 0.0
        cut += w.cut_danger if attacker_size == 2 else 0.0
        cut += w.cut_second if kings == 2 else 0.0
        score.block[KING] += cut


# ---------------------------------------------------------------------------------- the conventions


@compiled
def pair_lead(board: Any, score: Any, w: Any) -> None:
    """Attacks early with gold, silver or knight from two or more: "Pair lead"."""
    if board.size < 6:
        return
    for i in range(board.count):
        if KNIGHT <= board.follow[i] <= GOLD:
            if board.copies[i] >= 1:
                score.pair[i] += w.pair_lead
            elif board.size == board.dealt:
                score.pair[i] += w.pair_lead_single


@compiled
def answer(board: Any, score: Any, w: Any) -> None:
    """Attacks with the kind that the partner led: "Answer"."""
    for kind in range(LANCE, GOLD + 1):
        if board.partner_led >> kind & 1:
            again = board.attacked[SELF] >> kind & 1
            score.attack[kind] += w.answer_again if again else w.answer


@compiled
def lance_lead(board: Any, score: Any, w: Any) -> None:
    """Attacks with lance from two, and continues with lances: "Lance lead"."""
    if board.size >= 6:
        for i in range(board.count):
            if board.follow[i] == LANCE and board.copies[i] >= 1:
                score.pair[i] += w.lance_lead
    if board.attacked[SELF] >> LANCE & 1:
        score.attack[LANCE] += w.lance_run


@compiled
def false_lance(board: Any, score: Any, w: Any) -> None:
    """Hides two kings behind a single lance: "False lance"."""
    if board.size >= 6 and board.hand[KING] == 2 and board.hand[LANCE] == 1:
        score.attack[LANCE] += w.false_lance


@compiled
def pawn_lead(board: Any, score: Any, w: Any) -> None:
    """Leads a pawn from about four, joins the partner's with three or more: "Pawn lead"."""
    pawns = board.hand[PAWN]
    if board.size == board.dealt and pawns >= 4:
        score.attack[PAWN] += w.pawn_lead
    if board.size == 6 and pawns >= 3:
        score.attack[PAWN] += w.pawn_lead_again
    if board.partner_led >> PAWN & 1 and not board.attacked[SELF] >> PAWN & 1:
        joins = pawns >= 3 and board.shown_pairs == 0
        score.attack[PAWN] += w.pawn_join if joins else w.pawn_decline


@compiled
def scattered_lead(board: Any, score: Any, w: Any) -> None:
    """Shows a hand without pairs by a pawn or the biggest first: "Scattered lead"."""
    if board.size == board.dealt and board.pairs == 0:
        if board.hand[PAWN] <= 3:
            score.attack[PAWN] += w.pawn_first
        score.attack[BISHOP] += w.biggest_first
        score.attack[ROOK] += w.biggest_first
    # A partner that began with bishop or rook has no pair to continue with: save strength.
    big = board.partner_led & (1 << BISHOP | 1 << ROOK)
    if big and board.size >= 6 and board.by_opponent:
        score.passing += w.partner_scattered


@compiled
def king_signal(board: Any, score: Any, w: Any) -> None:
    """Shows a king by a pawn as third attack, or second after a lance: "King signal"."""
    lance_first = board.attacked[SELF] >> LANCE & 1 and board.size == 6
    if board.size == 4 or lance_first:
        has_king = board.hand[KING] == 1
        score.attack[PAWN] += w.king_signal if has_king else w.king_signal_none
    if board.signalled:
        if board.leads:
            score.block[PAWN] += w.keep_pawns
        elif board.by_opponent:
            score.passing += w.partner_has_king


@compiled
def king_attack(board: Any, score: Any, w: Any) -> None:
    """Attacks with a king from two; leaves a partner that did its attack: "King attack"."""
    if board.hand[KING] == 2 and not board.king_up:
        score.attack[KING] += w.king_attack
    partner_has_king = board.attacked[PARTNER] >> KING & 1 and board.unseen[KING] > 0
    if partner_has_king and board.by_partner:
        score.passing += w.partner_king_attack


@compiled
def pass_partner(board: Any, score: Any, w: Any) -> None:
    """Leaves the partner its attack, except in need or with a strong narrow hand: "Pass"."""
    if not board.by_partner:
        return
    passing = w.pass_partner
    if board.sizes[PARTNER] <= 4:
        passing += w.pass_partner_near
    if board.sizes[PARTNER] == 2:
        passing += w.pass_partner_one
    if board.attack == LANCE:
        passing += w.pass_partner_lance
    if board.size == 4:
        best_open = 0.0
        for kind in range(NUM_KINDS):
            if board.hand[kind] > 0:
                best_open = max(best_open, board.open[kind])
        passing += w.partner_narrow
        passing += w.partner_narrow_open * best_open
    previous_holds = board.holds[PREVIOUS - 1, board.attack]
    if board.sizes[PREVIOUS] == 2:
        passing += w.partner_danger * previous_holds
    passing += w.partner_blocked * previous_holds
    score.passing += passing


@compiled
def hold_back(board: Any, score: Any, w: Any) -> None:
    """Passes on an opponent's first attack, cuts with a king late: "Hold back"."""
    if board.leads:
        return
    if board.by_opponent and board.sizes[board.attacker] == 6:
        score.passing += w.hold_back
        if board.attack == LANCE:
            score.passing += w.hold_back_lance
        if board.attack >= BISHOP:
            score.passing += w.hold_back_big
        if board.pairs == 0:
            score.passing += w.hold_back_pair
    if board.in_hands >= NUM_SEATS * board.dealt - 4:  # after two plays at most
        score.block[KING] += w.early_cut


@compiled
def bury(board: Any, score: Any, w: Any) -> None:
    """Lays face down the tile that narrows the hand least, and keeps lances: "Bury"."""
    if board.size < 6 or not board.leads:
        return
    for kind in range(NUM_KINDS):
        if board.hand[kind] == 1:
            score.block[kind] += w.bury_narrows * board.opponents_hold[kind]
    score.block[LANCE] += w.bury_lance
    # What stays in hand may receive attacks of the opponents.
    for i in range(board.count):
        score.pair[i] += w.bury_keep * board.cover[i]


# ------------------------------------------------------------------------------------- the choice


def choose(
    words: Int, legal: Bool, rules: Rules, weights: Any, bonus: Float, factors: Float
) -> Int:
    """Returns the action of each row: int64 [N].

    Args:
        words: [N, 8] packed observations.
        legal: [N, 69]
        rules: of the game.
        weights: [1] as ``weights.weigh`` makes them.
        bonus: [N, 69] added to the scores of actions; empty: nothing is.
        factors: [N, 3, 8] factors on the odds that the others hold a kind; empty: there are none.
    """
    chosen: Int = np.empty(len(words), np.int64)
    # The arrays are made here: compiled code frees an array of which it only keeps a record.
    board, score = np.zeros(1, BOARD), np.zeros(1, SCORE)
    board["match_points"], board["dealt"] = rules.match_points, rules.hand_size
    _choose(words, legal, weights, bonus, factors, board, score, chosen)
    return chosen


@compiled
def _choose(
    words: Int,
    legal: Bool,
    weights: Any,
    bonus: Float,
    factors: Float,
    boards: Any,
    scores: Any,
    chosen: Int,
) -> None:
    """Writes the action of each row into ``chosen``; ``boards`` and ``scores``: [1], written."""
    w, board, score = weights[0], boards[0], scores[0]
    for row in range(len(words)):
        if legal[row, CALL]:
            chosen[row] = CALL
            continue
        if legal[row, REDEAL]:
            kings = _count_bits(words[row, TILES_WORD] >> AT_KINGS & 3)
            chosen[row] = CONTINUE if kings == 2 and legal[row, CONTINUE] else REDEAL
            continue
        # Without factors a row's are an empty array, too, and of the same number of dimensions.
        row_factors = factors[row] if len(factors) else factors[:, 0]
        _read(words[row], legal[row], row_factors, w, board)
        score.passing = 0.0
        for kind in range(NUM_KINDS):
            score.block[kind] = score.attack[kind] = 0.0
        for i in range(board.count):
            score.pair[i] = 0.0
        _apply(board, score, w)
        best, choice = -np.inf, 0
        if legal[row, PASS]:
            best = score.passing + (bonus[row, PASS] if len(bonus) else 0.0)
            best, choice = np.rint(SCORE_ROUNDING * best), PASS
        for i in range(board.count):
            block, attack = board.block[i], board.follow[i]
            action = 1 + NUM_KINDS * block + attack
            worth = score.pair[i] + score.block[block] + score.attack[attack]
            worth += bonus[row, action] if len(bonus) else 0.0
            worth = np.rint(SCORE_ROUNDING * worth)
            if worth > best:
                best, choice = worth, action
        # A narrow mask may hold neither pass nor pair, for instance only silence.
        if choice == PASS and not legal[row, PASS]:
            for action in range(legal.shape[1]):
                if legal[row, action]:
                    choice = action
                    break
        chosen[row] = choice


@compiled
def _apply(board: Any, score: Any, w: Any) -> None:
    """Applies every rule; a rule that is switched off has weights of 0."""
    finishing(board, score, w)
    keeping(board, score, w)
    attacking(board, score, w)
    laying_down(board, score, w)
    receiving(board, score, w)
    pair_lead(board, score, w)
    answer(board, score, w)
    lance_lead(board, score, w)
    false_lance(board, score, w)
    pawn_lead(board, score, w)
    scattered_lead(board, score, w)
    king_signal(board, score, w)
    king_attack(board, score, w)
    pass_partner(board, score, w)
    hold_back(board, score, w)
    bury(board, score, w)
