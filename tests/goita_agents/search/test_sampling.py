"""Worlds that a search draws: from a listener's posterior, or weighed by what a policy explains."""

from functools import cache

import numpy as np
import pytest

from deals import RULE_SETS, complete, digits, special_hands
from goita_agents.beliefs import Listener, PolicyModel, TypeListener, make_types
from goita_agents.beliefs.deal_belief import systematic_sample
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.bots.heuristic import HeuristicAgent
from goita_agents.search import sampling, weighed_sampler
from goita_agents.search.sampling import PosteriorSampler, like_itself, sample_worlds
from goita_agents.search.weighed_sampler import LISTED_TILES, WeighedSampler
from goita_env import Game, View, actions
from goita_env.worlds import determinize, enumerate_worlds, sample
from playing import played
from samples import only
from search_views import HANDS, rng, view_of_round


def views():
    return [View(words[None]) for words in view_of_round().words]


TYPES = make_types([GreedyAgent(), HeuristicAgent()], [GreedyAgent()])


def drawn(view, types, count=40):
    """Worlds of a view by a sampler of its own, and who plays in them."""
    (found,) = PosteriorSampler(types).sample(view, np.array([count]), [rng(1)])
    return found


@pytest.mark.parametrize("types", [like_itself(GreedyAgent()), TYPES], ids=["one", "three"])
def test_what_is_kept_changes_nothing_but_the_time(types, monkeypatch):
    begun = []

    def listening(*args):
        begun.append(args)
        return TypeListener(*args)

    kept, count = PosteriorSampler(types), np.array([40])
    assert len(views()) > 4
    for view in views():
        fresh = drawn(view, types)
        with monkeypatch.context() as patched:
            patched.setattr(sampling, "TypeListener", listening)
            (one,) = kept.sample(view, count, [rng(1)])
        np.testing.assert_array_equal(one.worlds.hands, fresh.worlds.hands)
        np.testing.assert_array_equal(one.worlds.face_down, fresh.worlds.face_down)
        np.testing.assert_array_equal(one.players, fresh.players)
        determinize(view, one.worlds)  # refuses worlds that don't fit
    assert len(begun) == 1


def test_where_all_play_like_itself_the_worlds_are_those_of_a_listener():
    policy = GreedyAgent()
    one, two = PolicyModel(policy, epsilon=0.1), PolicyModel(policy, epsilon=0.3)
    for view in views():
        found = drawn(view, like_itself(policy))
        listener = Listener(view, {"next": one, "partner": two, "previous": one})
        expected = listener.deals().sample(40, rng(1))
        np.testing.assert_array_equal(found.worlds.hands, expected.hands)
        assert not found.players.any()


def test_another_round_under_the_same_number_begins_anew():
    kept, other = PosteriorSampler(GreedyAgent()), Game(hands=HANDS[::-1], dealer=1).view(0)
    kept.sample(views()[-1], np.array([4]), [rng()])
    (worlds,) = kept.sample(other, np.array([4]), [rng()])
    determinize(played(Game(hands=HANDS[::-1], dealer=0)).view(0), worlds.worlds)


def test_worlds_that_are_weighed_are_as_likely_as_the_listener_believes():
    """A partner that showed one of three silvers isn't likelier to have had them for that."""
    view, policy = played(Game(hands=HANDS, dealer=2), "14", "46").view(0), GreedyAgent()
    seeds, count = np.zeros(1, np.uint64), np.array([600])
    drawn = sample_worlds(view, seeds, count, WeighedSampler(policy), shuffled=False)
    found = drawn.weight[0] @ drawn.worlds.dealt[:, 2] / drawn.weight.sum()
    heard = TypeListener(view, like_itself(policy)).posterior("partner")
    spread = np.sqrt(heard.probability @ heard.hands**2 - heard.expected() ** 2)
    assert (abs(found - heard.expected()) < 3 * spread / np.sqrt(600) + 1e-9).all()


def test_resampling_follows_the_weights_in_each_quarter():
    drawn = systematic_sample(np.array([0.0, 3.0, 1.0, 0.0]), 64, 0.3)
    assert np.bincount(drawn, minlength=4).tolist() == [0, 48, 16, 0]
    assert np.bincount(drawn[:16], minlength=4).tolist() == [0, 12, 4, 0]
    assert set(systematic_sample(np.zeros(3), 9, 0.5)) == {0, 1, 2}


