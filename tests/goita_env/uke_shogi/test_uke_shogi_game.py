"""The game: deals checked by hand, the rules line by line, properties, and a second referee."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from goita_env import errors
from goita_env.uke_shogi import IMO_SHOGI, MURRAY, UMEBAYASHI, UkeShogiGame, UkeShogiRules
from goita_env.uke_shogi.game import draw
from goita_env.uke_shogi.rules import POINTS
from raising import refuses
from samples import slow
from uke_shogi_oracle import NAMES, Referee
from uke_shogi_playing import HANDS, TABLES, VARIANTS, kinds_of, played, random_game, short

FREE = UkeShogiRules(must_match=False)
KINGS = UkeShogiRules(kings_match_all=True)

BEFORE_THE_PAWNS = "7 7ppp 6 6ppp 8 p8ppp"
THE_PAWNS = "1111 1111 1111 111p 1ppp 1ppp 1ppp"


def may(game):
    """Writes the legal actions as they are played."""
    return "".join("p12345678"[action] for action in game.legal_actions())


def test_a_deal_of_1927_checked_by_hand():
    game = UkeShogiGame(hands=HANDS, dealer=0)
    played(game, "7 7ppp")
    assert (game.seat, game.led) == (1, None), "seat 1 played last, so it leads"
    played(game, "6 6ppp")
    assert (game.seat, game.led) == (2, None)
    played(game, "8 p8ppp")
    assert (game.seat, game.led) == (0, None), "three others passed on the king of seat 0"
    played(game, THE_PAWNS)
    assert [sum(hand) for hand in game.hands] == [1, 4, 4, 7]
    assert (game.seat, may(game)) == (0, "2")
    played(game, "2")
    assert (game.winner, game.seat, game.led) == (0, None, None)
    assert game.rewards() == [1, -1 / 3, -1 / 3, -1 / 3]
    assert game.legal_actions() == []


def test_the_same_deal_by_umebayashi_checked_by_hand():
    game = played(UkeShogiGame(UMEBAYASHI, hands=HANDS, dealer=0), "7 7")
    assert (game.seat, may(game)) == (2, "8"), "seat 2 has no rook, but a king"
    played(game, "8p 8ppp")
    assert game.seat == 0
    played(game, THE_PAWNS + "2")
    # A lance, a knight, a silver, a gold and a bishop: 5 + 5 + 10 + 10 + 50; seat 3 a lance,
    # two knights, two silvers and two golds: 5 + 10 + 20 + 20.
    assert game.rewards() == [80 + 80 + 55, -80, -80, -55]


def test_a_deal_by_murray_checked_by_hand():
    rules = replace(MURRAY, murray_hand=3, payment=True)
    game = UkeShogiGame(rules, hands=["118", "137"], dealer=1)
    played(game, "7p")
    assert (game.seat, game.led) == (1, None), "it was not paired: the same player challenges again"
    assert game.hands[1] == [1, 0, 1, 0, 0, 0, 0, 0], "and the rook is out"
    played(game, "11")
    assert (game.seat, game.led) == (0, None), "the pair is out, who paired challenges"
    assert [sum(hand) for hand in game.hands] == [2, 1]
    played(game, "1p")
    played(game, "8")
    assert (game.winner, game.rewards()) == (0, [5, -5])


def test_a_hand_emptied_by_a_match_wins_at_once():
    game = UkeShogiGame(FREE, hands=HANDS, dealer=1)
    played(game, "1ppp 1ppp 1ppp 2ppp 3ppp 4ppp 5ppp 6ppp 7pp7 ppp 1")
    assert (game.seat, game.led, may(game)) == (1, 0, "p1")
    assert played(game, "1").winner == 1


def test_in_murrays_game_the_last_tile_wins_be_it_paired_or_named():
    rules = replace(MURRAY, murray_hand=3)
    game = played(UkeShogiGame(rules, hands=["112", "117"], dealer=1), "7p 11 1")
    assert (game.seat, may(game)) == (1, "1")
    assert played(game, "1").winner == 1
    game = played(UkeShogiGame(rules, hands=["167", "123"], dealer=0), "7p 6p 1")
    assert game.winner == 0, "nobody is asked whether the last tile could be paired"


FREE_KINGS = UkeShogiRules(must_match=False, kings_match_all=True)
TWO = ["11112345", "11112345"]
MURRAY_FREE = replace(MURRAY, must_match=False)

LINES = {
    "the dealer leads and cannot pass": (IMO_SHOGI, 1, "", 1, "1234567"),
    "who can match must": (IMO_SHOGI, 0, "7", 1, "7"),
    "who cannot match passes": (IMO_SHOGI, 0, "7 7", 2, "p"),
    "passing is free": (FREE, 0, "7", 1, "p7"),
    "but not for who leads": (FREE, 0, "7 ppp", 0, "128"),
    "who passed may still match": (FREE, 0, "1 p1p 1 1pp", 0, "p1"),
    "a king matches by Umebayashi's variant": (KINGS, 3, "1", 0, "18"),
    "and only by it": (IMO_SHOGI, 3, "1", 0, "1"),
    "what was led stays to be matched": (KINGS, 3, "1 8", 1, "1"),
    "a king that is led": (KINGS, 0, "8", 1, "p"),
    "is matched by kings": (KINGS, 0, "8 p", 2, "8"),
    "a king may be kept": (FREE_KINGS, 0, "7 7", 2, "p8"),
    "Murray's second player must pair": (MURRAY, 0, "1", 1, "1"),
    "unless free": (MURRAY_FREE, 0, "1", 1, "p1"),
}
"""Rules, dealer and moves; then the seat that is asked, and what it may do."""


@pytest.mark.parametrize(("rules", "dealer", "moves", "seat", "legal"), LINES.values(), ids=LINES)
def test_what_a_seat_may_do_line_by_line(rules, dealer, moves, seat, legal):
    hands = TWO if rules.murray else HANDS
    game = played(UkeShogiGame(rules, hands=hands, dealer=dealer), moves)
    assert (game.seat, may(game)) == (seat, legal)


def test_the_sets_and_points_are_those_of_the_text():
    assert IMO_SHOGI.counts == (18, 4, 4, 4, 4, 2, 2, 2)
    assert UkeShogiRules(players=6, tiles=42).counts == (20, 4, 4, 4, 4, 2, 2, 2)
    assert POINTS == (1, 5, 5, 10, 10, 50, 100, 200)
    sizes = [UkeShogiRules(players, tiles).hand_size for players, tiles in TABLES]
    assert sizes == [20, 21, 14, 10, 8, 7, 6]


@pytest.mark.parametrize("rules", VARIANTS, ids=short)
def test_tiles_are_kept_pay_sums_to_zero_and_every_deal_ends(rules):
    rng = np.random.default_rng(1)
    for _ in range(3):
        game = random_game(rules, rng)
        dealt, left, laid = (np.array(one) for one in (game.dealt, game.hands, game.played))
        assert np.array_equal(dealt, left + laid)
        assert (dealt.sum(axis=1) == rules.hand_size).all()
        assert (dealt.sum(axis=0) <= rules.counts).all()
        assert [seat for seat, hand in enumerate(left) if not hand.any()] == [game.winner]
        assert len(game.moves) <= rules.tiles * rules.players
        for payment in (False, True):
            check_gains(replace(rules, payment=payment), game.winner, game.hands)


def check_gains(rules, winner, hands):
    """Checks that gains sum to zero and that a forfeit would have cost each loser as much."""
    gains = rules.rewards(winner, hands)
    assert sum(gains) == pytest.approx(0)
    assert gains[winner] == max(gains) > 0
    for seat in set(range(rules.players)) - {winner}:
        forfeit = rules.forfeit(seat, hands[seat])
        assert sum(forfeit) == pytest.approx(0)
        assert forfeit[seat] == min(forfeit) <= gains[seat] < 0


def check_deal(rules, seed):
    """Plays a deal at random beside the referee; returns the number of decisions.

    Raises:
        AssertionError: where they differ.
    """
    rng = np.random.default_rng(seed)
    game = UkeShogiGame(rules, seed=seed)
    hands = [[NAMES[kind] for kind in kinds_of(hand)] for hand in game.dealt]
    judge = Referee(hands, game.dealer, rules.must_match, rules.kings_match_all, pairs=rules.murray)
    while True:
        assert game.seat == judge.to_move()
        assert (None if game.led is None else NAMES[game.led]) == judge.to_match()
        if game.seat is None:
            break
        legal = game.legal_actions()
        tiles = [None if action == 0 else NAMES[action - 1] for action in legal]
        assert set(tiles) == set(judge.may())
        assert len(tiles) == len(set(tiles))
        if rng.random() < 0.2:
            check_view(game, judge, int(rng.integers(rules.players)))
        choice = int(rng.integers(len(legal)))
        game.play(legal[choice])
        judge.do(tiles[choice])
    assert game.winner == judge.winner()
    for payment in (False, True):
        gains = replace(rules, payment=payment).rewards(game.winner, game.hands)
        assert gains == pytest.approx(judge.paid(payment))
    return len(game.moves)


def check_view(game, judge, viewer):
    """Compares what a seat sees with what the referee's story tells."""
    view, players = game.view(viewer), game.rules.players
    played, passed = np.zeros((players, 8), int), np.zeros((players, 8), bool)
    for seat, tile, led in judge.story():
        place = (seat - viewer) % players
        if tile is None:
            passed[place, NAMES.index(led)] = True
        else:
            played[place, NAMES.index(tile)] += 1
    seats = [(viewer + place) % players for place in range(players)]
    assert np.array_equal(view.played, played)
    assert np.array_equal(view.passed_on, passed)
    assert view.passed_since.tolist() == [judge.has_passed_since(seat) for seat in seats]
    assert view.tiles_left.tolist() == [len(judge.hands[seat]) for seat in seats]
    assert kinds_of(view.hand) == sorted(map(NAMES.index, judge.hands[viewer]))
    assert view.asked == (judge.to_move() - viewer) % players


