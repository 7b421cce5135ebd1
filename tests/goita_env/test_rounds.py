"""Rounds: what it asks and tells."""

import numpy as np
import pytest

from deals import RULE_SETS, special_hands
from goita_env import Game, actions, errors
from goita_env.rounds import Rounds
from goita_env.worlds import determinize, sample
from playing import habits
from raising import refuses


def habits_of(rounds):
    """Returns the habits in all games that are asked."""
    decisions = rounds.decisions
    return habits(decisions.view, decisions.legal) if len(decisions.rows) else []


def play(rounds):
    """Plays to the end.

    Returns:
        Every ending as (game, winner, points, hands, view of each seat), sorted by game.
    """
    told = []
    while not rounds.over:
        decisions = rounds.step(habits_of(rounds))
        for over in (decisions.redealt, decisions.ended):
            if over is not None:
                index = np.arange(len(over.rows))
                views = [over.view(index, np.full(len(index), seat)).words for seat in range(4)]
                told += zip(
                    over.rows.tolist(),
                    over.winner.tolist(),
                    over.points.tolist(),
                    [hands.tobytes() for hands in over.hands],
                    [words.tobytes() for words in np.stack(views, axis=1)],
                    strict=True,
                )
    return sorted(told, key=lambda ending: ending[0])


def test_the_same_games_come_in_a_batch_of_any_size():
    whole = play(Rounds(20, seed=4, episode="match"))
    part = play(Rounds(5, seed=4, episode="match", games=np.arange(10, 15)))
    assert [(10 + game, *rest[:3]) for game, *rest in part] == [
        ending[:4] for ending in whole if 10 <= ending[0] < 15
    ]


def test_final_views_and_hands_are_those_of_the_game():
    rounds, game = Rounds(1, seed=9), Game(seed=9)
    dealt = game.dealt
    while not rounds.over:
        decisions = rounds.decisions
        if len(decisions.rows):
            assert decisions.view.words.tobytes() == game.view(game.seat).words.tobytes()
            assert np.flatnonzero(decisions.legal[0]).tolist() == game.legal_actions()
            action = habits(decisions.view, decisions.legal)
            rounds.step(action)
            game.play(int(action[0]))
        else:
            (only,) = game.legal_actions()
            rounds.step([])
            game.play(only)
    ended = rounds.decisions.ended
    assert (ended.winner[0], ended.points[0]) == (game.winner, game.points)
    assert ended.gained.tolist() == [game.points if game.winner in (0, 2) else -game.points]
    assert ended.hands[0].tolist() == dealt.tolist()
    for seat in range(4):
        seen = ended.view(np.array([0]), np.array([seat]))
        assert seen.words.tobytes() == game.view(seat).words.tobytes()


@pytest.mark.parametrize("rules", ["jga", "nine"])  # in pagat a call is a duty: no choice
def test_a_dealt_view_does_not_tell_that_its_seat_is_asked_before_play(rules):
    hands = special_hands(np.random.default_rng(0), 300)
    rounds = Rounds(300, rules=rules, hands=hands)
    dealt = rounds.decisions.dealt
    assert (rounds.decisions.view.asked_call | rounds.decisions.view.asked_choice).any()
    for seat in range(4):
        view = dealt.view(np.arange(300), np.full(300, seat))
        assert not (view.asked_call | view.asked_choice).any()
        assert (view.hand == dealt.hands[:, seat]).all()


def test_wrong_answers_are_refused_and_change_nothing():
    rounds = Rounds(4, seed=0)
    decisions = rounds.decisions
    good = habits(decisions.view, decisions.legal)
    wrong = good.copy()
    wrong[2] = np.flatnonzero(~decisions.legal[2])[0]
    for error, message, answers in (
        (errors.IllegalActionError, "in game 2", (wrong,)),
        (errors.ActionError, r"0\.\.68, got 69 in game 1", ([good[0], 69, good[2], good[3]],)),
        (errors.ActionError, "expected 4 actions", (good[:3],)),
    ):
        refuses(error, message, rounds.step, *answers)
    assert rounds.decisions is decisions
    assert rounds.time == 0
    assert rounds.step(good).view is not None


def test_a_tick_is_read_before_the_next_step():
    rounds = Rounds(4, seed=0)
    first = rounds.decisions
    rounds.step(habits(first.view, first.legal))
    second = rounds.decisions
    rounds.step(rounds.decisions.legal.argmax(axis=1))
    assert len(first.view) == 4  # it was built in time
    with pytest.raises(errors.StaleTurnError):
        _ = second.view
    with pytest.raises(errors.StaleTurnError):
        _ = first.dealt.hands


def test_nothing_is_stepped_after_the_end():
    rounds = Rounds(2, seed=0)
    play(rounds)
    refuses(errors.EpisodeOverError, r"all 2 games, got one .* shape \(0,\)", rounds.step, [])


def worlds_of(rounds, count=1):
    """Positions that the acting seats of rounds hold possible, some for each."""
    view = rounds.decisions.view
    return determinize(view, sample(view, count, np.random.default_rng(1)))


@pytest.mark.parametrize("rules", RULE_SETS)
def test_positions_are_played_to_the_end_of_the_round(rules):
    hands = special_hands(np.random.default_rng(2), 60)
    positions = worlds_of(Rounds(60, rules=rules, hands=hands), 4)
    plain = play(Rounds.from_positions(positions, finals=True))
    assert {ending[0] for ending in plain if ending[1] >= 0} == set(range(len(positions)))


def test_first_decisions_are_made_at_once_and_positions_stay_as_they_are():
    positions = worlds_of(Rounds(5, seed=1), 2)
    before = positions._state.data.copy()
    asked = Rounds.from_positions(positions)
    first = habits(asked.decisions.view, asked.decisions.legal)
    asked.step(first)
    at_once = Rounds.from_positions(positions, actions=first)
    assert at_once.decisions.view.words.tobytes() == asked.decisions.view.words.tobytes()
    assert positions._state.data.tolist() == before.tolist()
    mask = np.arange(10) % 3 == 0
    some = Rounds.from_positions(positions, mask, actions=first[mask])
    wanted = mask[at_once.decisions.rows]
    assert some.decisions.view.words.tolist() == at_once.decisions.view.words[wanted].tolist()
    assert Rounds.from_positions(positions, np.zeros(0, int)).decisions.legal.shape == (0, 69)


def test_a_search_does_not_deal_what_the_game_will_deal_after_a_redeal():
    hands = special_hands(np.random.default_rng(0), 400)
    rounds = Rounds(400, hands=hands)
    rounds.step(np.where(rounds.decisions.legal[:, actions.CALL], actions.CALL, habits_of(rounds)))
    asked = rounds.decisions.legal[:, actions.REDEAL]
    assert asked.sum() > 20
    search = Rounds.from_positions(worlds_of(rounds), actions=choices(rounds, actions.REDEAL))
    game = rounds.step(choices(rounds, actions.REDEAL))
    same = set(map(bytes, game.dealt.hands.reshape(-1, 32)))
    turned = {
        bytes(np.roll(hands, seat, axis=0))
        for hands in search.decisions.dealt.hands
        for seat in range(4)
    }
    assert not same & turned


def choices(rounds, action):
    """An action where it is legal, else the habit."""
    return np.where(rounds.decisions.legal[:, action], action, habits_of(rounds))


@pytest.mark.parametrize(
    "options", [{"games": [0, -1]}, {"games": [1]}, {"numbers": [0, 1, 2]}, {"numbers": [0.5, 1]}]
)
def test_impossible_numbers_of_games_are_refused(options):
    refuses(errors.SettingError, "expected 2", Rounds, 2, **options)
