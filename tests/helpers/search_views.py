"""Views with choices, of rounds played by greedy or at random, for tests of search."""

from functools import cache

import numpy as np

from deals import special_hands
from goita_agents.bots.greedy import GreedyAgent
from goita_env import Game
from goita_env.engine.episodes import Match
from goita_env.views import View, acting_view
from playing import legal_mask

HANDS = ["11235578", "11112333", "11444567", "11224569"]


def rng(seed=0):
    return np.random.default_rng(seed)


@cache
def view_of_round(seed=5):
    """Returns a round's views as seat 0 is asked, its moves drawn at random: [N]."""
    numbers, game, found = rng(seed), Game(hands=HANDS, dealer=0), []
    while not game.done:
        legal = game.legal_actions()
        if game.seat == 0 and len(legal) > 1:
            found.append(game.view(0).words)
        game.play(0 if legal[0] == 0 and numbers.random() < 0.6 else int(numbers.choice(legal)))
    return View(np.concatenate(found))


@cache
def positions(rules="jga", games=40, seed=3):
    """Returns the decisions with a choice of some greedy rounds: views and masks."""
    agent, match = GreedyAgent(), Match(games, rules, seed=seed, auto_reset=False)
    match.reset(hands=special_hands(rng(seed), games) if seed % 2 else None)
    words, masks = [], []
    while (mask := legal_mask(match.state)).any():
        chosen, rows = mask.argmax(axis=1), np.flatnonzero(mask.sum(axis=1) > 1)
        if len(rows):
            view = acting_view(match.state)[rows]
            chosen[rows] = agent.act(view, mask[rows], rng())
            words.append(view.words)
            masks.append(mask[rows])
        match.step(chosen)
    return View(np.concatenate(words), None, rules), np.concatenate(masks)


def some(count, rules="jga", seed=3):
    """Returns so many of these decisions, from all over the rounds."""
    view, legal = positions(rules, seed=seed)
    rows = np.linspace(0, len(view) - 1, count).astype(int)
    return view[rows], legal[rows]
