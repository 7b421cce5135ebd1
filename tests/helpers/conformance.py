"""PettingZoo's own tests of environments, and random play in them."""

import warnings

import numpy as np
import pettingzoo
import pytest

with warnings.catch_warnings():
    # PettingZoo's tests import a game of its own in a way that it calls old, where pygame is there.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo import test as own
    from pettingzoo.test.state_test import state_test

UNAVOIDABLE = (
    # PettingZoo warns of every observation that is a dictionary, but for names on a list in its
    # own source.
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or",
)
"""The two warnings that api_test gives to any environment with a mask in its observations."""

needs_registry = pytest.mark.skipif(
    not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry"
)


def check_aec(make, capsys, cycles=100):
    with warnings.catch_warnings():
        for message in UNAVOIDABLE:
            warnings.filterwarnings("ignore", message, UserWarning)
        own.api_test(make(), num_cycles=cycles)
    assert "Passed API test" in capsys.readouterr().out
    own.seed_test(make, num_cycles=cycles)


def check_parallel(make, capsys, make_aec=None, cycles=100):
    own.parallel_api_test(make(), num_cycles=cycles)
    assert "Passed Parallel API test" in capsys.readouterr().out
    own.parallel_seed_test(make, num_cycles=cycles)
    # It samples without the mask, so it needs the environment that takes illegal actions.
    if make_aec is not None:
        state_test(make_aec(), make(), num_cycles=20)


def check_render(make, capsys):
    own.render_test(lambda render_mode: make(render_mode=render_mode))
    assert "seat 0" in capsys.readouterr().out, "human prints"


def random_play(env, seed=0):
    """Plays legal actions at random to the end and yields each agent's last()."""
    rng = np.random.default_rng(seed)
    for agent in env.agent_iter(10_000):
        last = env.last()
        yield agent, last
        legal = np.flatnonzero(last[0]["action_mask"])
        env.step(int(rng.choice(legal)) if len(legal) else None)
