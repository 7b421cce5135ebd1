"""Worlds: uniform, complete and never impossible, against brute force and the rules engine."""

from functools import partial
from time import perf_counter

import numpy as np
import pytest

import world_positions
from deals import RULE_SETS, complete
from goita_env import views
from goita_env.actions import parse
from goita_env.engine import core
from goita_env.engine.tables import WAITING
from goita_env.errors import HandsError, SettingError
from goita_env.tiles import KING, LANCE, PAWN
from goita_env.views import View
from goita_env.worlds import Worlds, determinize, enumerate_worlds, sample
from playing import deal, legal_mask, pick
from raising import refuses
from samples import slow
from world_positions import EARLY, after, late_positions, many_positions, possible

ALL_RULES = [*RULE_SETS, pytest.param(world_positions.CHOOSY_DUTY, id="choosy_duty")]


def z_score(counts: np.ndarray, expected: np.ndarray) -> float:
    """Returns Pearson's chi-square in standard deviations; rare cells are put together."""
    rare = expected < 5
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], max(expected[rare].sum(), 1e-9))
    freedom = max(len(counts) - 1 - (not rare.any()), 1)
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float((statistic - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize("rules", ALL_RULES)
def test_the_brute_force_finds_worlds_that_are_impossible(rules):
    """Else the tests below would compare nothing but permutations."""
    rejected = [len(expected) < tried for _, expected, tried in late_positions(rules)]
    assert len(rejected) >= 5
    assert sum(rejected) >= 1


@pytest.mark.parametrize("rules", ALL_RULES)
def test_enumeration_lists_the_worlds_of_the_brute_force_with_their_weights(rules):
    for at, expected, _ in late_positions(rules):
        worlds = enumerate_worlds(at.view, len(expected))
        found = [key.tobytes() for key in world_positions.keys(worlds.hands, worlds.face_down)]
        assert len(found) == len(set(found)) == len(worlds)
        assert set(found) == set(expected)
        assert np.allclose(worlds.weight, [expected[key] for key in found], rtol=1e-12, atol=0)
        assert len(found) == 1 or enumerate_worlds(at.view, len(expected) - 1) is None


@pytest.mark.parametrize("rules", ALL_RULES)
def test_late_samples_are_uniform_over_the_brute_force(rules):
    scores = []
    drawn = 20_000
    for at, expected, _ in late_positions(rules):
        worlds = sample(at.view, drawn, np.random.default_rng(11))
        found, counts = world_positions.distinct(
            world_positions.keys(worlds.hands, worlds.face_down)
        )
        counted = dict(zip((key.tobytes() for key in found), counts.tolist(), strict=True))
        assert set(counted) <= set(expected)
        seen = np.array([counted.get(key, 0) for key in expected])
        scores.append(z_score(seen, drawn * np.array(list(expected.values()))))
    assert max(scores) < 4
    assert abs(np.mean(scores)) < 4 / np.sqrt(len(scores))


def statistics(hands: np.ndarray, face_down: np.ndarray) -> np.ndarray:
    """Sums up worlds: pawns that each seat was dealt, the kings, one seat's lances; [n, 10]."""
    down = face_down[:, 1:]
    pawns = hands[:, 1:, PAWN] + (down == PAWN).sum(axis=2)
    kings = (down == KING).astype(int) @ [1, 2, 4, 8]
    return np.concatenate((pawns, hands[:, 1:, KING], kings, hands[:, 1:2, LANCE]), axis=1)


def two_samples(one: np.ndarray, two: np.ndarray) -> tuple[float, int]:
    """Returns Pearson's chi-square of two samples, rows of numbers, and its degrees of freedom."""
    _, place = np.unique(np.concatenate((one, two)), axis=0, return_inverse=True)
    counts = [np.bincount(part, minlength=place.max() + 1) for part in np.split(place, [len(one)])]
    share = len(one) / len(place)
    rare = sum(counts) * min(share, 1 - share) < 5
    first, second = (np.append(row[~rare], row[rare].sum()) for row in counts)
    total = np.maximum(first + second, 1)
    return ((first - share * total) ** 2 / (share * (1 - share) * total)).sum(), len(total) - 1


def with_callers_fives(at: world_positions.Position, redeals: np.ndarray) -> np.ndarray:
    """Tells in which redeals, [n, U], callers hold five pawns: not to replay many others."""
    good, (held, downs) = np.ones(len(redeals), bool), world_positions.hidden_places(at)
    for seat in np.flatnonzero(at.view.called[0, 1:]) + 1:
        places = np.array([*held, *(one for one, _ in downs)]) == seat
        dealt = (redeals[:, places] == PAWN).sum(axis=1) + at.view.face_up[0, seat, PAWN]
        good &= dealt == 5
    return good


@pytest.mark.parametrize("name", EARLY)
@pytest.mark.parametrize("redealt", [50_000, slow(400_000)])
def test_early_samples_agree_with_redeals_that_the_engine_lets_pass(name, redealt):
    at, rng = after(*EARLY[name]), np.random.default_rng(3)
    redealt *= 1 + at.view.called[0, 1:].any()  # where somebody called few redeals pass
    tiles = np.arange(8).repeat(at.view.unseen[0])
    redeals = rng.permuted(np.tile(tiles, (redealt, 1)), axis=1)
    good = with_callers_fives(at, redeals)
    hands, face_down = world_positions.placed(at, redeals[good][: redealt // 10])
    good = possible(at, hands, face_down)
    passed = statistics(hands[good], face_down[good])
    worlds = sample(at.view, 3 * redealt // 40, rng)
    assert possible(at, worlds.hands[:500], worlds.face_down[:500]).all()
    drawn = statistics(worlds.hands, worlds.face_down)
    assert len(passed) > 0.001 * redealt
    freedoms = []
    for columns in (slice(3), slice(3, None), slice(None)):  # pawns, the others, and all together
        statistic, freedom = two_samples(passed[:, columns], drawn[:, columns])
        freedoms.append(freedom)
        assert statistic < freedom + 4 * np.sqrt(2 * freedom)
    assert max(freedoms) >= 5


@pytest.mark.parametrize("rules", ALL_RULES)
@pytest.mark.parametrize("count", [(), slow((240,))], ids=["some", "many"])
def test_no_world_is_ever_impossible(rules, count):
    rng = np.random.default_rng(2)
    for at in many_positions(rules, *count):
        worlds = sample(at.view, 16, rng)
        assert possible(at, worlds.hands, worlds.face_down).all()
        assert (worlds.dealt.sum(axis=2) == 8).all()
        assert (worlds.dealt.sum(axis=1) == np.array([10, 4, 4, 4, 4, 2, 2, 2])).all()
        assert (worlds.weight == 1 / 16).all()


def stack(positions: list) -> tuple[View, Worlds]:
    """Puts positions of one rule set into one view, with their true worlds."""
    words = np.concatenate([at.view.words for at in positions])
    truths = [at.truth for at in positions]
    hands = np.array([hands for hands, _ in truths], np.int8)
    face_down = np.array([down for _, down in truths], np.int8)
    view = View(words, rules=positions[0].rules)
    return view, Worlds(hands, face_down, np.ones(len(hands)), view.face_up)


def true_games(positions: list) -> core.State:
    """Plays the moves of positions of one rule set in the core, viewers on seat 0."""
    hands = np.concatenate([world_positions.kinds_of(at.hands) for at in positions])
    dealers = [at.dealer for at in positions]
    parts = []
    for number, at in enumerate(positions):
        one = slice(number, number + 1)
        state = deal(at.rules, hands[one], dealers[one], [at.scores])
        for _, action in at.moves:
            core.step(state, np.array([action]))
        parts.append(turned_to_clock_0(state))
    return core.State(positions[0].rules, np.concatenate([one.data for one in parts], axis=1))


def turned_to_clock_0(state: core.State) -> core.State:
    """Moves all seats such that the asked one is on slot 0."""
    data, clock = state.data.copy(), state.clock
    slots = data[:28].reshape(7, 4, -1)
    slots[:] = np.roll(slots, -clock, axis=1)
    turned = core.State(state.rules, data)
    turned.offset[:] = (turned.offset - clock) & 3
    return turned


@pytest.mark.parametrize("rules", ALL_RULES)
def test_games_of_the_true_worlds_are_the_true_games(rules):
    positions = many_positions(rules) + [at for at, _, _ in late_positions(rules)]
    state, true = determinize(*stack(positions))._state, true_games(positions)
    assert np.array_equal(state.data, true.data)
    assert np.array_equal(state.asking, true.asking)
    assert (state.clock, state.rules) == (0, true.rules)
    rng = np.random.default_rng(0)
    while (true.status < WAITING).any():
        assert np.array_equal(state.seat, true.seat)
        for seat in range(4):
            words = [views.seat_view(one, seat).words for one in (state, true)]
            assert np.array_equal(*words)
        mask = legal_mask(true)
        assert np.array_equal(legal_mask(state), mask)
        chosen = pick(mask, rng.integers(0, 1000, len(mask)))
        core.step(state, chosen)
        core.step(true, chosen)
    assert np.array_equal(state.points, true.points)
    assert np.array_equal(state.winner, true.winner)
    assert (state.winner >= 0).mean() > 0.5


@pytest.mark.parametrize("rules", ALL_RULES)
def test_games_of_sampled_worlds_show_the_viewer_its_own_view_and_can_be_played_out(rules):
    view, _ = stack(many_positions(rules))
    worlds = sample(view, 4, np.random.default_rng(0))
    state = determinize(view, worlds)._state
    assert np.array_equal(views.seat_view(state, 0).words, view.words.repeat(4, axis=0))
    asked_now = views.acting_view(state)
    assert np.array_equal(asked_now.legal(), legal_mask(state))
    rng = np.random.default_rng(0)
    for _ in range(60):
        mask = legal_mask(state)
        assert np.array_equal(mask.any(axis=1), state.status < WAITING)
        core.step(state, pick(mask, rng.integers(0, 1000, len(mask))))
    assert (state.status >= WAITING).all()


def test_a_seat_that_is_not_asked_has_worlds_too():
    for game in EARLY.values():
        if after(*game).view.asked_call[0]:
            continue  # only the acting seat knows that
        for viewer in range(4):
            at = after(*game, viewer)
            hidden, face_down = at.truth
            worlds = sample(at.view, 50, np.random.default_rng(0))
            assert possible(at, worlds.hands, worlds.face_down).all()
            true = Worlds(hidden[None], face_down[None], np.ones(1), at.view.face_up)
            games = determinize(at.view, true)._state
            assert np.array_equal(games.data, true_games([at]).data)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_draws_depend_on_generator_and_row_alone(rules):
    view, _ = stack(many_positions(rules)[:20])
    one, two = (sample(view, 8, np.random.default_rng(4)) for _ in range(2))
    rng = np.random.default_rng(4)
    rows = [sample(view[row : row + 1], 8, rng) for row in range(20)]
    first = sample(view[:1], 8, np.random.default_rng(4))
    for field in ("hands", "face_down", "weight", "face_up"):
        assert np.array_equal(getattr(one, field), getattr(two, field))
        by_row = np.concatenate([getattr(row, field) for row in rows])
        assert np.array_equal(getattr(one, field), by_row)
        assert np.array_equal(getattr(one[:8], field), getattr(first, field))
    assert not np.array_equal(one.hands, sample(view, 8, np.random.default_rng(5)).hands)


def test_early_positions_are_soon_found_to_have_too_many_worlds():
    view = after("jga", complete("2345", "2345", "2345", "2345"), 0, "").view
    begun = perf_counter()
    assert enumerate_worlds(view, 10_000) is None
    assert perf_counter() - begun < 0.5


ENDS = {
    "the last tile": ("jga", world_positions.KING_FIRST, 2, "13 p p p 28 p p p 34 p p p 58"),
    "a call of six": ("jga", complete("111111", "", "", ""), 0, "call"),
    "partners' fives": ("jga", world_positions.PARTNERS, 0, "call call"),
    "opponents' fives": ("nine", world_positions.OPPONENTS, 0, "call call"),
    "a redeal": ("pagat", world_positions.FIVE, 0, "call redeal"),
    "two partners' redeal": ("jga", world_positions.OPPONENTS, 0, "call call redeal redeal"),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_a_round_is_an_error(name):
    rules, hands, dealer, moves = ENDS[name]
    kinds = np.array([[int(digit) - 1 for digit in hand] for hand in hands])
    state = deal(rules, kinds[None], [dealer])
    for move in moves.split():
        assert legal_mask(state)[0, parse(move)]
        core.step(state, np.array([parse(move)]))
    assert state.status[0] >= WAITING
    in_play = after(*EARLY["a king attacks first"]).view
    worlds = sample(in_play, 2, np.random.default_rng(0))
    for seat in range(4):
        end = views.seat_view(state, seat)
        both = View(np.concatenate((in_play.words, end.words)), rules=rules)
        with pytest.raises(SettingError, match="under way, got the end of one in row 1"):
            sample(both, 1, np.random.default_rng(0))
        for ask in (partial(enumerate_worlds, end, 1), partial(determinize, end, worlds)):
            refuses(SettingError, "under way, got the end of one in row 0", ask)


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "many"])
def test_a_number_of_worlds_below_1_and_a_list_for_no_row_are_errors(number):
    view = after(*EARLY["a called five"]).view
    refuses(SettingError, "expected a view of one row, got 0 rows", enumerate_worlds, view[:0], 10)
    with pytest.raises(SettingError, match="expected a whole number of worlds from 1 on, got"):
        sample(view, number, np.random.default_rng(0))
    with pytest.raises(SettingError, match="expected a whole number of worlds as limit"):
        enumerate_worlds(view, number)


def test_worlds_of_another_view_are_an_error():
    view, other = (after(*EARLY[name]).view for name in ("a called five", "a king attacks first"))
    worlds = sample(view, 3, np.random.default_rng(0))
    with pytest.raises(HandsError, match=r"expected worlds with .* got others in world 0"):
        determinize(other, worlds)
    two = View(np.concatenate((view.words, view.words)))
    with pytest.raises(SettingError, match="as many worlds for each of 2 rows, got 3 in all"):
        determinize(two, worlds)
    moved = Worlds(worlds.hands.copy(), worlds.face_down, worlds.weight, worlds.face_up)
    moved.hands[2] = moved.hands[2][[1, 0, 2, 3]]
    refuses(HandsError, "got others in world 2", determinize, view, moved)


def test_worlds_that_ask_another_question_are_an_error():
    view = after("pagat", complete("11111234", "2345", "2345", "2345"), 1, "").view
    assert view.asked_call[0]
    worlds = sample(view, 1, np.random.default_rng(0))
    # All tiles that seats 2 and 3 hold, but for the pawns that now seat 1 holds.
    left = view.unseen[0].astype(int) - [5, 1, 1, 1, 0, 0, 0, 0]
    worlds.hands[0, 1] = [5, 1, 1, 1, 0, 0, 0, 0]
    tiles = np.arange(8).repeat(left)
    worlds.hands[0, 2:] = [np.bincount(half, minlength=8) for half in (tiles[:8], tiles[8:])]
    with pytest.raises(HandsError, match=r"question that the view shows is asked, .* in world 0"):
        determinize(view, worlds)
