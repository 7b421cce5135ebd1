"""Types of players: the posterior beside every deal tried, in play, and over rounds of a match."""

import numpy as np
import pytest

from belief_worlds import OddPolicy, all_worlds, weigh
from goita_agents.base import AgentError
from goita_agents.beliefs import (
    LEGAL_MODEL,
    UNIFORM_MODEL,
    Listener,
    PolicyModel,
    TypeListener,
    Types,
    UnexplainedError,
    make_types,
)
from goita_agents.beliefs.hindsight import likelihoods
from goita_agents.beliefs.types import NEGLIGIBLE
from goita_env import Game
from raising import refuses
from samples import only
from world_positions import LATE, Position, after, dealt_hands

ODD, SHARP = PolicyModel(OddPolicy(), epsilon=0), PolicyModel(OddPolicy(8.0), epsilon=0.1)
SETS = [
    Types((ODD, UNIFORM_MODEL), (SHARP,), (0.3, 0.7)),
    Types((ODD, UNIFORM_MODEL, SHARP), (SHARP, UNIFORM_MODEL), (0.5, 0.2, 0.3), (0.9, 0.1)),
]
GREEDY, HEURISTIC = PolicyModel("greedy", epsilon=0.2), PolicyModel("heuristic", epsilon=0.2)


def tried(at: Position, types: Types, negligible: float = NEGLIGIBLE) -> tuple[np.ndarray, dict]:
    """Tries every deal: probabilities of pairs [K, J], and of deals by the bytes of their hands."""
    hands, face_down = all_worlds(at)
    prior = types.prior()
    weights = np.array(
        [
            [weigh(at, [one, two, one], hands, face_down) for two in types.partners]
            for one in types.opponents
        ]
    )
    weights *= prior[:, :, None]
    pairs = weights.sum(axis=2)
    kept = pairs.max(axis=1) > negligible * pairs.max()
    weights[~kept], found = 0, {}
    weights /= weights.sum()
    deals = dealt_hands(at, hands, face_down)[:, 1:].astype(np.int64)
    for deal, weight in zip(deals, weights.sum(axis=(0, 1)), strict=True):
        found[deal.tobytes()] = found.get(deal.tobytes(), 0.0) + weight
    return weights.sum(axis=2), found


@pytest.mark.parametrize("types", SETS, ids=["two", "three"])
@pytest.mark.parametrize("rules", only(("jga", "nine", "pagat"), "jga"))
def test_types_and_deals_are_as_likely_as_by_trying_every_deal(types, rules):
    positions = [after(*late) for late in LATE if late[0] == rules]
    assert positions
    for at in positions:
        listener, (pairs, deals) = TypeListener(at.view, types), tried(at, types)
        np.testing.assert_allclose(listener.probability(), pairs, atol=1e-9)
        beliefs, summed = listener.beliefs(), 0.0
        hands = {seat: listener.posterior(seat) for seat in ("next", "partner", "previous")}
        marginal = {seat: np.zeros(len(hand.hands)) for seat, hand in hands.items()}
        for key, expected in deals.items():
            counts = np.frombuffer(key, np.int64).reshape(3, 8)
            found = sum(p * np.exp(one.log_probability(counts)) for p, _, _, one in beliefs)
            assert abs(found - expected) < 1e-9
            summed += found
            for (seat, hand), held in zip(hands.items(), counts, strict=True):
                marginal[seat][hand.index(held)] += expected
        assert summed == pytest.approx(1)
        for seat, hand in hands.items():
            np.testing.assert_allclose(hand.probability, marginal[seat], atol=1e-9)


def played(seed: int, models, rng=None):
    """Plays a round with a model at each seat; yields the game before each play or pass."""
    rng, game = rng or np.random.default_rng(seed), Game(seed=seed)
    while not game.done and len(game.deals) == 1:
        if game.view(0).num_plays[0]:
            yield game
        view = game.view(game.seat)
        chances = models[game.seat].probabilities(view, view.legal())[0]
        game.play(int(rng.choice(69, p=chances)))
    if len(game.deals) == 1 and game.view(0).num_plays[0]:
        yield game


