"""What an agent is: uniform draws, random play, and who is told of deals."""

import numpy as np

from goita_env import GoitaVectorEnv, SeatVectorEnv
from goita_env.agent import RandomAgent, sample, uniform


def test_uniform_gives_each_legal_action_an_equal_share_of_the_numbers():
    rng = np.random.default_rng(0)
    for count in (1, 2, 7, 69):
        legal = np.zeros(69, bool)
        legal[rng.choice(69, count, replace=False)] = True
        numbers = (np.arange(10 * count) + 0.5) / (10 * count)
        chosen = uniform(np.tile(legal, (10 * count, 1)), numbers)
        assert chosen.tolist() == np.flatnonzero(legal).repeat(10).tolist()


def test_the_random_agent_draws_from_its_probabilities():
    turn, agent = GoitaVectorEnv(500, seed=1).reset(), RandomAgent()
    probabilities = agent.probabilities(turn.view, turn.action_mask)
    drawn = sample(probabilities, np.random.default_rng(2))
    chosen = agent.act(turn.view, turn.action_mask, np.random.default_rng(2))
    assert np.array_equal(chosen, drawn)


def test_a_subclass_of_the_random_agent_is_shown_its_view():
    class First(RandomAgent):
        def probabilities(self, view, legal):
            return np.eye(69)[legal.argmax(axis=1)]

    def rewards(bot):
        env = SeatVectorEnv(30, partner=bot, opponents=bot)
        env.reset(seed=0)
        steps = (env.step(env.action_masks().argmax(axis=1)) for _ in range(20))
        return [step[1].tolist() for step in steps]

    assert rewards(First()) != rewards(RandomAgent()) == rewards("random")
