"""Programs and hosted bots at tables with shown tiles and messages."""

import io
import json
import os
import re
import sys

import numpy as np
import pytest

from bad_bots import command
from deals import RULE_SETS
from following import Follower
from goita_agents import load_agent
from goita_agents.base import RandomAgent, plays
from goita_agents.external.host import Host
from goita_agents.external.protocol import EventMessages
from goita_env import InformationStructure, MessageChannel, Rules
from goita_env.information import PLAIN
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import tasks
from goita_lab.commands import evaluate
from informed_bots import Telling, WithMemory
from informed_oracle import OPTIONS
from programs import ROOT, refusal
from raising import refuses
from twice import Twice

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX")

HANDS = ["11235578", "11112333", "11444567", "11224568"]
EXAMPLE = f"{sys.executable} {ROOT / 'examples' / 'bot_python.py'}"
HOSTED = f"env PYTHONPATH={ROOT / 'tests' / 'helpers'} {sys.executable} -m goita_lab bot"
"""The command that plays a class of the helpers, whose name follows, as a program."""
WHISPER = InformationStructure("partner", MessageChannel(2))
MINE = Rules(name="mine", call_five="duty", last_king=False, opponents_fives="redeal")

HELLO = {"type": "hello", "protocol": 1, "rules": "jga"}
DEAL = {"type": "deal", "game": 1, "seat": 1, "dealer": 0, "hand": HANDS[1], "scores": [0, 0]}
SHOWN = DEAL | {"shown": [None, None, None, HANDS[3]]}
SAY = {"type": "event", "game": 1, "seat": 0, "event": "say", "message": 1}


def hosted(agent, *messages):
    out = io.StringIO()
    Host(agent, out, np.random.default_rng(0)).run(json.dumps(one) for one in messages)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def told(game, seat, known=0):
    """Lists what a seat is told of a game, without type and game."""
    found = EventMessages(game.view(seat)).since(0, seat, 0, known)
    return [{key: one[key] for key in one if key not in ("type", "game")} for one in found]


@pytest.mark.parametrize("deals", [2, pytest.param(36, marks=pytest.mark.slow)])
def test_the_messages_of_a_round_say_what_the_views_say(deals):
    follower = Follower()
    for number, information in enumerate((PLAIN, *OPTIONS)):
        rules = RULE_SETS[number % 3]
        for task in tasks(("f", "r"), deals, seed=11, rules=rules, information=information):
            play_block(task, [follower, RandomAgent()])
    assert follower.compared > 150 * deals
    assert follower.redeals > 0


@pytest.mark.slow
@pytest.mark.parametrize("information", OPTIONS[9:10], ids=str)
def test_a_bot_with_a_memory_plays_the_same_in_a_process_of_its_own(information):
    with load_agent(f"exec:[ms=30000]{HOSTED} informed_bots:WithMemory") as there:
        assert plays(there, information)
        twice = Twice(WithMemory(), there)
        (task,) = tasks(("twice", "telling"), 2, seed=7, rules=MINE, information=information)
        play_block(task, [twice, Telling()])
        assert there.faults == []
    assert twice.asked > 20


@pytest.mark.parametrize("information", [WHISPER], ids=str)
def test_the_example_sends_messages_and_makes_no_fault(information):
    with load_agent(f"exec:[ms=5000]{EXAMPLE}") as agent:
        (task,) = tasks(("example", "random"), 12, seed=1, information=information)
        games = play_block(task, [agent, load_agent("random")], save=True).games
        assert agent.faults == []
    sent = {0: 0, 1: 0}
    for one in games:
        for seat, action in one.record.moves:
            if action >= 69 and one.agents[seat] == "example":
                assert action == 69 + bool({"8", "9"} & {*one.record.hands[seat]})
                sent[action - 69] += 1
    assert min(sent.values()) > 0


def test_a_bot_of_ours_that_does_not_play_there_is_refused_and_a_plain_one_plays(tmp_path, capsys):
    file = tmp_path / "told.json"
    file.write_text(json.dumps(WHISPER.to_keys()))
    options = ["--information", str(file), "--deals", "2"]
    ours = f"exec:[start_ms=60000]{HOSTED} greedy"
    error = refusal(capsys, evaluate.main, ["--agents", "random", ours, *options])
    assert "'greedy' does not play a game with" in error
    out = tmp_path / "out.json"
    agents = ["random", f"it=plain:base=(exec:{command('fine')})", f"ours=exec:{EXAMPLE}"]
    assert evaluate.main(["--agents", *agents, *options, "--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert found["agents"] == ["random", "it", "ours"]
    assert found["faults"] == []


@pytest.mark.parametrize(
    ("information", "messages", "text"),
    [
        (WHISPER, [DEAL], "expected the hands of seats [3]"),
        (WHISPER, [SHOWN | {"shown": [HANDS[0], None, None, None]}], "expected the hands of"),
        (WHISPER, [SHOWN | {"shown": [None, None, None, "1"]}], "expected 8 digits as 'shown'"),
        (WHISPER, [SHOWN | {"shown": [None, None, None, "33344455"]}], "hands of one set"),
        (WHISPER, [SHOWN, SAY | {"message": 4}], "expected a message below 4, got 4"),
        (
            InformationStructure("partner"),
            [SHOWN, SAY],
            "expected an event of the protocol, got 'say'",
        ),
        (PLAIN, [DEAL, SAY], "expected an event of the protocol, got 'say'"),
    ],
)
def test_a_host_says_what_is_wrong_with_messages_and_shown_hands(information, messages, text):
    hello = HELLO | information.to_keys()
    refuses(ValueError, re.escape(text), hosted, Telling(), hello, *messages)
