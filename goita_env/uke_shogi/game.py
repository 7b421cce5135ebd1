"""Plays one deal of Uke-Shogi: hands, turns, matches and passes, until a hand is empty."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from goita_env.checks import check_action, check_dealer, describe, integers
from goita_env.errors import EpisodeOverError, HandsError, IllegalActionError, SettingError
from goita_env.hands import format_hand, read_digits
from goita_env.seeds import GOLDEN, deal_keys, game_keys, mix
from goita_env.tiles import CHARACTERS, NUM_KINDS
from goita_env.uke_shogi.rules import IMO_SHOGI, NUM_ACTIONS, PASS, UkeShogiRules, action_name
from goita_env.uke_shogi.view import UkeShogiView

Hands = list[list[int]]
"""[players, 8] Tiles of each kind."""


class UkeShogiGame:
    """One deal that is played.

    Args:
        rules: how it is played.
        hands: by seat, strings of digits ("11235578..."; 9 is read as a king) or kinds, int
            [players, hand_size]; None: dealt.
        dealer: seat of the dealer; None: drawn.
        seed: of the deal and the dealer; None: unpredictable.
        episode: which episode of the seed, from 0.
        number: which deal of the episode, from 0.

    Raises:
        HandsError, SettingError: if an option is impossible.

    Attributes:
        rules: how it is played.
        dealer: seat of the dealer; it leads first.
        seat: the acting seat, None at the end.
        led: the kind to match; None where a tile is led, and at the end.
        winner: the seat that played its last tile, None before.
        dealt: tiles of each kind dealt to each seat.
        hands: tiles of each kind that each seat holds now.
        played: tiles of each kind that each seat has played.
        passed_on: whether each seat has passed on each kind.
        moves: (seat, action) of every decision so far.
    """

    def __init__(
        self,
        rules: UkeShogiRules = IMO_SHOGI,
        hands: npt.ArrayLike | None = None,
        dealer: int | None = None,
        seed: int | None = None,
        episode: int = 0,
        number: int = 0,
    ) -> None:
        if not isinstance(rules, UkeShogiRules):
            raise SettingError(f"expected rules as a UkeShogiRules value, got {rules!r}")
        seed = secrets.randbits(63) if seed is None else seed
        drawn, drawn_dealer = draw_deal(rules, seed, episode, number)
        self.rules = rules
        self.dealt = drawn if hands is None else read_hands(rules, hands)
        self.dealer = drawn_dealer
        if dealer is not None:
            self.dealer = int(check_dealer(dealer, 1, rules.players)[0])
        self.hands: Hands = [list(hand) for hand in self.dealt]
        self.played: Hands = [[0] * NUM_KINDS for _ in self.hands]
        self.passed_on = [[False] * NUM_KINDS for _ in self.hands]
        self.moves: list[tuple[int, int]] = []
        self.seat: int | None = self.dealer
        self.led: int | None = None
        self.winner: int | None = None
        self._passes = 0

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of the acting seat in order; none at the end."""
        if self.seat is None:
            return []
        return self.rules.legal_actions(self.hands[self.seat], self.led)

    def play(self, action: int | None) -> None:
        """Makes the decision of the acting seat: 0 passes, 1 + k plays a tile of kind k.

        Raises:
            EpisodeOverError: if the deal is over.
            ActionError: if it is not an action.
            IllegalActionError: if the rules forbid it here. All errors leave the game as it was.
        """
        if (seat := self.seat) is None:
            raise EpisodeOverError(f"expected no action after the end, got {action!r}")
        action = check_action(action, NUM_ACTIONS)
        legal = self.legal_actions()
        if action not in legal:
            names = " ".join(map(action_name, legal))
            raise IllegalActionError(
                f"expected one of {names} from seat {seat}, got {action_name(action)!r}"
            )
        self.moves.append((seat, action))
        following = (seat + 1) % self.rules.players
        if action == PASS:
            assert self.led is not None
            self.passed_on[seat][self.led] = True
            self.seat, self._passes = following, self._passes + 1
            if self._passes == self.rules.players - 1:
                # "All players but one passed in succession": that one leads next.
                self.led, self._passes = None, 0
            return
        kind = action - 1
        self.hands[seat][kind] -= 1
        self.played[seat][kind] += 1
        self._passes = 0
        if not any(self.hands[seat]):
            self.winner, self.seat, self.led = seat, None, None
        elif self.led is None:
            self.led, self.seat = kind, following
        elif self.rules.murray:
            # "As soon as a piece has been matched, the pair is thrown out and the player who
            # played the matching piece plays a new piece."
            self.led = None
        else:
            self.seat = following

    def rewards(self) -> list[float]:
        """Returns the reward of each seat; 0 before the end of the deal."""
        if self.winner is None:
            return [0.0] * self.rules.players
        return self.rules.rewards(self.winner, self.hands)

    def view(self, seat: int) -> UkeShogiView:
        """Returns what a seat may know, acting or not.

        Raises:
            SettingError: if there is no such seat.
        """
        players = self.rules.players
        if isinstance(seat, bool) or seat not in range(players):
            raise SettingError(f"expected a seat 0..{players - 1}, got {seat!r}")
        order = [(seat + place) % players for place in range(players)]
        # The last decisions were ``_passes`` passes, by the seats before the acting one.
        last_seat = (self.seat or 0) - 1
        passed_since = {(last_seat - back) % players for back in range(self._passes)}
        return UkeShogiView(
            rules=self.rules,
            hand=np.array(self.hands[seat]),
            played=np.array([self.played[player] for player in order]),
            passed_on=np.array([self.passed_on[player] for player in order]),
            passed_since=np.array([player in passed_since for player in order]),
            tiles_left=np.array([sum(self.hands[player]) for player in order]),
            led=self.led,
            asked=None if self.seat is None else (self.seat - seat) % players,
        )

    def __str__(self) -> str:
        """Draws the table in characters, all hands open: a line a seat, a dot for a pass."""
        decisions: list[list[str]] = [[] for _ in self.hands]
        for seat, action in self.moves:
            decisions[seat].append("・" if action == PASS else CHARACTERS[action - 1])
        longest = max(map(len, decisions))
        lines = [f"Uke-Shogi, {self.rules.players} players, {self.rules.tiles} tiles", ""]
        for seat, hand in enumerate(self.hands):
            remarks = {", dealer": self.dealer, ", to move": self.seat, ", wins": self.winner}
            name = f"  seat {seat}" + "".join(what for what, who in remarks.items() if who == seat)
            # A tile and a space are three columns wide.
            row = "".join(f"{tile} " for tile in decisions[seat])
            row += "   " * (longest - len(decisions[seat]))
            tiles = "".join(tile * count for tile, count in zip(CHARACTERS, hand, strict=True))
            lines.append(f"{name:<26}{row}| {tiles}".rstrip())
        return "\n".join([*lines, "", self._moment()])

    def _moment(self) -> str:
        if self.winner is not None:
            gains = ", ".join(f"{gain:+g}" for gain in self.rewards())
            return f"seat {self.winner} has played its last tile: {gains}"
        if self.led is None:
            return f"seat {self.seat} leads"
        names = ["pass" if act == PASS else CHARACTERS[act - 1] for act in self.legal_actions()]
        return f"seat {self.seat} is to match {CHARACTERS[self.led]}: {' or '.join(names)}"

    def __repr__(self) -> str:
        hands = ",".join(format_hand(np.array(hand)) for hand in self.dealt)
        moves = " ".join(f"{seat}:{action_name(action)}" for seat, action in self.moves)
        return f"<UkeShogiGame {hands} dealer {self.dealer} {moves}>"


