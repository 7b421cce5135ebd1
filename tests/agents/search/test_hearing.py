"""Worlds that a search draws from a listener's posterior."""

import numpy as np
import pytest
from playing import played

from agents import load_agent
from agents.beliefs import Listener
from agents.bots.greedy import GreedyAgent
from agents.search import hearing
from agents.search.drawing import TREMBLE, TRUST, draw
from agents.search.hearing import Hearing, asked
from goita_env import Game
from goita_env.worlds import determinize

HANDS = ["11235578", "11112333", "11444567", "11224569"]


def played_on(seed=5):
    """Returns a round's views as seat 0 is asked, its moves drawn at random."""
    rng, game, found = np.random.default_rng(seed), Game(hands=HANDS, dealer=0), []
    while not game.done:
        legal = game.legal_actions()
        if game.seat == 0 and len(legal) > 1:
            found.append(game.view(0))
        game.play(0 if legal[0] == 0 and rng.random() < 0.6 else int(rng.choice(legal)))
    return found


def hears():
    return Hearing(GreedyAgent(), TREMBLE)


def test_what_is_kept_changes_nothing_but_the_time(monkeypatch):
    begun = []

    def listening(*args):
        begun.append(args)
        return Listener(*args)

    monkeypatch.setattr(hearing, "Listener", listening)
    kept, views = hears(), played_on()
    assert len(views) > 4
    for view in views:
        one = kept.worlds(view, 40, np.random.default_rng(1))
        fresh = Listener(view, kept._assumed).deals().sample(40, np.random.default_rng(1))
        np.testing.assert_array_equal(one.hands, fresh.hands)
        np.testing.assert_array_equal(one.face_down, fresh.face_down)
        determinize(view, one)  # refuses worlds that don't fit
    assert len(begun) == 1


def test_another_round_under_the_same_number_begins_anew():
    kept, other = hears(), Game(hands=HANDS[::-1], dealer=1).view(0)
    kept.worlds(played_on()[-1], 4, np.random.default_rng(0))
    worlds = kept.worlds(other, 4, np.random.default_rng(0))
    determinize(played(Game(hands=HANDS[::-1], dealer=0)).view(0), worlds)


def test_where_it_would_take_too_long_the_base_plays():
    views = played_on()
    many = np.array([asked(view) for view in views])
    view = type(views[0])(np.concatenate([view.words for view in views]))
    own = GreedyAgent().act(view, view.legal(), np.random.default_rng(0))
    spec = "rollout:belief=on,worlds=16,caution=0"
    searched = load_agent(spec).act(view, view.legal(), np.random.default_rng(0))
    found = load_agent(f"{spec},questions=2000").act(view, view.legal(), np.random.default_rng(0))
    assert (searched != own)[many > 2_000].any()
    assert (searched != own)[many <= 2_000].any()
    assert found.tolist() == np.where(many > 2_000, own, searched).tolist()


@pytest.mark.parametrize(
    "spec", ["rollout:belief=on,worlds=8", "champion:search=on,ms=2,unseen=22,questions=4000"]
)
def test_a_row_is_answered_the_same_alone_and_in_a_batch(spec):
    views = played_on()
    view = type(views[0])(np.concatenate([view.words for view in views]))
    together = load_agent(spec).act(view, view.legal(), np.random.default_rng(5))
    rng, agent = np.random.default_rng(5), load_agent(spec)
    alone = [int(agent.act(view[[row]], view[[row]].legal(), rng)[0]) for row in range(len(view))]
    assert together.tolist() == alone


def test_worlds_that_are_weighed_are_as_likely_as_the_listener_believes():
    """A partner that showed one of three silvers isn't likelier to have had them for that."""
    view, policy = played(Game(hands=HANDS, dealer=2), "14", "46").view(0), GreedyAgent()
    drawn = draw(view, np.zeros(1, np.uint64), np.array([600]), 600, policy)
    found = drawn.weight[0] @ drawn.worlds.dealt[:, 2] / drawn.weight.sum()
    ears = Hearing(policy, tuple(1 - TRUST))  # supposes what the weighing does
    heard = Listener(view, ears._assumed).posterior("partner")
    spread = np.sqrt(heard.probability @ heard.hands**2 - heard.expected() ** 2)
    assert (abs(found - heard.expected()) < 3 * spread / np.sqrt(600) + 1e-9).all()
