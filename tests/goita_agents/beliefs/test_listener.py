"""What the listener says of itself: it follows, adds up, forgets nothing and refuses nonsense."""

import importlib
import runpy

import numpy as np
import pytest

from belief_worlds import OddPolicy
from deals import complete
from goita_agents.base import AgentError
from goita_agents.beliefs import (
    LEGAL_MODEL,
    UNIFORM_MODEL,
    CachedModel,
    Listener,
    PolicyModel,
    UnexplainedError,
    follow,
)
from goita_env import Game, InformationStructure, MessageChannel, Rules
from goita_env.errors import HandsError, SettingError
from goita_env.records.model import DealRecord, from_game
from goita_env.worlds import determinize, sample
from playing import played
from raising import refuses
from record_samples import FIVE
from search_views import HANDS

ODD = PolicyModel(OddPolicy(), epsilon=0.05)
SEATS = ("next", "partner", "previous")


def played_round(seed: int, rules: str = "jga", agent=None) -> DealRecord:
    """Plays a round that is not decided before play, with one agent at all seats."""
    agent, rng = agent or OddPolicy(), np.random.default_rng(seed)
    while True:
        game = Game(rules, seed=int(rng.integers(2**32)))
        while not game.done and len(game.deals) == 1:
            view = game.view(game.seat)
            game.play(int(agent.act(view, view.legal(), rng)[0]))
        if len(game.deals) == 1 and game.view(0).num_plays[0]:
            return from_game(game).deals[0]


@pytest.mark.parametrize("rules", ["jga", "nine"])
def test_following_a_round_gives_what_the_last_view_alone_gives(rules):
    for number, (game, heard) in enumerate(follow(played_round(1, rules), 2, ODD)):
        if number % 5 != 4 and not game.done:
            continue
        fresh = Listener(game.view(2), ODD)
        for seat in SEATS:
            one, other = heard.posterior(seat), fresh.posterior(seat)
            np.testing.assert_allclose(one.probability, other.probability, atol=1e-12)
        assert heard.log_evidence() == pytest.approx(fresh.log_evidence())


def test_what_is_remembered_is_asked_once_and_the_same_for_all_listeners():
    asked = []

    class Counting(OddPolicy):
        def probabilities(self, view, legal):
            asked.extend(view.digest().tolist())
            return super().probabilities(view, legal)

    record, remembered = played_round(1), CachedModel(PolicyModel(Counting(), epsilon=0.05))
    asked.clear()  # what PolicyModel asked to test the agent
    for seat in (0, 2):
        last, plain = (list(follow(record, seat, ear))[-1][1] for ear in (remembered, ODD))
        for other in SEATS:
            one, two = plain.posterior(other), last.posterior(other)
            np.testing.assert_allclose(one.probability, two.probability, atol=1e-12)
    assert len(asked) == len(set(asked))
    remembered.forget()
    list(follow(record, 0, remembered))
    assert len(asked) > len(set(asked))


@pytest.mark.parametrize("assumed", [ODD, UNIFORM_MODEL])
def test_what_is_expected_next_agrees_with_what_is_believed_after_it(assumed):
    """The mean of the beliefs after each action is the belief before: a martingale."""
    record = played_round(3)
    game, checked = Game(record.rules, hands=record.hands, dealer=record.dealer), 0
    heard = Listener(game.view(0), assumed)
    for seat, action in record.moves:
        if seat == 0 or len(game.legal_actions()) == 1 or action > 64:
            game.play(action)
            heard.update(game.view(0))
            continue
        whose, leads = SEATS[seat - 1], game.view(seat).leads[0]
        before, predicted = heard.posterior(whose), heard.action_probabilities(whose)
        np.testing.assert_allclose(predicted[before.probability > 0].sum(axis=1), 1)
        evidence = heard.log_evidence()
        game.play(action)
        heard.update(game.view(0))
        if game.done:
            break  # what lay under the last block is shown or not, which is no action
        told = before.probability * predicted[:, 1 + (action - 1) % 8 if leads else action]
        after_it = heard.posterior(whose).probability
        np.testing.assert_allclose(after_it, told / told.sum(), atol=1e-12)
        assert heard.log_evidence() == pytest.approx(evidence + np.log(told.sum()))
        checked += 1
    assert checked > 4


