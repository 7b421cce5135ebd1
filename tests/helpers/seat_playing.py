"""Bots around a learner, and what its games tell, between the tests of one seat."""

import numpy as np
from gymnasium.vector import AutoresetMode

from goita_env.views import from_observation
from playing import habits, pick

MODES = list(AutoresetMode)


class Habits:
    """Plays by its view alone."""

    def act(self, view, legal, rng):
        return habits(view, legal)


class Watching(Habits):
    """Keeps the games that it is asked in, and the generators that it is handed."""

    def __init__(self):
        self.games, self.generators = set(), set()

    def act(self, view, legal, rng):
        self.games |= set(view.game.tolist())
        self.generators.add(rng.bit_generator.seed_seq.entropy)
        return super().act(view, legal, rng)

    @property
    def seats(self):
        return {game % 4 for game in self.games}


class Drawing:
    """Plays every legal action, the later the more often: a policy of known probabilities."""

    def act(self, view, legal, rng):
        raise AssertionError("expected to be asked for probabilities")

    def probabilities(self, view, legal):
        weights = legal * np.arange(1.0, 70)
        return weights / weights.sum(axis=1, keepdims=True)


class Loose:
    """Plays by the generator that it is handed."""

    def act(self, view, legal, rng):
        return pick(legal, rng.integers(1 << 30, size=len(legal)))


def same(one, other):
    """Tells whether two results of reset or step are equal to the last bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return all(same(*pair) for pair in zip(one, other, strict=True))
    return np.asarray(one).dtype == np.asarray(other).dtype and np.array_equal(one, other)


def decide(env, observation, rules="jga"):
    """Returns the learner's actions by habit: int [N]."""
    return habits(from_observation(observation, rules=rules), env.action_masks())


def step_at_random(env, steps=20):
    """Makes steps whose results nobody reads."""
    for _ in range(steps):
        env.step(env.sample_legal(np.random.default_rng(0)))


def told(env, steps, act=None):
    """Plays and yields result after result, that of the reset first."""
    observation, info = env.reset(seed=4)
    yield observation, info
    for number in range(steps):
        actions = decide(env, observation) if act is None else act(number)
        result = env.step(actions)
        observation = result[0]
        yield result
