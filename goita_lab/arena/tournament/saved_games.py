"""Records games as they are played; writes and reads those that a tournament saves."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Self

from goita_agents.files import decode
from goita_env import actions
from goita_env.errors import RecordError
from goita_env.hands import format_hand
from goita_env.information import PLAIN, InformationStructure
from goita_env.records import DealRecord, Record, history
from goita_env.records.model import tell_kings
from goita_env.rounds import PendingDecisions, Rounds
from goita_env.rules import Rules


class Recorder:
    """A recorder that collects the records of the deals that are played, game by game.

    Args:
        rounds: the rounds, with ``log=True`` and before the first step.
    """

    def __init__(self, rounds: Rounds) -> None:
        self.rules, self.information = rounds.rules, rounds.information
        self.deals: list[list[tuple[DealRecord, int, int]]] = [[] for _ in range(rounds.num_games)]
        """Every finished deal of each game, redeals among them, with the seat that ended it and
        its points; (-1, 0) for a redeal."""
        self._dealt: dict[int, tuple[tuple[str, ...], int, tuple[int, int]]] = {}
        self._moves: dict[int, list[tuple[int, int]]] = {}
        self._note_deals(rounds.decisions)

    def note(self, decisions: PendingDecisions) -> None:
        """Records a step from the decisions that it returned."""
        if decisions.made is not None:
            made = decisions.made
            for game, seat, action in zip(
                made.rows.tolist(), made.seats.tolist(), made.actions.tolist(), strict=True
            ):
                self._moves[game].append((seat, action))
        for over in (decisions.redealt, decisions.ended):
            if over is None:
                continue
            for game, winner, points in zip(
                over.rows.tolist(), over.winner.tolist(), over.points.tolist(), strict=True
            ):
                hands, dealer, scores = self._dealt[game]
                record = DealRecord(
                    hands,
                    dealer,
                    tuple(self._moves[game]),
                    scores,
                    self.rules,
                    number=len(self.deals[game]) + 1,
                    information=self.information,
                )
                self.deals[game].append((record, winner, points))
        self._note_deals(decisions)

    def _note_deals(self, decisions: PendingDecisions) -> None:
        if decisions.dealt is None:
            return
        dealt = decisions.dealt
        for game, hands, dealer, (even, odd) in zip(
            dealt.rows.tolist(),
            dealt.hands,
            dealt.dealer.tolist(),
            dealt.scores.tolist(),
            strict=True,
        ):
            kings = tell_kings([format_hand(hand) for hand in hands])
            self._dealt[game] = kings, dealer, (even, odd)
            self._moves[game] = []


@dataclass(frozen=True)
class Line:
    """The keys of a line that are read back."""

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
    """A deal that was played in a tournament, redeals included."""

    agents: tuple[str, ...]
    deal: int  #: Number under the seed of the duplicate deal with which the game began.
    seating: int  #: The game of that deal: an index of ``Task.seatings``.
    record: DealRecord
    """Hands, dealer, scores before the deal and every decision; ``number`` counts the deals of the
    game from 1."""
    winner: int | None  #: The seat that ended the round; None: the deal ended in a redeal.
    points: int  #: Points of the round, to the winner's team.

    def to_line(self, pairing: tuple[str, ...], block: int) -> str:
        """Returns the deal as a line of JSON, with its pairing and block."""
        record = self.record
        before = [move for move in record.moves if move[1] >= actions.CALL]
        # A history has no place for questions and messages. A deal that was decided before play
        # has one of its hands alone.
        played = tuple(move for move in record.moves if move[1] < actions.CALL)
        dealt = replace(record, moves=played, information=PLAIN)
        content = {
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
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_line(
        cls, line: str | bytes, rules: Rules, information: InformationStructure = PLAIN
    ) -> Self:
        """Returns the deal of a line, possibly somebody else's; raises a GoitaError."""
        found = decode(line, Line, "saved games")
        deals = history.loads(found.history, rules=rules).deals
        if len(deals) != 1:
            raise RecordError(f"expected saved games, a deal in a line, got {len(deals)} deals")
        played = [move for move in deals[0].moves if move[1] < actions.CALL]
        record = replace(
            deals[0],
            moves=(*found.before_play, *played),
            scores=found.scores,
            number=found.number,
            information=information,
        )
        return cls(found.agents, found.deal, found.seating, record, found.winner, found.points)
