"""Replays of deals with messages and shown tiles: what seats see is what the game shows them."""

import numpy as np
import pytest

from goita_env import Game, InformationStructure, get_rules
from goita_env.errors import SettingError
from goita_env.views import Replay
from informed_oracle import OPTIONS
from raising import refuses


def counts(game: Game) -> np.ndarray:
    return game.dealt.astype(int)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_replay_with_all_hands_known_shows_what_the_game_does(options):
    rng = np.random.default_rng(0)
    game = Game(information=options, seed=1)
    replay = Replay.of_deals(
        get_rules("jga"),
        counts(game)[None],
        np.array([game.dealer]),
        np.zeros((1, 2)),
        None,
        options,
    )
    while not game.done and len(game.deals) == 1:
        legal = np.flatnonzero(replay.choices().legal(np.arange(1))[0])
        assert legal.tolist() == game.legal_actions()
        assert np.array_equal(replay.view().words, game.view(game.seat).words)
        for seat in range(4):
            assert np.array_equal(replay.view(seat).words, game.view(seat).words)
        action = int(rng.choice(legal))
        game.play(action)
        replay.step(action)


@pytest.mark.parametrize("options", [one for one in OPTIONS if one.shown is None], ids=str)
def test_a_replay_of_one_seat_hears_what_the_seat_hears(options):
    for seat in range(4):
        game = Game(information=options, seed=2)
        hand = counts(game)[seat]
        rules = get_rules("jga")
        replay = Replay.of_seat(rules, seat, hand[None], game.dealer, information=options)
        for number in range(4):
            action = 69 + (number + 1) % (1 << options.bits)
            if game.seat == seat:
                assert np.array_equal(replay.question(action).words, game.view(seat).words)
            replay.answer(game.seat, action)
            game.play(action)
        assert np.array_equal(replay.view(seat).words, game.view(seat).words)
        assert replay.view(seat).messages.any()


def test_a_replay_of_one_seat_cannot_show_the_tiles_of_others():
    game = Game(seed=3)
    for shown in ("partner", "all"):
        options = InformationStructure(shown)
        words = "no tiles of others are shown"
        given = (get_rules("jga"), 0, counts(game)[:1], 0)
        refuses(SettingError, words, Replay.of_seat, *given, information=options)
