"""One action for a loop over a PettingZoo environment."""

import numpy as np
import pytest

from goita_agents import choose_action, load_agent
from goita_env import GoitaVectorEnv, goita_v0
from goita_env.errors import GoitaError
from raising import refuses


@pytest.mark.parametrize(("name", "rules"), [("random", "nine"), ("heuristic", "jga")])
def test_an_agent_plays_an_episode_of_pettingzoo(rules, name):
    agent, rng = load_agent(name), np.random.default_rng(0)
    env = goita_v0.raw_env(rules=rules)  # raises on an illegal action
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, done, _, _ = env.last()
        action = None if done else choose_action(agent, observation, rng, rules=rules)
        assert action is None or type(action) is int
        env.step(action)
    assert env.num_agents == 0


def test_the_answer_is_that_of_the_agent_for_the_view_and_the_mask():
    agent, env = load_agent("random"), GoitaVectorEnv(32, seed=3)
    turn = env.reset()
    rng, same, plain = (np.random.default_rng(5) for _ in range(3))
    for row in range(32):
        view, legal = turn.view[row : row + 1], turn.action_mask[row]
        wanted = agent.act(view, legal[None], np.random.default_rng(row))[0]
        observation = turn.observation[row]
        both = {"observation": observation, "action_mask": legal.astype(np.int8)}
        assert choose_action(agent, both, np.random.default_rng(row)) == wanted
        chosen = choose_action(agent, both, rng)
        assert choose_action(agent, observation, same, mask=legal) == chosen
        assert choose_action(agent, observation.tolist(), plain) == chosen


class Remembers:
    name = "remembers"

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

    def begin(self, games, seats, view): ...

    def end(self, games, results, hands): ...


class Stubborn:
    name = "stubborn"

    def act(self, view, legal, rng):
        return np.array([68])


class Nothing: ...


def test_who_cannot_answer_and_what_cannot_be_answered_is_refused():
    turn, rng = GoitaVectorEnv(2, seed=3).reset(), np.random.default_rng(0)
    one, mask, greedy = turn.observation[0], turn.action_mask[0], load_agent("greedy")
    for agent, seen, legal, says in (
        (greedy, {"observation": one, "action_mask": 0 * mask}, None, "got none: the seat is not"),
        (greedy, {"observation": one, "more": 1}, None, r"and 'action_mask', got the keys \['obs"),
        (greedy, turn.observation, mask, r"expected one observation and its mask \[69\]"),
        (greedy, one, mask[:5], r"expected one observation and its mask \[69\]"),
        (greedy, one[:9], mask, "expected an observation of shape"),
        (Stubborn(), one, None, "expected one of .* from 'stubborn', got 'continue'"),
        ("greedy", one, None, r"expected an object with act\(\), which .* got 'greedy'"),
        (Nothing(), one, None, "expected a text or an object with .* got <.*Nothing object"),
        (Remembers(), one, None, "an agent that plays from one view only, got 'remembers'"),
        (load_agent("exec:true"), one, None, "plays from one view only, got 'exec"),
    ):
        refuses(GoitaError, says, choose_action, agent, seen, rng, mask=legal)
    assert rng.random() == np.random.default_rng(0).random()
