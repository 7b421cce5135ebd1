"""The game: deals checked by hand, the rules line by line, properties, and a second referee."""

from dataclasses import replace

import numpy as np
import pytest

from goita_env.uke_shogi import IMO_SHOGI, MURRAY, UMEBAYASHI, UkeShogiGame, UkeShogiRules
from goita_env.uke_shogi.rules import POINTS
from samples import slow
from uke_shogi_oracle import NAMES, Referee
from uke_shogi_playing import HANDS, TABLES, VARIANTS, kinds_of, played, short

KINGS = UkeShogiRules(kings_match_all=True)

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


def test_in_murrays_game_the_last_tile_wins_be_it_paired_or_named():
    rules = replace(MURRAY, murray_hand=3)
    game = played(UkeShogiGame(rules, hands=["112", "117"], dealer=1), "7p 11 1")
    assert (game.seat, may(game)) == (1, "1")
    assert played(game, "1").winner == 1
    game = played(UkeShogiGame(rules, hands=["167", "123"], dealer=0), "7p 6p 1")
    assert game.winner == 0, "nobody is asked whether the last tile could be paired"


def test_the_sets_and_points_are_those_of_the_text():
    assert IMO_SHOGI.counts == (18, 4, 4, 4, 4, 2, 2, 2)
    assert UkeShogiRules(players=6, tiles=42).counts == (20, 4, 4, 4, 4, 2, 2, 2)
    assert POINTS == (1, 5, 5, 10, 10, 50, 100, 200)
    sizes = [UkeShogiRules(players, tiles).hand_size for players, tiles in TABLES]
    assert sizes == [20, 21, 14, 10, 8, 7, 6]


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
