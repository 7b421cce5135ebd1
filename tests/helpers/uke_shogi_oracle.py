"""A slow, plain referee of Uke-Shogi for one deal, to be compared with the game.

It is written from the text alone, "Uke-Shogi" on the pagat.com page on Goita, and shares no code
with the package. Hands are lists of names of tiles, the table is a list of tricks, each a list of
what happened from one lead to the next, and every question is answered by reading these lists.
"""

from dataclasses import dataclass, field

NAMES = ["pawn", "lance", "knight", "silver", "gold", "bishop", "rook", "king"]
PRICE = {"king": 200, "rook": 100, "bishop": 50, "gold": 10, "silver": 10}
PRICE |= {"knight": 5, "lance": 5, "pawn": 1}


@dataclass
class Referee:
    """One deal.

    Attributes:
        hands: The names of the tiles each seat holds now.
        dealer: The seat that begins.
        duty: Who can match must.
        wild_kings: Kings match everything.
        pairs: Murray's game: a match is a pair, and who paired leads.
        tricks: (seat, name of the tile or None for a pass) from each lead on; the last one is
            empty where somebody is to lead.
    """

    hands: list[list[str]]
    dealer: int
    duty: bool
    wild_kings: bool
    pairs: bool
    tricks: list[list[tuple[int, str | None]]] = field(default_factory=lambda: [[]])

    def winner(self) -> int | None:
        """Returns the seat without tiles."""
        for seat, hand in enumerate(self.hands):
            if len(hand) == 0:
                return seat
        return None

    def is_finished(self, trick: list[tuple[int, str | None]]) -> bool:
        """Says whether somebody leads after this: all others have passed, or a pair is made."""
        last_tile = max(place for place, (_, tile) in enumerate(trick) if tile is not None)
        passes = len(trick) - 1 - last_tile
        return passes == len(self.hands) - 1 or (self.pairs and last_tile == 1)

    def to_match(self) -> str | None:
        """Returns the tile that was led and is still to be matched."""
        trick = self.tricks[-1]
        return trick[0][1] if trick and self.winner() is None else None

    def to_move(self) -> int | None:
        """Returns whose turn it is."""
        if self.winner() is not None:
            return None
        *before, now = self.tricks
        if now:  # the next one in order
            return (now[-1][0] + 1) % len(self.hands)
        if before:  # the last to play a tile in what has just ended
            return [seat for seat, tile in before[-1] if tile is not None][-1]
        return self.dealer

    def may(self) -> list[str | None]:
        """Returns what the seat whose turn it is may do: names of tiles, None for a pass."""
        hand, led = self.hands[self.to_move()], self.to_match()
        if led is None:
            return sorted(set(hand))
        good = {tile for tile in hand if tile == led or (tile == "king" and self.wild_kings)}
        return [*([] if good and self.duty else [None]), *sorted(good)]

    def do(self, tile: str | None) -> None:
        """Plays a tile, or passes."""
        if tile not in self.may():
            raise ValueError(f"not allowed: {tile}")
        seat = self.to_move()
        self.tricks[-1].append((seat, tile))
        if tile is not None:
            self.hands[seat].remove(tile)
        if self.is_finished(self.tricks[-1]):
            self.tricks.append([])

    def paid(self, in_points: bool) -> list[float]:
        """Returns what each seat gets at the end."""
        winner, seats = self.winner(), range(len(self.hands))
        if in_points:
            debts = [sum(PRICE[tile] for tile in hand) for hand in self.hands]
        else:
            debts = [0 if seat == winner else 1 / (len(seats) - 1) for seat in seats]
        return [sum(debts) if seat == winner else -debts[seat] for seat in seats]

    def story(self) -> list[tuple[int, str | None, str]]:
        """Returns everything so far: (seat, tile or None, the tile that was led)."""
        return [(seat, tile, trick[0][1]) for trick in self.tricks for seat, tile in trick]

    def has_passed_since(self, seat: int) -> bool:
        """Says whether a seat has passed since the last tile, nobody having led since."""
        passed = set()
        for who, tile in self.tricks[-1]:
            passed = set() if tile is not None else passed | {who}
        return seat in passed
