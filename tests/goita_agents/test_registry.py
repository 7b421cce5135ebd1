"""The registry: agents are loaded from texts, and named by them."""

import shutil
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from goita_agents import AgentError, agent_names, load_agent, registry
from goita_agents.base import Agent
from goita_agents.champion.agent import WEIGHTS
from goita_agents.registry import (
    GROUP,
    RUN_POLICY,
    Entry,
    check_shipped,
    entry_points_by_name,
    is_own,
    parse_spec,
)
from goita_env import View
from goita_lab.arena.tournament import arena
from goita_lab.arena.tournament.plan import TournamentPlan
from raising import refuses


class Tunable:
    """An agent with an option of every type."""

    def __init__(self, base: Agent, worlds: int = 8, depth: float = 1.5, search: bool = False):
        self.name = "tunable"
        self.options = (base, worlds, depth, search)

    def act(self, view: View, legal, rng):
        return self.options[0].act(view, legal, rng)


TUNABLE = Entry(Tunable)


def register(monkeypatch, name, value):
    """Adds an entry point, as another package would."""
    monkeypatch.setitem(entry_points_by_name(), name, EntryPoint(name, value, GROUP))


@pytest.fixture
def tunable(monkeypatch):
    register(monkeypatch, "tunable", f"{__name__}:TUNABLE")


def test_options_are_read_by_their_types_and_may_be_agents_themselves(tunable):
    text = "tunable:base=(tunable:base=random,worlds=2),worlds=16,search=on"
    agent = load_agent(text)
    base, *rest = agent.options
    assert rest == [16, 1.5, True]
    assert agent.name == text
    assert base.options[1] == 2
    assert base.options[0].name == "random"


def test_an_object_that_is_an_agent_is_handed_back_and_what_is_none_is_refused(monkeypatch):
    agent = load_agent("greedy")
    assert load_agent(agent) is agent
    register(monkeypatch, "far", "no_such_package:Agent")
    for wrong, words in ((17, "object"), ("far", "no_such_package")):
        with pytest.raises(AgentError, match=words):
            load_agent(wrong)


MY_BOTS = """
import numpy as np

class Cautious:
    name = "cautious"

    def __init__(self, risk: float = 0.5, word="none", **more):
        self.risk, self.word = risk, word

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

class Bare:
    def act(self, view, legal, rng):
        return legal.argmax(axis=1)

class Inner:
    class Deep(Bare):
        pass

class Idle:
    pass

NOTHING = None
"""


