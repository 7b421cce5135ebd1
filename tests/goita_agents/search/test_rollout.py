"""What the rollout bot searches, what it plays, and what it refuses."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from deals import complete
from goita_agents import AgentError, load_agent
from goita_agents.base import sample as draw_action
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.search import rollout
from goita_agents.search.playout import Playouts
from goita_agents.search.rollout import ROLLOUT, RolloutAgent
from goita_env import Game, actions
from goita_env.tiles import KING
from goita_lab.arena.tournament import arena
from playing import played
from raising import refuses
from samples import slow
from search_views import rng, some, view_of_round

PAWN_KING = actions.encode(0, KING)
"""Pawn face down, king attack."""


def answer(agent, game):
    """Returns an agent's action for the acting seat of a game."""
    view = game.view(game.seat)
    return int(agent.act(view, view.legal(), rng())[0])


class Opaque:
    """Draws random numbers, and tells nobody its probabilities."""

    name = "opaque"

    def act(self, view, legal, rng):
        return draw_action(legal.astype(float), rng)


@pytest.mark.parametrize("seed", [3, 5], ids=["play", "special hands"])
def test_every_action_is_tried_in_the_same_worlds_with_the_same_luck(seed, monkeypatch):
    stages = []

    def finish(self, positions, places, actions, keys, owners, types):
        stages.append({})
        hands = positions._state.hand.T[places].tolist()
        for owner, action, key, hand in zip(owners, actions, keys, hands, strict=True):
            stages[-1].setdefault((owner, action), []).append((int(key), hand))
        return np.zeros(len(actions))

    monkeypatch.setattr(Playouts, "finish", finish)
    view, legal = some(20, seed=seed)
    load_agent("rollout:worlds=16").act(view, legal, rng())
    assert len(stages) >= 2
    for stage in stages:
        for owner in {owner for owner, _ in stage}:
            worlds = [found for (row, _), found in stage.items() if row == owner]
            assert all(found == worlds[0] for found in worlds)
    assert set(stages[0]) == set(zip(*np.nonzero(legal), strict=True))


@pytest.mark.parametrize(
    "build",
    [
        lambda: load_agent("rollout:worlds=16"),
        slow(lambda: load_agent("rollout:worlds=6,base=random")),
        lambda: load_agent("rollout:worlds=40,allocation=elimination,min_z=0,budget=225"),
        lambda: load_agent("rollout:worlds=12,allocation=elimination,min_z=0,base=champion"),
        slow(
            lambda: load_agent(
                "rollout:worlds=1,weight=uniform,base=(rollout:worlds=1,weight=uniform)"
            )
        ),
        lambda: RolloutAgent(Opaque(), replace(ROLLOUT, worlds=8), weight="uniform"),
        lambda: load_agent("rollout:belief=on,worlds=8,max_policy_queries=2000"),
        lambda: load_agent("champion:search=on,infer=off,budget=150,max_policy_queries=2000"),
        lambda: load_agent("champion:search=on,types=(greedy;champion),budget=60"),
    ],
    ids=[
        *("greedy", "random", "elimination", "a network", "rollout", "no known policy"),
        *("a posterior", "champion", "types"),
    ],
)
def test_a_row_is_answered_the_same_alone_and_in_any_batch(build, monkeypatch):
    view, legal = some(4)
    together = build().act(view, legal, rng(5))
    assert legal[np.arange(4), together].all()
    one, numbers = build(), rng(5)
    alone = [int(one.act(view[[row]], legal[[row]], numbers)[0]) for row in range(4)]
    assert alone == together.tolist()
    monkeypatch.setattr(rollout, "BATCH_GAMES", 300)
    assert build().act(view, legal, rng(5)).tolist() == together.tolist()


def test_it_finds_the_kings_attack_that_wins_for_sure_where_its_base_does_not():
    game = played(
        Game("jga", hands=["12355688", "11122336", "11124457", "11134457"], dealer=0),
        *("32", "26", "p", "p", "68", "p", "p", "p"),
    )
    assert answer(load_agent("rollout"), game) == PAWN_KING
    assert answer(GreedyAgent(), game) != PAWN_KING


@pytest.mark.slow
def test_it_beats_its_base():
    assert arena.play_pair("rollout:worlds=4", "greedy", 24, seed=11).points_per_round > 3


@pytest.mark.parametrize(
    "spec", ["champion:search=on,worlds=4", "best_response:to=greedy,worlds=4"]
)
def test_a_pickled_or_copied_search_goes_on_identically(spec):
    view, agent = view_of_round(), load_agent(spec)
    chosen = agent.act(view, view.legal(), rng())
    for twin in (pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)):
        assert twin.act(view, view.legal(), rng()).tolist() == chosen.tolist()


def test_bad_options_say_what_was_expected():
    for options, text in {
        "worlds=0": "expected worlds=1 to 100000, got 0",
        "worlds=99999999999999999999": "expected worlds=1 to 100000",
        "worlds=many": "expected worlds=int, got 'many'",
        "budget=0": "expected budget=1 to 1000000000000, got 0",
        "weight=polcy": "expected weight=uniform or policy, got 'polcy'",
        "base=(exec:true)": "a separate program",
        "base=(rollout:worlds=2)": "weight=uniform does without",
        "weight=uniform,belief=on": "weight=policy with belief=on",
        "max_unseen_tiles=-1": "expected max_unseen_tiles of at least 0, got -1",
        "depth=3": "options \\(base=greedy, worlds=64, budget=3750, min_z=1.5, ",
    }.items():
        refuses(AgentError, text, load_agent, f"rollout:{options}")


def test_a_base_with_a_memory_and_a_seat_that_is_not_asked_are_refused():
    class StatefulAgent(Opaque):
        def begin(self, games, seats, view): ...
        def end(self, games, results, hands): ...

    says = "got 'opaque', which has a memory"
    refuses(AgentError, says, RolloutAgent, StatefulAgent(), weight="uniform")
    game = Game(hands=complete("", "", "", ""), dealer=0)
    game.play(game.legal_actions()[0])
    waiting, legal = game.view((game.seat + 1) % 4), np.ones((1, 69), bool)
    for spec in ("rollout:worlds=4", "solver:worlds=4,budget=14000"):
        agent, says = load_agent(spec), "expected views of acting seats"
        refuses(AgentError, says, agent.act, waiting, legal, rng())
