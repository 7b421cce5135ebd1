"""Variants of Uke-Shogi, games played by digits, and the worlds that a seat cannot tell apart."""

import numpy as np
from numpy.random import Generator

from goita_env.tiles import DIGITS, KING
from goita_env.uke_shogi import UkeShogiGame, UkeShogiRules

HANDS = ["1111111278", "1111234567", "1111234568", "1112334455"]
"""Seven, four, four and three pawns."""

TABLES = [(2, 40), (2, 42), (3, 42), (4, 40), (5, 40), (6, 42), (7, 42)]
"""Numbers of players with the sets that they share evenly."""

SWITCHES = [
    {"must_match": must_match, "kings_match_all": kings}
    for must_match in (True, False)
    for kings in (False, True)
]

VARIANTS = [
    UkeShogiRules(players=players, tiles=tiles, **switches)
    for players, tiles in TABLES
    for switches in SWITCHES
] + [
    UkeShogiRules(players=2, tiles=tiles, murray=True, murray_hand=hand, **switches)
    for tiles, hand in ((40, 8), (42, 20))
    for switches in SWITCHES
]
"""Every way to play at every table; who pays what is compared in both ways after each deal."""


def short(rules: UkeShogiRules) -> str:
    """Names a variant."""
    flags = ("must_match", "kings_match_all", "payment", "murray")
    return "-".join(
        [f"{rules.players}x{rules.hand_size}", *(f for f in flags if getattr(rules, f))]
    )


FEW = [
    UkeShogiRules(),
    UkeShogiRules(players=5, kings_match_all=True, payment=True),
    UkeShogiRules(players=7, tiles=42, must_match=False),
    UkeShogiRules(players=3, tiles=42, must_match=False, kings_match_all=True),
    UkeShogiRules(players=2, murray=True),
    UkeShogiRules(players=2, murray=True, must_match=False, kings_match_all=True, payment=True),
]
"""Variants that have everything once, for what takes long."""


def played(game: UkeShogiGame, moves: str) -> UkeShogiGame:
    """Plays moves, a digit each, "p" for a pass, spaces between for reading."""
    for move in moves.replace(" ", ""):
        game.play(0 if move == "p" else 1 + DIGITS.index(move))
    return game


def random_game(rules: UkeShogiRules, rng: Generator, decisions: int | None = None) -> UkeShogiGame:
    """Plays a game at random, to its end or for so many decisions."""
    game = UkeShogiGame(rules, seed=int(rng.integers(2**32)))
    while game.seat is not None and len(game.moves) != decisions:
        game.play(int(rng.choice(game.legal_actions())))
    return game


def redrawn_hands(game: UkeShogiGame, viewer: int, rng: Generator) -> list[list[int]]:
    """Deals anew what a seat cannot know; the moves made stay legal.

    Tiles that others hold, or that were not dealt, change places in pairs as long as nobody comes
    to hold what it could have matched when it passed.

    Returns:
        The kinds dealt to each seat.
    """
    rules = game.rules

    def allowed(place: int, kind: int) -> bool:
        if place == rules.players or not rules.must_match:
            return True
        wild = rules.kings_match_all and kind == KING
        passed = game.passed_on[place]
        return not (any(passed) if wild else passed[kind])

    places = [seat for seat in range(rules.players) if seat != viewer]
    hidden = [(seat, kind) for seat in places for kind in kinds_of(game.hands[seat])]
    out = np.array(game.dealt).sum(axis=0)
    hidden += [(rules.players, kind) for kind in kinds_of(np.array(rules.counts) - out)]
    for _ in range(10 * len(hidden)):
        one, two = rng.integers(len(hidden), size=2)
        (here, first), (there, second) = hidden[one], hidden[two]
        if allowed(here, second) and allowed(there, first):
            hidden[one], hidden[two] = (here, second), (there, first)
    hands = [kinds_of(counts) for counts in game.played]
    hands[viewer] += kinds_of(game.hands[viewer])
    for place, kind in hidden:
        if place < rules.players:
            hands[place].append(kind)
    return hands


def kinds_of(counts) -> list[int]:
    """Lists the tiles that counts of kinds stand for."""
    return [kind for kind, count in enumerate(counts) for _ in range(count)]