@pytest.mark.parametrize("kernel", ["beliefs", "solver"])
def test_compiled_code_needs_no_folder_that_may_be_written(monkeypatch, kernel):
    caching = pytest.importorskip("numba.core.caching")
    found = importlib.import_module(f"goita_agents.{kernel}.kernel").__file__
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    runpy.run_path(found)


def test_before_anything_is_done_it_believes_the_prior():
    belief = Listener(Game(hands=HANDS, dealer=0).view(0), {}).posterior()
    np.testing.assert_allclose(belief.probability, belief.prior, rtol=1e-9)
    assert belief.prior.sum() == pytest.approx(1)
    assert belief.entropy() == pytest.approx(-belief.prior @ np.log(belief.prior))
    # A third of what is left of each kind for each seat; the viewer holds 11235578.
    unseen = np.array([10, 4, 4, 4, 4, 2, 2, 2]) - [2, 1, 1, 0, 2, 0, 1, 1]
    np.testing.assert_allclose(belief.expected(), unseen / 3)
    assert belief.sampling_ratio("11112333") == pytest.approx(1)


def test_what_a_listener_learnt_is_the_mean_log_ratio_of_its_beliefs():
    beliefs = [listener.posterior() for _, listener in follow(played_round(1), 2, ODD)]
    before, after = beliefs[0], beliefs[-1]
    terms = [
        now * np.log(now / earlier)
        for now, earlier in zip(after.probability, before.probability, strict=True)
        if now > 0
    ]
    assert after.divergence(before) == pytest.approx(sum(terms))
    assert after.divergence(after) == 0


def test_worlds_are_drawn_as_likely_as_they_are_believed():
    record = played_round(4)
    for game, _ in follow(record, 0, ODD):
        if game.view(0).num_plays[0] == 5:
            break
    view = game.view(0)
    heard = Listener(view, ODD)
    deals = heard.deals()
    worlds = deals.sample(4000, np.random.default_rng(0))
    assert worlds.weight.sum() == pytest.approx(1)
    determinize(view, worlds)  # refuses worlds that don't fit
    for seat, whose in enumerate(SEATS, start=1):
        belief = heard.posterior(whose)
        for number in (1, 2):
            exact = belief.at_least(number).clip(0, 1)
            found = (worlds.dealt[:, seat] >= number).mean(axis=0)
            assert (abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / 4000) + 1e-9).all()
    likely = [deals.log_probability(dealt[1:].astype(np.int64)) for dealt in worlds.dealt[::100]]
    assert np.isfinite(likely).all()
    again = deals.sample(4000, np.random.default_rng(0))
    np.testing.assert_array_equal(worlds.hands, again.hands)


def test_what_lies_face_down_of_a_seat_that_tells_nothing_is_as_in_worlds_drawn_alike():
    game = played(Game(hands=complete("", "", "11223344", ""), dealer=2), "12", "p", "p", "p", "13")
    view, rng = game.view(0), np.random.default_rng(0)
    drawn = Listener(view, LEGAL_MODEL).deals().sample(8000, rng), sample(view, 8000, rng)
    one, other = (np.ptp(worlds.face_down[:, 2, :2], axis=1) == 0 for worlds in drawn)
    assert one.mean() == pytest.approx(other.mean(), abs=0.03)


def test_what_a_policy_never_does_is_an_error_unless_epsilon_allows_for_it():
    sure = PolicyModel("greedy", epsilon=0)
    game = played(Game(hands=HANDS, dealer=0), "15", "p")
    heard = Listener(game.view(0), {"partner": sure})
    played(game, "51")  # it would leave its partner's attack alone
    with pytest.raises(UnexplainedError, match="epsilon"):
        heard.update(game.view(0))
    assert heard.posterior().probability.sum() == pytest.approx(1)
    assert heard.seat == 2
    slips = Listener(game.view(0), {"partner": PolicyModel("greedy", epsilon=0.02)})
    assert slips.posterior().probability.sum() == pytest.approx(1)


