"""The one replay: it shows what the games that were played showed, with one hand known or all."""

from functools import partial

import numpy as np
import pytest

from deals import RULE_SETS, complete, digits, special_hands, uniform_hands
from goita_env import Game, actions
from goita_env.errors import SettingError
from goita_env.rules import JGA
from goita_env.views import Replay
from playing import legal_mask, pick
from samples import only

PAWN_LANCE = actions.encode(0, 1)


def games(rules: str, count: int = 7):
    """Yields games of random and of special hands, nothing played yet, and random numbers."""
    rng = np.random.default_rng(8)
    dealt = np.concatenate([uniform_hands(rng, count), special_hands(rng, count)])
    for number, hands in enumerate(dealt):
        settings = {"dealer": number % 4, "scores": (30, 110), "seed": number}
        yield Game(rules, hands=digits(hands), **settings), rng


def counts(game: Game) -> np.ndarray:
    """Returns the tiles of each kind dealt: int [4, 8]."""
    return game.deals[0].hands.astype(int)


def chosen(game: Game, rng: np.random.Generator) -> int:
    """Returns a legal action; a pass less often."""
    legal = game.legal_actions()
    return legal[0] if legal[0] == 0 and rng.random() < 0.3 else int(rng.choice(legal))


@pytest.mark.parametrize("rules", only(RULE_SETS, "jga"))
def test_with_its_own_hand_a_seat_sees_what_it_saw_in_the_game(rules):
    compared, laid_open, asked = 0, 0, 0
    for game, rng in games(rules):
        told = [
            Replay.of_seat(game.rules, seat, counts(game)[[seat]], game.dealer, game.scores)
            for seat in range(4)
        ]
        while not game.done:
            mover, action = game.seat, chosen(game, rng)
            seen = told[mover].question(action) if action >= actions.CALL else told[mover].view()
            assert np.array_equal(seen.words, game.view(mover).words)
            asked += action >= actions.CALL
            before = counts(game)[mover]
            game.play(action)
            for replay in told:
                if action < actions.CALL:
                    replay.step(action)
                else:
                    replay.answer(mover, action)
                    if action == actions.CALL and before[0] > 5:
                        replay.lay_open(mover, before)
                        laid_open += 1
            if len(game.deals) > 1:
                break  # a redeal
            waiting = [seat for seat in range(4) if seat != game.seat]
            if game.done:
                for replay in told:
                    replay.end()  # two fives of partners: nobody else knows
            for seat in waiting:
                assert np.array_equal(told[seat].view(seat).words, game.view(seat).words)
                compared += 1
            if game.done:
                assert all((replay.seat == -1).all() for replay in told)
    assert compared > 450
    assert laid_open >= 1
    assert asked >= 5


def test_many_hands_are_supposed_at_once_and_split_by_what_lies_face_down():
    hands = np.array([[2, 2, 1, 1, 1, 1, 0, 0], [3, 1, 1, 1, 1, 0, 1, 0]])
    replay = Replay.of_seat(JGA, 1, hands, 1, game=np.array([7, 9]))
    assert replay.view().hand.tolist() == hands.tolist()
    legal = replay.choices()
    assert np.array_equal(legal.legal(np.arange(2)), replay.view().legal())
    replay.select(np.array([0, 0, 1]))
    down = np.array([0, 1, 0])
    replay.step(1 + 8 * down + 2)
    seen = replay.view(1)
    assert seen.game.tolist() == [7, 7, 9]
    assert seen.blocks[:, 0, 0].tolist() == down.tolist()
    left = hands[[0, 0, 1]]
    left[:, 2] -= 1
    left[np.arange(3), down] -= 1
    assert seen.hand.tolist() == left.tolist()
    assert replay.seat.tolist() == [2, 2, 2]


def test_no_other_seat_can_be_looked_at():
    replay = Replay.of_seat(JGA, 2, np.array([[2, 2, 1, 1, 1, 1, 0, 0]]), 0)
    for look, got in (
        (replay.view, r"\[0\]"),
        (partial(replay.view, 1), 1),
        (replay.choices, r"\[0\]"),
    ):
        with pytest.raises(SettingError, match=f"expected seat 2, whose hand is known, got {got}"):
            look()


def test_questions_can_be_told_only_before_play_and_where_a_hand_is_unknown():
    replay = Replay.of_seat(JGA, 2, np.array([[2, 2, 1, 1, 1, 1, 0, 0]]), 0)
    replay.step(PAWN_LANCE)
    with pytest.raises(SettingError, match="expected no 'call' once play has begun"):
        replay.answer(1, actions.CALL)
    with pytest.raises(SettingError, match="expected no 'redeal' once play has begun"):
        replay.question(actions.REDEAL)
    game = Game(hands=complete("", "", "", ""), dealer=0)
    whole = Replay.of_deals(JGA, counts(game)[None], np.zeros(1, int), np.zeros((1, 2), int))
    with pytest.raises(SettingError, match="expected 'call' as a step, since all hands are known"):
        whole.answer(1, actions.CALL)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_with_all_hands_every_seat_sees_what_it_saw_in_the_games(rules):
    played = [game for game, _ in games(rules)]
    dealers = np.array([game.dealer for game in played])
    scores = np.array([game.scores for game in played])
    hands = np.array([counts(game) for game in played])
    replay = Replay.of_deals(played[0].rules, hands, dealers, scores)
    rng, compared, asked = np.random.default_rng(0), 0, 0
    while len(replay):
        rows = replay.game
        assert replay.seat.tolist() == [played[row].seat for row in rows]
        for seat in range(4):
            words = np.concatenate([played[row].view(seat).words for row in rows])
            assert np.array_equal(replay.view(seat).words, words)
        asking, choices = replay.asking, replay.choices()
        view, mask = replay.view(), choices.legal(np.arange(len(rows)))
        assert sorted(asking) == np.flatnonzero(view.asked_call | view.asked_choice).tolist()
        assert np.array_equal(replay.asked_choice, view.asked_choice)
        assert view.game.tolist() == rows.tolist()
        assert np.array_equal(mask, view.legal())
        legal = [legal_mask(played[row]._state) for row in rows]
        assert np.array_equal(mask, np.concatenate(legal))
        assert np.array_equal(choices.num_legal, mask.sum(axis=1))
        for action in range(69):
            assert np.array_equal(choices.allow(np.full(len(rows), action)), mask[:, action])
        taken = pick(mask, rng.integers(0, 1000, len(mask)))
        for row, action in zip(rows, taken.tolist(), strict=True):
            played[row].play(action)
        replay.step(taken)
        compared, asked = compared + len(rows), asked + len(asking)
        going = [not played[row].done and len(played[row].deals) == 1 for row in rows]
        assert np.array_equal(replay.seat >= 0, going)
        replay.select(np.flatnonzero(going))
    assert compared > 120
    assert asked >= 5