def test_whenever_a_listener_begins_it_infers_the_same():
    types = Types((GREEDY, HEURISTIC, UNIFORM_MODEL), (GREEDY, HEURISTIC))
    compared = dropped = 0
    for seed in range(1):
        viewer, whole, seldom = seed % 4, None, None
        for number, game in enumerate(played(seed, [GREEDY, HEURISTIC] * 2)):
            if game.seat != viewer and not game.done:
                continue
            view = game.view(viewer)
            anew = TypeListener(view, types).probability()
            whole = whole or TypeListener(view, types)
            whole.update(view)
            listeners = [whole]
            if number % 3 == 0:
                seldom = seldom or TypeListener(view, types)
                seldom.update(view)
                listeners.append(seldom)
            for one in listeners:
                np.testing.assert_allclose(one.probability(), anew, rtol=1e-9)
            compared += len(listeners)
            dropped += (anew.sum(axis=1) == 0).sum()
    assert compared > 4
    assert dropped > 0


def test_a_round_that_is_over_is_as_likely_as_the_listener_says():
    checked = 0
    for seed in range(3):
        *_, game = played(seed, [GREEDY] * 4)
        if not game.done:
            continue
        viewer = seed % 4
        view, dealt = game.view(viewer), np.roll(game.deals[0].hands, -viewer, axis=0)
        types = Types((GREEDY, UNIFORM_MODEL), (HEURISTIC,))
        found = likelihoods(view, types, dealt.astype(np.int64)).likelihood
        for number, model in enumerate(types.opponents):
            told = {"next": model, "partner": HEURISTIC, "previous": model}
            listener = Listener(view, told)
            belief = listener.deals()
            numbers = [belief.support.find(hand) for hand in dealt[1:].astype(np.int64)]
            prior = np.log(belief.support.ways[numbers].prod() / belief.support.whole_ways())
            expected = belief.log_probability(dealt[1:]) + listener.log_evidence() - prior
            assert found[number, 0] == pytest.approx(expected, abs=1e-9)
            checked += 1
    assert checked > 2


def test_worlds_carry_types_as_often_as_they_are_likely():
    types = Types((GREEDY, UNIFORM_MODEL), (GREEDY, HEURISTIC))
    *_, game = (game for game in played(2, [GREEDY] * 4) if game.seat == 0)
    listener = TypeListener(game.view(0), types)
    worlds, pair = listener.sample(256, np.random.default_rng(0))
    share = np.bincount(pair, minlength=4) / 256
    np.testing.assert_allclose(share, listener.probability().ravel(), atol=1 / 200)
    assert worlds.weight.sum() == pytest.approx(1)
    first = np.bincount(pair[:64], minlength=4) / 64
    np.testing.assert_allclose(first, share, atol=1 / 50)


def test_only_a_broad_type_explains_what_nobody_in_the_set_does():
    greedy, refused = PolicyModel("greedy", epsilon=0), 0
    for seed in range(4):
        for game in played(seed, [UNIFORM_MODEL] * 4):
            if game.done:
                view = game.view(0)
                broad = make_types([greedy.agent], [greedy.agent])
                assert TypeListener(view, broad).probability().sum() == pytest.approx(1)
                only = TypeListener(view, Types((greedy,), (greedy,)))
                refuses(UnexplainedError, "expected a type that explains", only.probability)
                refused += 1
    assert refused > 1


def test_types_are_distributions_with_positive_priors():
    for wrong in (
        ((), (GREEDY,)),
        ((GREEDY, LEGAL_MODEL), (GREEDY,)),
        ((GREEDY,), (GREEDY,), (0.5, 0.5)),
        ((GREEDY,), (GREEDY,), (0.0,)),
        ((GREEDY, HEURISTIC), (GREEDY,), (0.5, np.nan)),
    ):
        refuses(AgentError, "expected", Types, *wrong)
    refuses(AgentError, "one type of opponents", make_types, (), ())
