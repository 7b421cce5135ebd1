"""A slow, plain referee of Goita for one match, to be compared with the fast core.

It is written from the text of the rules alone (docs/rules.md has it in short) and shares no code
with the package, so an error would have to be made twice to stay hidden. It
knows all four hands and keeps every tile in an ordinary list.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# Equipment: the kinds by index, with the number of tiles and the points of each.
PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK, KING = range(8)
TILES = (10, 4, 4, 4, 4, 2, 2, 2)
POINTS = (10, 20, 20, 30, 30, 40, 40, 50)

# Actions: 0 is a pass, 1 + 8 * block + attack plays a pair, and four answers close the list.
PASS = 0
CALL, SILENT = 65, 66
REDEAL, CONTINUE = 67, 68


@dataclass(frozen=True)
class OracleRules:
    """One rule set: each field is one row of the field table, in its order.

    Attributes:
        five_is_duty: Five pawns must be called; otherwise calling is a choice.
        six_is_duty: Six or more pawns must be called; otherwise calling is a choice.
        king_as_last_tile: A king may always be the attack that is a seat's eighth tile.
        second_king_after_face_down: A seat dealt both kings may attack with the second even if
            it laid the first face down in an earlier turn.
        six_pawns_double: Six pawns score twice when the two other tiles are alike.
        kings_alike: Two kings count as alike (doubled finish; six pawns).
        partners_win_by_holding: Partners' two fives win when both hold them; otherwise only
            when both have called.
        opponents_redeal_at_once: Opponents' two called fives redeal at once; otherwise only if
            both partners choose it.
        target: The points that win a match (A match).
        deck: The tiles of each kind; a small game is played with 16.
    """

    five_is_duty: bool = False
    six_is_duty: bool = False
    king_as_last_tile: bool = False
    second_king_after_face_down: bool = False
    six_pawns_double: bool = False
    kings_alike: bool = False
    partners_win_by_holding: bool = False
    opponents_redeal_at_once: bool = False
    target: int = 150
    deck: tuple[int, ...] = TILES


ORACLE_RULES: dict[str, OracleRules] = {
    "jga": OracleRules(
        king_as_last_tile=True,
        second_king_after_face_down=True,
        six_pawns_double=True,
        kings_alike=True,
    ),
    "pagat": OracleRules(five_is_duty=True, six_is_duty=True, kings_alike=True),
    "nine": OracleRules(
        six_is_duty=True,
        six_pawns_double=True,
        partners_win_by_holding=True,
        opponents_redeal_at_once=True,
    ),
}


def partner_of(seat: int) -> int:
    """Returns the seat opposite (Equipment: teams 0 and 2 against 1 and 3)."""
    return (seat + 2) % 4


def receives(block: int, attack: int) -> bool:
    """Says whether a block receives an attack (A round, "What receives what")."""
    if attack == KING:
        return False  # A king attack is never received, not even by the other king.
    if block == attack:
        return True
    return block == KING and attack not in (PAWN, LANCE)


class Referee:
    """One deal after another of one match, all four hands known.

    Attributes:
        rules: The rule set.
        seat: The seat that is asked now; None when the round is over or a redeal awaits a deal.
        dealer: The dealer of the deal being played.
        hands: The kinds each seat holds now.
        phase: "question" (call or silent), "choice" (redeal or continue), "play", "redeal"
            (waiting for a new deal) or "over" (the round has ended).
        winner: The seat that ended the round, None before.
        points: Points of the round for the winner's team, 0 before.
        next_dealer: Who deals next when the phase is "over" or "redeal", None before.
        scores: The points of team 0 (seats 0, 2) and team 1 (seats 1, 3).
        log: Every (seat, action) of the current deal.
        face_down: The tiles each seat has laid face down, in order.
        table_up: The tiles each seat has laid face up, in order.
    """

    def __init__(
        self,
        rules: str | OracleRules,
        hands: Sequence[Sequence[int]],
        dealer: int,
        scores: Sequence[int] = (0, 0),
    ) -> None:
        """Starts a match, or enters one at the given scores, with a first deal.

        Args:
            rules: A rule set or its name: "jga", "pagat" or "nine".
            hands: Four hands of kind indices.
            dealer: The seat that deals.
            scores: The points of the two teams so far.

        Raises:
            ValueError: If the hands are not the tiles of the game, or there is no such dealer.
        """
        if dealer not in range(4):
            raise ValueError(f"no such seat: {dealer}")
        self.rules = ORACLE_RULES[rules] if isinstance(rules, str) else rules
        self.scores = list(scores)
        self._start_deal(hands, dealer)

    @property
    def match_over(self) -> bool:
        """Whether a team has won the match (A match)."""
        return max(self.scores) >= self.rules.target

    def deal(self, hands: Sequence[Sequence[int]]) -> None:
        """Gives the new deal of a redeal or of the next round.

        Args:
            hands: Four hands of kind indices.

        Raises:
            ValueError: If no deal is due, or the hands are not the tiles of the game.
        """
        if self.next_dealer is None or (self.phase == "over" and self.match_over):
            raise ValueError("no deal is due")
        self._start_deal(hands, self.next_dealer)

    def _start_deal(self, hands: Sequence[Sequence[int]], dealer: int) -> None:
        """Deals the hands and asks about special hands, or else begins play."""
        tiles = sorted(int(kind) for hand in hands for kind in hand)
        if tiles != [kind for kind in range(8) for _ in range(self.rules.deck[kind])]:
            raise ValueError("the hands are not the tiles of the deck")
        if len({len(hand) for hand in hands}) > 1:
            raise ValueError("a hand has more tiles than another")
        self.hands: list[list[int]] = [[int(kind) for kind in hand] for hand in hands]
        self.dealer: int = dealer
        self.winner: int | None = None
        self.points: int = 0
        self.next_dealer: int | None = None
        self.log: list[tuple[int, int]] = []
        self.face_down: list[list[int]] = [[], [], [], []]
        self.table_up: list[list[int]] = [[], [], [], []]
        # A round, "King as an attack", asks for this about the hand as dealt.
        self.dealt_both_kings = [hand.count(KING) == 2 for hand in self.hands]
        # The last attack on the table, and the seat that played it; None before the first turn.
        self.attack: int | None = None
        self.attacker: int | None = None
        # Special hands, step 1: from the dealer on, each seat dealt five or more pawns.
        order = [(dealer + step) % 4 for step in range(4)]
        self.special = [seat for seat in order if self.hands[seat].count(PAWN) >= 5]
        self.to_ask = list(self.special)  # Seats whose question is still open.
        self.callers: list[int] = []  # Seats that have called five, in order.
        self.choosers: list[int] = []  # Seats that are still to choose, in order.
        if self.to_ask:
            self.phase: str = "question"
            self.seat: int | None = self.to_ask[0]
        else:
            self._begin_play()

    # --- What a seat may do -------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of the seat that is asked, sorted; none if nobody is."""
        if self.seat is None:
            return []
        if self.phase == "question":
            # Special hands, step 1: a seat with a duty to call is asked too.
            return [CALL] if self._must_call(self.seat) else [CALL, SILENT]
        if self.phase == "choice":
            return [REDEAL, CONTINUE]
        # A round, 2 and 3: no pass for the dealer's first turn or for an attack nobody received.
        actions = [] if self._block_is_face_down(self.seat) else [PASS]
        hand = self.hands[self.seat]
        for block in sorted(set(hand)):
            if not self._may_block(self.seat, block):
                continue
            rest = list(hand)
            rest.remove(block)
            actions.extend(
                1 + 8 * block + attack
                for attack in sorted(set(rest))
                if attack != KING or self._may_attack_with_king(self.seat, block)
            )
        return actions

    def _must_call(self, seat: int) -> bool:
        """Says whether calling the hand is a duty (the field table, first two rows)."""
        if self.hands[seat].count(PAWN) == 5:
            return self.rules.five_is_duty
        return self.rules.six_is_duty

    def _block_is_face_down(self, seat: int) -> bool:
        """Says whether the seat must play, its block face down (A round, 2 and 3).

        So it is in the dealer's first turn, when there is no attack yet, and when the last
        attack has come back to the seat that played it, three passes in between.
        """
        return self.attacker is None or self.attacker == seat

    def _may_block(self, seat: int, block: int) -> bool:
        """Says whether the tile may be this turn's block: any face down, else a receiver."""
        if self.attack is None or self._block_is_face_down(seat):
            return True
        return receives(block, self.attack)

    def _may_attack_with_king(self, seat: int, block: int) -> bool:
        """Says whether a king may be this turn's attack (A round, "King as an attack").

        Args:
            seat: The seat whose turn it is, the turn not yet played.
            block: The block of this turn.
        """
        # A king lies face up, as a block or an attack, by anyone in this round.
        if any(KING in tiles for tiles in self.table_up):
            return True
        # A king block counts in this very turn, but only face up.
        if block == KING and not self._block_is_face_down(seat):
            return True
        # Dealt both kings; by some rule sets both must be in hand still, as the turn begins.
        if self.dealt_both_kings[seat]:
            has_both_now = self.hands[seat].count(KING) == 2
            if has_both_now or self.rules.second_king_after_face_down:
                return True
        # With two tiles in hand, the attack is the eighth tile.
        return self.rules.king_as_last_tile and len(self.hands[seat]) == 2

    # --- What an action does ------------------------------------------------------------------

    def play(self, action: int) -> None:
        """Takes the action of the seat that is asked.

        Args:
            action: An action in the numbering of "Actions".

        Raises:
            ValueError: If the action is not legal; nothing has changed then.
        """
        seat = self.seat
        if seat is None or action not in self.legal_actions():
            raise ValueError(f"seat {seat} may not play {action} in phase {self.phase}")
        self.log.append((seat, action))
        if self.phase == "question":
            self._answer(seat, action)
        elif self.phase == "choice":
            self._choose(action)
        elif action == PASS:
            self.seat = (seat + 1) % 4
        else:
            block, attack = divmod(action - 1, 8)
            self._play_pair(seat, block, attack)

    def _answer(self, seat: int, action: int) -> None:
        """Takes a call or a silence (Special hands, step 1)."""
        self.to_ask.remove(seat)
        if action == CALL:
            if self.hands[seat].count(PAWN) >= 6:
                # A call of six or more ends the round on the spot.
                self._end_round(seat, self._points_of_call(seat))
                return
            self.callers.append(seat)
        if self.to_ask:
            self.seat = self.to_ask[0]
        else:
            self._all_asked(seat)

    def _points_of_call(self, seat: int) -> int:
        """Returns the points of a called hand of six or more pawns (Special hands, table)."""
        others = [kind for kind in self.hands[seat] if kind != PAWN]
        if len(others) == 0:  # Eight pawns.
            return 100
        if len(others) == 1:  # Seven pawns.
            return 2 * POINTS[others[0]]
        points = max(POINTS[others[0]], POINTS[others[1]])  # Six pawns.
        if self.rules.six_pawns_double and self._alike(others[0], others[1]):
            return 2 * points
        return points

    def _alike(self, first: int, second: int) -> bool:
        """Says whether two tiles are alike: the same kind, not merely the same points."""
        if first == KING and second == KING:
            return self.rules.kings_alike
        return first == second

    def _all_asked(self, last: int) -> None:
        """Goes on when every special hand has been asked (Special hands, step 2).

        Nobody has called six or more, for that would have ended the round.

        Args:
            last: The seat that answered last.
        """
        # Two special hands can only be two fives: there are ten pawns.
        partners = len(self.special) == 2 and partner_of(self.special[0]) == self.special[1]
        if partners and (self.rules.partners_win_by_holding or len(self.callers) == 2):
            self._end_round(last, 150)
        elif len(self.callers) == 2 and self.rules.opponents_redeal_at_once:
            self._redeal()
        elif self.callers:
            # The partner of each caller is asked in turn, the first caller's first, even if it
            # holds five itself and kept silent.
            self.choosers = [partner_of(caller) for caller in self.callers]
            self.phase = "choice"
            self.seat = self.choosers[0]
        else:
            self._begin_play()

    def _choose(self, action: int) -> None:
        """Takes a partner's choice (Special hands, step 2 and the table's last row).

        One "continue" settles it; a redeal needs the "redeal" of every caller's partner.
        """
        self.choosers.pop(0)
        if action == CONTINUE:
            self._begin_play()
        elif self.choosers:
            self.seat = self.choosers[0]
        else:
            self._redeal()

    def _redeal(self) -> None:
        """Waits for a new deal of the same dealer, without a score."""
        self.phase = "redeal"
        self.seat = None
        self.next_dealer = self.dealer

    def _begin_play(self) -> None:
        """Gives the dealer the first turn (A round, 2)."""
        self.phase = "play"
        self.seat = self.dealer

    def _play_pair(self, seat: int, block: int, attack: int) -> None:
        """Plays a block and an attack, and ends the round with a seat's eighth tile."""
        face_down = self._block_is_face_down(seat)
        if face_down:
            self.face_down[seat].append(block)
        else:
            self.table_up[seat].append(block)
        self.table_up[seat].append(attack)
        self.hands[seat].remove(block)
        self.hands[seat].remove(attack)
        self.attack = attack
        self.attacker = seat
        if self.hands[seat]:
            self.seat = (seat + 1) % 4
            return
        # A round, "Score": the eighth tile, doubled by an alike seventh tile played face down.
        points = POINTS[attack]
        if face_down and self._alike(block, attack):
            points *= 2
        self._end_round(seat, points)

    def _end_round(self, winner: int, points: int) -> None:
        """Scores the round for the winner's team; the winner deals next (A round, 4)."""
        self.phase = "over"
        self.seat = None
        self.winner = winner
        self.points = points
        self.next_dealer = winner
        self.scores[winner % 2] += points
