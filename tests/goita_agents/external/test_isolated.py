"""Agents in processes of their own: they play as in this one, and break for themselves alone."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bad_bots import alive, bad, gone
from deals import complete
from goita_agents import load_agent
from goita_agents.base import Results
from goita_agents.external.agent import ExternalAgent
from goita_agents.external.isolated import isolated
from goita_agents.faults import FAULTS, RESTARTS
from goita_env import Game
from goita_env.rules import get_rules
from goita_env.views import seat_view
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import Task
from playing import played
from twice import Twice

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX"),
    pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc"),
]

GAMES, SEATS = np.array([17]), np.array([0])
GAME = Game(hands=complete("12345678", "", "", ""), dealer=0)
VIEW = seat_view(GAME._state, 0, GAMES)


def ask(agent: ExternalAgent, times: int) -> list[int]:
    """Has a seat play its first decision so often; returns the answers."""
    agent.begin(GAMES, SEATS, VIEW)
    rng = np.random.default_rng(5)
    answers = [int(agent.act(VIEW, VIEW.legal(), rng)[0]) for _ in range(times)]
    assert set(answers) <= set(GAME.legal_actions())
    return answers


def hostile(behaviour: str, mark: object = "", **options: object) -> ExternalAgent:
    """Returns a bot that misbehaves, in a process of its own."""
    return isolated(f"hosted_bots:Hostile:behaviour={behaviour},mark={mark}x", seed=1, **options)


LONG = "ValueError: \N{GAME DIE}\ufffd\ufffd[2J\N{GAME DIE}"


@pytest.mark.parametrize(
    ("behaviour", "kind", "text"),
    [
        ("raises what cannot be printed", "raised", "hosted_bots.EvilError: <exception str()"),
        pytest.param("raises a long text", "raised", LONG, marks=pytest.mark.slow),
        pytest.param(
            "allocates",
            "raised",
            "numpy.core._exceptions._ArrayMemoryError|MemoryError",
            marks=pytest.mark.slow,
        ),
        ("reads", "raised", "EOFError"),
    ],
)
def test_what_a_bot_fails_to_do_is_told_and_its_process_lives_on(behaviour, kind, text, tmp_path):
    with hostile(behaviour, tmp_path) as agent:
        ask(agent, 3)
        assert len(alive(tmp_path)) == 1
    assert [(fault.kind, fault.seat, fault.game) for fault in agent.faults] == [(kind, 0, 17)] * 3
    assert agent.restarts == 0
    for fault in agent.faults:
        assert any(part in fault.text for part in text.split("|")), fault.text
        assert len(fault.text) <= 300
        if kind == "raised" and behaviour != "raises a long text":
            assert fault.traceback.splitlines()[-1].startswith(fault.text.splitlines()[-1][:20])
            assert f"in {behaviour.replace(' ', '_')}" in fault.traceback
    assert gone(tmp_path)


LOST = "is interrupted", "closes every file", "recurses without end"


@pytest.mark.parametrize(
    ("behaviour", "kinds"),
    [
        ("stops", ["late"] * 2),
        pytest.param("exits at once", ["died"] * 4, marks=pytest.mark.slow),
        *(pytest.param(one, ["died"], marks=pytest.mark.slow) for one in LOST),
        pytest.param("loops", ["late"] * 2, marks=pytest.mark.slow),
    ],
)
def test_a_bot_that_is_lost_is_started_anew_until_it_forfeits(behaviour, kinds, tmp_path):
    with hostile(behaviour, tmp_path, ms=150 if "late" in kinds else 5000) as agent:
        answers = ask(agent, len(kinds))
        assert len(answers) == len(kinds)
        assert gone(tmp_path)
        assert agent.forfeited == (len(kinds) > RESTARTS)
    assert [fault.kind for fault in agent.faults] == kinds
    assert agent.restarts == min(len(set(kinds) & {"late"}) or len(kinds), RESTARTS)


@pytest.mark.parametrize(
    "behaviour",
    [
        *("prints", "forks sleepers"),
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (
                "ignores signals",
                "closes its output",
                "floods stderr",
                "changes folder",
                "forks",
            )
        ),
        pytest.param("leaves a thread", marks=pytest.mark.slow),
    ],
)
def test_what_a_bot_does_beside_its_answers_is_its_own_affair(behaviour, tmp_path):
    before = os.getcwd()
    with hostile(behaviour, tmp_path, ms=10_000) as agent:
        answers = ask(agent, 2)
        start = time.monotonic()
    assert time.monotonic() - start < 3
    if behaviour != "forks":  # who of eight answers first is chance, and all but one are too many
        assert agent.faults == []
        assert answers == [GAME.legal_actions()[0]] * 2
    assert agent.forfeited is False  # whatever the class claims
    assert gone(tmp_path)
    assert os.getcwd() == before


def test_a_bot_that_cannot_be_built_is_no_reason_to_stop():
    with hostile("exits in init") as agent:
        agent.begin(GAMES, SEATS, VIEW)
    (fault,) = agent.faults
    assert (fault.kind, fault.game) == ("hello", -1)
    assert "but it raised SystemExit: 0 (hosted_bots.py, line " in fault.text
    assert (agent.restarts, agent.forfeited) == (1, False)


def test_a_bot_that_takes_too_long_to_be_built_has_its_time_and_no_more(tmp_path):
    with hostile("hangs in init", tmp_path, start_ms=50) as agent:
        ask(agent, 5)
        assert gone(tmp_path)
    assert [fault.kind for fault in agent.faults] == ["hello"] * 4
    assert agent.forfeited


@pytest.mark.parametrize(
    "moment",
    ["begin", *(pytest.param(one, marks=pytest.mark.slow) for one in ("redeal", "end", "close"))],
)
def test_an_exception_beside_a_decision_is_a_fault_and_takes_no_decision_away(moment):
    again = Game(hands=complete("11111234", "22345678", "", ""), dealer=0)
    with hostile(f"raises in {moment}") as agent:
        agent.begin(GAMES, SEATS, seat_view(again._state, 0, GAMES))
        played(again, "call", "redeal")
        agent.redeal(GAMES, seat_view(again._state, 0, GAMES))
        assert ask(agent, 2) == [GAME.legal_actions()[0]] * 2
        results = Results(np.array([0]), np.array([10]), VIEW)
        agent.end(GAMES, results, GAME.dealt[None])
    many = 2 if moment == "begin" else 1
    found = [(fault.kind, fault.game, fault.text) for fault in agent.faults]
    assert found == [("raised", -1 if moment == "close" else 17, f"LookupError: {moment}")] * many
    assert all(f"in {moment}" in fault.traceback for fault in agent.faults)


def test_ten_faults_forfeit_and_there_are_never_more(tmp_path):
    with hostile("raises", tmp_path) as agent:
        ask(agent, FAULTS - 1)
        assert alive(tmp_path)
        assert not agent.forfeited
        ask(agent, 3)
        assert (len(agent.faults), agent.forfeited) == (FAULTS, True)
        assert gone(tmp_path)
        assert len(set(ask(agent, 40))) > 1  # it answers at random and runs nowhere
        assert not alive(tmp_path)


def test_memory_is_limited_for_the_program_and_not_for_us(tmp_path):
    eater = tmp_path / "eater.py"
    eater.write_text('b = bytearray(300 << 20)\nprint(\'{"type":"hello","protocol":1}\')\n')
    for options, kinds in [("", []), ("mem=200M", ["hello"]), ("mem=200M,shell=on", ["hello"])]:
        with load_agent(f"exec:[{options}]{sys.executable} -I -S {eater}") as agent:
            agent.start([0])
        assert [fault.kind for fault in agent.faults] == kinds
        assert all(fault.stderr[-1] == "MemoryError" for fault in agent.faults)
    assert len(bytearray(300 << 20)) == 300 << 20


def compared(spec: str, rules: str, deals: int) -> Twice:
    """Plays an agent in seat 1 of some rounds, here and elsewhere."""
    task = Task((spec, "random"), 3, 0, 0, deals, get_rules(rules), seatings=((1, 0, 1, 1),))
    with isolated(spec, seed=1 << 100, ms=20_000) as there:
        twice = Twice(load_agent(spec), there, np.random.default_rng(1 << 100))
        play_block(task, [twice])
        assert there.faults == []
    return twice


def test_an_agent_elsewhere_draws_the_same_numbers_and_plays_the_same():
    assert compared("hosted_bots:DrawsOne", "jga", 12).asked > 20


def test_an_agent_elsewhere_is_told_the_same_redeals_among_it():
    twice = compared("hosted_bots:Remembers", "nine", 80)
    assert twice.asked > 100
    assert twice.here.redeals > 0


def test_a_class_of_ones_own_is_found_where_we_are_and_imported_elsewhere_alone(
    tmp_path, monkeypatch
):
    (tmp_path / "my_own_bots.py").write_text(
        "class First:\n    def act(self, view, legal, rng):\n        return legal.argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    with isolated("mine=my_own_bots:First", seed=1) as agent:
        assert ask(agent, 2) == [GAME.legal_actions()[0]] * 2
    assert (agent.name, agent.title, agent.faults) == ("mine", "mine", [])
    assert "my_own_bots" not in sys.modules


def test_seats_of_an_agent_without_a_seed_are_told_none(tmp_path):
    for seed in (None, 1 << 127):
        with bad("keeps a diary", tmp_path / f"diary{seed}") as agent:
            agent.seed = seed
            ask(agent, 1)
        (path,) = tmp_path.glob(f"diary{seed}.*")
        told = path.read_text(encoding="utf-8").splitlines()[0]
        assert (f'"seed":"{seed}"' in told, '"seed"' in told) == (seed is not None,) * 2
