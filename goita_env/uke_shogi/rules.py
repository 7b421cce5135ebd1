"""States the rules of Uke-Shogi as a value; legal actions and payments follow from it.

The source is the section "Uke-Shogi" of the pagat.com page on Goita (John McLeod, 2016), which
cites three descriptions: a judicial document of 1927 ("A Research into Gambling"), two variants of
Umebayashi (2000), and a game for two by Murray (1913). Words in quotation marks are that section's;
"ours" marks what no description says. A field is a point on which they differ or are unsure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from goita_env.errors import SettingError
from goita_env.tiles import DIGITS, KING, NUM_KINDS

POINTS: Final = (1, 5, 5, 10, 10, 50, 100, 200)
"""Points of each kind left in hand: "King 200, Rook 100, Bishop 50, Gold or Silver 10, Knight or
Lance 5, Pawn 1" (Umebayashi)."""

PASS: Final = 0
NUM_ACTIONS: Final = 1 + NUM_KINDS
"""Action 0 passes, action 1 + k plays a tile of kind k."""

_COUNTS_BUT_PAWNS: Final = (4, 4, 4, 4, 2, 2, 2)
"""Tiles of the kinds from lance to king: "2 Kings, 2 Rooks, 2 Bishops, 4 Golds, 4 Silvers, 4
Knights, 4 lances"."""

_SET_SIZES: Final = (40, 42)


@dataclass(frozen=True)
class UkeShogiRules:
    """One way to play Uke-Shogi.

    The same in all of them: turns go "anticlockwise", from seat 0 up; the dealer "began by playing
    one card"; who "managed to play his last card" wins at once, be it led or matched. Ours: the
    first dealer is drawn, later ones are the winners.

    Raises:
        SettingError: if a field has an invalid value, or the tiles cannot be divided equally.
    """

    players: int = 4
    """Two to seven. The page supposes "four or five" with 40 tiles and "six or seven" with 42; two
    with either set and three with 42 share evenly too (ours)."""

    tiles: Literal[40, 42] = 40
    """The set: "40 cards [...] and 18 Pawns. Some decks have 20 pawns, so 42 cards in all". Without
    ``murray`` they are "distributed equally to the players"."""

    must_match: bool = True
    """A seat that can match must: "It seems likely that passing when able to play was not
    allowed". False: passing is free. Ours: a king that could be played by ``kings_match_all`` binds
    as well."""

    kings_match_all: bool = False
    """A king may match whatever was led: "Kings can be played any time, being regarded as equal to
    the card that is to be matched" (Umebayashi). Ours: what is to be matched stays the kind that
    was led, and a king that is led is matched by a king."""

    payment: bool = False
    """Losers pay: "The cards have point values [...] When a deal ends, the losers pay in proportion
    to the number of points remaining in their hands" (Umebayashi). Ours: they pay the winner, a
    point for a point. False: +1 for the winner, shared out among the losers (ours)."""

    murray: bool = False
    """Murray's game for two: "the first player challenges his opponent to pair a named piece in his
    hand. If he succeeds, the move passes to the opponent; if he fails, the first player throws out
    this piece and challenges with a second piece". Ours: the tile leaves the hand when it is named,
    so a challenge with the last tile wins at once; the other fields apply here too."""

    murray_hand: int = 8
    """Tiles for each of the two in Murray's game, where "a certain number [of chessmen] are dealt
    out"; eight is ours, and so is that the rest stays unseen. Nothing else reads it."""

    def __post_init__(self) -> None:
        for field in ("must_match", "kings_match_all", "payment", "murray"):
            if not isinstance(value := getattr(self, field), bool):
                raise SettingError(f"expected True or False as {field}, got {value!r}")
        half = self.tiles // 2 if self.tiles in _SET_SIZES else 0
        choices: dict[str, tuple[Sequence[int], str]] = {
            "players": ((2,), "two in Murray's game")
            if self.murray
            else (range(2, 8), "two to seven"),
            "tiles": (_SET_SIZES, "a set of 40 or 42"),
        }
        if self.murray:
            choices["murray_hand"] = range(1, half + 1), f"1..{half} for each of the two"
        for field, (numbers, expected) in choices.items():
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, int):
                raise SettingError(f"expected a whole number as {field}, got {value!r}")
            if value not in numbers:
                raise SettingError(f"expected {expected} as {field}, got {value!r}")
        if not self.murray and self.tiles % self.players:
            fitting = [tiles for tiles in _SET_SIZES if tiles % self.players == 0]
            raise SettingError(
                f"expected a set that {self.players} players share evenly, tiles of {fitting}, "
                f"got {self.tiles!r}"
            )

    @property
    def counts(self) -> tuple[int, ...]:
        """Returns the tiles of each kind in the set, pawns first: 8 numbers."""
        return (self.tiles - sum(_COUNTS_BUT_PAWNS), *_COUNTS_BUT_PAWNS)

    @property
    def hand_size(self) -> int:
        return self.murray_hand if self.murray else self.tiles // self.players

    def matches(self, kind: int, led: int) -> bool:
        return kind == led or (self.kings_match_all and kind == KING)

    def legal_actions(self, hand: Sequence[int], led: int | None) -> list[int]:
        """Lists the legal actions in order.

        Args:
            hand: [8] tiles of each kind of the acting seat.
            led: the kind to match; None where a tile is led: "then played another card from hand".
        """
        kinds = [kind for kind in range(NUM_KINDS) if hand[kind]]
        if led is None:
            return [1 + kind for kind in kinds]
        plays = [1 + kind for kind in kinds if self.matches(kind, led)]
        return plays if plays and self.must_match else [PASS, *plays]

    def rewards(self, winner: int, hands: Sequence[Sequence[int]]) -> list[float]:
        """Returns the reward of each seat for a deal, zero in sum.

        With ``payment`` each loser pays the points left in its hand; otherwise the losers share the
        loss of 1.

        Args:
            winner: the seat that played its last tile.
            hands: [players, 8] tiles of each kind left in each hand.
        """
        lost = [hand_points(hand) if self.payment else 1 / (self.players - 1) for hand in hands]
        lost[winner] = 0
        gained = float(sum(lost)) if self.payment else 1.0
        return [gained if seat == winner else -float(lost[seat]) for seat in range(self.players)]

    def forfeit(self, offender: int, hand: Sequence[int]) -> list[float]:
        """Returns the reward of each seat after an illegal action, zero in sum.

        Ours: with ``payment`` the offender pays each other seat the points left in its own hand;
        otherwise it loses 1, which the others share. Playing on legally never costs it more.

        Args:
            offender: the seat that acted.
            hand: [8] tiles of each kind in its hand.
        """
        share = float(hand_points(hand)) if self.payment else 1 / (self.players - 1)
        loss = share * (self.players - 1) if self.payment else 1.0
        return [-loss if seat == offender else share for seat in range(self.players)]


def hand_points(hand: Sequence[int]) -> int:
    """Returns the points of the tiles in a hand; ``hand``: [8] tiles of each kind."""
    return sum(points * int(count) for points, count in zip(POINTS, hand, strict=True))


def action_name(action: int) -> str:
    """Returns an action in short: "p", or the digit of the tile that is played."""
    return "p" if action == PASS else DIGITS[action - 1]


IMO_SHOGI: Final = UkeShogiRules()
"""The game of 1927, four players and 40 tiles, with the duty to match; the default."""

UMEBAYASHI: Final = UkeShogiRules(kings_match_all=True, payment=True)
"""The same with both of Umebayashi's variants."""

MURRAY: Final = UkeShogiRules(players=2, murray=True)
"""Murray's game for two, eight tiles each."""
