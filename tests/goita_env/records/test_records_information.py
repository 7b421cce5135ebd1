"""Records of games with messages and shown tiles: our own format keeps them, the others refuse."""

from dataclasses import replace

import numpy as np
import pytest

from goita_env import Game, InformationStructure, MessageChannel, records
from goita_env.errors import ActionError, RecordError, SettingError
from goita_env.information import PLAIN
from goita_env.records import complete
from informed_oracle import OPTIONS
from raising import refuses

FIVES = ["11111238", "11111337", "22344567", "24455568"]


def played(options: InformationStructure, seed: int) -> records.Record:
    rng = np.random.default_rng(seed)
    game = Game(hands=FIVES if seed % 2 else None, information=options, seed=seed)
    while not game.done:
        game.play(int(rng.choice(game.legal_actions())))
    return records.from_game(game)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_our_own_format_keeps_the_options_and_the_messages(options):
    for seed in (OPTIONS.index(options) % 2,):
        record = played(options, seed)
        again = complete.loads(complete.dumps(record))
        assert again == record
        assert again.deals[0].information == options
        assert records.check(again) == []
        sent = [action for _, action in again.deals[0].moves if action >= 69]
        assert len(sent) == (4 if options.channel else 0)
        for game in again.replay():
            assert game.information == options
        assert again.results() == record.results()
        assert again.deals[0].drawings(seat=1)


def test_a_record_of_the_plain_game_says_nothing_of_options():
    assert "information" not in complete.dumps(played(PLAIN, 0))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_public_notations_refuse_with_a_reason(options):
    record = played(options, 0)
    for notation in (records.history, records.kifu):
        refuses(RecordError, "deal 1: expected a deal of the base game", notation.dumps, record)


def test_what_does_not_fit_the_options_is_refused():
    record = played(InformationStructure(channel=MessageChannel(1)), 0)
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


def test_messages_that_a_record_leaves_out_are_silence():
    deal = played(InformationStructure(channel=MessageChannel(1)), 0).deals[0]
    told = [move for move in deal.moves if move[1] < 69]
    *_, game = replace(deal, moves=told).replay()
    assert game.done
    assert [action for _, action in game.moves[:4]] == [69] * 4
