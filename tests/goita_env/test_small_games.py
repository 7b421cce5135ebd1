"""Small games: the booklet's rules with 16 tiles, wherever a rule set is taken."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from goita_env import Game, GoitaVectorEnv, Rules, goita_v0, records
from goita_env.errors import HandsError, SettingError
from goita_env.records.model import from_game
from goita_env.rules import JGA, MINI_3, MINI_4, MINI_5
from goita_env.views import Replay
from goita_env.worlds import determinize, enumerate_worlds
from raising import refuses

SMALL = (MINI_3, MINI_4, MINI_5)
OTHER_PLAY = Rules(name="mine", deck=(6, 2, 0, 4, 4, 0, 0, 0))

small = pytest.mark.parametrize("rules", [*SMALL, OTHER_PLAY], ids=lambda rules: rules.name)


def played(rules, seed):
    """Plays a round at random."""
    game, rng = Game(rules, seed=seed), np.random.default_rng(seed)
    while not game.done:
        game.play(int(rng.choice(game.legal_actions())))
    return game


def test_small_games_are_named_or_told_by_their_fields():
    for rules in SMALL:
        assert rules.to_keys() == {"rules": rules.name}
    keys = json.loads(json.dumps(OTHER_PLAY.to_keys()))
    assert keys["rules_fields"]["deck"] == list(OTHER_PLAY.deck)
    assert Rules.from_keys(keys) == OTHER_PLAY == Rules("mine", deck=[*OTHER_PLAY.deck])
    mine = replace(JGA, name="mine")
    assert "deck" not in mine.to_keys()["rules_fields"]  # as before there were small games


@pytest.mark.parametrize(
    "deck",
    [
        (8, 4, 0, 0, 4, 0, 0),
        (8, 5, 0, 0, 3, 0, 0, 0),
        (8, 4, 0, 0, 5, 0, 0, 0),
        (-1, 4, 4, 4, 4, 1, 0, 0),
        (8.0, 4, 0, 0, 4, 0, 0, 0),
        16,
    ],
)
def test_a_deck_has_16_or_all_tiles_of_the_set(deck):
    refuses(SettingError, "deck of the rule set 'mine'", Rules, name="mine", deck=deck)


@small
def test_small_games_are_single_rounds_from_no_points(rules):
    for begin in (Game, lambda *a, **o: GoitaVectorEnv(2, *a, **o), goita_v0.env):
        refuses(SettingError, "episode='round' in the small game", begin, rules, episode="match")
    refuses(SettingError, "from 0 to 0", Game, rules, scores=(10, 0))
    refuses(HandsError, "expected 4 digits", Game, rules, hands=["11235578"] * 4)
    wrong = ["8888"] * 4
    refuses(HandsError, "tiles of the kinds", Game, rules, hands=wrong)


@small
def test_views_replays_and_records_tell_a_small_round_as_it_was(rules):
    for seed in range(40):
        game = played(rules, seed)
        [deal] = game.deals
        for seat in range(4):
            decided = game.view(seat).decisions()
            length = int(decided.length[0])
            seats = (decided.seat[0, :length] + seat) % 4
            assert seats.tolist() == [mover for mover, _ in deal.moves]
            assert decided.last[0, :length].tolist() == [False] * (length - 1) + [True]
            replay = Replay.of_seat(rules, seat, deal.hands[[seat]], deal.dealer)
            for _, action in deal.moves:
                replay.step(action)
            assert (replay.view(seat).words == game.view(seat).words).all()
            assert replay.seat[0] == -1
        record = from_game(game)
        for notation in (records.history, records.kifu, records.complete):
            options = {} if notation is records.complete else {"rules": rules}
            again = notation.loads(notation.dumps(record), **options)
            assert again.deals[0].moves == record.deals[0].moves
            assert [*again.replay()][-1].points == game.points
        whole = Replay.of_deals(rules, deal.hands[None], np.array([deal.dealer]), np.zeros((1, 2)))
        for _, action in deal.moves:
            assert whole.gained[0] == 0
            whole.step(action)
        assert whole.gained[0] == game.points * (1 - 2 * (game.winner % 2))
        assert "mini" in str(game) or "mine" in str(game)
        assert game.svg().startswith("<svg")


def test_the_worlds_of_a_small_round_are_all_deals_that_fit():
    rng, found = np.random.default_rng(0), 0
    for seed in range(60):
        game = Game(MINI_4, seed=seed)
        for _ in range(int(rng.integers(0, 6))):
            if not game.done:
                game.play(int(rng.choice(game.legal_actions())))
        if game.done:
            continue
        view = game.view(game.seat)
        worlds = enumerate_worlds(view, 10_000)
        hands = np.roll(game.hands, -game.seat, axis=0)
        assert (worlds.hands == hands).all(axis=(1, 2)).any()
        assert (worlds.dealt.sum(axis=1) == MINI_4.deck).all()
        assert (worlds.dealt.sum(axis=2) == 4).all()
        positions = determinize(view, worlds)
        assert (positions.seat == 0).all()
        if not game.moves:  # every split of twelve tiles is a deal
            left = np.array(MINI_4.deck) - game.hands[game.seat]
            assert len(worlds) == splits(left.tolist())
            found += 1
    assert found > 3


def splits(left):
    """Counts the ways to split tiles, equal ones being alike, into three hands of four."""
    ways = [(0, 0, 0)]
    for many in left:
        parts = [p for p in product(range(many + 1), repeat=3) if sum(p) == many]
        ways = [tuple(map(sum, zip(a, p, strict=True))) for a in ways for p in parts]
        ways = [way for way in ways if max(way) <= 4]
    return len(ways)