@pytest.fixture
def my_bots(monkeypatch, tmp_path):
    """A module in the working directory, gone afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_bots.py").write_text(MY_BOTS)
    (tmp_path / "broken_bots.py").write_text("import no_such_library\n")
    yield tmp_path
    for name in ("my_bots", "broken_bots"):
        sys.modules.pop(name, None)


def test_a_class_of_ones_own_is_named_by_module_and_class(my_bots):
    agent = load_agent("my_bots:Cautious:risk=0.2,word=a:b=c")
    assert (agent.risk, agent.word) == (0.2, "a:b=c")
    assert agent.name == "my_bots:Cautious:risk=0.2,word=a:b=c"
    assert load_agent("my_bots:Bare").name == "my_bots:Bare"
    assert load_agent("my_bots:Inner.Deep").name == "my_bots:Inner.Deep"
    assert arena.play_pair("my_bots:Cautious", "random", 4).a == "my_bots:Cautious"
    base = load_agent("rollout:base=(my_bots:Cautious:risk=0.1),weight=uniform")
    assert base.name.startswith("rollout:")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gredy", f"expected an agent of {', '.join(agent_names()[:-1])}, "),
        ("greedy:Cautious", "takes no options"),  # a registered name wins over a module
        *(("file:", "file:PATH"), ("file:no/such/file", "no/such/file")),
        *(("tunable", "none for ['base']"), ("tunable:base=gredy", "expected an agent of ")),
        ("tunable:base=greedy,wolds=3", "worlds=8"),
        *(("x" * 5000, "characters"), ("file:" + "x" * 1900 + ",temperature=1", "too long")),
        (f"exec:{'(' * 40}", "can be started"),
        ("tunable:base=greedy,worlds=many", "worlds=int"),
        ("tunable:base=greedy,search=perhaps", "search=bool"),
        ("tunable:base=greedy,worlds=1,worlds=2", "twice"),
        ("my_bots:Reckless", "has no attribute 'Reckless'"),
        ("my_bots:Cautious:", "after the colon"),
        ("my_bots:Cautious:rsk=0.2", "risk=0.5, word=none"),
        *(("my_bots:Idle", "check_agent"), ("my_bots:NOTHING", "got None")),
        ("your_bots:Cautious", "No module named 'your_bots', in"),
        ("broken_bots:Bot", "No module named 'no_such_library'"),
    ],
)
def test_a_wrong_text_says_what_there_is(tunable, my_bots, text, words):
    (my_bots / "greedy.py").write_text(MY_BOTS)
    with pytest.raises(AgentError) as caught:
        load_agent(text)
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_text_as_long_as_may_be_is_read_however_deep_it_goes():
    assert load_agent("plain:base=" * 30 + "greedy").base.base.name.startswith("plain:base=plain")
    text = "plain:base=" * 180 + "greedy"
    assert len(text) < registry.MAX_TEXT
    assert registry.check_shipped(text, "match.json") == text


def test_the_folder_of_a_training_is_its_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine-1", "greedy"):
        Path("runs", name).mkdir(parents=True)
        shutil.copy(WEIGHTS, Path("runs", name, RUN_POLICY))
    for text in ("runs/mine-1", "runs/mine-1/", "short=runs/mine-1,temperature=1"):
        agent = load_agent(text)
        assert agent.digest == load_agent("champion").digest
        assert parse_spec(text).name == "file"
    assert agent.temperature == 1
    assert not is_own("runs/mine-1")
    Path("runs/unfinished").mkdir()
    refuses(AgentError, "needs policy.safetensors", parse_spec, "runs/unfinished")
    monkeypatch.chdir("runs")
    assert load_agent("greedy").name == "greedy"
    assert parse_spec("greedy").name == "greedy"
    refuses(AgentError, "paths", check_shipped, "mine-1", "a file")


def test_a_file_may_name_the_agents_of_this_repository_and_no_paths_commands_or_classes():
    for text in (
        *("heuristic", "mine=heuristic:conventions=off", "champion:search=on,worlds=8"),
        "rollout:base=(heuristic:reading=off),worlds=3",
    ):
        assert registry.check_shipped(text, "match.json") == text
    for text in (
        *("file:policy.safetensors", "exec:id", "exec:[shell=on]id > PWNED; cat", "x=exec:id"),
        *("subprocess:Popen:args=id", "x=subprocess:Popen", "os:system", "rollout:base=(exec:id)"),
        *("rollout:base=file:policy.safetensors", "rollout:base=(os:system)", "", "nobody"),
        "rollout:base=(rollout:base=(x=exec:id))",
    ):
        refuses(AgentError, r"match\.json", registry.check_shipped, text, "match.json")


def test_a_class_of_ones_own_is_known_by_its_text_alone():
    for spec in ("greedy", "exec:python -m my:Bot", "file:a:B", "rollout:base=greedy,worlds=3"):
        assert not registry.is_own(spec)
    for spec in (
        *("never_here:Bot", "x=never_here:Bot:word=a:b", "rollout:base=(y=never_here:Bot)"),
        "rollout:worlds=3,base=(rollout:base=never_here:Bot)",
    ):
        assert registry.is_own(spec)  # there is no such module that could be imported


def test_two_agents_of_one_name_are_refused():
    for pair in (("m=greedy", "m=random"), ("greedy", "greedy=random")):
        for refused in (TournamentPlan, lambda pair: arena.play_pair(*pair, 4)):
            with pytest.raises(AgentError, match=r"another name for each agent, got .*random'"):
                refused(pair)
    assert TournamentPlan(("m=greedy", "m=greedy")).names == ["m"]
