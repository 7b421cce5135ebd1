"""A network learns from games: likelihoods by hand, the gradient, the weight that is chosen."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from goita_agents.base import AgentError
from goita_agents.bots.greedy import GreedyAgent
from goita_agents.bots.network import NetworkAgent
from goita_agents.champion.agent import network
from goita_env.errors import SettingError
from goita_env.rules import JGA
from goita_lab.imitate import clone
from goita_lab.imitate.clone import PolicyLearner, check_start, heated, imitate
from goita_lab.imitate.examples import Examples, Guesses, Prediction, compare, hits, split_games
from goita_lab.imitate.reading import replay
from network_files import INFO, tensors
from raising import refuses
from research.grading.grade import play_deals

GREEDY = GreedyAgent()


@pytest.fixture(scope="module")
def examples():
    """The decisions of 40 rounds of greedy."""
    found = replay(play_deals(GREEDY, 40, seed=4), JGA)
    assert found.illegal == {}
    return Examples(JGA, found.words, found.legal, found.action, found.deal)


def small():
    scaled = {name: 0.1 * array for name, array in tensors((24, 16)).items()}
    return NetworkAgent(INFO, {name: array.astype(np.float32) for name, array in scaled.items()})


def by_hand():
    """Two games with three decisions, of which two have three legal actions and one has two."""
    legal = np.zeros((3, 69), bool)
    legal[:2, :3] = legal[2, :2] = True
    action, game = np.array([0, 1, 1]), np.array([5, 5, 7])
    return Examples(JGA, np.zeros((3, 8), np.uint64), legal, action, game)


def table(rows):
    found = np.full((len(rows), 69), -np.inf)
    for number, row in enumerate(rows):
        found[number, : len(row)] = np.log(row)
    return found


def test_a_likelihood_worked_by_hand():
    given = by_hand()
    model = Prediction(table([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.8, 0.2]]), True)
    plain = given.taken(model.probabilities(given.legal, 1.0, 0.0))
    assert plain == pytest.approx([0.5, 0.25, 0.2])
    mixed = given.taken(model.probabilities(given.legal, 1.0, 0.3))
    assert mixed == pytest.approx([0.7 * 0.5 + 0.1, 0.7 * 0.25 + 0.1, 0.7 * 0.2 + 0.15])
    # At temperature 1/2 probabilities are squared: 4 : 1 : 1 and 16 : 1.
    sharp = given.taken(model.probabilities(given.legal, 0.5, 0.0))
    assert sharp == pytest.approx([4 / 6, 1 / 6, 1 / 17])


def test_the_tables_worked_by_hand():
    given = by_hand()
    chances = np.exp(table([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.5, 0.5]]))
    assert hits(chances, given).tolist() == [1, 0, 0.5]
    taken = np.log([0.5, 0.25, 0.5])
    guesses = Guesses(1.0, 0.0, taken, chances.max(axis=1), hits(chances, given))
    uniform = Guesses.of(None, given, given)
    assert uniform.taken == pytest.approx(np.log([1 / 3, 1 / 3, 1 / 2]))
    (one, other), (bin_,) = compare(given, [("model", guesses), ("uniform", uniform)])
    assert one.log_likelihood.mean == pytest.approx(taken.mean())
    # The interval is over games: one of two decisions, and one of a single one.
    error = abs(np.log(0.125) - 2 * taken.mean()) / 1.5
    half = error * t.ppf(0.975, 1)
    ends = one.log_likelihood.low, one.log_likelihood.high
    assert ends == pytest.approx((taken.mean() - half, taken.mean() + half))
    assert one.accuracy.mean == pytest.approx(0.5)
    assert one.behind is None
    assert other.behind.mean == pytest.approx(taken.mean() - np.log(1 / 18) / 3)
    assert (bin_.low, bin_.high, bin_.decisions) == (0.5, 0.6, 3)
    assert (bin_.predicted, bin_.observed) == (0.5, 0.5)


def test_an_epsilon_explains_a_model_that_is_sure_and_sometimes_wrong(examples):
    sure = np.where(np.arange(69) == examples.action[:, None], 0.0, -np.inf)
    wrong = np.arange(len(examples)) % 10 == 0
    other = examples.legal.copy()
    other[np.arange(len(examples)), examples.action] = False
    sure[wrong] = np.where(np.arange(69) == other[wrong].argmax(axis=1)[:, None], 0.0, -np.inf)
    temperature, epsilon = Prediction(sure, False).fit(examples)
    assert temperature == 1
    assert 0.1 <= epsilon <= 0.2


def test_the_gradient_is_that_of_the_cross_entropy(examples):
    some = examples.of_rows(np.arange(40))
    learner = PolicyLearner(small(), dropout=0.0)
    learner._tensors = {name: one.astype(np.float64) for name, one in learner._tensors.items()}
    targets = some.legal / some.legal.sum(axis=1, keepdims=True)
    targets = (targets + (np.arange(69) == some.action[:, None])) / 2
    found = learner.gradient(some.words, some.legal, targets)

    def loss():
        table = learner.log_probabilities(some.words, some.legal)
        return -np.where(some.legal, table * targets, 0).sum(axis=1).mean(dtype=np.float64)

    rng = np.random.default_rng(0)
    for name, slope in found.items():
        weights = learner._tensors[name]
        way, step = rng.normal(size=weights.shape), 1e-6
        ends = []
        for sign in (1, -1):
            weights += sign * step * way
            ends.append(loss())
            weights -= sign * step * way
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx((slope * way).sum(), rel=1e-4)


def test_cloning_predicts_rounds_held_out_better_by_the_weight_that_did_best(examples):
    split = split_games(examples, 0)
    done = []
    found = imitate(split, small(), progress=done.append)
    before, after = (
        Guesses.of(one, split.validation, split.test) for one in (small(), found.agent)
    )
    assert after.hit.mean() > before.hit.mean() + 0.2
    assert after.taken.mean() > before.taken.mean() + 0.3
    assert done == sorted(done)
    assert done[-1] == 1
    best = max(found.tried, key=lambda one: one.log_likelihood)
    assert found.weight == best.weight
    weights = itertools.islice(clone.WEIGHTS, len(found.tried) - 1)
    assert [one.weight for one in found.tried] == [np.inf, *weights]
    apart = [one.divergence for one in found.tried]
    assert apart[0] == pytest.approx(0, abs=1e-4)  # but for its temperature
    assert apart[1] < apart[-1]
    again = imitate(split, small())
    assert again.tried == found.tried
    assert again.agent.tensors().keys() == found.agent.tensors().keys()
    assert all((a == found.agent.tensors()[n]).all() for n, a in again.agent.tensors().items())
    assert not found.agent.values(split.test.view()).any()
    assert found.agent.info.decisions == len(split.train)


@pytest.mark.slow
def test_who_plays_like_the_start_is_best_predicted_by_a_strong_weight(examples):
    """What the champion does is learned from nobody's few games better than from itself."""
    start = network()
    few = examples.of_games(np.unique(examples.game)[:12])
    own = replace(few, action=start.probabilities(few.view(), few.legal).argmax(axis=1))
    found = imitate(split_games(own, 1), start)
    assert found.weight >= 1


def test_a_start_at_another_temperature_plays_alike_at_one(examples):
    some = examples.of_rows(np.arange(20))
    warm, wanted = heated(small(), 3.0).at(1.0), small().at(3.0)
    one, other = (agent.probabilities(some.view(), some.legal) for agent in (warm, wanted))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_no_game_is_in_two_sets(examples):
    split = split_games(examples, 3)
    sets = [set(part.game.tolist()) for part in split]
    assert sum(map(len, sets)) == len(set.union(*sets)) == examples.games
    assert sum(map(len, split)) == len(examples)
    assert split_games(examples, 3).test.game.tolist() == split.test.game.tolist()
    assert split_games(examples, 4).test.game.tolist() != split.test.game.tolist()


def test_too_few_games_and_what_is_no_network_are_refused(examples):
    few = examples.of_games(np.unique(examples.game)[:4])
    for error, says, call, *given in (
        (SettingError, "decisions of 5 games or more, .* got 4", split_games, few, 0),
        (AgentError, "a network to begin with, .* got 'greedy'", check_start, GREEDY, "greedy"),
    ):
        refuses(error, says, call, *given)
    assert check_start(network(), "champion") is network()
