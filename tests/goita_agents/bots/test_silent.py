"""Agents at tables with shown tiles and messages: without what they cannot use, or silent."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import HasTemperature, Policy, RedealObserver, StatefulAgent
from goita_agents.bots.wrapped import MutedAgent, PlainAgent
from goita_env import InformationStructure, MessageChannel
from goita_env.actions import MESSAGE
from goita_env.information import PLAIN
from goita_env.rounds import Rounds
from goita_env.rounds.telling import notify_agents
from goita_env.seeds import bot_generator
from informed_bots import Telling, WithMemory
from informed_oracle import OPTIONS

TOLD = InformationStructure("partner", MessageChannel(2))


def play(agent, information, games=48, seed=5):
    """Plays rounds, all four seats by one agent; returns how they ended, and every answer."""
    rounds = Rounds(games, seed=seed, rules="pagat", information=information, log=True)
    rng, answers, points = bot_generator(seed, "silent"), [], np.zeros(games, int)

    def sitting(rows):
        index, seats = np.repeat(np.arange(len(rows)), 4), np.tile(np.arange(4), len(rows))
        yield agent, index, seats, 4 * rounds.numbers[rows[index]] + seats

    decisions = rounds.decisions
    while not rounds.over:
        if isinstance(agent, StatefulAgent):
            notify_agents(decisions, sitting)
        chosen = decisions.rows
        if len(decisions.rows):
            chosen = agent.act(decisions.view, decisions.legal, rng)
        decisions = rounds.step(chosen)
        made = decisions.made
        answers += zip(made.rows.tolist(), made.seats.tolist(), made.actions.tolist(), strict=True)
        if decisions.ended is not None:
            points[decisions.ended.rows] = decisions.ended.gained
    if isinstance(agent, StatefulAgent):
        notify_agents(decisions, sitting)
    return points, answers


FEW = OPTIONS[1], OPTIONS[3], OPTIONS[-1]  # messages of two bits, shown tiles, both and three bits


@pytest.mark.parametrize("information", FEW, ids=str)
def test_a_plain_agent_plays_any_game_as_it_plays_the_plain_one(information):
    for agent in (Telling, WithMemory):
        inside = agent()
        points, answers = play(PlainAgent(inside), information)
        wanted, moves = play(agent(), PLAIN)
        assert np.array_equal(points, wanted)
        assert sorted(one for one in answers if one[2] < MESSAGE) == sorted(moves)
        messages = [one for one in answers if one[2] >= MESSAGE]
        assert bool(messages) == (information.channel is not None)
        assert {action for _, _, action in messages} <= {MESSAGE}
        for view, legal in inside.asked:
            assert (view.information, legal.shape[1]) == (PLAIN, 69)
            assert np.array_equal(view.legal(), legal)
    assert isinstance(PlainAgent(inside), RedealObserver)
    assert all(view.information == PLAIN for view in inside.ends)  # a memory is told it, too
    assert not isinstance(PlainAgent(Telling()), StatefulAgent)


@pytest.mark.parametrize("information", FEW, ids=str)
def test_a_muted_agent_sees_and_hears_all_and_says_nothing(information):
    inside = Telling()
    _, answers = play(MutedAgent(inside), information)
    assert all(action <= MESSAGE for _, _, action in answers)
    for view, legal in inside.asked:
        assert view.information == information
        assert not view.asked_message.any()
        assert np.array_equal(view.legal(), legal)
    if information.channel is None:
        assert answers == play(Telling(), information)[1]
    else:
        assert any(action > MESSAGE for _, _, action in play(Telling(), information)[1])


def test_known_policies_stay_known_and_put_all_on_silence():
    network = load_agent("p=plain:base=(champion:temperature=1)")
    assert isinstance(network, HasTemperature)
    assert (network.name, network.temperature) == ("p", 1.0)
    assert not network.deterministic
    assert network.at(0.0).deterministic
    rounds = Rounds(32, information=TOLD, seed=1)
    view, legal = rounds.decisions.view, rounds.decisions.legal
    for agent in (network, network.at(0.5), load_agent("muted:base=random")):
        likely = agent.probabilities(view, legal)
        assert likely.shape == (32, 77)
        assert (likely[:, MESSAGE] == 1).all()
        assert likely.sum() == 32
    while rounds.decisions.view.asked_message.any():
        rounds.step(np.full(len(rounds.decisions.rows), MESSAGE))
    view, legal = rounds.decisions.view, rounds.decisions.legal
    likely = network.probabilities(view, legal)
    wanted = network.base.probabilities(view.plain(), legal[:, :69])
    assert np.array_equal(likely, np.pad(wanted, ((0, 0), (0, 8))))
    assert not isinstance(load_agent("plain:base=(rollout:worlds=4)"), Policy)
