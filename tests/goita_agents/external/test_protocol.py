"""The bot protocol's messages, their way back into views, the hosting side, and its page."""

import io
import json
import re
import sys

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.base import AgentError
from goita_agents.external import host as hosting
from goita_agents.external import protocol
from goita_agents.external.host import Host
from goita_agents.external.protocol import EventMessages
from goita_env import Game
from goita_lab.commands import bot as command
from playing import played
from programs import ROOT, run
from raising import refuses

PAGE = ROOT / "docs" / "protocol.md"
HANDS = ["11235578", "11112333", "11444567", "11224568"]
FIVE_PAWNS = ["11224558", "23334457", "11111567", "11123468"]


def events(game: Game, seat: int, known: int = 0) -> list[dict]:
    """Lists the events of a game as a seat is told them, without type and game."""
    told = EventMessages(game.view(seat)).since(0, seat, 0, known)
    assert all((message.pop("type"), message.pop("game")) == ("event", 0) for message in told)
    return told


def test_a_deal_is_told_in_seats_of_the_table():
    game = Game("jga", hands=HANDS, dealer=2, scores=(30, 140))
    for seat in range(4):
        wanted = {"type": "deal", "game": 17, "seat": seat, "dealer": 2, "hand": HANDS[seat]}
        wanted["scores"] = [30, 140]
        assert protocol.deal(17, seat, game.view(seat), 0) == wanted


def test_a_block_face_down_shows_itself_to_its_own_seat_alone():
    game = played(Game(hands=HANDS, dealer=2), "14", "p", "p", "p", "16", "62")
    own = [
        {"seat": 2, "event": "play", "block": "1", "attack": "4", "face_down": True},
        {"seat": 3, "event": "pass"},
        {"seat": 0, "event": "pass"},
        {"seat": 1, "event": "pass"},
        {"seat": 2, "event": "play", "block": "1", "attack": "6", "face_down": True},
        {"seat": 3, "event": "play", "block": "6", "attack": "2", "face_down": False},
    ]
    others = [own[0] | {"block": "x"}, *own[1:4], own[4] | {"block": "x"}, own[5]]
    assert events(game, 2) == own
    for seat in (0, 1, 3):
        assert events(game, seat) == others
    assert events(game, 0, known=4) == others[4:]
    assert [protocol.dealt_hand(game.view(seat), 0) for seat in range(4)] == HANDS


def hosted(*messages: dict | str, name: str = "greedy") -> list[dict]:
    """Returns what a hosted bot answers."""
    out = io.StringIO()
    lines = [one if isinstance(one, str) else json.dumps(one) for one in messages]
    Host(load_agent(name), out, np.random.default_rng(0)).run(lines)
    return [json.loads(line) for line in out.getvalue().splitlines()]


HELLO = {"type": "hello", "protocol": 1, "rules": "jga", "ms_per_decision": 1000}
DEAL = {"type": "deal", "game": 1, "seat": 0, "dealer": 0, "hand": HANDS[0], "scores": [0, 0]}
ACT = {"type": "act", "game": 1, "legal": ["12", "21"]}
PASS = {"type": "event", "game": 1, "seat": 0, "event": "pass"}
PLAY = {"type": "event", "game": 1, "seat": 0, "event": "play", "block": "1", "attack": "2"}
HIDDEN = PLAY | {"block": "x"}


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        (["{"], "expected a line of JSON"),
        (["[]"], 'expected a JSON object with a "type"'),
        ([HELLO | {"protocol": 2}], "expected protocol 1, got 2"),
        ([DEAL], 'expected "hello" before anything else'),
        ([HELLO, ACT], "expected a game with a deal, got 1"),
        ([HELLO, DEAL | {"hand": "1123557"}], "expected 8 digits as 'hand'"),
        *(
            ([HELLO | {"seed": seed}], 'expected digits in a text as "seed"')
            for seed in (7, "-1", "9" * 101, "\u0667")
        ),
        ([HELLO, DEAL | {"seat": 4}], 'expected a seat 0..3 as "seat", got 4'),
        ([HELLO, DEAL | {"scores": "0-0"}], "expected the points of two teams"),
        ([HELLO, DEAL, ACT | {"legal": ["19x"]}], "expected an action, two digits"),
        ([HELLO, DEAL | {"seat": 1}, ACT], "expected seat 0 to be asked, got seat 1"),
        ([HELLO, DEAL, PASS], "expected a play of seat 0, which leads, got a pass"),
        ([HELLO, DEAL, HIDDEN], "expected a block to see, got 'x'"),
        ([HELLO, DEAL | {"seat": 1}, PLAY], "expected a block x, got '1'"),
        ([HELLO, DEAL, PLAY | {"attack": "6"}], "expected a play from the hand"),
        ([HELLO, DEAL, PLAY, PASS | {"event": "call"}], "expected no 'call' once play has begun"),
    ],
)
def test_a_host_says_what_is_wrong_with_a_message(messages, text):
    refuses(ValueError, re.escape(text), hosted, *messages)


