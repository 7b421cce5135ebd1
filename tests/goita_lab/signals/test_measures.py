"""Published measures, cross-play, principles, trees and probes, where the answer is known."""

from math import log

import numpy as np
import pytest

from goita_agents.beliefs import UNIFORM_MODEL, PolicyModel
from goita_agents.registry import load_agent
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_lab.signals import measures
from goita_lab.signals.listening import listen
from goita_lab.signals.measures.crossplay import RUNS_NEEDED
from goita_lab.signals.measures.emergent_communication import information, plug_in_information
from goita_lab.signals.playing import play, positions
from raising import refuses
from signalling_bots import LengthBot


@pytest.fixture(scope="module")
def at_random():
    return play(["random"], 1_500, seed=1)


@pytest.fixture(scope="module")
def greedy():
    return play(["greedy"], 600, seed=2)


def test_independent_values_have_no_information_once_the_bias_is_gone():
    rng = np.random.default_rng(0)
    one, other, deal = rng.integers(8, size=2_000), rng.integers(20, size=2_000), np.arange(2_000)
    found = information(one, other, deal, np.zeros(2_000, np.int64))
    assert found.bias == pytest.approx(7 * 19 / 4_000, rel=0.01)
    assert found.plug_in > 0.02
    assert found.interval.low < 0 < found.interval.high
    assert abs(found.shuffled) < 0.005
    # What was said before is not what is known to both.
    known = information(one, one, deal, one)
    assert known.interval.mean == pytest.approx(0)


def test_where_cells_are_impossible_the_bias_counts_those_that_are_not():
    # Who says m does one of the three things next to m, of twelve: most cells cannot occur.
    possible = (np.arange(12) - np.arange(12)[:, None]) % 12 < 3
    joint = possible / possible.sum()
    true = log(12 / 3)
    rng = np.random.default_rng(0)
    counts = rng.multinomial(400, joint.ravel(), size=300).reshape(300, 1, 12, 12)
    plug_in, bias = np.transpose([plug_in_information(one) for one in counts])
    assert np.mean(plug_in - bias) == pytest.approx(true, abs=0.003)
    assert abs(np.mean(plug_in) - 11 * 11 / 800 - true) > 0.1, "the formula of a full table"
    assert plug_in_information(np.ones((2, 3, 4), np.int64))[1] == pytest.approx(2 * 2 * 3 / 48)
    assert plug_in_information(np.eye(5, dtype=np.int64)[None])[1] == pytest.approx(-4 / 10)


def test_published_measures_of_a_random_player_are_small(at_random):
    consistency = measures.speaker_consistency(at_random)
    coordination = measures.instantaneous_coordination(at_random)
    assert consistency.interval.mean < 0.03
    assert coordination.interval.mean < 0.01
    assert consistency.bias > 0
    assert abs(coordination.shuffled) < 2e-3  # cells that few pairs fall into are not all met


def test_actions_influence_a_random_player_by_what_is_legal_alone(at_random):
    found = measures.causal_influence(at_random, "random", decisions=60)
    assert found.influence.mean == found.uniform.mean > 0.1
    assert (found.beyond.low, found.beyond.high) == (0, 0)


def test_a_policy_that_is_sure_sends_one_message_and_has_no_influence(greedy):
    assert measures.causal_influence(greedy, "greedy", decisions=20).influence.mean == 0
    found = measures.causal_influence(greedy, "greedy", messages="legal", decisions=20)
    assert found.influence.mean > 0


def test_positions_stand_where_the_games_stood(greedy):
    some = np.flatnonzero(greedy.choice)[::37]
    decisions = Rounds.from_positions(positions(greedy, some)).decisions
    assert np.array_equal(decisions.view.words, greedy.words[some])
    assert np.array_equal(decisions.legal, greedy.legal[some])


def test_a_gap_is_found_where_it_was_put_and_a_strong_run_fakes_none():
    rng = np.random.default_rng(0)
    strength, luck = rng.normal(0, 5, 5), rng.normal(0, 1, 40)
    base = strength[:, None] + strength[None, :]
    none = measures.cross_play_gap(base[:, :, None] + luck)
    assert none.gap == pytest.approx(0)
    assert none.p_value == 1
    found = measures.cross_play_gap((base + 2 * np.eye(5))[:, :, None] + luck)
    assert found.gap == pytest.approx(2)
    assert found.p_value == found.smallest_p == pytest.approx(1 / 120)
    assert found.runs.low <= 2 <= found.runs.high
    assert measures.cross_play_gap(np.zeros((2, 2, 5))).runs is None
    for runs in (2, 3, 4, 5):
        found = measures.cross_play_gap(np.eye(runs)[:, :, None] + np.zeros(3))
        assert found.p_value == found.p_beyond_product == found.smallest_p
        assert (found.p_value < 0.05) == (runs >= RUNS_NEEDED)
    for shape in ((1, 1, 5), (2, 3, 5), (10, 10, 5), (2, 2, 1), (2, 2)):
        refuses(SettingError, "expected points", measures.cross_play_gap, np.zeros(shape))


