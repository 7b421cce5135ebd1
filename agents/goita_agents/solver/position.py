"""Positions of play with all hands known, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np

from goita_agents.solver.kernel import LEAD, LEADS, Int
from goita_env import Game
from goita_env.engine.solver_api import (
    CODE_MASK,
    KING_PERMIT,
    RADIX,
    attack_status,
    code_counts,
    position_arrays,
)
from goita_env.errors import HandsError, RecordError, SettingError
from goita_env.hands import read_digits
from goita_env.records import DealRecord, Record, history
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import COUNTS, HAND_SIZE, KING, NUM_KINDS, NUM_SEATS
from goita_env.worlds import Positions


@dataclass(frozen=True)
class Position:
    """A position during play in which all tiles are known.

    Raises:
        HandsError: if the hands are impossible.
        SettingError: if there is no such seat.
    """

    rules: Rules  #: The rule set.
    codes: tuple[int, int, int, int]
    """Code of the tiles in each seat's hand (``goita_env.engine.solver_api``), and KING_PERMIT."""
    seat: int  #: The acting seat.
    status: int  #: Public status, as the engine numbers it.

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", get_rules(self.rules))
        counts = code_counts()[np.array(self.codes) & CODE_MASK].astype(int)
        sizes, tiles = counts.sum(axis=1), counts.sum(axis=0)
        if (sizes % 2).any() or sizes.min() < 2 or sizes.max() > HAND_SIZE:
            raise HandsError(f"expected 2, 4, 6 or 8 tiles in each hand, got {sizes.tolist()!r}")
        if (tiles > COUNTS).any():
            raise HandsError(
                f"expected no more than {COUNTS!r} tiles of the kinds 0..7, got {tiles.tolist()!r}"
            )
        if self.seat not in range(NUM_SEATS):
            raise SettingError(f"expected a seat 0..3 to move, got {self.seat!r}")

    @property
    def tiles(self) -> int:
        """Number of tiles in all hands."""
        return int(code_counts()[np.array(self.codes) & CODE_MASK].sum())

    @classmethod
    def set_up(
        cls,
        hands: Sequence[str],
        seat: int,
        attack: int | None = None,
        attacker: int | None = None,
        king_up: bool = False,
        both_kings: int | None = None,
        rules: str | Rules = JGA,
    ) -> Self:
        """Returns a position as a problem in a book describes it.

        Args:
            hands: four strings of digits, the tiles that each seat holds now.
            seat: the acting seat.
            attack: kind of the last attack; None: the seat leads.
            attacker: the seat that made the attack.
            king_up: a king lies face up.
            both_kings: a seat that was dealt both kings and laid one of them face down.
            rules: the rule set.

        Raises:
            HandsError, SettingError: if there is no such position.
        """
        chosen = get_rules(rules)
        if isinstance(hands, str) or not isinstance(hands, Sequence) or len(hands) != NUM_SEATS:
            raise HandsError(f"expected four strings of digits, got {hands!r}")
        kinds = [read_digits(hand, holder) for holder, hand in enumerate(hands)]
        codes = [sum(RADIX[kind] for kind in hand) for hand in kinds]
        permitted = [holder for holder, hand in enumerate(kinds) if hand.count(KING) == 2]
        if both_kings is not None:
            if both_kings not in range(NUM_SEATS) or kinds[both_kings].count(KING) != 1:
                raise SettingError(f"expected a seat that holds one king, got {both_kings!r}")
            permitted.append(both_kings)
        # Tiles of the set that are kings: in hands, one laid face down, one face up.
        kings = sum(hand.count(KING) for hand in kinds) + (both_kings is not None)
        if kings + bool(king_up or attack == KING) > COUNTS[KING]:
            raise HandsError(f"expected two kings in all, got {kings} and one face up")
        if chosen.second_king_after_own_face_down:
            for holder in permitted:
                codes[holder] |= KING_PERMIT
        passes = LEADS
        if attack is not None or attacker is not None:
            if attack not in range(NUM_KINDS) or isinstance(attack, bool):
                raise SettingError(f"expected a kind 0..7 as the attack, got {attack!r}")
            if attacker is None or attacker not in range(NUM_SEATS) or attacker == seat:
                raise SettingError(f"expected another seat as the attacker, got {attacker!r}")
            passes = (seat - attacker - 1) % NUM_SEATS
        status = attack_status(attack or 0, passes, king_up or attack == KING)
        first, second, third, fourth = codes
        return cls(chosen, (first, second, third, fourth), seat, status)

    @classmethod
    def from_game(cls, game: Game) -> Self:
        """Returns the position of a game; a SettingError if no seat plays or passes there."""
        return cls.from_positions(game)[0]

    @classmethod
    def from_positions(cls, positions: Positions | Game) -> list[Self]:
        """Returns the positions of determinized worlds, or of a game; raises as ``from_game``."""
        arrays = position_arrays(positions)
        columns = arrays.codes, arrays.seat, arrays.status
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [cls(positions.rules, tuple(codes), seat, status) for codes, seat, status in rows]

    @classmethod
    def from_record(cls, deal: DealRecord) -> Self:
        """Returns the position after the last move of a record.

        Raises:
            RecordError: if a move is illegal.
            SettingError: if the position is not one of play.
        """
        game = deal.begin()
        *_, game = game, *deal.replay()  # the last one; without moves the game as dealt
        if len(game.deals) > 1:
            raise SettingError("expected a position of play, got a deal that ended in a redeal")
        return cls.from_game(game)


Solvable: TypeAlias = Position | Positions | Game | DealRecord | Record | str
"""A position in any form. ``Positions``, as ``worlds`` makes them, must hold a single position; a
game stands for its present position. A record, or a history string, must hold a single deal, and
stands for the position after its last move."""


def roots(positions: Positions) -> Int:
    """Returns positions of play as ``Solver.evaluate`` takes them: int64 [n, 6]."""
    arrays = position_arrays(positions)
    # The engine's status 0, before the first play, is a lead like any other.
    status = np.where(arrays.status == 0, LEAD, arrays.status)
    return np.column_stack((arrays.codes, arrays.seat, status))


def position_of(source: Solvable, rules: str | Rules = JGA) -> Position:
    """Returns a position from any form; ``rules`` are those of a history string."""
    if isinstance(source, Position):
        return source
    if isinstance(source, Game):
        return Position.from_game(source)
    if isinstance(source, Positions):
        if len(source) != 1:
            raise SettingError(f"expected one position, got {source!r}; pick one, or solve_many")
        return Position.from_positions(source)[0]
    if isinstance(source, str):
        source = history.loads(source, rules=rules)
    if isinstance(source, Record):
        if len(source.deals) != 1:
            raise RecordError(f"expected a record of one deal, got {len(source.deals)}")
        source = source.deals[0]
    if isinstance(source, DealRecord):
        return Position.from_record(source)
    raise SettingError(f"expected a position, a game or a record, got {source!r}")
