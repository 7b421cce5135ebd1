"""The listener at a table with messages, beside every deal and every message played again."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from belief_worlds import OddPolicy, TellsKings, brute_mixture
from deals import special_hands, uniform_hands
from goita_agents.base import AgentError
from goita_agents.beliefs import (
    LEGAL_MODEL,
    UNIFORM_MODEL,
    DealMixture,
    Listener,
    PolicyModel,
    TypeListener,
    Types,
)
from goita_agents.beliefs.hindsight import likelihoods
from goita_agents.models import UnexplainedError
from goita_env import Game, InformationStructure, MessageChannel
from goita_env.actions import MESSAGE, PASS
from goita_env.errors import SettingError
from goita_env.tiles import KING
from raising import refuses
from world_positions import Position, arrangements_count, position

WHISPER, PRIVATE, PUBLIC = (
    InformationStructure(channel=MessageChannel(1)),
    InformationStructure(channel=MessageChannel(2)),
    InformationStructure(channel=MessageChannel(2, "all")),
)
SEATS = ("next", "partner", "previous")


ODD, SHARP = PolicyModel(OddPolicy(), epsilon=0), PolicyModel(OddPolicy(8.0), epsilon=0.1)
TELLS = PolicyModel(TellsKings(), epsilon=0)
ASSUMED = [(ODD, ODD), (SHARP, SHARP), (TELLS, TELLS), (UNIFORM_MODEL, UNIFORM_MODEL)]
ASSUMED += [(LEGAL_MODEL, None)]


def told_positions(information: InformationStructure, count: int, seed: int) -> list:
    """Plays rounds at random; returns late moments, and what was sent, in order."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        hands = (uniform_hands, special_hands)[int(rng.integers(2))](rng, 1)[0]
        digits = ["".join(str(kind + 1) for kind in hand) for hand in hands.tolist()]
        dealer = int(rng.integers(4))
        game = Game("jga", hands=digits, dealer=dealer, seed=0, information=information)
        last = None
        while not game.done and len(game.deals) == 1:
            legal = game.legal_actions()
            last = position(game) if len(legal) > 1 and game.moves else last
            passing = legal[0] == PASS and rng.random() < 0.15
            free = [one for one in legal if one != PASS] or legal
            game.play(PASS if passing else int(rng.choice(free)))
        if len(game.deals) == 1 and game.view(0).num_plays[0]:
            both = [last, position(game, (game.winner + int(rng.integers(1, 4))) % 4)]
            found += [split(at) for at in both if at.view.num_plays[0]]
            found = [one for one in found if arrangements_count(one[0]) < 3000]
    return found


def split(at: Position) -> tuple:
    """Returns a position without its messages, and these."""
    messages = [action - MESSAGE for _, action in at.moves if action >= MESSAGE]
    return replace(at, moves=[move for move in at.moves if move[1] < MESSAGE]), messages


def ways(at: Position, messages: list) -> list:
    """Lists all that may have been sent as far as the viewer, seat 0, knows."""
    channel = at.view.information.channel
    order = [(at.dealer + turn) % 4 for turn in range(4)]
    known = [channel.audience == "all" or seat % 2 == 0 for seat in order]
    every = range(2**channel.bits)
    return [*product(*([m] if k else every for m, k in zip(messages, known, strict=True)))]


def error(at: Position, belief, expected: dict) -> float:
    """Returns how far the probability of any deal, or hand, is from the brute force's."""
    worst, total = 0.0, 0.0
    summed = [np.zeros(len(marginal)) for marginal in belief.marginals]
    support = getattr(belief, "beliefs", [belief])[0].support
    for key, probability in expected.items():
        counts = np.frombuffer(key, np.int64).reshape(3, 8)
        found = np.exp(belief.log_probability(counts))
        worst, total = max(worst, abs(found - probability)), total + found
        for sums, hand in zip(summed, counts, strict=True):
            sums[support.find(hand)] += probability
    apart = [abs(s - m).max() for s, m in zip(summed, belief.marginals, strict=True)]
    return max(worst, abs(total - 1), *apart)


@pytest.mark.parametrize(
    ("information", "count"),
    [
        pytest.param(WHISPER, 6, id="private, one bit"),
        pytest.param(PUBLIC, 4, id="public, two bits"),
        pytest.param(PRIVATE, 60, id="private, two bits, many", marks=pytest.mark.slow),
    ],
)
def test_it_agrees_with_trying_every_deal_and_every_message(information, count):
    checked = 0
    for number, (at, messages) in enumerate(told_positions(information, count, seed=7)):
        rng = np.random.default_rng(number)
        picked = [ASSUMED[one] for one in rng.integers(len(ASSUMED), size=3)]
        models = dict(zip(SEATS, (told for told, _ in picked), strict=True))
        expected = brute_mixture(at, [asked for _, asked in picked], ways(at, messages))
        if not expected:  # a partner that tells of kings sent something else
            with pytest.raises(UnexplainedError):
                Listener(at.view, models).deals()
            continue
        assert error(at, Listener(at.view, models).deals(), expected) < 1e-9, (at.moves, picked)
        checked += 1
    assert checked >= count // 3


