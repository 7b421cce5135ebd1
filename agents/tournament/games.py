"""Holds the games of a tournament that are saved: which, and how a line of text tells of a deal."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Self

from agents.files import decode
from goita_env import actions
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord, Record, history
from goita_env.rules import Rules


@dataclass(frozen=True)
class Line:
    """Is a line of a file of games, as JSON holds it; what else stands in one is not read."""

    agents: tuple[str, str, str, str]
    deal: int
    seating: int
    number: int
    scores: tuple[int, int]
    before_play: list[tuple[int, int]]
    history: str
    winner: int | None
    points: int


@dataclass(frozen=True)
class SavedDeal:
    """Holds a deal that was played in a tournament, redeals included."""

    agents: tuple[str, ...]
    """Names by seat."""
    deal: int
    """Number of the duplicate deal under the seed, with which the game began."""
    seating: int
    """Which of the games of that deal: an index of ``Task.seatings``."""
    record: DealRecord
    """Hands, dealer, scores before it and every decision; its number counts the deals of the game,
    from 1."""
    winner: int | None
    """Seat that ended the round; None: the deal ended in a redeal."""
    points: int
    """Points of the round, for the winner's team."""

    def to_line(self, pairing: tuple[str, ...], block: int) -> str:
        """Returns the deal as a line of JSON, with the pairing and the block that it is of."""
        record = self.record
        before = [move for move in record.moves if move[1] >= actions.CALL]
        # A deal that was decided before play has a line too: that of its hands.
        dealt = record if len(before) < len(record.moves) else replace(record, moves=())
        told = {
            "pairing": pairing,
            "block": block,
            "deal": self.deal,
            "seating": self.seating,
            "number": record.number,
            "agents": self.agents,
            "rules": record.rules.name,
            "dealer": record.dealer,
            "scores": record.scores,
            "winner": self.winner,
            "points": self.points,
            "before_play": before,
            "history": history.dumps(Record((dealt,))),
        }
        return json.dumps(told, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str | bytes, rules: Rules) -> Self:
        """Returns the deal that a line holds.

        Args:
            line: of JSON; anybody may have written it.
            rules: those that its name stands for.

        Raises:
            GoitaError: if it holds something else.
        """
        told = decode(line, Line, "saved games")
        deals = history.loads(told.history, rules=rules).deals
        if len(deals) != 1:
            raise RecordError(f"expected saved games, a deal in a line, got {len(deals)} deals")
        record = replace(
            deals[0],
            moves=(*told.before_play, *deals[0].moves),
            scores=told.scores,
            number=told.number,
        )
        return cls(told.agents, told.deal, told.seating, record, told.winner, told.points)


def is_saved(seed: int, deal: int, share: float) -> bool:
    """Tells whether the games of a deal are among a share that is saved.

    It depends on seed and number alone, so all pairings save the same deals, and those of a small
    share are among those of a large one.
    """
    digest = blake2b(f"{seed} {deal}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


def check_share(share: float) -> float:
    """Returns a share of deals after checking it.

    Raises:
        SettingError: if it is none.
    """
    if not 0 < share <= 1:
        raise SettingError(f"expected a share of the deals, above 0 and at most 1, got {share!r}")
    return share
