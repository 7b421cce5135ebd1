"""One game for people: copies, moves as texts, and a seed that is drawn."""

import numpy as np

from goita_env import Game

HANDS = ["11235578", "11112333", "11444567", "11224569"]


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


def test_a_game_without_a_seed_draws_one_that_repeats_it():
    games = [Game() for _ in range(8)]
    assert len({repr(game) for game in games}) == 8
    for game in games:
        assert repr(Game(seed=game.seed)) == repr(game)
    assert Game(seed=np.int64(7)).seed == 7
