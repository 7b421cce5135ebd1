"""Exchanges of tiles of equal rules commute with play, and a training by Other-Play uses them."""

from dataclasses import replace

import numpy as np
import pytest

from goita_env import GoitaVectorEnv
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import SettingError
from goita_env.information import InformationStructure, MessageChannel
from goita_env.rules import JGA, NINE, PAGAT
from goita_env.tiles import COUNTS, NUM_KINDS, PAWN
from goita_lab.learning import Training
from goita_lab.learning.symmetries import (
    ACTION_IMAGES,
    ELEMENTS,
    PAIRS,
    elements_of,
    exchange_masks,
    exchange_words,
)

MESSAGES = InformationStructure(channel=MessageChannel(bits=1))


def kinds(element: int) -> list[int]:
    found = list(range(NUM_KINDS))
    for number, (one, other) in enumerate(PAIRS):
        if element >> number & 1:
            found[one], found[other] = other, one
    return found


@pytest.mark.parametrize(
    ("rules", "information"), [(JGA, MESSAGES), (PAGAT, None), (NINE, None)], ids=str
)
def test_exchanges_commute_with_play(rules, information):
    """Games with exchanged deals, played with exchanged actions, are the same games."""
    options = {} if information is None else {"information": information}
    games, rng = 4 * ELEMENTS, np.random.default_rng(5)
    plain = GoitaVectorEnv(games, rules, seed=3, **options)
    other = GoitaVectorEnv(games, rules, seed=3, **options)
    element = np.arange(games) % ELEMENTS
    hands = deal(games, rng)
    swapped = np.stack(
        [np.array(kinds(one))[hand] for hand, one in zip(hands, element, strict=True)]
    )
    a, b = plain.reset(hands=hands), other.reset(hands=swapped)
    finished = 0
    for _ in range(60):
        assert np.array_equal(exchange_words(a.words, element), b.words)
        assert np.array_equal(exchange_masks(a.action_mask, element), b.action_mask)
        chosen = plain.sample_legal(rng)
        a, b = plain.step(chosen), other.step(ACTION_IMAGES[element, chosen])
        assert np.array_equal(a.reward, b.reward)
        assert np.array_equal(a.done, b.done)
        finished += int(a.done.sum())
        if a.done.any():
            break
    assert finished


def deal(games: int, rng: np.random.Generator) -> np.ndarray:
    """Returns random deals, [N, 4, 8] kinds, without special hands, which may be dealt again."""
    tiles, found = np.repeat(np.arange(NUM_KINDS), COUNTS), []
    while len(found) < games:
        hands = rng.permutation(tiles).reshape(4, 8)
        if ((hands == PAWN).sum(axis=1) < 5).all():
            found.append(hands)
    return np.array(found)


def test_elements_are_their_own_inverse_and_as_frequent():
    words = np.random.default_rng(0).integers(2**63, size=(8, 8)).astype(np.uint64)
    element = np.arange(8) % ELEMENTS
    assert np.array_equal(exchange_words(exchange_words(words, element), element), words)
    assert not np.array_equal(exchange_words(words, element)[1:4], words[1:4])
    for one in range(ELEMENTS):
        assert np.array_equal(
            ACTION_IMAGES[one][ACTION_IMAGES[one]], np.arange(ACTION_IMAGES.shape[1])
        )
        assert sorted(ACTION_IMAGES[one, :NUM_ACTIONS]) == list(range(NUM_ACTIONS))
    found = elements_of(256)
    assert len(np.unique(found, axis=0)) == 256
    assert [np.bincount(seat).tolist() for seat in found.T] == [[64] * 4] * 4


SMALL = Training(
    n_envs=16,
    n_steps=8,
    batch_size=32,
    layers=(8,),
    total_timesteps=128,
    seed=1,
    precision="float32",
)


def test_a_training_sees_the_game_under_each_seats_element():
    """What is stored is exchanged, what is played is not, and each seat keeps its element."""
    model = replace(SMALL, other_play=True).model()
    games = model.env.unwrapped
    games.begin()
    turn = games.turn
    legal = turn.action_mask
    rows = np.flatnonzero(legal.sum(axis=1) > 1)
    element = elements_of(16)[rows, turn.seat[rows]]
    words, seen = turn.words[rows], []
    model._decide = lambda words, masks: (
        seen.append((words, masks))
        or (
            masks.argmax(axis=1),
            np.zeros(len(words), np.float32),
            np.zeros(len(words), np.float32),
        )
    )
    model._step(games, model.rollout_buffer)
    assert np.array_equal(exchange_words(seen[0][0], element), words)
    assert np.array_equal(exchange_masks(seen[0][1], element), legal[rows])
    assert len(set(element.tolist())) == ELEMENTS


def test_other_play_refuses_what_it_does_not_exchange():
    small = replace(SMALL, other_play=True)
    with pytest.raises(SettingError, match="expected no critic with other-play"):
        replace(small, critic=(8,)).model()
    with pytest.raises(SettingError, match="expected no shown tiles with other-play"):
        replace(small, information=InformationStructure(shown="all")).model()
