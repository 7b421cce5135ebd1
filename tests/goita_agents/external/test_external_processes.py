"""Programs as bots: how they are named and started, and that none is left behind."""

import copy
import os
import pickle
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bad_bots import BAD, alive, bad, command, gone
from goita_agents import load_agent
from goita_agents.base import AgentError
from goita_lab.arena.tournament.arena import play_pair
from programs import ROOT
from raising import refuses

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX"),
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc"),
]


def test_a_command_keeps_its_commas_colons_and_equals_signs(tmp_path):
    mark = f"{tmp_path}/a,b:c=d (e)"
    spec = "exec:" + command("fine", mark)
    with load_agent(spec) as agent:
        play_pair(agent, "random", 2)
        assert (agent.name, agent.ms) == (spec, 1000)
        assert alive(mark)
    assert agent.faults == []
    assert not alive(mark)


def test_a_command_is_run_without_a_shell_and_may_be_one(tmp_path):
    line = f"cd '{BAD.parent}' && exec '{sys.executable}' -I -S bad.py fine '{tmp_path}' 2>&1"
    with load_agent(f"exec:sh -c {shlex.quote(line)}") as agent:
        play_pair(agent, "random", 2)
    assert agent.faults == []
    with bad("fine", "$HOME;", "exit", tmp_path) as agent:
        play_pair(agent, "random", 2)
        assert any("$HOME;" in one for one in alive(tmp_path))
    assert agent.faults == []


def test_an_impossible_command_is_refused_before_anything_starts():
    for text, says in {
        "": "expected exec:COMMAND",
        " ": "expected a program that can be started, got ''",
        "no-such-program --fast": "expected a program that can be started",
        "python 'unclosed": "No closing quotation",
        "[ms=20": "got no closing bracket",
        "[ms=fast]python": "got 'ms=fast'",
        "[ms=0]sh": "expected limits of at least 1 ms, got 0",
        "[mem=2G]sh": "start_ms=10000, in whole milliseconds, got 'mem=2G'",
    }.items():
        refuses(AgentError, says, load_agent, f"exec:{text}")


def test_a_copy_has_the_settings_and_starts_programs_of_its_own(tmp_path):
    with load_agent("exec:[ms=4000]" + command("fine", tmp_path)) as agent:
        agent.seed = 5
        play_pair(agent, "random", 2)
        running = len(alive(tmp_path))
        twins = [copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))]
        assert len(alive(tmp_path)) == running == 4
        for twin in twins:
            assert (twin.name, twin.ms, twin.seed, twin.faults) == (agent.name, 4000, 5, [])
            with twin:
                play_pair(twin, "random", 2)
                assert len(alive(tmp_path)) == 8
            assert twin.faults == []
    assert not alive(tmp_path)


@pytest.mark.parametrize(
    "behaviour", ["has a child", pytest.param("ignores everything", marks=pytest.mark.slow)]
)
def test_nothing_is_left_after_close(behaviour, tmp_path):
    agent = bad(behaviour, tmp_path)
    play_pair(agent, "random", 2)
    assert len(alive(tmp_path)) == (8 if behaviour == "has a child" else 4)
    agent.close()
    assert gone(tmp_path)
    play_pair(agent, "random", 2)  # it may be used again
    assert alive(tmp_path)
    agent.close()
    agent.close()
    assert gone(tmp_path)
    assert agent.faults == []


PROGRAM = """
import sys
from goita_lab.arena.tournament.arena import play_pair
from goita_agents.external.agent import ExternalAgent

agent = ExternalAgent({command!r}, ms=60_000)
print("ready", flush=True)
play_pair(agent, "random", {deals})
{then}
"""


def start(tmp_path: Path, behaviour: str, then: str = "", deals: int = 2) -> subprocess.Popen:
    """Starts a program that plays with a bot."""
    program = PROGRAM.format(command=command(behaviour, tmp_path), then=then, deals=deals)
    words, pipe = [sys.executable, "-W", "error", "-c", program], subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, cwd=ROOT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "then",
    [
        "raise RuntimeError('no reason')",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("", "sys.exit(3)")),
    ],
)
def test_nothing_is_left_when_the_program_ends_without_closing(then, tmp_path):
    with start(tmp_path, "has a child", then) as program:
        _, errors = program.communicate(timeout=30)
    assert errors.splitlines()[-1:] == (["RuntimeError: no reason"] if "raise" in then else [])
    assert gone(tmp_path)


@pytest.mark.parametrize(
    ("number", "behaviour"),
    [
        (signal.SIGINT, "ignores everything"),
        # Nothing of ours runs any more: the programs see their input close.
        (signal.SIGKILL, "fine"),
        pytest.param(signal.SIGTERM, "fine", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_left_when_the_program_is_ended_by_a_signal(number, behaviour, tmp_path):
    with start(tmp_path, behaviour, deals=100_000) as program:
        assert program.stdout.readline() == "ready\n"
        while len(alive(tmp_path)) < 5:  # the program itself is one
            assert program.poll() is None
        time.sleep(0.5)  # a bot that starts yet would fall over its closed output
        program.send_signal(number)
        _, errors = program.communicate(timeout=30)
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert gone(tmp_path)
