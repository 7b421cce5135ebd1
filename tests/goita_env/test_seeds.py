"""What bots are given is derived from the seed, and does not tell it."""

import hashlib
import json

import numpy as np

from goita_env.seeds import GameNumbers, bot_generator, bot_seed

SEED = 2**63 - 25


def test_a_bots_seed_is_blake2b_of_all_that_it_depends_on():
    text = json.dumps(["tournament", SEED, 3, 1, 0, 2]).encode()
    digest = hashlib.blake2b(text, digest_size=16, person=b"goita-bots").hexdigest()
    assert bot_seed(SEED, "tournament", 3, 1, 0, 2) == int(digest, 16)


def test_other_parts_give_another_seed():
    parts = [(), (0,), (0, 0), (1,), ("0",)]
    found = [bot_seed(SEED, purpose, *rest) for purpose in ("play", "pool") for rest in parts]
    assert len(set(found)) == len(found)


def test_a_generator_holds_nothing_that_is_the_seed():
    state = repr(bot_generator(SEED, "play").bit_generator.__getstate__())
    assert str(SEED) not in state
    assert str(SEED + 1) not in state  # nor beside it


def test_shown_numbers_are_a_permutation_and_can_be_mapped_back():
    numbers, games = GameNumbers(SEED, "play"), np.arange(50_000)
    shown = numbers.numbers(games)
    assert len(np.unique(shown)) == len(games)
    assert shown.min() >= 0
    assert shown.max() < 2**51
    assert (numbers.games(shown) == games).all()
    ends = np.array([2**51 - 1, 2**50, 0])
    assert (numbers.numbers(numbers.games(ends)) == ends).all()


def test_shown_numbers_do_not_tell_which_game_comes_next():
    shown = GameNumbers(SEED, "play").numbers(np.arange(4096))
    bits = (shown[:, None] >> np.arange(51)) & 1
    # Half of the bits are ones, and half of them change from one game to the next: 5 sigma.
    assert abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / 64
    assert abs((bits[1:] ^ bits[:-1]).mean(axis=0) - 0.5).max() < 5 * 0.5 / 64
