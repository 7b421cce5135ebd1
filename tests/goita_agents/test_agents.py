"""Agents: what every one can do."""

import sys

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import Policy, sample
from goita_env import GoitaVectorEnv
from goita_env.rules import JGA
from goita_env.testing import check_agent, fixed_views, narrowed
from goita_env.views import from_observation
from goita_lab.arena.tournament import arena
from programs import run


def rng():
    return np.random.default_rng(0)


PLAYERS = [
    *("random", "greedy", "heuristic", "heuristic:conventions=off", "people", "crowd", "champion"),
    *("champion:temperature=1", "population:selfplay-0", "population:offbelief-0"),
    *("rollout:worlds=2", "rollout:worlds=2,weight=uniform", "solver:worlds=1,budget=500"),
    *("champion:search=on,worlds=2,carry=off", "champion:search=on,worlds=2"),
    *("best_response:to=heuristic,worlds=2", "best_response:to=champion,worlds=2"),
    *("plain:base=greedy", "muted:base=heuristic", "masked:base=champion,hide=own_score"),
    "masked:base=greedy,hide=own_score",
]


@pytest.mark.parametrize("name", PLAYERS)
def test_an_agent_plays_within_a_mask_that_is_narrower_than_the_rules(name):
    agent = load_agent(name)
    view, legal = fixed_views(JGA)
    drawn, searches = np.random.default_rng(5), "worlds" in name
    for seed in range(2 if searches else 40):
        rows = drawn.integers(len(view), size=40 if searches else 256)  # some come twice
        mask = narrowed(legal[rows], seed)
        chosen = agent.act(view[rows], mask.copy(), rng())
        assert mask[np.arange(len(rows)), chosen].all()
        if isinstance(agent, Policy):
            known = agent.probabilities(view[rows], mask)
            assert not known[~mask].any()
            assert np.allclose(known.sum(axis=1), 1)


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_an_agent_passes_the_published_check_and_needs_an_observation_alone(name):
    agent = load_agent(name)
    assert isinstance(agent, Policy)
    check_agent(agent)
    turn = GoitaVectorEnv(64, seed=1).reset()
    rebuilt = from_observation(turn.observation)
    first, second = (agent.act(v, turn.action_mask, rng()) for v in (turn.view, rebuilt))
    assert (first == second).all()


def test_sampling_never_draws_what_has_no_probability():
    class Extreme:
        def __init__(self, value):
            self.value = value

        def random(self, size):
            return np.full(size, self.value)

    scale = np.array([1e-300, 0.1, 0.3, 1.0, 1 + 1e-9, 3.0, 1e300])
    probabilities = np.zeros((len(scale), 69))
    probabilities[:, [3, 40, 67]] = scale[:, None] * [0.2, 0.5, 0.3]
    assert (sample(probabilities, Extreme(0.0)) == 3).all()
    assert (sample(probabilities, Extreme(1 - 2**-53)) == 67).all()


def test_greedy_beats_random_by_sixteen_points_a_round():
    result = arena.play_pair("greedy", "random", 2000, seed=1)
    assert result.ci95[0] > 16, result


def test_heavy_libraries_are_imported_only_by_the_agents_that_need_them():
    code = (
        "import sys; from goita_agents import load_agent; "
        "load_agent('random'), load_agent('greedy');"
        "heavy = 'torch', 'scipy', 'stable_baselines3', 'rich', 'loky', 'numba', 'tyro';"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert run([sys.executable, "-c", code], check=True).stdout.strip() == "[]"
