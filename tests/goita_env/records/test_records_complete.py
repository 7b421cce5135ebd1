"""The JSON record: nothing is left out, and nothing in a file is trusted."""

import json

import pytest

from goita_env import Game, Rules, records
from goita_env.records import DealRecord, Record, complete
from playing import played
from record_samples import FIVE, LINE, PARTNERS, SIX, message


def game(*names: str, **options) -> Game:
    return played(Game(seed=1, **options), *names)


def test_what_no_other_notation_stores_comes_back():
    for one in (
        game("call", "redeal", hands=FIVE, dealer=0, episode="match"),
        game("silent", hands=FIVE, dealer=0),
        game("call", hands=SIX, dealer=0, scores=[30, 140]),
        game("call", "call", hands=PARTNERS, dealer=0),
    ):
        record = records.from_game(one, ("a", "", "c\n<", '"'))
        again = complete.loads(complete.dumps(record))
        assert again == record
        assert [deal.moves for deal in again.deals] == [tuple(deal.moves) for deal in one.deals]


def test_other_notations_come_back_and_a_rule_set_of_ones_own():
    rules = Rules(name="mine", last_king=False)
    record = records.history.loads(f"{LINE}\n{LINE}", rules=rules)
    again = complete.loads(complete.dumps(record))
    assert again == record
    assert again.deals[1].number == 2
    assert records.history.dumps(again) == records.history.dumps(record)


def test_which_king_comes_first_comes_back():
    hands = records.history.loads(LINE).deals[0].hands
    for first in (False, True):
        record = Record((DealRecord(hands, 0, second_king_first=first),))
        assert complete.loads(complete.dumps(record)).deals[0].second_king_first is first


def test_an_empty_record_and_other_keys_are_fine():
    text = complete.dumps(Record((), ("a", "b", "c", "d")), {"beside": [1]})
    assert json.loads(text)["beside"] == [1]
    assert complete.loads(text) == Record((), ("a", "b", "c", "d"))


def test_deals_of_different_rules_are_refused():
    (deal,) = records.history.loads(LINE).deals
    (other,) = records.history.loads(LINE, rules="nine").deals
    assert "one rule set, got jga, nine" in message(complete.dumps, Record((deal, other)))


def changed(**keys) -> str:
    """A record with some keys of its deal, or of itself, changed."""
    told = json.loads(complete.dumps(records.history.loads(LINE)))
    for key, value in keys.items():
        (told["deals"][0] if key in told["deals"][0] else told)[key] = value
    return json.dumps(told)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected JSON"),
        ("[]", "expected a record with format"),
        ("[" * 100_000, "expected JSON"),
        ('{"format": "goita-record-2"}', "got 'goita-record-2'"),
        (changed(rules="chess"), "chess"),
        (changed(players=["a"]), "four names"),
        (changed(players={"a": 1, "b": 2, "c": 3, "d": 4}), "a list of four names, got {'a': 1"),
        (changed(deals={}), "deals, a list"),
        (changed(deals=[3]), "deal 1: expected a deal with hands"),
        (changed(hands=["1"] * 4), "deal 1"),
        (changed(hands=[1, 2, 3, 4]), "four hands"),
        (changed(dealer=4), "deal 1"),
        (changed(moves="p"), "moves, a list"),
        (changed(moves=["4:p"]), "move 1 (play 1): expected a seat 0 to 3"),
        (changed(moves=[["0", "p"]]), "seat 0 to 3"),
        (changed(moves=["0:99x"]), "expected an action, two digits"),
    ],
)
def test_what_is_malformed_is_told_by_deal_and_move(text, expected):
    assert expected in message(complete.loads, text)


@pytest.mark.parametrize("scores", [[0], [0, "x"], [150, 60], [True, 0], [0.5, 0], None])
def test_scores_that_no_deal_begins_with_are_noted(scores):
    record = complete.loads(changed(scores=scores), source="file")
    assert record.deals[0].scores == (0, 0)
    (note,) = record.notes
    assert note.startswith("file: deal 1: expected scores, points of two teams before the deal")
    assert complete.loads(changed(scores=["40", 10])).deals[0].scores == (40, 10)


def test_without_strictness_the_rest_is_kept():
    record = complete.loads(changed(moves=["2:46", "3:83", "x"]), strict=False, source="file")
    assert record.deals[0].moves == ((2, 30), (3, 59))
    assert str(record.problems[0]).startswith("file: deal 1, move 3 (play 3): ")


def test_scores_that_the_rule_sets_total_excludes_are_noted_and_cost_no_deal():
    rules = Rules(name="mine", match_points=60)
    text = changed(scores=[60, 0], rules="mine", rules_fields={"match_points": 60})
    (deal,), (note,) = (record := complete.loads(text)).deals, record.notes
    assert (deal.scores, deal.rules) == ((0, 0), rules)
    assert "tens from 0 to 50, got [60, 0], taken for 0:0" in note
    assert complete.loads(text.replace("[60, 0]", "[50, 0]")).deals[0].scores == (50, 0)
