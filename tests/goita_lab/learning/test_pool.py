"""Frozen players at the tables of a training: who sits where, and what is learnt from."""

import copy
import json
from itertools import pairwise

import numpy as np
import pytest

import training
from goita_agents.base import AgentError
from goita_agents.registry import expand, load_agent
from goita_env.errors import SettingError
from goita_lab.learning import OpponentPool
from goita_lab.learning.pool import LEARNER, named_agents, read_weighted
from raising import refuses


def make_model(pool, steps=16, **settings):
    options = {"n_steps": steps, "batch_size": 256, "n_epochs": 1, "layers": (8,)}
    model = training.make_model(training.make_env(64, **settings), **options)
    model.pool = pool
    return model


def drawn(games=64, known=(), **settings):
    """Returns a pool that has drawn its first opponents."""
    pool = OpponentPool(games, **settings)
    pool.known = known
    pool.begin()
    pool.draw_opponents()
    return pool


class Counting:
    """Plays at random, and notes who was asked."""

    def __init__(self, name):
        self.name, self.agent, self.asked = name, load_agent("random"), 0

    def act(self, view, legal, rng):
        self.asked += len(view)
        return self.agent.act(view, legal, rng)


def watched(pool, rollouts, **settings):
    """Plays; returns the model and, of each step, who is asked with a choice and the owners."""
    model, split, seen = make_model(pool, **settings), pool.split, []

    def watch(turn, rows):
        mine, others = split(turn, rows)
        seen.append((rows, turn.seat[rows], pool.owner.copy(), mine, others, turn.done))
        return mine, others

    pool.split = watch
    training.rollout(model, rollouts)
    return model, seen


def test_only_the_learners_seats_enter_the_buffer_and_count():
    pool = OpponentPool(64, share=0.5, agents=["random"], snapshots=False)
    pool._built[0] = counting = Counting("random")
    model, seen = watched(pool, 6)
    mine = sum(len(step[3]) for step in seen)
    assert counting.asked == sum(len(step[4]) for step in seen) > 0
    assert model.num_timesteps == mine
    for rows, seats, owner, learner, others, _ in seen:
        held = owner[rows, seats]
        assert np.array_equal(rows[held == LEARNER], learner)
        assert np.array_equal(rows[held != LEARNER], others)
    # No decision of a frozen seat is waiting for what it will earn, either.
    waiting, _ = model.rollout_buffer.open_decisions()
    assert not (waiting & (pool.owner != LEARNER)).any()
    # One team is frozen in the given share of the games, either team in half of them.
    frozen = pool.owner != LEARNER
    assert frozen[:, :2].sum(axis=0).tolist() == [16, 16]
    assert np.array_equal(frozen[:, :2], frozen[:, 2:])


def test_a_game_keeps_its_opponent_to_the_end_of_its_episode():
    pool = OpponentPool(64, share=1.0, agents=["random", "greedy"], snapshots=False)
    _, seen = watched(pool, 15, episode="match")
    changed = 0
    for before, after in pairwise(seen):
        differs = (before[2] != after[2]).any(axis=1)
        assert not (differs & ~after[5]).any()  # only where the step between ended an episode
        changed += differs.sum()
    assert changed > 10
    assert {*np.unique(seen[-1][2])} == {LEARNER, 0, 1}


def test_a_partner_sits_opposite_the_learner_in_every_game():
    pool = OpponentPool(64, share=0.0, partners=["greedy"])
    training.rollout(make_model(pool))
    learner = pool.owner == LEARNER
    assert (learner[:, [0, 2]].sum(axis=1) == 1).all()
    assert (learner[:, [1, 3]].sum(axis=1) == 1).all()
    assert 0 < learner[:, 0].sum() < 64  # at either seat of its team

    pool = drawn(share=1.0, agents=["random"], snapshots=False, partners=["greedy"])
    assert ((pool.owner == LEARNER).sum(axis=1) == 1).all()
    assert ((pool.owner == 0).sum(axis=1) == 2).all()


