"""An attacker with all that a bot is given rebuilds no deal, and would where the seed leaks."""

import secrets

import numpy as np
import pytest

import attack
from attack import Attacker
from goita_env import seeds
from goita_lab.arena.tournament import seating
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import tasks

DEALS = 32


@pytest.fixture(autouse=True)
def few_games(monkeypatch):
    """Lets the attacker deal as many games of a seed as there are."""
    monkeypatch.setattr(attack, "GAMES", 2 * DEALS)


def attacked(seed):
    """Returns games that the attacker rebuilt, and how many there were."""
    Attacker.every.clear()
    (task,) = tasks(("attack:Attacker", "greedy"), DEALS, seed=seed)
    play_block(task)
    assert len(Attacker.every) == 4
    return sum(one.rebuilt() for one in Attacker.every), sum(
        len(one.hands) for one in Attacker.every
    )


def test_no_deal_can_be_rebuilt_from_what_a_bot_is_given():
    rebuilt, games = attacked(secrets.randbits(63))
    assert games == 4 * DEALS
    assert rebuilt == 0


@pytest.mark.parametrize(
    "leak",
    [
        lambda seed, *parts: np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,))),
        lambda seed, *parts: np.random.default_rng((seed, 7)),
        lambda seed, *parts: np.random.default_rng(int(seeds.game_keys(seed, np.zeros(1, int))[0])),
    ],
)
def test_the_attacker_rebuilds_them_where_the_generator_tells_the_seed(leak, monkeypatch):
    monkeypatch.setattr(seating, "bot_generator", leak)
    monkeypatch.setattr(attack, "MOST", 10)
    rebuilt, games = attacked(6_148_914_691_236_517_205)  # with few deals to be dealt again
    assert rebuilt > 0.8 * games  # but those that were dealt again
