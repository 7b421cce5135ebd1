"""Records: both notations there and back, random games through them, and replay."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deals import RULE_SETS, digits, special_hands
from goita_env import Game, actions, records
from goita_env.records import DealRecord, Record
from playing import played
from record_samples import FIVE, LINE, NOTATION, PARTNERS, SIX, YAML, message, quoted, replayed
from samples import longer

BOTH_KINGS = "11112389,11222333,11114444,55556677,s1"


def test_the_page_on_the_notations_is_true():
    assert quoted("history") == f"{LINE}\n"
    assert records.kifu.dumps(records.kifu.loads(YAML)) == YAML
    assert records.history.dumps(records.kifu.loads(YAML)) == LINE
    assert doctest.testfile(str(NOTATION), module_relative=False, encoding="utf-8").failed == 0


def test_several_lines_are_several_deals():
    record = records.history.loads(f"\n{LINE}\r\n\n  {LINE},,\n")
    assert [deal.number for deal in record.deals] == [1, 2]
    assert records.history.dumps(record) == f"{LINE}\n{LINE}"
    assert len({id(game) for game in replayed(record)}) == 2
    assert records.history.loads(f"\ufeff{LINE}") == records.history.loads(LINE)


@pytest.mark.parametrize("moves", ["119,2p,3p,4p,182", "118,2p,3p,4p,192", "189", "198", "181"])
def test_the_history_string_tells_the_kings_apart(moves):
    line = f"{BOTH_KINGS},{moves}"
    assert records.history.dumps(records.history.loads(line)) == line
    replayed(records.history.loads(line))


def test_hands_are_sorted_and_kings_that_were_written_alike_told_apart_on_writing():
    hands = ("55421119", "11122347", "13445667", "11123358")
    kings_alike = tuple(hand.replace("9", "8") for hand in hands)
    assert records.history.dumps(Record((DealRecord(hands, 2),))) == LINE[:38]
    for same in (kings_alike, tuple(hand.replace("8", "9") for hand in hands)):
        text = records.history.dumps(Record((DealRecord(same, 2),)))
        assert text == "11124558,11122347,13445667,11123359,s3"
    assert 'p2: "し角角金銀銀飛馬"' in records.kifu.dumps(Record((DealRecord(hands, 2),)))


def test_a_match_may_hold_no_deal_and_a_deal_no_move():
    head = YAML.split(" - hand")[0]
    assert records.kifu.loads(head).deals == ()
    assert records.kifu.dumps(records.kifu.loads(head)) == head
    for text in (YAML.split("    -")[0], YAML.split("   game")[0]):
        (deal,) = records.kifu.loads(text).deals
        assert deal.moves == ()
        assert not deal.result().finished


@pytest.mark.parametrize(
    "name", ["", 'a "quoted" \\ name', "能登 🎴", "tab\t\x00\x85\u2028\ufeff #: -"]
)
def test_any_name_survives_the_yaml_kifu(name):
    record = replace(records.history.loads(LINE), players=("p1", name, "p3", "p4"))
    assert records.kifu.loads(records.kifu.dumps(record)).players[1] == name


def test_passes_that_are_not_between_plays_cannot_be_left_out():
    deal = records.history.loads(LINE).deals[0]
    record = Record((replace(deal, moves=deal.moves[:4] + deal.moves[5:]),))
    assert "deal 1: expected passes of the seats" in message(records.kifu.dumps, record)


def random_game(seed: int, rules: str, episode: str, share: float) -> Game:
    """Plays at random; ``share``: of the decisions of a game that are played at all."""
    rng = np.random.default_rng(seed)
    hands = digits(special_hands(rng, 1)[0]) if seed % 2 else None
    scores = [int(score) for score in 10 * rng.integers(0, 15, 2)]
    game = Game(
        rules, hands=hands, dealer=int(rng.integers(4)), scores=scores, episode=episode, seed=seed
    )
    while game.seat is not None and rng.random() < share:
        game.play(int(rng.choice(game.legal_actions())))
    return game


def plays_and_passes(deal: DealRecord) -> tuple:
    """The moves of a deal without the pre-play decisions."""
    return tuple(move for move in deal.moves if move[1] < actions.CALL)


def entries(record: Record) -> list[DealRecord]:
    """The deals that the notations have an entry for: not those that a special hand decided."""
    over = [deal for deal in record.deals if deal.moves and deal.result().finished]
    return [deal for deal in record.deals if plays_and_passes(deal) or deal not in over]


games = st.builds(
    random_game,
    seed=st.integers(0, 2**32 - 1),
    rules=st.sampled_from(RULE_SETS),
    episode=st.sampled_from(["round", "match"]),
    share=st.sampled_from([0.9, 0.97, 1.0]),
)


@given(games)
@settings(max_examples=12)
def test_a_played_game_is_recorded_and_replayed_with_its_questions(game):
    record = records.from_game(game)
    assert len(record.deals) == len(game.deals)
    assert len(replayed(record)) == sum(len(deal.moves) for deal in game.deals)
    results = record.results()
    assert results[-1].scores == game.scores
    assert results[-1].finished == game.done
    assert all(result.finished for result in results[:-1])
    for result, deal in zip(results, record.deals[1:], strict=False):
        assert result.scores == deal.scores


@given(games)
@settings(max_examples=15)
def test_a_random_game_survives_the_history_string(game):
    record = records.from_game(game)
    assume(records.history.dumps(record))
    again = records.history.loads(records.history.dumps(record), rules=game.rules)
    expected = []
    for deal in record.deals:
        six = [seat for seat, hand in enumerate(deal.hands) if hand.count("1") > 5]
        called = ((six[0], actions.CALL),) if six else ()
        if six or deal in entries(record):
            moves = plays_and_passes(deal) or called
            expected.append(replace(deal, moves=moves, scores=(0, 0)))
    assert list(again.deals) == expected
    assert records.history.dumps(again) == records.history.dumps(record)
    assert again.results() == tuple(deal.result() for deal in expected)


@given(games)
@settings(max_examples=12)
def test_a_random_game_survives_the_yaml_kifu(game):
    record = records.from_game(game, ["a", "b", "c", "d"])
    again = records.kifu.loads(records.kifu.dumps(record), rules=game.rules)
    assert again.players == record.players
    assert len(again.deals) == len(entries(record))
    for deal, original in zip(again.deals, entries(record), strict=True):
        result = original.result()
        moves = plays_and_passes(original)
        while not result.finished and moves and moves[-1][1] == actions.PASS:
            moves = moves[:-1]
        assert replace(deal, hands=original.hands) == replace(original, moves=moves)
        assert [sorted(hand) for hand in deal.hands] == [sorted(hand) for hand in original.hands]
        assert deal.result() == result
    assert records.kifu.dumps(again) == records.kifu.dumps(record)


test_many_games_are_recorded = longer(
    test_a_played_game_is_recorded_and_replayed_with_its_questions, games
)
test_many_games_survive_the_history = longer(test_a_random_game_survives_the_history_string, games)
test_many_games_survive_the_kifu = longer(test_a_random_game_survives_the_yaml_kifu, games)


def test_five_pawns_are_kept_silent_about_and_nothing_is_yielded_for_it():
    record = Record((DealRecord(FIVE, 0, ((0, actions.parse("12")), (1, actions.PASS))),))
    silent = replayed(record)
    assert len(silent) == 2
    assert silent[-1].moves[0] == (0, actions.SILENT)


def test_under_a_duty_to_call_five_pawns_are_called_and_the_partner_continues():
    deal = DealRecord(FIVE, 0, ((0, actions.parse("12")),), rules="pagat")
    (game,) = deal.replay()
    assert game.moves == [(0, actions.CALL), (2, actions.CONTINUE), (0, actions.parse("12"))]


@pytest.mark.parametrize(
    ("rules", "hands", "points"), [("pagat", SIX, 50), ("nine", PARTNERS, 150)]
)
def test_play_after_a_hand_that_the_rules_end_at_once_is_an_error(rules, hands, points):
    deal = DealRecord(hands, 0, ((0, actions.parse("13")),), rules=rules)
    text = message(list, Record((deal,)).replay())
    assert text.startswith("deal 1, move 1 (play 1): expected no move after the end (seat ")
    assert f"{points} points), got '13' of seat 0" in text


def test_recorded_questions_are_replayed_and_missing_silences_filled_in():
    hands = ["11111238", "11111337", "22344567", "24455569"]
    moves = ((0, actions.CALL), (2, actions.CONTINUE), (0, actions.parse("12")))
    games = list(DealRecord(hands, 0, moves).replay())
    assert len(games) == 3
    assert games[-1].moves == [moves[0], (1, actions.SILENT), *moves[1:]]


def test_a_redeal_ends_the_record_of_a_deal():
    moves = ((0, actions.CALL), (2, actions.REDEAL))
    deal = DealRecord(FIVE, 0, moves, scores=(10, 20))
    assert deal.result() == records.Result(True, None, 0, (10, 20))
    assert deal.answered() == deal
    assert len(deal.drawings()) == 2  # as dealt and after the call
    assert records.check(Record((deal,))) == []
    assert records.history.dumps(Record((deal,))) == ""
    more = replace(deal, moves=(*moves, (0, actions.parse("12"))))
    assert "move 3 (play 1): expected no move after a redeal" in message(list, more.replay())


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_called_six_ends_the_record_of_a_deal_and_is_its_hands_in_a_history_string(rules):
    record = records.from_game(played(Game(rules, hands=SIX, dealer=0), "call"))
    assert record.results() == (records.Result(True, 0, 50, (50, 0)),)
    text = records.history.dumps(record)
    assert text == "11111138,11112334,22444567,23555679,s1"
    assert records.history.loads(text, rules=rules) == record
    assert records.history.loads(f"{text},123").deals[0].moves == ((0, actions.parse("23")),)
    assert records.history.loads(LINE[:38]).deals[0].moves == ()
    assert records.kifu.loads(records.kifu.dumps(record)).deals == ()