def test_recent_and_hard_opponents_are_drawn_more_often():
    pool = OpponentPool(8, share=1.0, agents=["random", "greedy"])
    pool.known = [100, 200, 300]
    pool.players[0].learn(30.0, 50)  # random is beaten by far
    pool.players[1].learn(-5.0, 50)
    drawn = [pool._draw_opponent() for _ in range(4000)]
    names = [pool.players[n].name or str(pool.players[n].decisions) for n in drawn]
    times = {name: names.count(name) for name in set(names)}
    assert times["greedy"] > times["300"] > times["200"] > times["100"] > times["random"] > 0
    alone = OpponentPool(8, share=1.0)  # without snapshots yet the learner plays all seats
    assert alone._draw_opponent() == LEARNER


def test_results_beside_a_partner_are_those_of_its_team():
    partners = ["random", "heuristic"]
    pool = OpponentPool(64, share=1.0, agents=["heuristic"], snapshots=False, partners=partners)
    training.rollout(make_model(pool, steps=60), 2)  # beside an untrained network
    _, beside_random, beside_heuristic = pool.players
    assert min(beside_random.rounds, beside_heuristic.rounds) > 20
    assert beside_random.points < beside_heuristic.points < 0


def test_a_restored_pool_goes_on_identically():
    def play(pool, turns):
        pool.begin()
        shown = []
        for number in range(turns):
            pool.known = range(100, 200 + 50 * number, 50)
            pool.draw_opponents()
            pool.players[pool._opponent_of[0]].learn(number, 20)
            pool._seat(np.arange(0, 64, 1 + number % 3))
            shown.append(pool.owner.copy())
        return shown

    pool = OpponentPool(64, share=0.5, agents=["greedy"], seed=3)
    pool.load = lambda decisions: load_agent("random")
    play(pool, 5)
    state = copy.deepcopy(pool.state())
    state = json.loads(json.dumps(state[0])), state[1]
    other = OpponentPool(64, share=0.5, agents=["greedy"], seed=8)
    other.load = pool.load
    other.load_state(*state)
    assert all(map(np.array_equal, play(pool, 9), play(other, 9)))


def test_shares_that_are_none_and_agents_with_a_memory_are_refused():
    refuses(SettingError, "share", OpponentPool, 8, share=1.5)
    refuses(AgentError, "nobody", OpponentPool, 8, share=0.5, agents=["nobody"])
    refuses(AgentError, "memory", OpponentPool, 8, share=0.5, agents=["exec:true"])


def test_weights_and_sets_of_players():
    weights = read_weighted(["self", "3*greedy", "2*population:train", "greedy"])
    train = expand(["population:train"])
    assert (weights["self"], weights["greedy"]) == (1.0, 4.0)
    assert sum(weights[name] for name in train) == pytest.approx(2.0)
    assert len({weights[name] for name in train}) == 1
    assert named_agents(["self", "3*greedy", "population:train"]) == ("greedy",)
    with pytest.raises(SettingError, match="expected a weight above 0"):
        read_weighted(["0*greedy"])


def test_partners_are_drawn_by_weight_and_the_learner_is_one_of_them():
    pool = OpponentPool(1024, share=0.0, partners=["3*self", "greedy"], seed=2)
    share = []
    for _ in range(300):
        pool.begin()
        pool.draw_opponents()
        partner = pool.owner != LEARNER
        # One seat of each team has the partner, or none.
        assert set(partner.sum(axis=1).tolist()) <= {0, 2}
        assert np.array_equal(partner[:, 0] | partner[:, 2], partner[:, 1] | partner[:, 3])
        share.append(partner.any(axis=1).mean())
    assert len({round(one * 8) for one in share}) > 3  # eight groups, drawn one by one
    assert 0.15 < np.mean(share) < 0.35
