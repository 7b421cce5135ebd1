"""Scores sound play without signals: counting, planning finishes, stopping those of others."""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_agents.bots.heuristic.board import ALIKE, KINDS, NEXT, PARTNER, PREVIOUS, Board
from goita_agents.bots.heuristic.tally import Tally
from goita_env.tiles import KING, NUM_KINDS, PAWN

_EVERY: Final = np.ones(NUM_KINDS, bool)


def finishing(board: Board, tally: Tally) -> None:
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


def keeping(board: Board, tally: Tally) -> None:
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


def attacking(board: Board, tally: Tally) -> None:
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


def laying_down(board: Board, tally: Tally) -> None:
    """Chooses the tile face down by its use, and keeps what is left playable."""
    lead = board.leads[:, None]
    tally.to_block("down_kind", lead & board.early[:, None] & _EVERY)
    tally.to_block("down_kind_near", lead & (board.size == 4)[:, None] & _EVERY)
    tally.to_block("down_useless", lead & (board.unseen == 0) & (board.hand == 1))
    tally.to_block("down_open", lead * board.open)
    tally.to_pair("down_alike", lead[:, :, None] * ALIKE)


def receiving(board: Board, tally: Tally) -> None:
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


SKILLS = (finishing, keeping, attacking, laying_down, receiving)
"""Every skill; they have no switch."""
