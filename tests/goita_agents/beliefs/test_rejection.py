"""The listener beside rejection: deals are played anew until the viewer has seen just the same."""

from itertools import islice, product

import numpy as np
import pytest

from belief_worlds import OddPolicy
from deals import RULE_SETS
from goita_agents.beliefs import UNIFORM_MODEL, Listener, PolicyModel
from goita_env import Game, views
from goita_env.engine import core
from goita_env.engine.tables import WAITING
from playing import deal, legal_mask
from world_positions import kinds_of

PLAYED = {
    "next": PolicyModel(OddPolicy(2.0), epsilon=0),
    "partner": PolicyModel("greedy", epsilon=0.3),
    "previous": UNIFORM_MODEL,
}
"""How the others play, and what the listener assumes of them."""


DEALS = 40_000
"""Dealt at a time."""


def answers(state: core.State, rng: np.random.Generator) -> np.ndarray:
    """Draws what the seats 1 to 3 do where they are asked, by ``PLAYED``; 0 elsewhere: int [N]."""
    legal, chosen = legal_mask(state), np.zeros(state.num_games, int)
    for seat, assumed in enumerate(PLAYED.values(), start=1):
        here = np.flatnonzero((state.seat == seat) & (state.status < WAITING))
        if len(here):
            chances = assumed.probabilities(views.acting_view(state)[here], legal[here])
            bound = rng.random((len(here), 1)) * chances.sum(axis=1, keepdims=True)
            drawn = chances.cumsum(axis=1) > bound
            chosen[here] = (drawn & legal[here]).argmax(axis=1)
    return chosen


def story(rules: str, moves: int, seed: int) -> tuple[Game, list[int], list[np.ndarray]]:
    """Plays until seat 0 has a choice after some moves of the others.

    Returns:
        The game, what seat 0 did until then, and the words of its view from move to move.
    """
    rng = np.random.default_rng(seed)
    while True:
        game = Game(rules, seed=int(rng.integers(2**40)))
        own, seen = [], [game.view(0).words[0]]
        while not game.done and len(game.deals) == 1:
            legal = game.legal_actions()
            heard = sum(seat != 0 for seat, _ in game.moves)
            if game.seat == 0 and len(legal) > 1 and heard >= moves:
                return game, own, seen
            if game.seat == 0:
                own.append(int(rng.choice(legal)))
                game.play(own[-1])
            else:
                assumed, view = list(PLAYED.values())[game.seat - 1], game.view(game.seat)
                chances = assumed.probabilities(view, view.legal())[0]
                game.play(int(rng.choice(69, p=chances)))
            seen.append(game.view(0).words[0])


def accepted(game: Game, own: list[int], seen: list[np.ndarray], deals: int, seed: int):
    """Deals to seats 1 to 3 and plays, again and again; returns hands of what looks alike.

    Returns:
        [n, 4, 8] tiles of each kind dealt where seat 0 saw all that it saw, and is asked now.
    """
    rng = np.random.default_rng(seed)
    others = np.tile(np.arange(8).repeat(game.dealt[1:].sum(axis=0)), (deals, 1))
    hands = np.empty((deals, 4, 8), int)
    hands[:, 0] = game.dealt[0]
    for seat, kinds in enumerate(np.split(rng.permuted(others, axis=1), 3, axis=1), start=1):
        hands[:, seat] = (kinds[:, :, None] == np.arange(8)).sum(axis=1)
    state = deal(game.rules, kinds_of(hands), [game.dealer] * deals, [game.deals[0].scores] * deals)
    rows, asked, found = np.arange(deals), np.zeros(deals, int), []
    told = {words.tobytes() for words in seen}
    while len(rows):
        words = views.seat_view(state, 0).words
        mine = state.seat == 0
        here = mine & (asked[rows] == len(own)) & (words == seen[-1]).all(axis=1)
        found.append(rows[here])
        alive = ~here & (state.status < WAITING) & ~(mine & (asked[rows] == len(own)))
        alive &= [one.tobytes() in told for one in words]
        rows, state = rows[alive], state.select(np.flatnonzero(alive))
        if len(rows):
            mine = state.seat == 0
            chosen = answers(state, rng)
            chosen[mine] = np.array([*own, 0])[asked[rows[mine]]]
            asked[rows[mine]] += 1
            possible = legal_mask(state)[np.arange(len(rows)), chosen]
            rows, chosen = rows[possible], chosen[possible]
            state = state.select(np.flatnonzero(possible))
            core.step(state, chosen)
    return hands[np.concatenate(found)]


def deviations(rules: str, moves: int, batches: int, seed: int) -> list[float] | None:
    """Returns how many standard errors shares of the accepted deals lie from the listener's.

    None where so few of the deals look alike that the shares would say nothing.
    """
    game, own, seen = story(rules, moves, seed)
    found = [accepted(game, own, seen, DEALS, seed * 1000)]
    if len(found[0]) < 200:
        return None
    found += [accepted(game, own, seen, DEALS, seed * 1000 + part) for part in range(1, batches)]
    hands = np.concatenate(found)
    heard, apart = Listener(game.view(0), PLAYED), []
    for seat, whose in enumerate(PLAYED, start=1):
        for number in (1, 2, 3):
            exact = heard.posterior(whose).at_least(number).clip(0, 1)
            share = (hands[:, seat] >= number).mean(axis=0)
            error = np.sqrt(exact * (1 - exact) / len(hands))
            assert (share[error < 1e-6] == exact[error < 1e-6].round()).all()
            kept = exact * (1 - exact) * len(hands) > 10
            apart += ((share - exact)[kept] / error[kept]).tolist()
    return apart


MANY = [pytest.param(*one, 5, 8, marks=pytest.mark.slow) for one in product(RULE_SETS, (1, 2, 3))]


@pytest.mark.parametrize(("rules", "moves", "stories", "batches"), [("nine", 1, 1, 1), *MANY])
def test_early_in_a_round_it_agrees_with_rejection(rules, moves, stories, batches):
    tried = (deviations(rules, moves, batches, seed) for seed in range(1, 20 * stories))
    found = list(islice((apart for apart in tried if apart is not None), stories))
    assert len(found) == stories, "expected stories that come again, got too few"
    assert max(np.abs(apart).max() for apart in found) < 5
    means = [np.square(apart).mean() for apart in found]  # those of one story go together
    assert np.mean(means) < 1 + 3 / np.sqrt(stories), means
