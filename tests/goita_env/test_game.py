"""One game for people: undo, copies, moves as texts, and a seed that is drawn."""

import numpy as np
import pytest

from deals import digits, special_hands, uniform_hands
from goita_env import Game, actions, errors
from raising import refuses
from samples import slow

HANDS = ["11235578", "11112333", "11444567", "11224569"]
FIVES = ["11111238", "11111337", "22344567", "24455569"]


def everything(game: Game) -> list:
    """All that a game shows and holds, to the bit."""
    state, match = game._state, game._match
    return [
        *(str(game), repr(game), game.seat, game.done, game.legal_actions(), game.scores),
        *(game.winner, game.points, game.hands.tolist(), game.dealer),
        [game.view(seat).words.tolist() for seat in range(4)],
        [(deal.hands.tolist(), deal.dealer, deal.scores, *deal.moves) for deal in game.deals],
        *(state.data.tolist(), state.clock, state.asking.tolist()),
        *(match.deals.tolist(), match.episodes.tolist(), match.keys.tolist()),
    ]


def random_matches(rules: str):
    """Yields matches before their first move, half of them with questions, and random numbers."""
    rng = np.random.default_rng(4)
    for seed, hands in enumerate(np.concatenate([uniform_hands(rng, 1), special_hands(rng, 4)])):
        yield Game(rules, hands=digits(hands), episode="match", seed=seed, scores=(100, 90)), rng


@pytest.mark.parametrize("rules", ["jga", slow("pagat"), slow("nine")])
def test_undo_takes_back_every_move_across_redeals_and_rounds(rules):
    redeals, rounds = 0, 0
    for game, rng in random_matches(rules):
        before, chosen = [], []
        while not game.done:
            before.append(everything(game))
            legal = game.legal_actions()
            # Calls and redeals are likely: random play alone hardly ever redeals.
            wanted = [one for one in (actions.CALL, actions.REDEAL) if one in legal]
            chosen.append(wanted[0] if wanted else int(rng.choice(legal)))
            game.play(chosen[-1])
        end = everything(game)
        redeals += sum(deal.moves[-1][1] == actions.REDEAL for deal in game.deals)
        rounds += len(game.deals) - 1
        for state, action in zip(before[::-1], chosen[::-1], strict=True):
            assert game.undo() == action
            assert everything(game) == state
        refuses(errors.EpisodeOverError, "expected a move to take back", game.undo)
        assert everything(game) == before[0]
        for action in chosen:
            game.play(action)
        assert everything(game) == end
    assert rounds >= 5
    assert redeals >= 1


def test_a_copy_goes_on_by_itself_and_identically():
    game = Game(hands=HANDS, dealer=2, episode="match", seed=1)
    game.play("11")
    before, other = everything(game), game.copy()
    assert everything(other) == before
    rng = np.random.default_rng(0)
    while len(other.deals) < 3:
        action = int(rng.choice(other.legal_actions()))
        other.play(action)
    assert everything(game) == before
    for deal in other.deals:
        for _, action in deal.moves[len(game.moves) if deal is other.deals[0] else 0 :]:
            game.play(action)
    assert everything(game) == everything(other)
    assert other.undo() == game.undo()


def test_moves_are_played_by_name_as_by_number():
    by_name, by_number = (Game(hands=HANDS, dealer=2, seed=1) for _ in range(2))
    for name in ["11", "14", "87", "p", "75", "52", "p"]:
        by_name.play(name)
        by_number.play(actions.parse(name))
    assert everything(by_name) == everything(by_number)
    asked = Game(hands=FIVES, dealer=0)
    words = ["call", "call", "redeal", "continue"]
    for word in words:
        asked.play(word)
    assert [actions.name(action) for _, action in asked.moves] == words


@pytest.mark.parametrize("name", ["x", "", "123", "p", "call", "33"])
def test_a_wrong_name_of_a_move_is_refused_and_changes_nothing(name):
    game = Game(hands=HANDS, dealer=2)
    before, message = everything(game), f"expected one of 11 .* from seat 2, got '{name}'"
    if name in ("x", "", "123"):
        message = f"expected an action, two digits 1..9 or one of 'p', 'call', .* got '{name}'"
    refuses(errors.GoitaError, message, game.play, name)
    assert everything(game) == before


def test_a_game_without_a_seed_draws_one_that_repeats_it():
    games = [Game() for _ in range(8)]
    assert len({repr(game) for game in games}) == 8
    for game in games:
        assert repr(Game(seed=game.seed)) == repr(game)
    assert Game(seed=np.int64(7)).seed == 7
