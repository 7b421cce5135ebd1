"""The studies of exact teamwork and of codes, and the training of their players, on small games."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from goita_env import Rules
from goita_env.actions import PASS
from goita_lab.exact import teamwork
from goita_lab.exact.tree import Channel, enumerate_game
from goita_lab.exact.values import Learner, gains, value
from research.drawing import THEMES
from research.studies import codes, study
from research.studies.teamwork import diversity, net_of_strength, prices
from research.teamwork import train

TINY = Rules(name="tiny", deck=(10, 2, 0, 0, 4, 0, 0, 0))


def any_policy(tree, seed):
    weights = np.random.default_rng(seed).exponential(size=len(tree.action)) ** 2
    return weights / np.add.reduceat(weights, tree.starts[:-1])[tree.owner]


@pytest.fixture(scope="module")
def tiny():
    return enumerate_game(TINY)


def test_every_method_trains_a_player_of_its_own(tiny):
    first = max(gains(tiny, tiny.uniform()).values())
    for method in ("predictive", "plus", "discounted"):
        found = train.equilibrium(tiny, 1, 60, method)
        assert max(gains(tiny, found).values()) < first / 4
    assert train.gradient(tiny, 1, 60).max() > 0.999
    soft, hard = (train.gradient(tiny, 1, 60, entropy) for entropy in (5.0, 0.0))
    assert (soft * np.log(soft.clip(1e-9))).sum() < (hard * np.log(hard.clip(1e-9))).sum()
    # A player that likes to pass does so more often than one that does not.
    free = (tiny.action == PASS) & (np.diff(tiny.starts) > 1)[tiny.owner]
    often = []
    for what in ("proud", "patient"):
        policy = train.preferring(tiny, 1, 30, what)
        often.append((train.visited(tiny, policy, 1)[tiny.owner] * policy)[free].sum())
    assert often[0] < 0.9 * often[1]


def test_random_starts_lead_elsewhere_and_near_an_equilibrium(tiny):
    ends = []
    for seed in (1, 2):
        learner = Learner(tiny, train.drawn_regrets(tiny, seed))
        first = max(gains(tiny, learner.policy).values())
        for _ in range(150):
            learner.learn()
        ends.append(learner.average())
        assert max(gains(tiny, ends[-1]).values()) < first / 50
    assert np.abs(ends[0] - ends[1]).max() > 0.9


def test_the_script_trains_once_and_stores_what_can_be_loaded(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "ROUNDS", {"tiny": 3})
    monkeypatch.setattr(train, "enumerate_game", lambda *_, channel: tiny)
    monkeypatch.setattr(train, "FOLDER", tmp_path)
    assert train.main(["tiny", "--test", "-o", str(tmp_path / "kept")]) == 0
    found = teamwork.Players.load(tiny, tmp_path / "tiny.npz")
    assert [len(found.of(split)) for split in ("train", "validation", "test")] == [14, 8, 10]
    assert found.best.min() < found.best.max()
    # A listener is a best response of its seat to the team that it knows.
    partner, listeners = found.types(tiny, 0)[2]
    together = np.where(tiny.seat[tiny.owner] % 2 == 0, partner, listeners)
    assert max(gains(tiny, together)[seat] for seat in (1, 3)) < 0.05
    monkeypatch.setattr(train.Trainer, "trained", lambda *_: pytest.fail("trained again"))
    assert train.main(["tiny", "--test", "-o", str(tmp_path / "kept")]) == 0
    found_losses = diversity(tiny, found, "validation")
    own = [found.names.index(name) for name in found_losses.partners]
    losses = np.array(found_losses.losses)
    assert np.abs(losses[np.arange(len(own)), own]).max() < 1e-9
    mean, least = found_losses.figures()
    assert 0 <= least < mean
    # A player that knows more of the type loses less; what it loses with the whole list is the
    # benchmark's price.
    regret = prices(tiny, found)
    none, kind, pair, partner = (float(np.mean(four)) for four in regret.values())
    assert none == pytest.approx(teamwork.Benchmark(tiny, found, "test").price["test"])
    assert none >= kind >= pair >= -1e-9
    assert none >= partner >= -1e-9
    assert none > 0


def test_regret_net_of_strength_is_what_a_line_leaves():
    rows = [
        {"name": str(number), "strength": number, "regret": [10 - 2 * number + extra]}
        for number, extra in enumerate((0, 0, 1, 0, 0))
    ]
    found = net_of_strength(rows)
    assert max(found, key=found.get) == "2"
    assert sum(found.values()) == pytest.approx(0)


def test_exchanged_tiles_and_messages_change_a_code_and_no_value(monkeypatch):
    equal = Rules(name="equal", deck=(10, 2, 0, 2, 2, 0, 0, 0))
    monkeypatch.setattr(codes, "EQUAL", equal)
    for tree in (enumerate_game(equal), enumerate_game(TINY, channel=Channel())):
        policy = any_policy(tree, 0)
        other = codes.exchange(tree, policy)
        assert np.abs(other - policy).max() > 0.5
        assert value(tree, other) == pytest.approx(value(tree, policy))
        assert (codes.exchange(tree, other) == policy).all()
        # Who plays with a partner of another code than its own loses, or gains, by that.
        assert codes.gaps_of(tree, policy, policy) == (0, 0)
        assert np.abs(codes.gaps_of(tree, policy, other)).max() > 1e-4


def test_a_policy_is_carried_to_another_audience(tiny):
    private, public = (enumerate_game(TINY, channel=Channel(1, heard)) for heard in (False, True))
    policy = any_policy(private, 0)
    overheard = codes.carry(policy, private, public)
    assert value(public, overheard) == pytest.approx(value(private, policy))
    assert codes.carry(overheard, public, private) == pytest.approx(policy)
    # Opponents who know the message respond no worse.
    assert codes.alone(public, overheard) < codes.alone(private, policy)
    assert codes.together(private, policy) < codes.alone(private, policy)


def test_the_study_of_codes_measures_what_it_learned(tmp_path, monkeypatch):
    monkeypatch.setattr(codes, "ROUNDS", dict.fromkeys(codes.ROUNDS, 4))
    monkeypatch.setattr(codes, "EARLIER", 2)
    monkeypatch.setattr(codes, "get_rules", lambda _: TINY)
    result = codes.run(study.Options(tmp_path, quick=True))
    assert len(result.ends) == 8
    assert result.ends["mini_3 1 private None"].value == pytest.approx(
        result.ends["mini_3 0 private None"].value,
        abs=0.05,  # regrets of 0 are rounded differently
    )
    told = codes.report(result)
    assert "1 bits, public" in told
    assert "exchanged brings back" in told
    assert codes.figure(result, THEMES["light"]).startswith(b"<?xml")
    assert json.dumps(asdict(result))
