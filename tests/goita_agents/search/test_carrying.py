"""What a search has learnt of the others is carried through a match, and nowhere else."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import Results
from goita_agents.beliefs.hindsight import likelihoods
from goita_agents.beliefs.match_priors import LEAKAGE
from goita_agents.beliefs.types import make_types
from goita_agents.champion.agent import network
from goita_agents.search.action_values import SearchOptions
from goita_agents.search.library import LibraryRolloutAgent
from goita_env import Game
from goita_env.views import Replay
from samples import slow


def rng():
    return np.random.default_rng(0)


def new(worlds: int = 4, budget: int = 8) -> LibraryRolloutAgent:
    """Returns a search whose library is empty, so the partner alone may play like others."""
    opponents, partners = list(map(load_agent, ("heuristic", "random"))), [network()]
    types = make_types(opponents, partners)
    return LibraryRolloutAgent(network(), SearchOptions(worlds, budget), types, list)


def begin(agent, game: Game, seat: int, number: int = 7):
    """Begins a round for an agent; returns the prior with which it does, None: the first."""
    deal, games = game.deals[-1], np.array([number])
    replay = Replay.of_seat(
        game.rules, seat, deal.hands[None, seat], deal.dealer, deal.scores, games
    )
    agent.begin(games, np.array([seat]), replay.view(seat))
    return agent.prior_of(number)


def play(game: Game, *players: str) -> tuple[int, int]:
    """Plays a round to its end, players taking turns; returns the scores after it."""
    agents = [load_agent(player) for player in players]
    while not game.done:
        view = game.view(game.seat)
        game.play(int(agents[game.seat % len(agents)].act(view, view.legal(), rng())[0]))
    return game.scores


def end(agent, game: Game, seat: int, number: int = 7):
    dealt, games = game.deals[-1].hands[None].astype(np.int64), np.array([number])
    results = Results(np.array([game.winner]), np.array([game.points]), game.view(seat))
    agent.end(games, results, dealt)


def one_round(agent, seat: int, seed: int = 3):
    game = Game(seed=seed)
    prior = begin(agent, game, seat)
    scores = play(game, "heuristic")
    end(agent, game, seat)
    return game, prior, scores


@pytest.mark.parametrize("seat", [0, 1, slow(2), slow(3)])
def test_the_next_round_begins_with_what_the_last_one_showed(seat):
    agent = new()
    game, prior, scores = one_round(agent, seat)
    first = agent.types.prior()
    assert prior is None
    found = begin(agent, Game(scores=scores, seed=4), seat)
    hands = np.roll(game.deals[-1].hands, -seat, axis=0).astype(np.int64)
    likely = first * np.exp(likelihoods(game.view(seat), agent.types, hands).likelihood)
    np.testing.assert_allclose(found, (1 - LEAKAGE) * likely / likely.sum() + LEAKAGE * first)
    assert found[0].sum() > 0.9  # a random player does not play as heuristic does
    assert found.sum() == pytest.approx(1)


def test_it_is_carried_to_the_next_round_of_the_match_alone():
    agent = new()
    for name, scores, seat, number in (
        ("another score", (40, 60), 1, 7),
        ("a new match", (0, 0), 1, 7),
        ("another seat", None, 2, 7),
        ("another game", None, 1, 8),
    ):
        _, _, left = one_round(agent, 1)
        found = begin(agent, Game(scores=scores or left, seed=4), seat, number)
        assert found is None, name
    assert new().prior_of(7) is None


def test_a_redeal_in_the_round_changes_nothing_and_a_second_round_adds_to_the_first():
    agent = new()
    _, _, scores = one_round(agent, 0)
    game = Game(scores=scores, seed=4)
    carried = begin(agent, game, 0)
    np.testing.assert_array_equal(begin(agent, game, 0), carried)
    scores = play(game, "random")
    end(agent, game, 0)
    assert begin(agent, Game(scores=scores, seed=5), 0)[0].sum() < carried[0].sum()


def test_the_prior_is_what_the_search_begins_with():
    agent = new(64, 64)
    _, _, scores = one_round(agent, 0)
    game = Game(scores=scores, seed=11)
    begin(agent, game, 0)
    types, carried = agent.types_of(7)
    while game.seat != 0 or game.view(0).unseen.sum() > 18 or len(game.legal_actions()) < 2:
        view = game.view(game.seat)
        game.play(int(load_agent("greedy").act(view, view.legal(), rng())[0]))
    view = game.view(0)
    listener = agent._sampler.listener(view, 7)
    assert listener.types == types
    assert listener.prior.tolist() == carried.tolist()
    first, _ = agent.types_of(9)
    assert agent._sampler.listener(view, 9).prior.tolist() == first.prior().tolist()
