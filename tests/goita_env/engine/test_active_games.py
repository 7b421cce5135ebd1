"""Some games move while the others stand: each is played as if all moved at once."""

import numpy as np
import pytest

from deals import RULE_SETS
from goita_env.engine.active_games import ActiveGames
from goita_env.engine.core import unpack_legal
from goita_env.engine.episodes import Match
from goita_env.views import acting_view
from playing import after_reset, habits, legal_mask

GAMES, STEPS = 24, 60


def begun(rules, episode):
    """Returns games at their first deals."""
    return after_reset(Match(GAMES, rules, episode, seed=3))


def all_at_once(rules, episode):
    """Plays by habit; returns what was seen before each real choice, by game."""
    match, seen = begun(rules, episode), [[] for _ in range(GAMES)]
    for _ in range(STEPS):
        view, legal = acting_view(match.state), legal_mask(match.state)
        for game in np.flatnonzero(legal.sum(axis=1) > 1).tolist():
            seen[game].append(view.words[game].tobytes())
        match.step(habits(view, legal))
    return seen


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_games_that_leave_and_join_at_random_are_played_as_all_at_once(rules, episode):
    rng, moving = np.random.default_rng(0), ActiveGames(begun(rules, episode))
    seen, standing, ended = [[] for _ in range(GAMES)], np.arange(GAMES), 0
    for _ in range(2 * STEPS):
        joins = rng.random(len(standing)) < 0.5
        moving.join(standing[joins])
        low, high, chosen, asked = moving.legal()
        leaves = rng.random(len(asked)) < 0.2
        stays, leaving = asked[~leaves], asked[leaves]
        standing = np.concatenate((standing[~joins], moving.rows[leaving]))
        view = acting_view(moving._state, rows=stays)
        chosen[stays] = habits(view, unpack_legal(low[stays], high[stays]))
        for game, words in zip(moving.rows[stays].tolist(), view.words, strict=True):
            seen[game].append(words.tobytes())
        moving.leave(leaving)
        endings = moving.step(chosen)
        ended += 0 if endings is None else len(endings.rows)
    assert ended > GAMES
    for one, other in zip(seen, all_at_once(rules, episode), strict=True):
        both = min(len(one), len(other))
        assert one[:both] == other[:both]
        assert both > 15
