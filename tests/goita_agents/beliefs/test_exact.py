"""The listener beside every deal played again in the engine, and beside deals drawn at random."""

from functools import partial
from itertools import permutations
from math import factorial
from typing import get_args, get_type_hints

import numpy as np
import pytest

from belief_worlds import OddPolicy, brute_posterior, weigh
from deals import RULE_SETS, special_hands, tiles_of, uniform_hands
from goita_agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, Listener, PolicyModel, summing
from goita_agents.beliefs.supports import support
from goita_env import JGA, Game, Rules
from goita_env.actions import PASS, decode
from goita_env.rules import MINI_4, get_rules
from goita_env.tiles import PAWN, POINTS
from goita_env.views import NONE
from world_positions import (
    EARLY,
    LATE,
    Position,
    after,
    arrangements_count,
    dealt_hands,
    hidden_places,
    placed,
    position,
)

ODD, SHARP = PolicyModel(OddPolicy(), epsilon=0), PolicyModel(OddPolicy(8.0), epsilon=0.1)
ASSUMED = [(ODD, ODD), (SHARP, SHARP), (UNIFORM_MODEL, UNIFORM_MODEL), (LEGAL_MODEL, None)]
"""What the listener is told, and what the brute force asks."""


def listener(at: Position, picked: list, **options) -> Listener:
    """Listens with what is picked for seats 1 to 3."""
    one, two, three = (told for told, _ in picked)
    return Listener(at.view, {"next": one, "partner": two, "previous": three}, **options)


def error(at: Position, picked: list) -> float:
    """Returns how far the probability of any deal, or hand, is from the brute force's."""
    heard, expected = listener(at, picked), brute_posterior(at, [asked for _, asked in picked])
    deals, total, worst = heard.deals(), 0.0, 0.0
    hands = [heard.posterior(seat) for seat in ("next", "partner", "previous")]
    summed = [np.zeros(len(one.hands)) for one in hands]
    for key, probability in expected.items():
        counts = np.frombuffer(key, np.int64).reshape(3, 8)
        found = np.exp(deals.log_probability(counts))
        worst, total = max(worst, abs(found - probability)), total + found
        for one, sums, hand in zip(hands, summed, counts, strict=True):
            sums[one.index(hand)] += probability
    apart = [abs(sums - one.probability).max() for one, sums in zip(hands, summed, strict=True)]
    return max(worst, abs(total - 1), *apart)


def late_positions(rules: str | Rules, count: int, seed: int) -> list[Position]:
    """Plays rounds at random; returns the ends, and the last decisions before, if few are left."""
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        hands = (uniform_hands, special_hands)[number % 2](rng, 1)[0]
        digits = ["".join(str(kind + 1) for kind in hand) for hand in hands.tolist()]
        if get_rules(rules).is_small:
            digits = Game(rules, seed=number).dealt
            digits = ["".join(str(kind + 1) for kind in tiles) for tiles in tiles_of(digits)]
        begin = partial(Game, rules, hands=digits, dealer=int(rng.integers(4)), seed=0)
        game, made, last = begin(), [], 0
        while not game.done and len(game.deals) == 1:
            legal = game.legal_actions()
            pairs = [one for one in legal if decode(one) and len({*decode(one)}) == 1]
            last = len(made) if len(legal) > 1 and made else last
            passing = legal[0] == PASS and rng.random() < 0.15
            free = [one for one in legal if one != PASS] or legal
            made.append(
                PASS if passing else int(rng.choice(pairs if pairs and number % 4 else free))
            )
            game.play(made[-1])
        if len(game.deals) == 1 and game.view(0).num_plays[0]:
            before = begin()
            for action in made[:last]:
                before.play(action)
            found += [position(before), position(game, (game.winner + int(rng.integers(1, 4))) % 4)]
    return [at for at in found if at.view.num_plays[0] and arrangements_count(at) < 10_000]


def picks(at: Position, number: int) -> list:
    """Picks what is assumed of seats 1 to 3."""
    rng = np.random.default_rng((len(at.moves), number))
    return [ASSUMED[one] for one in rng.integers(len(ASSUMED), size=3)]


def check(positions: list[Position], fewest: int) -> None:
    """Checks every deal of enough positions against the brute force."""
    assert len(positions) > fewest
    for number, at in enumerate(positions):
        picked = picks(at, number)
        assert error(at, picked) < 1e-9, (at.moves, picked)


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("rounds", [6, pytest.param(480, marks=pytest.mark.slow)])
def test_late_in_a_round_it_agrees_with_trying_every_deal(rules, rounds):
    positions = [after(*late) for late in LATE if late[0] == rules]
    check(positions + late_positions(rules, rounds, seed=11), fewest=2 if rounds == 6 else 150)


def changed(field: str) -> Rules:
    """Returns a rule set of one's own that differs from the booklet's in one field."""
    hint = get_type_hints(Rules)[field]
    decks = (JGA.deck, MINI_4.deck)
    choices = {bool: (True, False), int: (150, 60), tuple[int, ...]: decks}.get(hint)
    choices = choices or get_args(hint)
    (other,) = (choice for choice in choices if choice != getattr(JGA, field))
    return Rules(**{"name": "mine", field: other})


@pytest.mark.parametrize("field", [*Rules.__dataclass_fields__][1:])  # the first is the name
def test_with_a_rule_set_of_ones_own_it_agrees_with_trying_every_deal(field):
    check(late_positions(changed(field), 8, seed=11), fewest=1)


