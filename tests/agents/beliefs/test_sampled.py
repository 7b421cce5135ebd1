"""The sampled listener beside the exact one."""

import numpy as np
import pytest
from belief_worlds import OddPolicy
from deals import RULE_SETS
from playing import played

from agents.beliefs import (
    FACTS,
    Acting,
    Assumed,
    Listener,
    SampledListener,
    UnexplainedError,
)
from goita_env import Game

ODD = Assumed(OddPolicy(2.0), tremble=0.05)
SEATS = ("next", "partner", "previous")
HANDS = ["11235578", "11112333", "11444567", "11224569"]


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("partner", [ODD, FACTS])
def test_it_agrees_with_the_exact_one_as_far_as_its_effective_size_lets_it(rules, partner):
    game = played(Game(rules, hands=HANDS, dealer=2), "14", "46", "p", "p", "65")
    view, assumed = game.view(0), {"next": ODD, "partner": partner, "previous": ODD}
    exact, drawn = Listener(view, assumed), SampledListener(view, assumed, 8_000, seed=1)
    assert 500 < drawn.effective < 8_000
    apart = []
    for seat in SEATS:
        for number in (1, 2, 3):
            known = exact.posterior(seat).at_least(number).clip(0, 1)
            spread = np.sqrt(known * (1 - known) / drawn.effective)
            found = drawn.posterior(seat).at_least(number)
            apart += ((found - known)[spread > 1e-3] / spread[spread > 1e-3]).tolist()
    assert np.sqrt(np.mean(np.square(apart))) < 2
    assert drawn.seat == exact.seat
    assert drawn.assumed == exact.assumed


def test_it_tells_as_the_exact_one_does():
    game = played(Game(hands=HANDS, dealer=2), "14", "46")
    drawn = SampledListener(game.view(0), ODD, 200)
    played(game, "p", "p")
    drawn.hear(game.view(0))
    belief = drawn.posterior("partner")
    assert belief.probability.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        belief.facts, Listener(game.view(0), FACTS).posterior("partner").probability
    )
    worlds = drawn.deals().sample(50, np.random.default_rng(0))
    assert len(worlds) == 50
    likely = drawn.deals().log_probability(worlds.dealt[0, 1:].astype(np.int64))
    assert np.isfinite(likely)
    assert drawn.deals().log_probability(["22222222"] * 3) == -np.inf


def test_it_listens_to_a_search_bot():
    game = played(Game(hands=HANDS, dealer=2), "14", "p")
    search = Acting("rollout:worlds=4,ms=1", tremble=0.1)
    drawn = SampledListener(game.view(0), {"partner": search}, 60)
    assert 1 <= drawn.effective <= 60
    assert "rollout" in drawn.assumed[1]
    assert "acting" in drawn.assumed[1]


def test_acting_agrees_with_the_policy_of_an_agent_that_is_sure():
    game = played(Game(hands=HANDS, dealer=2), "14", "p")
    one = Listener(game.view(0), Assumed("greedy", tremble=0.1)).posterior()
    other = Listener(game.view(0), Acting("greedy", tremble=0.1)).posterior()
    np.testing.assert_allclose(one.probability, other.probability)


def test_if_no_drawn_world_explains_it_that_is_an_error():
    game = played(Game(hands=HANDS, dealer=0), "15", "p", "51")
    with pytest.raises(UnexplainedError):
        SampledListener(game.view(0), {"partner": Assumed("greedy", tremble=0)}, 50)
