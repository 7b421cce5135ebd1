"""The worked examples of the booklet and of the pagat page, and the longest and shortest rounds."""

import pytest

from deals import RULE_SETS, complete, kinds
from goita_env import Game, actions
from goita_env.actions import PASS
from goita_env.tiles import DIGITS, GOLD, KING, KNIGHT, LANCE, PAWN, SILVER
from goita_env.views import FACE_DOWN, NONE
from oracle import Referee
from playing import played

# Booklet, "Example of a round": the dealer's hand is the booklet's, the others' make it possible.
BOOKLET = ["88655321", "26111345", "27111345", "27111344"]
BOOKLET_PLAYS = ["32", "26", "p", "p", "68", "p", "p", "p", "18", "p", "p", "p", "55"]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_booklets_round_scores_60_points_with_the_oracle_too(rules):
    game = played(Game(rules, hands=BOOKLET, dealer=0), *BOOKLET_PLAYS)
    assert game.done
    assert (game.winner, game.points, game.scores) == (0, 60, (60, 0))
    judge = Referee(rules, kinds(*BOOKLET).tolist(), 0)
    for name in BOOKLET_PLAYS:
        judge.play(actions.parse(name))
    assert (judge.winner, judge.points) == (0, 60)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_in_the_booklets_round_the_next_seat_sees_all_but_the_blocks_face_down(rules):
    game = played(Game(rules, hands=BOOKLET, dealer=0), *BOOKLET_PLAYS[:-1])
    view = game.view(1)
    assert view.event_seat[0, :5].tolist() == [3, 0, 3, 3, NONE]
    assert view.event_block[0, :4].tolist() == [FACE_DOWN, LANCE, 5, FACE_DOWN]
    assert view.event_attack[0, :4].tolist() == [LANCE, 5, KING, KING]
    own = game.view(0)
    assert own.event_block[0, :4].tolist() == [2, LANCE, 5, PAWN]
    assert own.hand[0].tolist() == [0, 0, 0, 0, 2, 0, 0, 0]


# Pagat, the legend of the picture: south is seat 0, east 1, north 2, west 3.
A, B, C, D, E, F, G, H, J = "123456132"
PAGAT = ["12451147", "23111578", "56131152", "34321468"]
PAGAT_PLAYS = [A + B, B + C, "p", C + D, D + E, "p", E + F, "p", "p", "p", G + H, H + J]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_pagat_pages_example_is_played_in_its_order(rules):
    game = played(Game(rules, hands=PAGAT, dealer=0), *PAGAT_PLAYS)
    south, east, north, west = range(4)
    players = [south, east, north, west, south, east, north, west, south, east, north, west]
    assert [seat for seat, _ in game.moves] == players
    assert game.seat == south
    view = game.view(south)
    assert view.event_seat[0, :8].tolist() == [south, east, west, south, north, north, west, NONE]
    attacks = [int(digit) - 1 for digit in (B, C, D, E, F, H, J)]
    assert view.event_attack[0, :7].tolist() == attacks
    assert view.event_face_down[0, :7].nonzero()[0].tolist() == [0, 5], "A and G lie face down"
    assert view.event_block[0, 5] == FACE_DOWN
    assert view.hand_sizes[0].tolist() == [4, 6, 4, 4]


# The longest round, from the rules' page; opponents hold five pawns each.
LONGEST = ["11111288", "22345567", "33444556", "11111237"]
LONGEST_PLAYS = [
    *[(0, play) for play in ("11", "11", "12")],
    *[(3, play) for play in ("21", "11", "13")],
    *[(2, play) for play in ("34", "44", "65")],
    *[(1, play) for play in ("54", "32", "25", "67")],
]
SILENT = ["silent", "silent"]
ANSWERS = {"jga": SILENT, "pagat": ["call", "call", "continue"], "nine": SILENT}


def longest(rules):
    """Plays the longest round."""
    game = played(Game(rules, hands=LONGEST, dealer=0), *ANSWERS[rules])
    for seat, play in LONGEST_PLAYS:
        while game.seat != seat:
            played(game, "p")
        played(game, play)
    return game


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_longest_round_has_13_plays_and_46_decisions_turn_by_turn(rules):
    game = longest(rules)
    decisions = [action for _, action in game.moves if action < actions.CALL]
    assert len(decisions) == 46
    assert sum(action != PASS for action in decisions) == 13
    assert (game.done, game.winner, game.points) == (True, 1, 40)

    seats = [seat for seat, action in game.moves if action < actions.CALL]
    assert seats == [t % 4 for t in range(46)]
    for viewer in range(4):
        decisions = game.view(viewer).decisions()
        assert decisions.length[0] == 46
        assert decisions.seat[0].tolist() == [(t - viewer) % 4 for t in range(46)]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_shortest_round_has_13_decisions(rules):
    game = played(Game(rules, hands=BOOKLET, dealer=0), *alone("32", "18", "86"), "55")
    assert len(game.moves) == 13
    assert (game.done, game.winner, game.points) == (True, 0, 60)


def start(rules, *hands, dealer=0, **settings):
    return Game(rules, hands=complete(*hands), dealer=dealer, **settings)


def alone(*names):
    """Lists plays that all others pass on."""
    return [name for pair in names for name in (pair, *PASSES)]


def pairs(game):
    return [pair for pair in map(actions.decode, game.legal_actions()) if pair is not None]


def king_attacks(game):
    """Lists the blocks with which the acting seat may attack with a king."""
    return sorted(block for block, attack in pairs(game) if attack == KING)