def draw_deal(rules: UkeShogiRules, seed: int, episode: int, deal: int) -> tuple[Hands, int]:
    """Draws hands and dealer of a deal of an episode; they depend only on the arguments."""
    game = game_keys(seed, np.zeros(1, np.int64))
    key = deal_keys(game, np.array([episode]), deal)
    # The order of random numbers shuffles the tiles; one number more draws the dealer.
    values = mix(key + GOLDEN * np.arange(1, rules.tiles + 2).astype(np.uint64))
    tiles = np.repeat(np.arange(NUM_KINDS), rules.counts)[np.argsort(values[:-1])]
    dealt = tiles[: rules.players * rules.hand_size].reshape(rules.players, -1)
    return _counted(dealt), int(values[-1] % np.uint64(rules.players))


def read_hands(rules: UkeShogiRules, hands: npt.ArrayLike) -> Hands:
    """Reads hands by seat: strings of digits, or kinds, int [players, hand_size]."""
    if isinstance(hands, Sequence) and all(isinstance(hand, str) for hand in hands):
        hands = [read_digits(str(hand), seat) for seat, hand in enumerate(hands)]
    kinds, shape = integers(hands), (rules.players, rules.hand_size)
    if kinds is None or kinds.shape != shape:
        raise HandsError(
            f"expected hands as {shape[0]} strings of {shape[1]} digits or whole numbers of shape "
            f"{shape}, got {describe(hands)}"
        )
    if kinds.min() < 0 or kinds.max() >= NUM_KINDS:
        raise HandsError(f"expected kinds 0..{NUM_KINDS - 1}, got {kinds.tolist()!r}")
    counts = _counted(kinds)
    total = tuple(map(sum, zip(*counts, strict=True)))
    if any(count > limit for count, limit in zip(total, rules.counts, strict=True)):
        raise HandsError(
            f"expected at most {rules.counts!r} tiles of the kinds 0..7, got {total!r}"
        )
    return counts


def _counted(kinds: npt.NDArray[np.integer]) -> Hands:
    """Returns the tiles of each kind in hands of kinds, int [players, n]."""
    return [np.bincount(hand, minlength=NUM_KINDS).tolist() for hand in kinds]
