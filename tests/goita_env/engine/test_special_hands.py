"""Special hands: each row of the rules' table in each rule set, and how often they are dealt."""

from collections import Counter
from itertools import product
from math import comb, prod, sqrt

import numpy as np
import pytest

from deals import RULE_SETS, complete
from goita_env import Game, seeds
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL, SILENT
from goita_env.engine import dealing as deal
from goita_env.engine.tables import PAWN_DIGITS, code_counts
from playing import played

# Pawns are 1; the seats 0 to 3 are dealt these, filled up with other tiles.
ONE_FIVE = complete("11111234", "", "", "")
OPPONENTS = complete("11111234", "11111235", "", "")
PARTNERS = complete("11111234", "", "11111235", "")
SIX = complete("11111123", "", "", "")
CALLING = {
    "jga": {5: [CALL, SILENT], 6: [CALL, SILENT]},
    "pagat": {5: [CALL], 6: [CALL]},
    "nine": {5: [CALL, SILENT], 6: [CALL]},
}
"""The rows "call of five pawns" and "call of six or more": choice or duty."""


def many_pawns(others: str) -> list[str]:
    """Deals seat 0 these tiles and else pawns."""
    return complete("1" * (8 - len(others)) + others, "", "", "")


def after(rules, hands, *names, dealer=0, **settings):
    return played(Game(rules, hands=hands, dealer=dealer, seed=1, **settings), *names)


def asked(game):
    return game.seat, game.legal_actions()


def begins(game, dealer=0):
    """Tells whether the dealer is asked for its first turn."""
    legal = game.legal_actions()
    return game.seat == dealer and PASS not in legal and max(legal) < CALL


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("dealer", range(4))
def test_seats_with_special_hands_are_asked_from_the_dealer_on(rules, dealer):
    game = after(rules, OPPONENTS, dealer=dealer)
    first, second = (1, 0) if dealer == 1 else (0, 1)
    assert asked(game) == (first, CALLING[rules][5])
    game.play(CALL)
    assert asked(game) == (second, CALLING[rules][5])


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("others", ["234", "23", "5", ""])
def test_a_call_is_a_choice_or_a_duty(rules, others):
    pawns = 5 if len(others) == 3 else 6
    assert asked(after(rules, many_pawns(others))) == (0, CALLING[rules][pawns])


CHOOSES = [
    *((rules, ONE_FIVE, ("call",), 2) for rules in RULE_SETS),
    ("jga", PARTNERS, ("call", "silent"), 2),
    ("jga", PARTNERS, ("silent", "call"), 0),
    *((rules, OPPONENTS, ("call", "silent"), 2) for rules in ("jga", "nine")),
    *((rules, OPPONENTS, ("silent", "call"), 3) for rules in ("jga", "nine")),
]
"""Rules, hands, answers, and the seat that chooses: the caller's partner, whatever it holds."""


@pytest.mark.parametrize(("rules", "hands", "answers", "chooser"), CHOOSES)
def test_where_one_called_five_its_partner_alone_chooses(rules, hands, answers, chooser):
    assert asked(after(rules, hands, *answers)) == (chooser, [REDEAL, CONTINUE])
    assert after(rules, hands, *answers, "redeal").moves == []


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("dealer", range(4))
def test_one_five_after_a_redeal_the_same_seat_deals_and_nobody_scores(rules, dealer):
    game = after(rules, ONE_FIVE, "call", "redeal", dealer=dealer, scores=[40, 30])
    assert game.dealer == dealer
    assert (game.winner, game.points, game.scores, game.moves) == (None, 0, (40, 30), [])
    assert game.hands.sum() == 32
    assert game.view(0).called.sum() == game.view(0).choices.sum() == 0


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("dealer", range(4))
def test_one_five_after_continue_the_dealer_takes_the_first_turn(rules, dealer):
    game = after(rules, ONE_FIVE, "call", "continue", dealer=dealer)
    assert begins(game, dealer)
    assert game.hands[0, 0] == 5, "the pawns go back to hand"


POINTS = {"23": 20, "24": 30, "58": 50, "46": 40, "45": 30, "67": 40}
POINTS |= {"2": 40, "3": 40, "4": 60, "5": 60, "6": 80, "7": 80, "8": 100, "": 100}
"""Of a called hand by its tiles but pawns: the higher of two, twice a single one."""

ALIKE = {"22": 20, "33": 20, "44": 30, "55": 30, "66": 40, "77": 40}


@pytest.mark.parametrize(
    ("rules", "factor", "kings"), [("jga", 2, 2), ("pagat", 1, 1), ("nine", 2, 1)]
)
def test_a_call_scores_and_two_alike_twice_but_for_pagat_and_kings_of_nine(rules, factor, kings):
    alike = {others: factor * points for others, points in ALIKE.items()} | {"88": kings * 50}
    for others, points in (POINTS | alike).items():
        game = after(rules, many_pawns(others), "call", dealer=3)
        assert (game.winner, game.points, game.done) == (0, points, True)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_caller_of_six_or_more_deals_next(rules):
    game = after(rules, SIX, "call", dealer=2, episode="match")
    assert game.dealer == 0
    assert game.scores == (20, 0)
    assert game.winner == 0


WINNING = [("jga", ("call", "call")), ("pagat", ("call", "call"))]
WINNING += [("nine", answers) for answers in product(["call", "silent"], repeat=2)]


@pytest.mark.parametrize(("rules", "answers"), WINNING)
def test_partners_fives_win_150_once_both_have_called_and_in_nine_whatever_they_answer(
    rules, answers
):
    game = after(rules, PARTNERS, *answers)
    assert (game.done, game.points, game.winner % 2) == (True, 150, 0)