@pytest.mark.parametrize("decisions", [250, slow(100_000)])
@pytest.mark.parametrize("rules", VARIANTS, ids=short)
def test_game_and_referee_agree(rules, decisions):
    assert check_decisions(rules, decisions) >= decisions


def check_decisions(rules, decisions):
    """Compares deal after deal until there were so many decisions; returns their number."""
    seed = made = 0
    while made < decisions:
        made += check_deal(rules, seed)
        seed += 1
    return made


FAULTS = {
    "a king led is matched by anything": lambda rules, kind, led: led in {kind, 7},
    "golds match silvers": lambda rules, kind, led: kind == led or {kind, led} == {3, 4},
    "kings match all but pawns": lambda rules, kind, led: kind == led or (kind == 7 and led > 0),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_found(monkeypatch, fault):
    check_decisions(KINGS, 500)
    monkeypatch.setattr(UkeShogiRules, "matches", fault)
    with pytest.raises(AssertionError):
        check_decisions(KINGS, 500)


def test_a_deal_depends_on_its_numbers_alone():
    numbers = product((0, 1, 2**64 - 1), (0, 1), (0, 1))
    drawn = [draw(IMO_SHOGI, *three) for three in numbers]
    assert len({str(one) for one in drawn}) == len(drawn)
    assert draw(IMO_SHOGI, 1, 1, 1) == draw(IMO_SHOGI, 1, 1, 1)


def test_a_seed_gives_the_same_deal_as_ever():
    assert repr(UkeShogiGame(seed=1)) == (
        "<UkeShogiGame 1111235567,1111345678,1111122334,1111124458 dealer 2 >"
    )


@pytest.mark.parametrize(
    ("hands", "message"),
    [
        (HANDS[:3], "4 strings of 10 digits"),
        ([*HANDS[:3], HANDS[3][:9]], "4 strings of 10 digits"),
        ([*HANDS[:3], "111233445x"], r"digits 1 to 9 for seat 3, got \['x'\]"),
        ([*HANDS[:3], "1112334456"], "at most .* got .*3, 3, 2, 2"),
        (np.full((4, 10), 8), "kinds 0..7"),
        (7, "whole numbers"),
    ],
)
def test_impossible_hands_are_refused(hands, message):
    refuses(errors.HandsError, message, UkeShogiGame, hands=hands)


def test_an_action_that_cannot_be_made_changes_nothing():
    game = played(UkeShogiGame(hands=HANDS, dealer=0), "7")
    before = repr(game)
    refuses(errors.IllegalActionError, "expected one of 7 from seat 1, got 'p'", game.play, 0)
    for action in (9, -1, None, 1.0, True):
        with pytest.raises(errors.ActionError):
            game.play(action)
    assert repr(game) == before
    played(game, (BEFORE_THE_PAWNS + THE_PAWNS + "2").replace(" ", "")[1:])
    refuses(errors.EpisodeOverError, "no action after the end", game.play, 0)