def test_strong_runs_that_need_strong_partners_fake_no_gap_beyond_the_product():
    strength = np.array([0.0, 1.0, 2.0, 4.0])
    base = strength[:, None] + strength + 0.5 * strength[:, None] * strength
    fake = measures.cross_play_gap(base[:, :, None] + np.zeros(8))
    assert fake.p_value == fake.smallest_p == pytest.approx(1 / 24)
    assert fake.p_beyond_product == 1
    true = measures.cross_play_gap((base + 3 * np.eye(4))[:, :, None] + np.zeros(8))
    assert true.p_value == true.p_beyond_product == pytest.approx(1 / 24)
    assert true.residual.sum(axis=0) == pytest.approx(0)
    assert true.residual.sum(axis=1) == pytest.approx(0)
    assert np.diagonal(true.residual).mean() == pytest.approx(true.gap * 3 / 4)


def test_cross_play_is_symmetric_and_against_itself_near_nothing():
    points = measures.cross_play(["greedy", "random"], "greedy", 64)
    assert points.shape == (2, 2, 64)
    assert np.array_equal(points[0, 1], points[1, 0])
    assert points[0, 0].mean() == pytest.approx(0)
    assert points[1, 1].mean() < points[0, 1].mean() < 0


def test_policies_are_as_far_apart_as_their_distributions(greedy):
    policies = {name: load_agent(name) for name in ("greedy", "random")}
    found = measures.policy_distance(greedy, policies)
    assert 0 < found["greedy", "random"].low < found["greedy", "random"].high < log(2)


def test_principles_are_counted_and_read_where_they_apply():
    told = play(["heuristic"], 40, seed=5)
    view = told.view()
    applies = ~view.leads & (view.attacker == 2) & (view.hand_sizes[:, 0] > 4) & told.choice
    passed = applies & (told.action == 0)
    models = {"policy": PolicyModel("heuristic")}
    heard, _ = listen(told, models, listeners=range(4), knowledge=False, where=lambda _: passed)
    use, *others = measures.principle_use(told, heard)
    assert use.name == "pass for the partner"
    assert use.actions == applies.sum()
    assert use.followed.mean == pytest.approx(passed.sum() / applies.sum())
    assert use.revealed.mean == pytest.approx(heard.revealed[heard.speaker == 2, 0].mean())
    assert use.against is None, "nobody heard them"
    rare = min(others, key=lambda one: one.actions)
    assert rare.actions < 20
    assert rare.followed is rare.revealed is None


def test_a_tree_agrees_with_what_it_was_fitted_to_and_plays():
    pytest.importorskip("sklearn")
    told = play([LengthBot(), "random"], 150, seed=4)
    tree = measures.fit_speaker(told, "greedy")
    found = measures.speaker_tree(tree, "greedy", told, play([tree, "greedy"], 40))
    assert 0 < found.fidelity.low <= found.fidelity.high < 1
    assert found.leaves <= 16
    assert "?" in found.text
    assert found.points.low <= found.points.mean <= found.points.high < 10
    view, legal = told.view(told.choice), told.legal[told.choice]
    sure, likely = (one.probabilities(view, legal) for one in (found.agent, found.agent.at(1.0)))
    assert ((sure > 0).sum(axis=1) == 1).all()
    assert (likely[~legal] == 0).all()
    assert likely.sum(axis=1) == pytest.approx(1)


def test_a_tree_as_model_reads_more_than_the_uniform_model_and_less_than_the_policy():
    pytest.importorskip("sklearn")
    tree = measures.fit_speaker(play(["greedy"], 100, seed=6), "greedy", seed=(1 << 64) - 1)
    models = {"policy": PolicyModel("greedy"), "uniform": UNIFORM_MODEL}
    models["tree"] = PolicyModel(tree, 1.0)
    told = play(["greedy"], 24, seed=7)
    _, heard = listen(told, models, revealed=False)
    _, by_tree = measures.model_mismatch(told, heard)
    assert by_tree.understood.low > 0
    assert by_tree.lost.low > 0


@pytest.fixture(scope="module")
def known():
    told = play(["champion"], 4, seed=9)
    models = {"policy": PolicyModel("champion")}
    return told, listen(told, models, listeners=[0], revealed=False)[1]


def test_a_probe_is_measured_beside_its_controls_and_the_exact_belief(known):
    pytest.importorskip("sklearn")
    told, heard = known
    found = measures.activation_probe(told, heard, load_agent("champion"))
    assert found.exact.mean < found.prior.mean
    assert found.exact.mean < found.network.mean
    assert found.untrained.mean != found.network.mean != found.hand_only.mean
    with pytest.raises(SettingError, match="expected a network"):
        measures.activation_probe(told, heard, load_agent("greedy"))