def test_a_view_of_another_round_or_an_earlier_moment_is_refused_whatever_differs():
    def seen(*moves, viewer=0, rules="jga", **options):
        game = Game(rules, **{"hands": HANDS, "dealer": 2} | options)
        return played(game, *moves).view(viewer)

    talk = {"information": InformationStructure(channel=MessageChannel(1, "all"))}
    begun, talked, later = seen(), seen(*["say0"] * 3, "say1", **talk), ("14", "p")
    fives = {"hands": FIVE, "viewer": 3}
    called, chosen = seen("call", **fives), seen("call", "continue", **fives)
    for before, after in ((begun, seen(*later)), (called, chosen)):
        Listener(before, {}).update(after)
    for before, other in (
        (begun, seen(rules=Rules(name="mine"))),
        (begun, talked),
        (talked, seen(*["say0"] * 4, **talk)),
        (seen(*["say0"] * 4, *later, **talk), seen(*["say0"] * 3, "say1", *later, **talk)),
        (called, seen("silent", **fives)),
        (seen("silent", "12", **fives), seen("call", "continue", "12", **fives)),
        (chosen, called),
        (begun, seen(hands=HANDS[::-1])),
        (begun, seen(viewer=1)),
        (begun, seen(dealer=1)),
        (begun, seen(scores=(10, 0))),
        (begun, seen(scores=(0, 10))),
        (seen(scores=(10, 0)), begun),
        (seen(*later), begun),
        (seen(*later), seen("15", "p")),
    ):
        heard = Listener(before, {})
        expected = heard.posterior().probability
        refuses(SettingError, "same deal.*make a new listener", heard.update, other)
        np.testing.assert_array_equal(heard.posterior().probability, expected)


def test_who_cannot_be_asked_and_a_seat_that_is_none_are_refused():
    for given, options, says in (
        ("rollout", {}, "known probabilities"),
        ("greedy", {"temperature": -1}, "temperature"),
        ("greedy", {"temperature": 1e-9}, "temperature"),
        ("greedy", {"epsilon": 1.5}, "epsilon"),
    ):
        refuses(AgentError, says, PolicyModel, given, **options)
    game = played(Game(hands=HANDS, dealer=2), "14", "p")
    view, heard = game.view(0), Listener(game.view(0), ODD)
    before = heard.posterior()
    for error, says, call, *given in (
        (SettingError, "one row", heard.update, view[np.array([0, 0])]),
        (SettingError, "seats of", Listener, view, {"left": ODD}),
        (SettingError, "seat of", heard.posterior, "self"),
        (SettingError, "turn", heard.action_probabilities, "next"),
        (HandsError, "eight unseen", before.log_probability, "22222222"),
        (SettingError, "0 to 8", before.at_least, 9),
    ):
        refuses(error, says, call, *given)
    np.testing.assert_array_equal(heard.posterior().probability, before.probability)


def test_temperature_and_epsilon_do_what_they_say():
    game = played(Game(hands=HANDS, dealer=2), "14")
    view = game.view(3)
    legal = view.legal()
    policy = OddPolicy()
    plain = policy.probabilities(view, legal)
    likeliest = plain.argmax()
    sure = PolicyModel(policy, temperature=0, epsilon=0).probabilities(view, legal)
    assert sure[0, likeliest] == 1
    flat = PolicyModel(policy, temperature=2, epsilon=0).probabilities(view, legal)
    np.testing.assert_allclose(flat, np.sqrt(plain) / np.sqrt(plain).sum())
    cold = PolicyModel(policy, temperature=1e-3, epsilon=0).probabilities(view, legal)
    assert cold[0, likeliest] == pytest.approx(1)
    slips = PolicyModel(policy, temperature=0, epsilon=0.3).probabilities(view, legal)
    assert slips[0, likeliest] == pytest.approx(0.7 + 0.3 / legal.sum())
    assert PolicyModel(policy).name == "odd (epsilon=0.02)"
    assert UNIFORM_MODEL.probabilities(view, legal).sum() == pytest.approx(1)
    assert LEGAL_MODEL.probabilities(view, legal).sum() == legal.sum()
