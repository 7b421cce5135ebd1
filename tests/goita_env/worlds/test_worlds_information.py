"""Worlds of views that are shown tiles of others or heard messages."""

import numpy as np
import pytest

from deals import RULE_SETS, special_hands
from goita_env import Game, InformationStructure, MessageChannel
from goita_env.engine import core
from goita_env.engine.episodes import Match
from goita_env.engine.legal_bits import sample_legal
from goita_env.rounds import Rounds
from goita_env.views import acting_view
from goita_env.worlds import determinize, enumerate_worlds, sample
from informed_oracle import OPTIONS
from samples import rotating

GAMES = 60


def states(rules, options, seed=0, every=4, steps=56):
    """Yields games under way, all seats asked, one step in ``every``."""
    rng = np.random.default_rng(seed)
    match = Match(GAMES, rules, information=options)
    match.reset(special_hands(rng, GAMES))
    for step in range(steps):
        if step % every == 0:
            yield match.state
        low, high = core.legal_actions(match.state)
        match.step(sample_legal(low, high, rng))


@pytest.mark.parametrize(("options", "rules"), rotating(OPTIONS, RULE_SETS), ids=str)
def test_the_asked_seat_sees_the_same_in_every_world(rules, options):
    rng = np.random.default_rng(1)
    for state in states(rules, options):
        view = acting_view(state)
        drawn = sample(view, 3, rng)
        positions = determinize(view, drawn)
        again = acting_view(positions._state)
        assert np.array_equal(again.words, view.words.repeat(3, axis=0))
        assert positions.information == again.information == options
        hands = view.hands.repeat(3, axis=0)
        shown = [0, *options.shown_seats]
        assert np.array_equal(drawn.hands[:, shown], hands[:, shown])
        assert (drawn.dealt.sum(axis=(1, 2)) == 32).all()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_worlds_are_listed_and_the_true_one_is_among_them(options):
    listed = 0
    for state in states("jga", options, every=8):
        view = acting_view(state)
        for row in range(0, GAMES, 12):
            worlds = enumerate_worlds(view[row : row + 1], 5_000)
            if worlds is None:
                continue
            listed += 1
            true = np.roll(state.dealt_counts()[row], -int(state.seat[row]), axis=0)
            assert (worlds.dealt == true).all(axis=(1, 2)).any()
            assert worlds.weight.sum() == pytest.approx(1)
            if options.shown == "all":
                assert len(worlds) == 1
    assert listed > 5


def test_drawn_worlds_are_as_frequent_as_the_listed_ones_weigh():
    options, rng = InformationStructure("partner"), np.random.default_rng(2)
    for state in states("jga", options, seed=3, every=30):
        view = acting_view(state)[:1]
        listed = enumerate_worlds(view, 3_000)
        if listed is None or len(listed) < 2:
            continue
        drawn = sample(view, 20_000, rng)
        keys = [world.tobytes() for world in listed.dealt]
        # Where a tile lies face down tells worlds apart, too; those of one deal are summed.
        share = dict.fromkeys(keys, 0.0)
        for key, weight in zip(keys, listed.weight.tolist(), strict=True):
            share[key] += weight
        seen = [world.tobytes() for world in drawn.dealt]
        for key, weight in share.items():
            assert abs(seen.count(key) / 20_000 - weight) < 5 * np.sqrt(weight / 20_000) + 1e-3


def test_rounds_are_played_from_worlds_and_charge_for_messages():
    options = InformationStructure(channel=MessageChannel(1, "partner", cost=7))
    game = Game(information=options, dealer=0, seed=4)
    game.play("say0")
    view = game.view(1)
    positions = determinize(view, sample(view, 50, np.random.default_rng(0)))
    rounds = Rounds.from_positions(positions, seed=3, actions=np.full(50, 70))
    rng, cost = np.random.default_rng(0), []
    while not rounds.over:
        legal = rounds.decisions.legal
        chosen = [int(rng.choice(np.flatnonzero(row))) for row in legal]
        chosen = np.where(legal[:, 69] if len(legal) else False, 69, chosen)
        ended = rounds.step(chosen.astype(int)).ended
        if ended is not None:
            cost += ended.cost.tolist()
    assert len(cost) == 50
    assert set(cost) <= {7, -7}