def test_worlds_are_listed_with_their_probability_where_they_are_few():
    listed, uneven = 0, 0
    for seed in range(12):
        game, numbers = Game(seed=seed), rng(seed)
        while not game.done:
            view = game.view(game.seat)
            worlds = enumerate_worlds(view, 400) if view.unseen.sum() <= LISTED_TILES else None
            if worlds is not None:
                sampler, seeds = WeighedSampler(None), np.array([3], np.uint64)
                drawn = sample_worlds(view, seeds, np.array([400]), sampler, shuffled=False)
                found = drawn.worlds[np.arange(drawn.count[0])]
                assert sorted(keys(found)) == sorted(keys(worlds))
                kept = sorted(drawn.weight[0, : drawn.count[0]])
                assert kept == pytest.approx(sorted(worlds.weight))
                listed, uneven = listed + 1, uneven + (len(set(worlds.weight.round(9))) > 1)
            game.play(int(numbers.choice(game.legal_actions())))
    assert listed > 3
    assert uneven > 1


def keys(worlds):
    """Returns each world as bytes."""
    both = zip(worlds.hands, worlds.face_down, strict=True)
    return [hand.tobytes() + down.tobytes() for hand, down in both]


@cache
def slipping(epsilon):
    """Returns greedy with an epsilon: each is tested once."""
    return PolicyModel("greedy", epsilon=epsilon)


def likelihood(game, worlds, *epsilons):
    """Returns how likely greedy seats, with these epsilons, make worlds of the acting seat."""
    models = [slipping(epsilon) for epsilon in epsilons]
    row = np.zeros(len(worlds), np.int64)
    return weighed_sampler.likelihood(models, game.view(game.seat), worlds, row)


def slowly(game, worlds, number, epsilon):
    """Plays the round again with the hands of one world; returns the product of probabilities."""
    viewer, product, plays = game.seat, 1.0, [0] * 4
    dealt = np.roll(worlds.dealt[number], viewer, axis=0)
    down = np.roll(worlds.face_down[number], viewer, axis=0)
    kinds = [np.repeat(np.arange(8), hand) for hand in dealt]
    again = Game(game.rules, hands=digits(kinds), dealer=game.dealer, seed=0)
    told = [(seat, action) for seat, action in game.moves if action < actions.CALL]
    answers = {(seat, action) for seat, action in game.moves if action >= actions.CALL}
    while told:
        seat, view, legal = again.seat, again.view(again.seat), again.legal_actions()
        if actions.CALL in legal:
            action = actions.CALL if (seat, actions.CALL) in answers else actions.SILENT
        elif actions.REDEAL in legal:
            action = actions.CONTINUE
        else:
            mover, action = told.pop(0)
            assert mover == seat
            if action:
                block = down[seat, plays[seat]] if view.leads[0] else -1
                attack = actions.decode(action)[1]
                action = actions.encode(int(block), attack) if block >= 0 else action
                plays[seat] += 1
        if seat != viewer and len(legal) > 1:
            sure = GreedyAgent().act(view, view.legal(), rng())[0] == action
            product *= (1 - epsilon) * sure + epsilon / len(legal)
        again.play(action)
    return product


@pytest.mark.parametrize("rules", only(RULE_SETS, "nine"))
def test_weights_are_products_over_what_each_seat_would_have_seen(rules, monkeypatch):
    monkeypatch.setattr(weighed_sampler, "HOPELESS_SHARE", 0.0)
    hands, compared = special_hands(rng(6), 8), []
    for number, dealt in enumerate(hands):
        game = Game(rules, hands=digits(dealt), dealer=number % 4, seed=number)
        while not game.done and len(game.moves) < 12:
            view = game.view(game.seat)
            game.play(int(GreedyAgent().act(view, view.legal(), rng())[0]))
        if game.done or not any(action <= 64 for _, action in game.moves):
            continue
        worlds = sample(game.view(game.seat), 12, rng(number))
        found = likelihood(game, worlds, 0.5, 0.5, 0.5)
        expected = np.array([slowly(game, worlds, n, 0.5) for n in range(12)])
        assert found == pytest.approx(expected)
        compared.append(np.ptp(found))
    assert len(compared) >= 2
    assert max(compared) > 0


def passed_with_a_lance():
    """A game in which seat 1, as the acting seat sees it, passed on a lance; that seat's worlds."""
    game = played(Game("jga", hands=complete("11223345", "", "11334456", ""), dealer=0), "12", "p")
    return game, sample(game.view(2), 400, rng())


def test_hopeless_worlds_are_given_up_and_the_others_keep_their_weight(monkeypatch):
    game, worlds = passed_with_a_lance()
    weights = []
    for hopeless in (0.0, 1e-4):
        monkeypatch.setattr(weighed_sampler, "HOPELESS_SHARE", hopeless)
        weights.append(likelihood(game, worlds, 1e-5, 0.5, 1e-5))
    everything, kept = weights
    assert (everything > 0).all()
    assert 0 < (kept == 0).sum() < 400
    assert np.array_equal(kept[kept > 0], everything[kept > 0])
    assert everything[kept == 0].max() < everything.max() / 50
