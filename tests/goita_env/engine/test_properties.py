"""Properties of every round: tiles, turns, lengths, symmetry, batches, and copies of states."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deals import RULE_SETS, TILES, special_hands, uniform_hands
from goita_env import get_rules
from goita_env.actions import PASS
from goita_env.engine import core
from goita_env.engine.episodes import Match
from goita_env.engine.tables import CODE_MASK, FRESH, KING_PERMIT, RADIX, attack_status, code_counts
from goita_env.tiles import COUNTS, MAX_DECISIONS, MAX_PLAYS
from goita_env.views import observation as packing
from playing import after_reset, deal, frozen, legal_mask, pick
from samples import longer, rotating

rule_sets = st.sampled_from(RULE_SETS)
seats = st.integers(0, 3)
seeds = st.integers(0, 2**32 - 1)
# The n-th decision takes the legal action number choices[n] modulo how many; passes after the last.
choices = st.lists(st.integers(0, 63), max_size=60)
turns = st.integers(1, 3)


@st.composite
def deals(draw):
    """Draws four hands, at times rich in pawns: int [4, 8]."""
    if draw(st.booleans()):
        return np.array(draw(st.permutations(TILES))).reshape(4, 8)
    return special_hands(np.random.default_rng(draw(seeds)), 1)[0]


def choice(numbers, step):
    return numbers[step] if step < len(numbers) else 0


def played_out(state, numbers):
    """Plays a batch of one in place to its end and yields before every decision."""
    for step in range(MAX_DECISIONS + 5):
        if state.seat[0] < 0:
            return
        yield step
        core.step(state, pick(legal_mask(state), choice(numbers, step)))
    raise AssertionError("the round goes on and on")


def tiles_in_all_places(state):
    """Counts the tiles of each kind in hands, face down and face up: int [N, 8]."""
    counts = code_counts()
    held = counts[state.hand & CODE_MASK].sum(axis=0)
    return held + counts[state.down].sum(axis=0) + counts[state.up]


@pytest.mark.parametrize(("rules", "dealt"), rotating(RULE_SETS, [special_hands, uniform_hands]))
def test_the_32_tiles_are_conserved_in_a_thousand_games(rules, dealt):
    rng = np.random.default_rng(0)
    match = after_reset(Match(1_000, rules, "match"), dealt(rng, 1_000))
    for _ in range(60):
        assert (tiles_in_all_places(match.state) == COUNTS).all()
        held = code_counts()[match.state.hand & CODE_MASK].sum(axis=0)
        assert np.array_equal(match.state.hand_counts().sum(axis=1), held)
        match.step(pick(legal_mask(match.state), rng.integers(0, 1 << 30, 1_000)))


@pytest.mark.parametrize(("patience", "rules"), rotating([0.0, 0.5, 0.9, 1.0], RULE_SETS))
def test_no_round_outlasts_13_plays_46_decisions_and_4_questions(rules, patience):
    rng = np.random.default_rng(1)
    hands = np.concatenate([uniform_hands(rng, 1_500), special_hands(rng, 500)])
    state = deal(rules, hands, rng.integers(0, 4, 2_000))
    plays, decisions, questions = np.zeros((3, 2_000), int)
    while (asked := state.seat >= 0).any():
        mask = legal_mask(state)
        chosen = pick(mask, rng.integers(0, 1 << 30, 2_000))
        chosen[mask[:, PASS] & (rng.random(2_000) < patience)] = PASS
        plays += asked & (chosen > 0) & (chosen < 65)
        decisions += asked & (chosen < 65)
        questions += asked & (chosen >= 65)
        core.step(state, chosen)
        assert decisions.max() <= MAX_DECISIONS
    assert plays.max() <= MAX_PLAYS
    assert questions.max() <= 4
    assert decisions[(decisions > 0) & (state.winner >= 0)].min() >= 13


MUST_PLAY = {FRESH: (8,)} | {
    attack_status(attack, 3, king_up): (2, 4, 6) for attack in range(8) for king_up in (False, True)
}
"""Sizes of the hands by status: the dealer's first turn, and all passed on this seat's attack."""


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_seat_that_must_play_can_whatever_it_holds(rules):
    rules = get_rules(rules)
    counts = code_counts()
    possible = (counts <= COUNTS).all(axis=1)
    sizes = counts.sum(axis=1)
    codes = {size: np.flatnonzero(possible & (sizes == size)) for size in (2, 4, 6, 8)}
    # The number of hands of each size, counted once more as coefficients of a polynomial.
    polynomial = reduce(np.convolve, [np.ones(count + 1, int) for count in COUNTS])
    assert all(len(codes[size]) == polynomial[size] for size in codes)
    for status, held in MUST_PLAY.items():
        hands = np.concatenate([codes[size] for size in held])
        state = core.State.empty(len(hands), rules)
        state.hand[state.clock] = hands
        state.status[:] = status
        mask = legal_mask(state)
        assert not mask[:, PASS].any()
        assert mask[:, 1:65].any(axis=1).all()


@pytest.mark.parametrize("rules", RULE_SETS)
def test_the_statuses_in_which_a_seat_must_play_are_those_without_a_pass(rules):
    state = core.State.empty(65, rules)
    state.hand[state.clock] = RADIX[0] * 2 | KING_PERMIT
    state.status[:] = np.arange(65)
    assert set(np.flatnonzero(~legal_mask(state)[:, PASS]).tolist()) == set(MUST_PLAY)


@given(rule_sets, deals(), seats, choices, turns)
@settings(max_examples=20)
def test_rotating_the_seats_rotates_everything(rules, hands, dealer, numbers, turn):
    scores = np.array([[20, 130]])
    one = deal(rules, hands[None], [dealer], scores)
    turned = np.roll(hands, turn, axis=0)
    other = deal(rules, turned[None], [(dealer + turn) % 4], np.roll(scores, turn, axis=1))
    for step in played_out(one, numbers):
        assert (one.seat[0] + turn) % 4 == other.seat[0]
        mask = legal_mask(one)
        assert np.array_equal(mask, legal_mask(other))
        assert np.array_equal(packing.pack(one), packing.pack(other))
        for seat in range(4):
            words = packing.pack_seat(one, seat)
            assert np.array_equal(words, packing.pack_seat(other, (seat + turn) % 4))
        core.step(other, pick(mask, choice(numbers, step)))
    assert other.seat[0] == -1
    assert one.points[0] == other.points[0]
    assert np.array_equal(np.roll(one.hand_counts(), turn, axis=1), other.hand_counts())
    if one.winner[0] >= 0:
        assert (one.winner[0] + turn) % 4 == other.winner[0]


def trace(state, numbers, steps=MAX_DECISIONS + 5):
    """Plays a batch on in place and returns all that can be seen of each game, by step."""
    seen = []
    for step in range(steps):
        mask = legal_mask(state)
        views = [packing.pack_seat(state, seat) for seat in range(4)]
        seen.append((state.seat, mask, state.points.copy(), state.winner.copy(), *views))
        core.step(state, pick(mask, numbers + step))
    return seen


batches = rule_sets, st.lists(st.tuples(deals(), seats, seeds), min_size=1, max_size=7)


def assert_same(one, other):
    for before, after in zip(one, other, strict=True):
        for first, second in zip(before, after, strict=True):
            assert np.array_equal(first, second)


@given(*batches)
@settings(max_examples=8)
def test_a_batch_equals_its_single_games(rules, games):
    hands = np.array([hand for hand, _, _ in games])
    dealers = np.array([dealer for _, dealer, _ in games])
    numbers = np.array([number for _, _, number in games])
    whole = trace(deal(rules, hands, dealers), numbers)
    for game in range(len(games)):
        row = slice(game, game + 1)
        alone = trace(deal(rules, hands[row], dealers[row]), numbers[row])
        assert_same(alone, [[part[row] for part in seen] for seen in whole])


@st.composite
def midway(draw):
    """Draws a state of a few games somewhere in their rounds, pre-play decisions included."""
    rng = np.random.default_rng(draw(seeds))
    count = draw(st.integers(1, 6))
    dealt = draw(st.sampled_from([uniform_hands, special_hands]))
    state = deal(draw(rule_sets), dealt(rng, count), rng.integers(0, 4, count))
    for _ in range(draw(st.integers(0, 30))):
        core.step(state, pick(legal_mask(state), rng.integers(0, 1 << 30, count)))
    return state


@given(midway(), seeds, turns)
@settings(max_examples=10)
def test_copied_selected_and_repeated_games_continue_identically_and_apart(state, seed, times):
    every = np.arange(state.num_games)
    some = np.random.default_rng(seed).integers(0, state.num_games, 5)
    before, numbers = frozen(state), every * 7
    twins = {
        "copy": (state.copy(), every),
        "select": (state.select(some), some),
        "repeat": (state.repeat(times), every.repeat(times)),
    }
    seen = {how: trace(twin, numbers[index]) for how, (twin, index) in twins.items()}
    assert frozen(state) == before
    whole = trace(state, numbers)
    for how, (_, index) in twins.items():
        assert_same(seen[how], [[part[index] for part in step] for step in whole])


@given(midway())
@settings(max_examples=15)
def test_a_state_that_is_over_or_waits_stays_still(state):
    numbers = np.arange(state.num_games)
    trace(state, numbers)
    data = state.data.copy()
    assert (state.seat == -1).all()
    assert not legal_mask(state).any()
    core.step(state, np.full(state.num_games, PASS))
    assert np.array_equal(state.data, data)
    assert len(state.ended) == len(state.asking) == 0


test_many_rounds_rotate = longer(
    test_rotating_the_seats_rotates_everything, rule_sets, deals(), seats, choices, turns
)
test_many_batches_equal_their_single_games = longer(test_a_batch_equals_its_single_games, *batches)
test_many_copies_continue_identically = longer(
    test_copied_selected_and_repeated_games_continue_identically_and_apart, midway(), seeds, turns
)


def test_selected_games_can_be_dealt_to_again():
    rng = np.random.default_rng(3)
    match = after_reset(Match(8, "jga", auto_reset=False), special_hands(rng, 8))
    match.state = match.state.select(np.arange(8))
    hands = uniform_hands(rng, 8)
    match.reset(hands, np.zeros(8, int))
    dealt = (hands[..., None] == np.arange(8)).sum(axis=2)
    assert np.array_equal(match.state.hand_counts(), dealt)


def test_an_empty_selection_is_a_state_of_no_games():
    state = deal("jga", uniform_hands(np.random.default_rng(0), 3), [0, 1, 2])
    none = np.zeros(0, int)
    for empty in (state.select(none), state.repeat(0), state.copy().select(none).copy()):
        assert empty.num_games == 0
        assert legal_mask(empty).shape == (0, 69)
        assert packing.pack(empty).shape == (0, 8)
        core.step(empty, none)
