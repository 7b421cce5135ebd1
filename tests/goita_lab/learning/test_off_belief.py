"""Off-belief returns come from worlds of the rule constraints, and from nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from goita_env import Game, GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.information import InformationStructure, MessageChannel
from goita_env.rounds import Rounds
from goita_env.worlds import determinize, enumerate_worlds
from goita_lab.learning import Training
from goita_lab.learning.returns import returns_in_worlds

BACK = 0.125
"""What the policy of these tests expects wherever it is asked."""
SCALE = 0.02
SMALL = Training(
    n_envs=32,
    n_steps=16,
    batch_size=256,
    layers=(8,),
    total_timesteps=2048,
    seed=1,
    precision="float32",
    off_belief=True,
)


def decide(words, legal):
    """Takes the last legal action."""
    chosen = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
    return chosen, np.full(len(words), BACK, np.float32), np.zeros(len(words), np.float32)


def late_position():
    """Returns a game in which a seat with a choice cannot rule out some dozens of worlds."""
    for seed in range(200):
        game, rng = Game(seed=seed), np.random.default_rng(seed)
        while not game.done:
            view = game.view(game.seat)
            if view.legal().sum() > 1 and 1 < view.unseen.sum() <= 9:
                worlds = enumerate_worlds(view, 300)
                if worlds is not None and len(worlds) > 20 and game.seat == view.mover[0]:
                    return view, worlds
            game.play(int(rng.choice(game.legal_actions())))
    raise AssertionError("no such position")


def earned(view, world, action):
    """Returns what an action earns in one world, by hand."""
    rounds = Rounds.from_positions(determinize(view, world), actions=[action])
    decisions = rounds.decisions
    while not rounds.over:
        if decisions.seats.tolist() == [0]:
            return BACK
        asked = len(decisions.rows)  # nobody is, where only one action is legal
        chosen = decide(decisions.view.words, decisions.legal)[0] if asked else decisions.rows
        decisions = rounds.step(chosen)
    return decisions.ended.gained[0] * SCALE


def test_the_mean_is_that_of_all_worlds():
    view, worlds = late_position()
    varied = 0
    for action in np.flatnonzero(view.legal()[0])[:2]:
        exact = [earned(view, worlds[i : i + 1], action) for i in range(len(worlds))]
        varied += len(set(exact)) > 1
        many = 3000
        rows = view[np.zeros(many, np.int64)]
        found = returns_in_worlds(
            rows, np.full(many, action), decide, np.random.default_rng(3), SCALE
        )
        assert set(np.round(found.astype(float), 6)) <= set(np.round(exact, 6))
        error = float(found.std()) / many**0.5
        assert float(found.mean()) == pytest.approx(worlds.weight @ exact, abs=4 * error + 1e-6)
    assert varied


def test_a_training_learns_from_drawn_decisions_with_the_returns_of_worlds(monkeypatch):
    asked = []

    def remember(view, actions, decide, rng, scale):
        asked.append(actions)
        return np.arange(len(view), dtype=np.float32)

    monkeypatch.setattr("goita_lab.learning.returns.returns_in_worlds", remember)
    model = SMALL.model()
    model.learn(1000)
    buffer = model.rollout_buffer
    assert len(asked[-1]) == len(buffer.closed)
    assert 0.1 < len(buffer.closed) / buffer.pos < 0.6
    assert np.array_equal(buffer.returns, np.arange(len(buffer.closed)))
    assert np.array_equal(buffer.advantages, buffer.returns - buffer.values)
    rows = list(buffer.get(256))
    assert sum(len(one.returns) for one in rows) == len(buffer.closed)
    seen = np.concatenate([one.weights.numpy() for one in rows])
    assert seen.min() >= 1
    assert seen.max() > seen.min()


def test_off_belief_refuses_what_its_worlds_do_not_have():
    with pytest.raises(SettingError, match="expected off-belief without critic"):
        replace(SMALL, critic=(8,)).model()
    with pytest.raises(SettingError, match="expected off-belief without critic"):
        replace(SMALL, transform=("events",)).model()
    for other in (
        {"episode": "match"},
        {"information": InformationStructure(channel=MessageChannel(bits=1))},
    ):
        with pytest.raises(SettingError, match="expected off-belief in rounds of the base game"):
            replace(SMALL, **other).model()


def test_positions_before_play_are_played_out():
    games = GoitaVectorEnv(512, seed=8)
    turn = games.reset()
    rows = np.flatnonzero(turn.view.asked_call & (turn.action_mask.sum(axis=1) > 1))
    assert len(rows) > 3
    actions = turn.action_mask[rows].argmax(axis=1)
    found = returns_in_worlds(turn.view[rows], actions, decide, np.random.default_rng(0), SCALE)
    assert np.isfinite(found).all()
    assert len(set(found.tolist())) > 1
