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
from deals import complete, kinds
from goita_agents import load_agent
from goita_agents.base import Results
from goita_agents.external.agent import ExternalAgent
from goita_agents.faults import FAULTS, RESTARTS, FaultTracking
from goita_env import Game, Rules
from goita_env.actions import CALL, REDEAL
from goita_env.engine import core
from goita_env.views import seat_view
from goita_lab.arena.tournament.arena import play_pair
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import Task
from playing import deal, played
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
    if bot == "node" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = "node" if bot == "node" else sys.executable
    with load_agent(f"exec:[ms=5000]{program} {path}") as agent:
        result = play_pair(agent, "random", 30, seed=1)
    assert agent.faults == []
    assert result.points_per_round > 5


GAME = Game(hands=complete("12345678", "", "", ""), dealer=0)


def lone(behaviour: str, times: int = 1, **options: int) -> ExternalAgent:
    """Asks a misbehaving bot so often in one game; returns it, closed."""
    with bad(behaviour, **options) as agent:
        agent.begin(GAMES, np.array([0]), seat_view(GAME._state, 0, GAMES))
        for _ in range(times):
            ask(agent, GAME)
            time.sleep(0.05)
    return agent


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


def test_a_redeal_is_told_before_the_new_deal(tmp_path):
    state = deal("jga", kinds(*complete("11111234", "22345678", "", ""))[None], [0])
    again, seats = Game(hands=complete("12345678", "", "", ""), dealer=0), np.array([1])
    with bad("keeps a diary", tmp_path / "diary") as agent:
        agent.begin(GAMES, seats, seat_view(state, 1, GAMES))
        core.step(state, np.array([CALL]))
        core.step(state, np.array([REDEAL]))
        agent.redeal(GAMES, seat_view(state, 1, GAMES))
        agent.begin(GAMES, seats, seat_view(again._state, 1, GAMES))
        ask(agent, played(again, "12"))
    assert agent.faults == []
    told = [message.get("event", message["type"]) for message in diary(tmp_path)]
    assert told == ["hello", "deal", "call", "redeal", "deal", "play", "act", "bye"]


def test_a_position_out_of_the_blue_is_sent_with_all_that_happened(tmp_path):
    game = played(Game(hands=complete("12345678", "", "", ""), dealer=0), "12", "p", "p", "p")
    with bad("keeps a diary", tmp_path / "diary") as agent:
        assert ask(agent, game) in game.legal_actions()
        assert ask(agent, game) in game.legal_actions()
    assert agent.faults == []
    told = diary(tmp_path)
    assert [message["type"] for message in told[1:7]] == ["deal", *["event"] * 4, "act"]
    assert len({message["game"] for message in told[1:-1]}) == 2
    assert told[1]["hand"] == "12345678"


def test_what_a_slow_reader_has_not_read_yet_still_reaches_it_at_the_end(tmp_path):
    many = 3000
    view = seat_view(GAME._state, np.zeros(1, int))[np.zeros(many, int)]
    with bad("keeps a diary", tmp_path / "diary") as agent:
        agent.begin(np.arange(many), np.zeros(many, int), view)
        results = Results(np.zeros(many, int), np.full(many, 10), view)
        agent.end(np.arange(many), results, np.repeat(GAME.dealt[None], many, axis=0))
    types = [message["type"] for message in diary(tmp_path)]
    assert types == ["hello", *["deal", "end"] * many, "bye"]


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


def test_an_answer_left_out_in_the_only_game_is_made_good_by_a_new_start():
    agent = lone("silent once", 8, ms=300)
    # Which of two questions an answer belongs to cannot be told here.
    assert [fault.kind for fault in agent.faults] == ["late"] * 4
    assert agent.restarts == 2


def test_a_bot_started_anew_is_told_its_running_games_again(tmp_path):
    with bad("dies once", tmp_path / "note") as agent:
        play_pair(agent, "random", 20, seed=2)
    (fault,) = agent.faults  # a game that it had not heard of would have been another
    assert (fault.kind, agent.restarts, agent.forfeited) == ("died", 1, False)


@pytest.mark.parametrize(
    "behaviour",
    ["floods stderr", pytest.param("floods stderr without end", marks=pytest.mark.slow)],
)
def test_a_flood_of_standard_error_holds_nobody_up(behaviour):
    with bad(behaviour, ms=5000 if behaviour == "floods stderr" else 100) as agent:
        play_pair(agent, "random", 2, seed=2)
        assert agent.forfeited == (behaviour != "floods stderr")
        for fault in agent.faults:
            assert len(fault.stderr) == 20
            assert max(map(len, fault.stderr)) <= 500


def test_a_decision_that_failed_is_played_uniformly_at_random():
    view = seat_view(GAME._state, np.zeros(1, int), GAMES)[np.zeros(2000, int)]
    with bad("lies") as agent:
        chosen = agent.act(view, view.legal(), np.random.default_rng(5))
    legal = GAME.legal_actions()
    counts = np.bincount(chosen, minlength=69)
    assert counts[legal].sum() == 2000
    assert counts[legal].min() > 0.5 * 2000 / len(legal)
