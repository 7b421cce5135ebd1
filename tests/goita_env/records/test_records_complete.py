"""The JSON record: nothing is left out, messages and shown tiles neither; others refuse these."""

import json
from dataclasses import replace

import numpy as np
import pytest

from goita_env import Game, InformationStructure, MessageChannel, Rules, records
from goita_env.errors import ActionError, RecordError, SettingError
from goita_env.information import PLAIN
from goita_env.records import Record, complete
from informed_oracle import OPTIONS
from playing import played
from raising import refuses
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


def test_without_strictness_the_rest_is_kept():
    record = complete.loads(changed(moves=["2:46", "3:83", "x"]), strict=False, source="file")
    assert record.deals[0].moves == ((2, 30), (3, 59))
    assert str(record.problems[0]).startswith("file: deal 1, move 3 (play 3): ")


FIVES = ["11111238", "11111337", "22344567", "24455568"]


def informed(options: InformationStructure, seed: int) -> records.Record:
    rng = np.random.default_rng(seed)
    game = Game(hands=FIVES if seed % 2 else None, information=options, seed=seed)
    while not game.done:
        game.play(int(rng.choice(game.legal_actions())))
    return records.from_game(game)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_our_own_format_keeps_the_options_and_the_messages(options):
    record = informed(options, OPTIONS.index(options) % 2)
    again = complete.loads(complete.dumps(record))
    assert again == record
    assert again.deals[0].information == options
    assert records.check(again) == []
    sent = [action for _, action in again.deals[0].moves if action >= 69]
    assert len(sent) == (4 if options.channel else 0)
    for game in again.replay():
        assert game.information == options
    assert again.deals[0].drawings(seat=1)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_public_notations_refuse_with_a_reason(options):
    record = informed(options, 0)
    for notation in (records.history, records.kifu):
        refuses(RecordError, "deal 1: expected a deal of the base game", notation.dumps, record)


def test_what_does_not_fit_the_options_is_refused():
    record = informed(InformationStructure(channel=MessageChannel(1)), 0)
    deal = record.deals[0]
    refuses(ActionError, "0..68, got", replace, deal, information=PLAIN)
    refuses(SettingError, "an InformationStructure value", replace, deal, information=None)
    other = replace(deal, information=InformationStructure(channel=MessageChannel(2)))
    mixed = records.Record((deal, other))
    refuses(RecordError, "deals of one game", complete.dumps, mixed)
    text = complete.dumps(record)
    refuses(
        RecordError,
        "bits of a message channel",
        complete.loads,
        text.replace('"bits": 1', '"bits": 9'),
    )
    seat = deal.dealer
    moves = ((seat, 71), *deal.moves[1:])
    (problem,) = records.check(records.Record((replace(deal, moves=moves, number=1),)))
    assert f"expected one of say0 say1 from seat {seat}, got 'say2'" in str(problem)