PASSES = ["p", "p", "p"]


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("attack", "1234567")
def test_a_block_receives_its_own_kind_and_a_king_all_but_pawn_and_lance(rules, attack):
    game = played(start(rules, "4" + attack, "12345678", "", ""), "4" + attack)
    kind = int(attack) - 1
    receivers = {kind} if kind in (PAWN, LANCE) else {kind, KING}
    assert {block for block, _ in pairs(game)} == receivers
    assert PASS in game.legal_actions()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_dealer_may_not_pass_its_first_turn_and_lays_any_block(rules):
    game = start(rules, "12345678", "", "", "")
    assert PASS not in game.legal_actions()
    assert {block for block, _ in pairs(game)} == set(range(8))
    assert len(pairs(game)) == 7 * 7, "each other kind as attack, but no king"


@pytest.mark.parametrize("rules", RULE_SETS)
def test_an_own_attack_that_nobody_received_is_followed_by_a_block_face_down(rules):
    game = played(start(rules, "12345678", "", "", ""), "12", *PASSES)
    assert PASS not in game.legal_actions()
    assert {block for block, _ in pairs(game)} == set(range(2, 8))
    played(game, "34")
    assert game.view(1).event_block[0, :2].tolist() == [FACE_DOWN, FACE_DOWN]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_partners_attack_may_be_received_too(rules):
    game = played(start(rules, "12", "", "2", ""), "12", "p")
    assert {block for block, _ in pairs(game)} == {LANCE}


ONE, TWO = ["8425", "85", "", ""], ["88223344", "", "", ""]
KINGS = {
    "one king while none lies face up": (ONE, [], []),
    "one face up as a block lets anyone attack": (ONE, ["24", "85", "p", "p"], [GOLD]),
    "both in hand, even the other face down": (TWO, [], [LANCE, KNIGHT, SILVER, KING]),
    "the second after the first": (TWO, ["28", *PASSES], [LANCE, KNIGHT, SILVER]),
}
"""When a king may attack: hands, what was played, and the blocks."""


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(("hands", "names", "blocks"), KINGS.values(), ids=KINGS)
def test_when_a_king_may_attack(rules, hands, names, blocks):
    assert king_attacks(played(start(rules, *hands), *names)) == blocks


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_king_face_down_does_not_count_as_played_for_another_seat(rules):
    game = played(start(rules, "84", "84", "", ""), "84")
    assert {block for block, _ in pairs(game)} == {SILVER, KING}
    assert king_attacks(game) == []


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_king_may_receive_and_the_other_attack_in_one_turn(rules):
    game = played(start(rules, "24", "88", "", ""), "24")
    assert actions.encode(KING, KING) in game.legal_actions()


@pytest.mark.parametrize(("rules", "allowed"), [("jga", True), ("pagat", False), ("nine", False)])
def test_the_second_king_after_ones_own_was_laid_face_down_earlier(rules, allowed):
    game = played(start(rules, "88223344", "", "", ""), "82", *PASSES)
    assert king_attacks(game) == ([LANCE, KNIGHT, SILVER] if allowed else [])


@pytest.mark.parametrize(("rules", "allowed"), [("jga", True), ("pagat", False), ("nine", False)])
def test_a_king_as_the_last_piece(rules, allowed):
    game = start(rules, "82233441", "", "", "")
    played(game, *alone("22", "33", "44"))
    king_last, king_first = actions.parse("18"), actions.parse("81")
    assert game.legal_actions() == ([king_last, king_first] if allowed else [king_first])
    if allowed:
        game.play(king_last)
        assert (game.winner, game.points) == (0, 50)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_king_attack_is_never_received(rules):
    game = played(start(rules, "88223344", "11234567", "", ""), "28")
    for _ in range(3):
        assert game.legal_actions() == [PASS]
        game.play(PASS)


FINISHES = {"11": 20, "21": 10, "32": 20, "33": 40, "45": 30, "54": 30, "55": 60, "77": 80}


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(("last", "points"), FINISHES.items())
def test_a_finish_scores_its_attack_and_doubles_two_of_a_kind_face_down(rules, last, points):
    game = start(rules, last + "2" * (2 - last.count("2")) + "6634", "", "", "")
    rest = list("".join(DIGITS[kind] * game.hands[0, kind] for kind in range(8)))
    for digit in last:
        rest.remove(digit)
    for start_at in (0, 2, 4):
        played(game, rest[start_at] + rest[start_at + 1], *PASSES)
    game.play(actions.parse(last))
    assert (game.done, game.winner, game.points) == (True, 0, points)


@pytest.mark.parametrize(("rules", "points"), [("jga", 100), ("pagat", 100), ("nine", 50)])
def test_a_finish_with_two_kings(rules, points):
    game = played(start(rules, "88223344", "", "", ""), *alone("22", "33", "44"), "88")
    assert (game.winner, game.points) == (0, points)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_face_up_block_equal_to_the_last_attack_does_not_double(rules):
    game = start(rules, "", "44223311", "34", "", dealer=1)
    played(game, "22", *PASSES, "11", *PASSES, "33", "34", "p", "p", "44")
    assert (game.done, game.winner, game.points) == (True, 1, 30)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_winner_of_a_round_deals_the_next(rules):
    settings = {"dealer": 2, "scores": [50, 0], "episode": "match", "seed": 1}
    game = start(rules, "", "", "88223344", "", **settings)
    played(game, *alone("22", "33", "88"), "44")
    assert (game.winner, game.points, game.dealer) == (2, 60, 2)
    assert game.scores == (110, 0)
    assert not game.done


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize(("before", "over"), [(80, False), (90, True), (140, True)])
def test_a_match_ends_at_150_points(rules, before, over):
    game = start(rules, "88223344", "", "", "", scores=[before, 140], episode="match")
    played(game, *alone("22", "33", "88"), "44")
    assert game.scores == (before + 60, 140)
    assert game.done == over
