"""A search recognises players of its library in a match, and searches with the likeliest few."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import Results
from goita_agents.search.library import SEARCHED_TYPES, LibraryRolloutAgent
from goita_env import Game
from goita_env.views import Replay

KNOWN = ("population:selfplay-0", "population:entropy-3", "population:otherplay-2", "greedy")
GAME = 7


def new(*library: str) -> LibraryRolloutAgent:
    agent = load_agent(f"champion:search=on,worlds=4,budget=8,library=({';'.join(library)})")
    assert isinstance(agent, LibraryRolloutAgent)
    return agent


def rounds(agent, opponent: str, partner: str, count: int) -> None:
    """Plays the first rounds of a match, the agent at seat 0, each action a champion's there."""
    scores, games, rng = (0, 0), np.array([GAME]), np.random.default_rng(0)
    players = [load_agent(one) for one in ("champion", opponent, partner, opponent)]
    for number in range(count):
        game = Game(seed=40 + number, scores=scores)
        deal = game.deals[-1]
        replay = Replay.of_seat(game.rules, 0, deal.hands[None, 0], deal.dealer, scores, games)
        agent.begin(games, np.array([0]), replay.view(0))
        while not game.done:
            view = game.view(game.seat)
            game.play(int(players[game.seat].act(view, view.legal(), rng)[0]))
        results = Results(np.array([game.winner]), np.array([game.points]), game.view(0))
        agent.end(games, results, game.deals[-1].hands[None].astype(np.int64))
        scores = game.scores
    agent.begin(games, np.array([0]), Game(seed=1, scores=scores).view(0))


def test_players_of_the_library_are_recognised_as_opponents_and_as_partner():
    agent = new(*KNOWN)
    rounds(agent, KNOWN[1], KNOWN[2], 4)
    prior = agent.prior_of(GAME)
    assert prior.sum() == pytest.approx(1)
    for models, axis, wanted in (
        (agent.types.opponents, 1, KNOWN[1]),
        (agent.types.partners, 0, KNOWN[2]),
    ):
        share = prior.sum(axis=axis)
        assert share.max() > 0.5
        assert models[share.argmax()].agent == load_agent(wanted)


def test_a_round_is_searched_with_the_likeliest_types_and_the_first_with_those_known_anyway():
    agent = new(*KNOWN)
    first, prior = agent.types_of(GAME)
    assert prior is None
    assert [one.name for one in first.opponents] == [
        one.name for one in load_agent("champion:search=on,carry=off")._sampler.types.opponents
    ]
    rounds(agent, KNOWN[1], KNOWN[2], 3)
    few, prior = agent.types_of(GAME)
    full = agent.prior_of(GAME)
    assert len(few.opponents) <= SEARCHED_TYPES + 1
    assert len(few.partners) <= SEARCHED_TYPES
    assert few.opponents[-1] is agent.types.opponents[-1]
    assert agent.types.opponents[full[:-1].sum(axis=1).argmax()] in few.opponents
    assert prior.sum() == pytest.approx(1)
    deal = Game(seed=5, scores=(10, 20))
    while deal.seat != 0 or deal.view(0).unseen.sum() > 16 or len(deal.legal_actions()) < 2:
        view = deal.view(deal.seat)
        deal.play(int(load_agent("greedy").act(view, view.legal(), np.random.default_rng(0))[0]))
    view = deal.view(0)
    view.game = np.array([GAME])
    both = view[np.array([0, 0])]
    both.game = np.array([GAME, 99])  # another match is searched with the first types
    chosen = agent.act(both, both.legal(), np.random.default_rng(0))
    assert both.legal()[[0, 1], chosen].all()


def test_a_player_is_known_once_and_the_partner_may_be_whom_the_opponents_may_be():
    agent = new("champion", KNOWN[0])
    rounds(agent, "heuristic", "heuristic", 2)
    champion, crowd, known = map(load_agent, ("champion", "crowd", KNOWN[0]))
    partners = [model.agent for model in agent.types.partners]
    assert [*partners[:1], *partners[2:]] == [champion, crowd, known]
    assert partners[1].name == "heuristic"
    assert [model.agent for model in agent.types.opponents] == [*partners, crowd]  # a broad one
    assert agent.prior_of(GAME).sum(axis=0).argmax() == 1