@pytest.mark.parametrize("rules", ["jga", "pagat"])
@pytest.mark.parametrize("dealer", range(4))
def test_opponents_fives_the_partner_of_the_first_caller_chooses_first(rules, dealer):
    game = after(rules, OPPONENTS, "call", "call", dealer=dealer)
    first = 1 if dealer == 1 else 0
    assert asked(game) == ((first + 2) % 4, [REDEAL, CONTINUE])
    game.play(REDEAL)
    second = 1 - first
    assert asked(game) == ((second + 2) % 4, [REDEAL, CONTINUE])
    for seat in range(4):
        choices = game.view(seat).choices[0]
        assert choices[(first + 2 - seat) % 4] == REDEAL, "the choice is public"
        assert np.count_nonzero(choices) == 1


PLAYED = [
    ("jga", SIX, "silent"),
    ("jga", PARTNERS, "silent", "silent"),
    *((rules, OPPONENTS, "silent", "silent") for rules in ("jga", "nine")),
    *((rules, OPPONENTS, "call", "call", "continue") for rules in ("jga", "pagat")),
    *((rules, OPPONENTS, "call", "call", "redeal", "continue") for rules in ("jga", "pagat")),
]


@pytest.mark.parametrize("answers", PLAYED)
def test_play_begins_where_nobody_called_or_one_of_two_partners_continues(answers):
    assert begins(after(*answers))


@pytest.mark.parametrize("rules", ["jga", "pagat"])
def test_opponents_fives_only_two_redeals_redeal(rules):
    game = after(rules, OPPONENTS, "call", "call", "redeal", "redeal", scores=[0, 20])
    assert (game.moves, game.dealer, game.points, game.scores) == ([], 0, 0, (0, 20))


def test_opponents_fives_in_nine_redeal_at_once():
    game = after("nine", OPPONENTS, "call", "call")
    assert (game.moves, game.dealer, game.points, game.done) == ([], 0, 0, False)


WAYS = comb(32, 10)
"""Ways in which the ten pawns fall on the 32 places."""


def ways(condition):
    """Counts the ways in which the pawns fall so that the seats' numbers meet a condition."""
    return sum(
        prod(comb(8, pawns) for pawns in held)
        for held in product(range(9), repeat=4)
        if sum(held) == 10 and condition(held)
    )


def fives(held):
    return sum(pawns >= 5 for pawns in held)


EVENTS = {
    "some seat has five or more": lambda held: fives(held) >= 1,
    "some seat has six or more": lambda held: max(held) >= 6,
    "two seats have five": lambda held: fives(held) == 2,
    "opponents have five each": lambda held: fives(held) == 2 and held[0] + held[2] == 5,
    "partners have five each": lambda held: fives(held) == 2 and held[0] + held[2] != 5,
}


def test_the_exact_figures_are_those_of_the_rules():
    figures = [ways(condition) for condition in EVENTS.values()]
    assert figures[0] == 10_758_064
    assert figures[1] / WAYS == pytest.approx(0.0194689, abs=5e-8)
    assert figures[2:] == [18_816, 12_544, 6_272]
    assert WAYS == 64_512_240
    for k in range(9):
        exact = comb(10, k) * comb(22, 8 - k) / comb(32, 8)
        assert ways(lambda held, k=k: held[0] == k) / WAYS == pytest.approx(exact)


def keys(seed, games, episode=0):
    return seeds.deal_keys(seeds.game_keys(seed, np.arange(games)), np.full(games, episode), 0)


@pytest.fixture(scope="module")
def pawns_dealt():
    """How many of a million deals gave the four seats so many pawns."""
    counts = Counter()
    for block in range(10):
        pawns = deal.hand_codes(keys(7, 100_000, block)) % PAWN_DIGITS
        numbers, times = np.unique(pawns @ np.array([1000, 100, 10, 1]), return_counts=True)
        counts.update(dict(zip(numbers.tolist(), times.tolist(), strict=True)))
    return {tuple(int(digit) for digit in f"{n:04}"): count for n, count in counts.items()}


def assert_five_sigma(seen, chance, deals=1_000_000):
    assert abs(seen - deals * chance) <= 5 * sqrt(deals * chance * (1 - chance))


@pytest.mark.parametrize("event", EVENTS)
def test_special_hands_are_dealt_as_often_as_they_should(pawns_dealt, event):
    assert sum(pawns_dealt.values()) == 1_000_000
    seen = sum(count for held, count in pawns_dealt.items() if EVENTS[event](held))
    assert_five_sigma(seen, ways(EVENTS[event]) / WAYS)


@pytest.mark.parametrize("seat", range(4))
def test_every_seat_is_dealt_each_number_of_pawns_as_often_as_it_should(pawns_dealt, seat):
    for k in range(9):
        seen = sum(count for held, count in pawns_dealt.items() if held[seat] == k)
        assert_five_sigma(seen, comb(10, k) * comb(22, 8 - k) / comb(32, 8))


def test_every_tile_comes_to_every_place_of_the_deal_as_often():
    hands = code_counts()[deal.hand_codes(keys(8, 200_000))]
    for kind, count in enumerate([10, 4, 4, 4, 4, 2, 2, 2]):
        for seat in range(4):
            mean = hands[:, seat, kind].mean()
            one = count / 32 * (1 - count / 32) * 8 * 24 / 31  # hypergeometric variance
            assert abs(mean - count / 4) <= 5 * sqrt(one / 200_000)


def test_first_dealers_are_uniform():
    for seen in np.bincount(deal.first_dealers(keys(9, 1_000_000)), minlength=4):
        assert_five_sigma(int(seen), 0.25)
