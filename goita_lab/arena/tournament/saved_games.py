"""Records games as they are played; writes and reads those that a tournament saves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Self

from msgspec import Meta

from goita_agents.files import decode
from goita_env.errors import RecordError
from goita_env.hands import format_hand
from goita_env.records import DealRecord, Record, complete
from goita_env.records.model import mark_kings
from goita_env.rounds import PendingDecisions, Rounds


class Recorder:
    """A recorder that collects the records of the deals that are played, game by game.

    Args:
        rounds: the rounds, with ``log=True`` and before the first step.
    """

    def __init__(self, rounds: Rounds) -> None:
        self.rules, self.information = rounds.rules, rounds.information
        self.deals: list[list[DealRecord]] = [[] for _ in range(rounds.num_games)]
        """Every finished deal of each game, redeals among them."""
        self._dealt: dict[int, tuple[tuple[str, ...], int, tuple[int, int]]] = {}
        self._moves: dict[int, list[tuple[int, int]]] = {}
        self._note_deals(rounds.decisions)

    def note(self, decisions: PendingDecisions) -> None:
        """Records a step from the decisions that it returned."""
        if (moves := decisions.made) is not None:
            for game, seat, action in zip(
                moves.rows.tolist(), moves.seats.tolist(), moves.actions.tolist(), strict=True
            ):
                self._moves[game].append((seat, action))
        for over in (decisions.redealt, decisions.ended):
            if over is None:
                continue
            for game in over.rows.tolist():
                hands, dealer, scores = self._dealt[game]
                record = DealRecord(
                    hands=hands,
                    dealer=dealer,
                    moves=tuple(self._moves[game]),
                    scores=scores,
                    rules=self.rules,
                    number=len(self.deals[game]) + 1,
                    information=self.information,
                )
                self.deals[game].append(record)
        self._note_deals(decisions)

    def _note_deals(self, decisions: PendingDecisions) -> None:
        """Keeps the new deals of a step, from which their records are made when they end."""
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
            kings = mark_kings([format_hand(hand) for hand in hands])
            self._dealt[game] = kings, dealer, (even, odd)
            self._moves[game] = []


Count = Annotated[int, Meta(ge=0, lt=1 << 31)]


@dataclass(frozen=True)
class Line:
    """The keys of a line next to those of its record."""

    block: Count
    deal: Count
    seating: Annotated[int, Meta(ge=0, lt=4)]  # MIXED_SEATINGS are the most
    number: Annotated[int, Meta(ge=1, lt=1 << 31)]


@dataclass(frozen=True)
class SavedDeal:
    """A deal that was played in a tournament, redeals included."""

    agents: tuple[str, ...]  #: The text of the agent at each seat.
    block: int  #: Number of the block of the pairing.
    deal: int  #: Number under the seed of the duplicate deal with which the game began.
    seating: int  #: The game of that deal: an index of ``Task.seatings``.
    record: DealRecord
    """Hands, dealer, scores before the deal and every decision; ``number`` counts the deals of the
    game from 1."""

    def to_line(self) -> str:
        """Returns the deal as a line of JSON: a complete record with further keys."""
        keys = {
            "block": self.block,
            "deal": self.deal,
            "seating": self.seating,
            "number": self.record.number,
        }
        # A path with bytes that are not text has lone surrogates here, which UTF-8 cannot encode.
        players = tuple(agent.encode("utf-8", "backslashreplace").decode() for agent in self.agents)
        # All line breaks are between values: within texts JSON escapes them.
        return complete.dumps(Record((self.record,), players), keys).replace("\n", "")

    @classmethod
    def from_line(cls, line: str) -> Self:
        """Returns the deal of a line, which may come from somebody else; raises a GoitaError."""
        record = complete.loads(line)
        if len(record.deals) != 1:
            raise RecordError(f"expected one deal in a line, got {len(record.deals)}")
        keys = vars(decode(line, Line, "the keys of a saved deal"))
        deal = replace(record.deals[0], number=keys.pop("number"))
        return cls(agents=record.players, record=deal, **keys)