HANDS = ["11235578", "11112333", "11444567", "11224568"]  # seats 0 and 3 hold a king each


def told(messages: str, information: InformationStructure = WHISPER) -> Game:
    """Returns the game after messages, the dealer's, which is seat 0, first."""
    game = Game(hands=HANDS, dealer=0, seed=0, information=information)
    for message in messages:
        game.play(f"say{message}")
    return game


def test_types_agree_with_a_listener_of_each_and_with_all_hands_known():
    ended = 0
    for at, messages in told_positions(WHISPER, 1, seed=5):
        types = Types((ODD, SHARP), (SHARP,))
        heard = TypeListener(at.view, types)
        each = [
            Listener(at.view, {"next": one, "partner": SHARP, "previous": one})
            for one in types.opponents
        ]
        evidence = np.array([one.log_evidence() for one in each])
        likely = np.exp(evidence - np.logaddexp.reduce(evidence))
        assert np.allclose(heard.probability()[:, 0], likely, atol=0.011)  # some are negligible
        for _, number, _, belief in heard.beliefs():
            for mine, its in zip(belief.marginals, each[number].deals().marginals, strict=True):
                assert np.allclose(mine, its, atol=1e-12)
        if at.view.hand_sizes.all():
            continue
        ended += 1
        # Of all deals, likelihoods by the ways to deal them sum to the evidence.
        known = each[0].deals()
        total = -np.inf
        for key in brute_mixture(at, [None] * 3, [messages]):
            hands = np.vstack([at.hands[:1], np.frombuffer(key, np.int64).reshape(3, 8)])
            log = likelihoods(at.view, Types((ODD,), (SHARP,)), hands).likelihood[0, 0]
            support = getattr(known, "beliefs", [known])[0].support
            dealt = sum(np.log(support.ways[support.find(hand)]) for hand in hands[1:])
            total = np.logaddexp(total, log + dealt - np.log(support.whole_ways()))
        assert np.isclose(total, evidence[0], atol=1e-9)
    assert ended


@pytest.mark.parametrize("information", [PRIVATE, PUBLIC], ids=str)
def test_a_message_tells_those_who_hear_it_alone(information):
    game = told("1001", information)
    private = information.channel.audience == "partner"

    def king(viewer: int, of: int) -> float:
        belief = Listener(game.view(viewer), TELLS).posterior(SEATS[(of - viewer) % 4 - 1])
        return float(belief.at_least(1)[KING])

    # Of two kings among 24 tiles a seat holds one or more in 156 of 276 ways, two seats one each in
    # 64. Seat 0 holds the first itself and hears that seat 2 has none.
    one_each = 64 / 156 if private else 1
    assert np.isclose(king(2, of=0), 1)
    assert np.isclose(king(1, of=3), 1)
    assert np.isclose(king(2, of=3), one_each)
    assert np.isclose(king(1, of=0), one_each)
    assert np.isclose(king(0, of=3), 0.5 if private else 1)
    assert np.isclose(king(0, of=2), 0)


def test_every_belief_draws_a_whole_number_of_worlds_from_one_on():
    view, rng = told("1001").view(1), np.random.default_rng(0)
    mixture = Listener(view, TELLS).deals()
    assert isinstance(mixture, DealMixture)
    types = TypeListener(view, Types((TELLS, UNIFORM_MODEL), (TELLS,)))
    for belief in (mixture, mixture.beliefs[0], types):
        for count in (0, -1, 1.5, True, "many"):
            refuses(
                SettingError, "whole number of worlds from 1 on, got", belief.sample, count, rng
            )
        assert belief.sample(1, rng)


def test_options_that_a_listener_cannot_follow_are_refused():
    for shown in ("partner", "all"):
        view = Game(information=InformationStructure(shown), seed=0).view(0)
        refuses(SettingError, f"no tiles of others are shown.*'{shown}'", Listener, view, ODD)
        refuses(SettingError, "no tiles", TypeListener, view, Types((ODD,), (ODD,)))
    for channel, fine in ((MessageChannel(3), False), (MessageChannel(3, "all"), True)):
        view = Game(information=InformationStructure(channel=channel), seed=0).view(0)
        if fine:
            assert Listener(view, ODD).posterior("next")
        else:
            refuses(SettingError, "of 2 bits at most.*got 3 bits", Listener, view, ODD)
    view = told("0000").view(0)
    refuses(AgentError, "which doesn't play it", Listener, view, PolicyModel("greedy"))
    refuses(SettingError, "number of messages sent", Listener, view, ODD, sent=5)
