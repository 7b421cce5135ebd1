"""Agents at tables with shown tiles and messages: without what they cannot use, or silent."""

import copy
import pickle

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import (
    AnswerError,
    HasTemperature,
    Policy,
    RedealObserver,
    StatefulAgent,
    plays,
)
from goita_agents.bots.wrapped import MutedAgent, PlainAgent
from goita_agents.faults import FaultTracking
from goita_env import Game, InformationStructure, MessageChannel
from goita_env.actions import MESSAGE
from goita_env.information import PLAIN
from goita_env.rounds import Rounds
from goita_env.rounds.telling import tell
from goita_env.seeds import bot_generator
from informed_bots import Loud, Plainly, Telling, WithMemory
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
            tell(decisions, sitting)
        chosen = decisions.rows
        if len(decisions.rows):
            chosen = agent.act(decisions.view, decisions.legal, rng)
        decisions = rounds.step(chosen)
        made = decisions.made
        answers += zip(made.rows.tolist(), made.seats.tolist(), made.actions.tolist(), strict=True)
        if decisions.ended is not None:
            points[decisions.ended.rows] = decisions.ended.gained
    if isinstance(agent, StatefulAgent):
        tell(decisions, sitting)
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


def test_a_muted_agent_hears_what_others_say():
    game = Game(information=TOLD, dealer=0, seed=3)
    for name in ("say2", "say0"):
        game.play(name)
    view = game.view(2)
    muted, inside = MutedAgent(Loud()), Loud()
    assert muted.act(view, view.legal(), np.random.default_rng(0)) == [MESSAGE]
    assert inside.act(view, view.legal(), np.random.default_rng(0)) == [MESSAGE + 3]
    forced = view.legal()
    forced[0, [MESSAGE, MESSAGE + 1]] = False  # silence is not among what the mask allows
    for agent in (muted, PlainAgent(load_agent("random"))):
        assert agent.act(view, forced, np.random.default_rng(0)) == [MESSAGE + 2]
    assert PlainAgent(load_agent("random")).probabilities(view, forced)[0, MESSAGE + 2] == 1
    for _ in range(2):
        game.play("say0")
    found, inside = MutedAgent(Telling()), Telling()
    view = game.view(0)
    legal = np.zeros((1, 77), bool)
    legal[0, 1:9] = True
    assert np.array_equal(found.probabilities(view, legal), inside.probabilities(view, legal))
    assert found.base.asked[0][0].messages[0].tolist() == [2, 0, 0, 0]


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


class Mixed(Plainly):
    """Answers what it was built with."""

    def __init__(self, answer):
        self.answer = answer

    def act(self, view, legal, rng):
        return self.answer(legal)


def test_wrong_answers_stay_wrong_also_beside_rows_with_messages():
    game = Game(information=TOLD, dealer=0, seed=3)
    rounds = Rounds(2, information=TOLD, seed=1)
    for _ in range(4):
        rounds.step([MESSAGE] * len(rounds.decisions.rows))
    play_view = rounds.decisions.view
    words = np.concatenate([game.view(0).words, play_view.words])
    view = type(play_view)(words, None, play_view.rules, TOLD)
    legal = np.concatenate([game.view(0).legal(), rounds.decisions.legal])
    rng = np.random.default_rng(0)
    first = legal[1:].argmax(axis=1)
    assert PlainAgent(Plainly()).act(view, legal, rng).tolist() == [MESSAGE, *first]
    wrong = PlainAgent(Mixed(lambda mask: [99, 98])).act(view, legal, rng)
    assert wrong.tolist() == [MESSAGE, 99, 98]
    found = PlainAgent(Mixed(lambda mask: [np.nan, 1])).act(view, legal, rng)
    assert np.isnan(found[1])
    for answer in (7, [1], ["p", "p"], [[1, 1], [1, 1]]):
        with pytest.raises(AnswerError, match="expected 2 actions as whole numbers"):
            PlainAgent(Mixed(lambda mask, given=answer: given)).act(view, legal, rng)


def test_who_plays_what():
    hears = InformationStructure(channel=MessageChannel(1))
    for information in (PLAIN, hears, TOLD):
        assert plays(load_agent("plain:base=greedy"), information)
        assert plays(load_agent("muted:base=random"), information)
        assert plays(load_agent("muted:base=greedy"), information) == (information == PLAIN)
        assert plays(load_agent("plain:base=(plain:base=greedy)"), information)
        assert plays(load_agent("masked:base=greedy,hide=own_score"), information) == (
            information == PLAIN
        )


@pytest.mark.parametrize(
    "spec", ["plain:base=champion", "muted:base=random", "masked:base=champion,hide=events"]
)
def test_copies_play_alike(spec):
    agent = load_agent(f"one={spec}")
    rounds = Rounds(16, seed=1)
    view, legal = rounds.decisions.view, rounds.decisions.legal
    for again in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert (again.name, type(again)) == ("one", type(agent))
        assert again is not agent
        assert np.array_equal(again.probabilities(view, legal), agent.probabilities(view, legal))


def test_a_program_keeps_its_faults():
    agent = load_agent("plain:base=(exec:[start_ms=500]false)")
    assert isinstance(agent, FaultTracking)
    rounds = Rounds(1, seed=1, information=TOLD)
    for _ in range(4):
        rounds.step([MESSAGE])
    view, legal = rounds.decisions.view, rounds.decisions.legal
    agent.act(view, legal, np.random.default_rng(0))
    assert [fault.kind for fault in agent.faults] == ["hello"]
    assert not agent.forfeited
    agent.forfeit()
    assert agent.forfeited
    agent.close()
