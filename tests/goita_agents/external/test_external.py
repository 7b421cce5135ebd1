"""Programs as bots: they play as they would in process, and misbehave at their own cost."""

import json
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bad_bots import bad
from goita_agents import load_agent
from goita_agents.base import Results
from goita_agents.external.agent import ExternalAgent
from goita_agents.faults import FAULTS, RESTARTS, FaultTracking
from goita_env import Game, Rules
from goita_env.views import seat_view
from goita_lab.arena.tournament.arena import play_pair
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import Task
from playing import played
from programs import ROOT
from twice import Twice

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX")

GAMES = np.array([17])


def ask(agent: ExternalAgent, game: Game) -> int:
    """Returns what an agent answers in the position of a game."""
    view = seat_view(game._state, game.seat, GAMES)
    return int(agent.act(view, view.legal(), np.random.default_rng(5))[0])


MINE = Rules(name="mine", call_five="duty", last_king=False, opponents_fives="redeal")


def test_our_bot_behind_the_protocol_makes_the_same_moves():
    with ExternalAgent(f"{sys.executable} -m goita_lab bot greedy", ms=30_000) as outside:
        twice = Twice(load_agent("greedy"), outside)
        task = Task(("twice", "random"), 7, 0, 0, 24, MINE, seatings=((1, 0, 1, 1),))
        play_block(task, [twice, load_agent("random")])
        assert outside.faults == []
    assert twice.asked > 40


@pytest.mark.parametrize("bot", ["python", "node"])
def test_an_example_bot_beats_random_without_a_fault(bot):
    path = ROOT / "examples" / {"python": "bot_python.py", "node": "bot_node.js"}[bot]
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
    interpreter = {"python": "python3", "node": "node"}[bot]
    assert path.read_text(encoding="utf-8").startswith(f"#!/usr/bin/env {interpreter}\n")
    if shutil.which(interpreter) is None:
        pytest.skip(f"{interpreter} is not installed")
    with load_agent(f"exec:[ms=5000]{path}") as agent:  # a command of its own, without interpreter
        result = play_pair(agent, "random", 30, seed=1)
    assert agent.faults == []
    assert result.points_per_round > 5


def diary(folder: Path) -> list[dict]:
    """Reads what the one bot that kept a diary was sent."""
    (path,) = folder.glob("diary.*")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_bot_is_told_all_events_before_it_is_asked_and_at_the_end(tmp_path):
    hands = ["11235578", "11112333", "11444567", "11224568"]
    game, seats = Game(MINE, hands=hands, dealer=2), np.array([0])
    with bad("keeps a diary", tmp_path / "diary") as agent:
        agent.begin(GAMES, seats, seat_view(game._state, 0, GAMES))
        played(game, "14", "p", "p", "p", "16", "62")
        ask(agent, game)
        results = Results(np.array([3]), np.array([40]), seat_view(game._state, 0, GAMES))
        agent.end(GAMES, results, game.dealt[None])
    assert agent.faults == []
    told = diary(tmp_path)
    wanted = ["hello", "deal", *["event"] * 6, "act", "end", "bye"]
    assert [message["type"] for message in told] == wanted
    assert {message["game"] for message in told[1:-1]} == {17}
    hello = {"type": "hello", "protocol": 1, "ms_per_decision": 5000}
    assert told[0] == hello | MINE.to_keys()
    assert told[-2] == {"type": "end", "game": 17, "winner": 3, "points": 40, "hands": hands}


NONSENSE = {
    "talks nonsense": "I think I'll pass",
    "thinks aloud": "let me see",
    "answers an unknown type": "resign",
    "answers another game": "expected an answer for game",
    "answers with a number": '"action": 0',
}


@pytest.mark.parametrize(
    ("behaviour", "kinds", "text"),
    [
        ("lies", ["illegal"] * FAULTS, "got '88'"),
        *((behaviour, ["nonsense"] * FAULTS, text) for behaviour, text in NONSENSE.items()),
        ("dies at once", ["hello"] * 4, "the program ended with exit code 1"),
        ("dies in mid-game", ["died"] * 4, "signal 11 ended the program"),
        ("closes its output", ["died"] * 4, "the program closed its output"),
        ("floods a line", ["flood"] * 4, "expected lines of 4096 bytes at most"),
        *((f"floods {what}", ["nonsense", "flood"], "") for what in ("lines", "blanks")),
        ("speaks another version", ["hello"] * 4, 'expected a "hello" with "protocol":1'),
        ("answers twice", ["nonsense"] * FAULTS, ""),
    ],
)
def test_a_bot_that_misbehaves_forfeits_and_the_games_continue(behaviour, kinds, text):
    with bad(behaviour) as agent:
        result = play_pair(agent, "random", 12, seed=2)
        assert result.deals == 12
        assert isinstance(agent, FaultTracking)
        found = [fault.kind for fault in agent.faults]
        if text:
            assert found == kinds
            assert any(text in fault.text for fault in agent.faults)
        else:
            assert set(found) <= set(kinds)  # which comes first depends on the pipe
        assert agent.forfeited
        assert agent.restarts <= RESTARTS
    if behaviour == "dies in mid-game":
        fault = agent.faults[0]
        head, *lines = str(fault).splitlines()
        assert head.startswith(f"died (seat {fault.seat}, game {fault.game}): expected an answer, ")
        assert lines == ["  first line", "  last words"]


def test_a_bot_that_hangs_is_late_twice_before_it_is_started_anew():
    with bad("hangs", ms=40) as agent:
        start = time.monotonic()
        play_pair(agent, "random", 4, seed=2)
        assert time.monotonic() - start < 5
    assert [fault.kind for fault in agent.faults] == ["late"] * len(agent.faults)
    assert 2 * RESTARTS <= len(agent.faults) <= FAULTS
    assert agent.forfeited


@pytest.mark.parametrize(
    "behaviour", ["slow once", pytest.param("silent once", marks=pytest.mark.slow)]
)
def test_one_late_answer_is_one_fault_and_no_answer_to_the_next_question(behaviour):
    with bad(behaviour, ms=400) as agent:
        play_pair(agent, "random", 3, seed=2)
    # The programs of all four seats are late with their third answer.
    assert {fault.kind for fault in agent.faults} == {"late"}
    assert sorted(fault.seat for fault in agent.faults) == [0, 1, 2, 3]
    assert (agent.restarts, agent.forfeited) == (0, False)


def test_a_bot_started_anew_is_told_its_running_games_again(tmp_path):
    with bad("dies once", tmp_path / "note") as agent:
        play_pair(agent, "random", 20, seed=2)
    (fault,) = agent.faults  # a game that it had not heard of would have been another
    assert (fault.kind, agent.restarts, agent.forfeited) == ("died", 1, False)


def test_a_flood_of_standard_error_holds_nobody_up():
    with bad("floods stderr", ms=5000) as agent:
        play_pair(agent, "random", 2, seed=2)
        assert agent.faults == []