@pytest.mark.parametrize(
    ("behaviour", "error", "text"),
    [
        ("raises", AgentError, r"answer act\(\), but it raised \w+: boom"),
        ("exits", AgentError, r"answer act\(\), but it raised SystemExit: 0"),
        ("answers two", AgentError, r"1 actions as whole numbers from .*, got shape \(2,\)"),
        ("answers 999", AgentError, "expected actions 0..68 from .*, got 999"),
    ],
)
def test_what_a_hosted_bot_raises_or_answers_wrongly_ends_it(behaviour, error, text):
    with pytest.raises(error, match=text):
        hosted(HELLO, DEAL, ACT, name="hosted_bots:Hostile:behaviour=" + behaviour)


@pytest.mark.parametrize("seed", ["7", str((1 << 128) - 1)])
def test_a_host_draws_from_the_seed_that_it_is_told(seed):
    name, legal = "hosted_bots:DrawsOne", Game(hands=HANDS, dealer=0).view(0).legal()
    act = ACT | {"legal": protocol.legal_names(legal[0])}
    told = hosted(HELLO | {"seed": seed}, DEAL, *[act] * 20, name=name)
    drawn = np.random.default_rng(int(seed)).random(20)
    names = [act["legal"][int(x * legal.sum())] for x in drawn]
    assert [one["action"] for one in told[1:]] == names


def test_a_host_ends_well_when_its_input_closes_and_badly_after_nonsense(monkeypatch, capsys):
    def host(name, text):
        out = io.StringIO()
        monkeypatch.setattr(hosting, "_own_streams", lambda: (io.StringIO(text), out))
        return command.main([name]), out.getvalue(), capsys.readouterr().err

    code, out, told = host("greedy", json.dumps(HELLO) + "\n")
    assert (code, told) == (0, "")
    assert json.loads(out) == {"type": "hello", "protocol": 1, "name": "greedy"}
    wanted = "goita bot greedy: expected a line of JSON, got 'hello?\\n'\n"
    assert host("greedy", "hello?\n") == (2, "", wanted)
    code, out, told = host("nobody", "")
    assert (code, out) == (2, "")
    assert told.startswith("goita bot nobody: expected an agent of ")


def test_a_host_whose_answers_nobody_reads_ends_without_a_traceback():
    command = f"({sys.executable} -m goita_lab bot greedy; echo $? >&2) | true"
    done = run(["sh", "-c", command], input=json.dumps(HELLO) + "\n", timeout=30)
    assert done.stderr == "1\n"


def conversation(hands: list[str], dealer: int, seat: int) -> list[str]:
    """Returns what is said in a round of greedy players, by and to one of them, as on the page."""
    game, bot, number, said = Game(hands=hands, dealer=dealer), load_agent("greedy"), 17, []
    messages = [HELLO, protocol.deal(number, seat, game.view(seat), 0)]
    known, rng = 0, np.random.default_rng(0)

    def tell() -> None:
        nonlocal known
        new = EventMessages(game.view(seat)).since(0, seat, number, known)
        messages.extend(new)
        known += len(new)

    while not game.done:
        view = game.view(game.seat)
        legal = view.legal()
        if game.seat == seat and legal.sum() > 1:
            tell()
            act = {"type": "act", "game": number, "legal": protocol.legal_names(legal[0])}
            messages.append(act)
        game.play(int(bot.act(view, legal, rng)[0]))
    tell()
    messages += [protocol.end(number, game.winner, game.points, game.dealt), {"type": "bye"}]
    answers = iter(hosted(*messages))
    for message in messages:
        said.append("-> " + protocol.encode(message).rstrip())
        if message["type"] in ("hello", "act"):
            said.append("<- " + protocol.encode(next(answers)).rstrip())
    return said


def test_the_conversations_on_the_page_are_real_ones():
    round_, call = re.findall(r"```conversation\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert round_.splitlines() == conversation(FIVE_PAWNS, dealer=0, seat=0)
    assert call.splitlines() == conversation(FIVE_PAWNS, dealer=0, seat=2)[2:7]
