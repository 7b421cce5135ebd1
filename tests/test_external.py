"""Programs as bots: they play as they would in process, and misbehave at nobody's cost but theirs."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers import RULE_SETS, complete, played

from agents import load_agent
from agents.arena import play_pair
from agents.base import AgentError, Memory
from agents.external import ExternalAgent
from agents.faults import FAULTS, RESTARTS, Accountable, Fault
from goita_env import Game
from goita_env.views import seat_view

ROOT = Path(__file__).resolve().parents[1]
BAD = Path(__file__).parent / "bots" / "bad.py"
PYTHON = [sys.executable, "-I", "-S"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX")
needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")


def command(behaviour: str, *marks: object) -> str:
    """Returns the command of a misbehaving bot; marks are told apart in the process table."""
    return " ".join(f"'{word}'" for word in [*PYTHON, BAD, behaviour, *marks])


def bad(behaviour: str, *marks: object, ms: int = 5000, start_ms: int = 5000) -> ExternalAgent:
    """Returns a misbehaving bot."""
    return ExternalAgent(command(behaviour, *marks), ms=ms, start_ms=start_ms)


def alive(mark: object) -> list[str]:
    """Lists the processes that carry a mark on their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if str(mark).encode() in line:
            found.append(line.decode())
    return found


def gone(mark: object, seconds: float = 4) -> bool:
    """Waits until no process carries a mark."""
    deadline = time.monotonic() + seconds
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(mark)


def ask(agent: ExternalAgent, game: Game, number: int = 17) -> int:
    """Returns what an agent answers in the position of a game."""
    view = seat_view(game.state, game.seat, np.array([number]))
    legal = np.zeros((1, 69), bool)
    legal[0, game.legal_actions()] = True
    return int(agent.act(view, legal, np.random.default_rng(5))[0])


# ----------------------------------------------------------------------------------- in the arena


class Twice:
    """Plays as one agent does, and checks that another says the same."""

    def __init__(self, inside, outside):
        self.name, self.inside, self.outside = "twice", inside, outside
        self.decisions = 0

    def begin(self, games, seats, view):
        """Hands it on."""
        for agent in (self.inside, self.outside):
            if isinstance(agent, Memory):
                agent.begin(games, seats, view)

    def end(self, games, results, hands):
        """Hands it on."""
        for agent in (self.inside, self.outside):
            if isinstance(agent, Memory):
                agent.end(games, results, hands)

    def act(self, view, legal, rng):
        """Compares the two."""
        chosen = self.inside.act(view, legal, rng)
        assert self.outside.act(view, legal, rng).tolist() == chosen.tolist()
        self.decisions += len(chosen)
        return chosen


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("name", ["greedy", "heuristic"])
def test_our_bot_behind_the_protocol_makes_the_same_moves(name, rules):
    with ExternalAgent(f"{sys.executable} -m agents.external {name}", ms=30_000) as outside:
        twice = Twice(load_agent(name), outside)
        play_pair(twice, "random", 50, rules=rules, seed=7)
        assert outside.faults == []
        assert outside.title == name
    assert twice.decisions > 350


@pytest.mark.parametrize("bot", ["python", "node"])
def test_an_example_bot_beats_random_without_a_fault(bot):
    path = ROOT / "examples" / {"python": "bot_python.py", "node": "bot_node.js"}[bot]
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
    if bot == "node" and subprocess.run(["which", "node"], capture_output=True).returncode:
        pytest.skip("node is not installed")
    program = "node" if bot == "node" else sys.executable
    with load_agent(f"exec:[ms=5000]{program} {path}") as agent:
        result = play_pair(agent, "random", 60, seed=1)
    assert agent.faults == []
    assert result.ci95[0] > 5


def test_a_match_is_played_too_and_its_rounds_keep_their_number():
    from agents.arena import tasks
    from agents.block import play_block

    with bad("fine") as agent:
        (task,) = tasks(("bad", "random"), 4, episode="match")
        result = play_block(task, [agent, load_agent("random")])
    assert agent.faults == []
    assert result.rounds.sum() > 8


def test_a_redeal_is_told_before_the_new_deal(tmp_path):
    hands = complete("11111234", "22345678", "", "")
    game = played(Game(hands=hands, dealer=0), "call")
    games, seats = np.array([17]), np.array([1])
    agent = bad("keeps a diary", tmp_path / "diary")
    agent.begin(games, seats, seat_view(game.state, 1, games))
    played(game, "redeal")
    # The game deals anew at once; what the seat saw last is made by hand.
    last = played(Game(hands=hands, dealer=0), "call")
    last.state.notes[last.state.clock] |= 1 << 28
    agent.redeal(games, seat_view(last.state, 1, games))
    agent.begin(games, seats, seat_view(game.state, 1, games))
    played(game, *([] if game.seat == 1 else []))
    agent.close()
    assert agent.faults == []
    (path,) = tmp_path.glob("diary.*")
    assert '"type":"hello"' in path.read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("behaviour", "kinds", "text"),
    [
        ("lies", ["illegal"] * FAULTS, "expected one of p 1"),
        ("talks nonsense", ["nonsense"] * FAULTS, "I think I'll pass"),
        ("thinks aloud", ["nonsense"] * FAULTS, "let me see"),
        ("answers an unknown type", ["nonsense"] * FAULTS, "resign"),
        ("answers another game", ["nonsense"] * FAULTS, "expected an answer for game"),
        ("answers with a number", ["nonsense"] * FAULTS, '"action": 0'),
        ("dies at once", ["hello"] * 4, "the program ended with exit code 1"),
        ("dies in mid-game", ["died"] * 4, "signal 11 ended the program"),
        ("closes its output", ["died"] * 4, "the program closed its output"),
        ("floods a line", ["flood"] * 4, "expected lines of 4096 bytes at most"),
        ("floods lines", ["nonsense", "flood"], ""),
        ("floods blanks", ["nonsense", "flood"], ""),
        ("speaks another version", ["hello"] * 4, 'expected a "hello" with "protocol":1'),
    ],
)
def test_a_bot_that_misbehaves_forfeits_and_the_games_go_on(behaviour, kinds, text):
    with bad(behaviour) as agent:
        result = play_pair(agent, "random", 20, seed=2)
        assert result.deals == 20
        assert isinstance(agent, Accountable)
        found = [fault.kind for fault in agent.faults]
        if text:
            assert found == kinds
            assert any(text in fault.text for fault in agent.faults)
        else:
            assert set(found) <= set(kinds)
            assert "flood" in found
        assert agent.forfeited
        assert agent.restarts <= RESTARTS
