"""Some games move while the others stand: each is played as if all moved at once."""

import numpy as np
import pytest

from deals import RULE_SETS
from goita_env.engine.active_games import ActiveGames
from goita_env.engine.core import unpack_legal
from goita_env.engine.episodes import Match
from goita_env.views import acting_view
from playing import after_reset, habits, legal_mask, pick

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


def test_who_stands_is_asked_at_the_first_slot_and_stays_still():
    match = begun("jga", "round")
    moving, rng = ActiveGames(match), np.random.default_rng(0)
    moving.join(np.arange(GAMES))
    for step in range(8):
        low, high, chosen, asked = moving.legal()
        legal = unpack_legal(low[asked], high[asked])
        chosen[asked] = pick(legal, rng.integers(1000, size=len(asked)))
        if step == 2:
            left, many = asked[::2], len(moving)
            rows, seats, masks = moving.rows[left], moving.seats(left), legal[::2]
            moving.leave(left)
            chosen[left] = 0
            before = match.state.select(rows)
            assert len(moving) == many - len(left) > 0
        moving.step(chosen)
    assert before.clock == 0
    assert before.seat.tolist() == seats.tolist()
    assert (legal_mask(before) == masks).all()
    assert (match.state.select(rows).data == before.data).all()
