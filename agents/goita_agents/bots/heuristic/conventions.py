"""Signals to the partner: one rule for each convention of experienced players.

docs/heuristic.md describes each under the name in quotes. Inference from signals is in
``reading.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from goita_agents.bots.heuristic.board import KINDS, PARTNER, PREVIOUS, SHOWN_KINDS, Board
from goita_agents.bots.heuristic.tally import Tally
from goita_env.tiles import BISHOP, GOLD, KING, LANCE, PAWN, ROOK

_ANSWERED: Final = (KINDS >= LANCE) & (KINDS <= GOLD)
_BIG: Final = (KINDS == BISHOP) | (KINDS == ROOK)


def pair_lead(board: Board, tally: Tally) -> None:
    """Attacks early with gold, silver or knight from two or more: "Pair lead"."""
    early = board.early[:, None, None] & SHOWN_KINDS
    tally.to_pair("pair_lead", early & (board.copies >= 1))
    tally.to_pair("pair_lead_single", early & board.opening[:, None, None] & (board.copies == 0))


def answer(board: Board, tally: Tally) -> None:
    """Attacks with the kind that the partner led: "Answer"."""
    asked = board.partner_led & _ANSWERED
    tally.to_attack("answer", asked & ~board.attacked[:, 0])
    tally.to_attack("answer_again", asked & board.attacked[:, 0])


def lance_lead(board: Board, tally: Tally) -> None:
    """Attacks with lance from two, and goes on with them: "Lance lead"."""
    lance = board.early[:, None, None] & (KINDS == LANCE)
    tally.to_pair("lance_lead", lance & (board.copies >= 1))
    tally.to_attack("lance_run", board.attacked[:, 0] & (KINDS == LANCE))


def false_lance(board: Board, tally: Tally) -> None:
    """Hides two kings behind a single lance: "False lance"."""
    kings = board.early & (board.hand[:, KING] == 2) & (board.hand[:, LANCE] == 1)
    tally.to_attack("false_lance", kings[:, None] & (KINDS == LANCE))


def pawn_lead(board: Board, tally: Tally) -> None:
    """Leads a pawn from about four, joins the partner's with three or more: "Pawn lead"."""
    pawns = board.hand[:, PAWN]
    pawn = KINDS == PAWN
    partner = board.partner_led[:, PAWN] & ~board.attacked[:, 0, PAWN]
    tally.to_attack("pawn_lead", (board.opening & (pawns >= 4))[:, None] & pawn)
    tally.to_attack("pawn_lead_again", ((board.size == 6) & (pawns >= 3))[:, None] & pawn)
    joins = (pawns >= 3) & (board.shown_pairs == 0)
    tally.to_attack("pawn_join", (partner & joins)[:, None] & pawn)
    tally.to_attack("pawn_decline", (partner & ~joins)[:, None] & pawn)


def scattered_lead(board: Board, tally: Tally) -> None:
    """Shows a hand without pairs by a pawn or the biggest first: "Scattered lead"."""
    scattered = board.opening & (board.pairs == 0)
    few = scattered & (board.hand[:, PAWN] <= 3)
    tally.to_attack("pawn_first", few[:, None] & (KINDS == PAWN))
    tally.to_attack("biggest_first", scattered[:, None] & _BIG)
    # A partner that began with bishop or rook has no pair to go on with: save strength.
    weak = board.partner_led[:, BISHOP:KING].any(axis=1) & board.early
    tally.to_pass("partner_scattered", weak & board.by_opponent)


def king_signal(board: Board, tally: Tally) -> None:
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


def king_attack(board: Board, tally: Tally) -> None:
    """Attacks with a king from two; stays out of the way of a partner who did: "King attack"."""
    two = (board.hand[:, KING] == 2) & ~board.king_up
    tally.to_attack("king_attack", two[:, None] & (KINDS == KING))
    signalled = board.attacked[:, PARTNER, KING] & (board.unseen[:, KING] > 0)
    tally.to_pass("partner_king_attack", signalled & board.by_partner)


def pass_partner(board: Board, tally: Tally) -> None:
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


def hold_back(board: Board, tally: Tally) -> None:
    """Passes on an opponent's first attack, cuts with a king late: "Hold back"."""
    attacker = np.take_along_axis(board.sizes, np.maximum(board.attacker, 0)[:, None], axis=1)[:, 0]
    first = board.by_opponent & (attacker == 6)
    tally.to_pass("hold_back", first)
    tally.to_pass("hold_back_lance", first & (board.attack == LANCE))
    tally.to_pass("hold_back_big", first & (board.attack >= BISHOP))
    tally.to_pass("hold_back_pair", first & (board.pairs == 0))
    early = board.receives & (board.tiles_down <= 4)
    tally.to_block("early_cut", early[:, None] & (KINDS == KING))


def bury(board: Board, tally: Tally) -> None:
    """Lays face down what narrows the hand least, and keeps lances: "Bury"."""
    lead = board.leads & board.early
    tally.to_block("bury_narrows", lead[:, None] * (board.hand == 1) * board.opponents_hold)
    tally.to_pair("bury_keep", lead[:, None, None] * board.cover)
    tally.to_block("bury_lance", lead[:, None] & (KINDS == LANCE))


Convention = Callable[[Board, Tally], None]

CONVENTIONS: Final[dict[str, Convention]] = {
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
"""Every convention but reading, by the name of its switch."""