@pytest.mark.parametrize(
    "doubles",
    [
        pytest.param(lambda block, attack: False, id="no finish"),
        pytest.param(lambda block, attack: block < attack, id="every finish over less"),
    ],
)
def test_what_is_shown_at_scoring_is_what_the_tables_double(doubles, monkeypatch):
    def finish_points(rules, block, attack, face_down):
        return POINTS[attack] * (2 if face_down and doubles(block, attack) else 1)

    monkeypatch.setattr("goita_env.engine.rulebook.finish_points", finish_points)
    rules = Rules(name=f"doubled: {doubles(0, 1)}")  # tables are kept: no name of others
    ended = [at for at in late_positions(rules, 16, seed=4) if not at.view.hand_sizes.all()]
    check(ended, fewest=3)


def test_with_a_network_it_agrees_with_trying_every_deal():
    champion = PolicyModel("champion", temperature=1.0)
    for at in late_positions("jga", 3, seed=3):
        assert error(at, [(champion, champion)] * 3) < 1e-4


def drawn(at: Position, worlds: int, rng: np.random.Generator) -> np.ndarray:
    """Lays the unseen tiles at random, a caller of five having five pawns: kinds [worlds, U]."""
    held, downs = hidden_places(at)
    seats, unseen = np.array(held + [seat for seat, _ in downs]), at.view.unseen[0].copy()
    keys, kinds = rng.random((worlds, len(seats))), np.full((worlds, len(seats)), -1)
    groups = [(seats == seat, 5 - at.view.face_up[0, seat, PAWN]) for seat in (1, 2, 3)]
    groups = [group for seat, group in enumerate(groups, 1) if at.view.called[0, seat]]
    others = ~sum((group for group, _ in groups), np.zeros(len(seats), bool))
    groups.append((others, unseen[PAWN] - sum(pawns for _, pawns in groups)))
    for group, pawns in groups:
        rank = np.where(group, keys, 2).argsort(axis=1).argsort(axis=1)
        kinds[group & (rank < pawns)] = PAWN
    unseen[PAWN] = 0
    tiles = np.tile(np.arange(8).repeat(unseen), (worlds, 1))
    kinds[kinds < 0] = rng.permuted(tiles, axis=1).ravel()
    return kinds


def importance(at: Position, picked: list, worlds: int, seed: int) -> tuple:
    """Draws worlds, weighs them in the engine: dealt hands [n, 4, 8] and weights that sum to 1."""
    hands, face_down = placed(at, drawn(at, worlds, np.random.default_rng(seed)))
    weight = weigh(at, [asked for _, asked in picked], hands, face_down)
    weight *= np.array([factorial(n) for n in range(9)])[hands].prod(axis=(1, 2))
    return dealt_hands(at, hands, face_down), weight / weight.sum()


@pytest.mark.parametrize(
    "name",
    [
        name if number % 3 == 0 else pytest.param(name, marks=pytest.mark.slow)
        for number, name in enumerate(EARLY)
    ],
)
def test_early_in_a_round_it_agrees_with_deals_drawn_and_weighed(name):
    at = after(*EARLY[name])
    rng = np.random.default_rng(len(name))
    hidden = (at.truth[1][1:] != NONE).any()  # facts want all that may lie there, not a sample
    picked = [ASSUMED[number] for number in rng.integers(4 - hidden, size=3)]
    dealt, weight = importance(at, picked, 3000, seed=1)
    heard, apart = listener(at, picked), []
    for seat, whose in enumerate(("next", "partner", "previous"), start=1):
        for number in (1, 2, 3):
            exact = heard.posterior(whose).at_least(number).clip(0, 1)
            found = dealt[:, seat] >= number
            estimate = weight @ found
            # The spread as the exact numbers and the weights give it: what is rare is not missed.
            spread = np.sqrt(exact * (1 - exact) * (weight**2).sum())
            assert (abs(estimate - exact)[spread < 1e-6] < 1e-6).all()
            kept = spread * np.sqrt(1 / (weight**2).sum()) > 0.05
            apart += ((estimate - exact)[kept] / spread[kept]).tolist()
    # Weights and hands go together, so the spread is only about that of so many free draws.
    assert np.sqrt(np.mean(np.square(apart))) < 2.5, apart


def test_sums_are_over_all_deals_or_all_in_which_opponents_do_not_both_hold_five_pawns():
    rng, held = np.random.default_rng(0), support(np.array([10, 4, 4, 4, 2, 0, 0, 0]))
    rest = held.unseen - held.hands[:, None] - held.hands
    # [M, M] The hand of seat 3 beside those of seats 1 and 2, -1 where tiles are missing.
    number = {tuple(hand): index for index, hand in enumerate(held.hands.tolist())}
    third = np.array([[number.get(tuple(hand), -1) for hand in row] for row in rest.tolist()])
    five = held.hands[:, PAWN] == 5
    both_five = five[:, None] & five[third] & (third >= 0)
    # The order of the seats by their numbers of hands decides which two the sums go over.
    for shares in permutations((0.9, 0.6, 0.3)):
        one, two, three = (rng.random(len(held)) * (rng.random(len(held)) < s) for s in shares)
        pairs = one[:, None] * np.where(third >= 0, three[third], 0)
        assert (pairs * two)[both_five].any()
        for apart in (False, True):
            beside = np.where(both_five & apart, 0, pairs)
            deals = beside * two
            by_third = np.bincount(third[third >= 0], deals[third >= 0], len(held))
            expected = deals.sum(axis=1), deals.sum(axis=0), by_third
            np.testing.assert_allclose(
                summing.sum_by_hand(held, (one, two, three), apart), expected
            )
            first, weight, left = summing.pair_weights(
                held, (one, two, three), np.arange(len(held)), apart
            )
            assert first.tolist() == np.flatnonzero(one).tolist()
            np.testing.assert_allclose(weight, beside[first].T)
            assert np.array_equal(left, third[first].T)
