"""One action for a loop over a PettingZoo environment."""

import numpy as np
import pytest

from goita_agents import AgentError, choose, load_agent
from goita_env import GoitaVectorEnv, errors, goita_v0


@pytest.mark.parametrize("rules", ["jga", "pagat", "nine"])
@pytest.mark.parametrize("name", ["random", "greedy", "heuristic"])
def test_an_agent_plays_an_episode_of_pettingzoo(rules, name):
    agent, rng = load_agent(name), np.random.default_rng(0)
    env = goita_v0.raw_env(rules=rules)  # raises on an illegal action
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, done, _, _ = env.last()
        action = None if done else choose(agent, observation, rng, rules=rules)
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
        assert choose(agent, both, np.random.default_rng(row)) == wanted
        chosen = choose(agent, both, rng)
        assert choose(agent, observation, same, mask=legal) == chosen
        assert choose(agent, observation.tolist(), plain) == chosen


def test_a_mask_narrows_the_choice():
    turn = GoitaVectorEnv(1, seed=3).reset()
    only = np.zeros(69, np.int8)
    only[np.flatnonzero(turn.action_mask[0])[-1]] = 1
    for seed in range(10):
        rng = np.random.default_rng(seed)
        assert only[choose(load_agent("random"), turn.observation[0], rng, mask=only)] == 1


def test_what_cannot_be_answered_is_refused():
    agent, rng, turn = load_agent("greedy"), np.random.default_rng(0), GoitaVectorEnv(2).reset()
    one, mask = turn.observation[0], turn.action_mask[0]
    with pytest.raises(AgentError, match="got none: the seat is not asked"):
        choose(agent, {"observation": one, "action_mask": np.zeros(69)}, rng)
    for seen, legal in ((turn.observation, mask), (one, mask[:5])):
        with pytest.raises(AgentError, match=r"expected one observation and its mask \[69\]"):
            choose(agent, seen, rng, mask=legal)
    with pytest.raises(errors.ObservationError, match="expected an observation of shape"):
        choose(agent, one[:9], rng, mask=mask)


def test_an_illegal_answer_is_the_agents_fault():
    class Stubborn:
        name = "stubborn"

        def act(self, view, legal, rng):
            return np.array([68])

    one = GoitaVectorEnv(1, seed=3).reset().observation[0]
    with pytest.raises(AgentError, match=r"expected one of .* got 'continue' from 'stubborn'"):
        choose(Stubborn(), one, np.random.default_rng())


class Remembers:
    name = "remembers"

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

    def begin(self, games, seats, view): ...

    def end(self, games, results, hands): ...


class Nameless:
    act = Remembers.act


class Helpless:
    name = "helpless"


@pytest.mark.parametrize(
    ("agent", "says"),
    [
        ("greedy", r"expected an object with act\(\) and a name, .* got 'greedy'"),
        (Nameless(), "expected an object with .* got <.*Nameless object"),
        (Helpless(), "expected an object with .* got <.*Helpless object"),
        (Remembers(), "expected an agent that plays from one view alone, got 'remembers'"),
        (load_agent("exec:true"), "expected an agent that plays from one view alone, got 'exec"),
    ],
)
def test_what_is_no_agent_for_one_observation_is_refused(agent, says):
    one, rng = GoitaVectorEnv(1, seed=3).reset().observation[0], np.random.default_rng(0)
    with pytest.raises(AgentError, match=says):
        choose(agent, one, rng)
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(
    ("missing", "other"), [("observation", "action_mask"), ("action_mask", "observation")]
)
def test_a_dict_of_other_keys_is_refused(missing, other):
    turn = GoitaVectorEnv(1, seed=3).reset()
    both = {"observation": turn.observation[0], "action_mask": turn.action_mask[0], "more": 1}
    del both[missing]
    says = rf"'observation' and 'action_mask', got the keys \['{other}', 'more'\]"
    with pytest.raises(AgentError, match=says):
        choose(load_agent("greedy"), both, np.random.default_rng(0))
