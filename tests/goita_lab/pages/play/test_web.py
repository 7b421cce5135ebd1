"""The page's server: who is let in, what it answers, and that a restart loses nothing."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from goita_agents.bots.greedy import GreedyAgent
from goita_env import Rules
from goita_lab.commands import play
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import Sitting
from goita_lab.pages.play.table import PlayTable
from play_tables import GREEDY, OWN, TOKEN, any_move, request
from programs import ROOT, refusal

pytest.importorskip("starlette")

from goita_lab.pages.play import web

STATE = f"/{TOKEN}/state"


def standing(app: object) -> dict:
    """The state of a page that is loaded: the others have moved."""
    request(app, STATE)
    return told(request(app, STATE))


def server(table: PlayTable | None = None) -> object:
    return web.application(
        Sitting(table or PlayTable(MatchSettings(GREEDY, 0))), TOKEN, "192.168.0.5"
    )


def told(answer: tuple) -> dict:
    assert answer[1]["content-type"] == "application/json"
    return json.loads(answer[2])


WRONG = ["", "/", "/state", "/wrong/state", f"/{TOKEN[:-1]}/state", "/tökén/state"]
WRONG += [f"/{TOKEN}/nothing", f"/{TOKEN}/../{TOKEN}/state", f"/{TOKEN}/page.html"]


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        *((path, OWN["host"], 200) for path in (STATE, f"/{TOKEN}/")),
        *((path, OWN["host"], 404) for path in WRONG),
        (f"/{TOKEN}", OWN["host"], 307),  # to the link itself
        (STATE, "192.168.0.5:8742", 200),
        *((STATE, host, 400) for host in ("goita.example:8742", "127.0.0.1.example", "")),
    ],
)
def test_the_link_alone_leads_in_under_a_name_of_the_machine(path, host, status):
    assert request(server(), path, headers={"host": host})[0] == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (OWN, 409),  # let in, and then told that the page is behind
        ({"host": OWN["host"]}, 403),
        (OWN | {"origin": "http://evil.example"}, 403),
        (OWN | {"origin": "null"}, 403),
        (OWN | {"origin": "http://127.0.0.1:8743"}, 403),
    ],
)
def test_only_the_page_itself_may_change_anything(headers, status):
    assert request(server(), f"/{TOKEN}/move", {"action": 1}, headers)[0] == status
    if status == 403 and "origin" in headers:
        assert request(server(), STATE, headers=headers)[0] == 403


def test_other_methods_and_other_bodies_are_refused():
    assert request(server(), f"/{TOKEN}/move", None)[0] == 405
    assert request(server(), STATE, {})[0] == 405
    for body in (b"", b"[]", b"{", b"[" * 100_000, b'{"mark": 0, "action": "x"}'):
        answer = request(server(), f"/{TOKEN}/move", body)
        assert answer[0] == 409
        assert told(answer)["error"].startswith("expected a request of the page, got")


@pytest.mark.parametrize("path", ["", "style.css", "script.js", "icon.svg", "state", "nothing"])
def test_every_answer_forbids_what_the_page_does_not_need(path):
    headers = request(server(), f"/{TOKEN}/{path}")[1]
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


def test_a_match_is_played_by_requests_to_its_end():
    table = PlayTable(MatchSettings(GREEDY, 0, Rules(name="mine", match_points=100)))
    app, choose = server(table), any_move(0)
    state = told(request(app, STATE))
    assert state["match_points"] == 100
    while state["asks"] != "match":
        if state["asks"] == "round":
            way, change = "next", {}
        else:
            way, change = "move", {"action": choose(table)}
            assert change["action"] in [one["action"] for one in state["actions"]]
        state = told(request(app, f"/{TOKEN}/{way}", change | {"mark": state["mark"]}))
        said = [frame["said"] for frame in state["frames"][:-1]]
        assert all(said)
        assert said == state["log"][len(state["log"]) - len(said) :]
        assert all(frame["svg"].startswith("<svg ") for frame in state["frames"])
    assert max(state["scores"]) >= 100 > max(table.game.deals[-1].scores)
    assert state["question"].startswith("The match is over: you ")
    assert len(state["rounds"]) == len(table.results)


def test_a_page_that_is_behind_changes_nothing_and_is_told_so():
    app = server()
    state = standing(app)
    action = state["actions"][0]["action"]
    for mark in ({}, {"mark": 1}):
        answer = request(app, f"/{TOKEN}/move", {"action": action} | mark)
        assert answer[0] == 409
        assert "behind" in told(answer)["error"]
    assert told(request(app, STATE)) == state


def test_names_are_data_and_the_script_writes_them_as_text():
    name = "<img src=x onerror=alert(1)>&\"'"
    agent = GreedyAgent()
    agent.name = name
    app = server(PlayTable(MatchSettings(("", agent, "greedy", "greedy"), 0)))
    assert told(request(app, STATE))["names"][1] == name
    script = request(app, f"/{TOKEN}/script.js")[2].decode()
    written = re.findall(r"innerHTML = (.*)", script)
    assert len(written) == 3  # a tile by its number, and two drawings that Python made
    assert not any("name" in one for one in written)


def test_the_token_of_a_folder_is_secret_and_stays(tmp_path):
    token = web.token_of(tmp_path)
    assert web.token_of(tmp_path) == token
    (kept,) = tmp_path.iterdir()
    for content in (b"", b"abc", b"\xff" * 24):  # cut, or something else
        kept.write_bytes(content)
        new = web.token_of(tmp_path)
        assert len(new) >= 24
        assert kept.read_text() == new != token
        assert kept.stat().st_mode & 0o077 == 0


PORTS = {"70000": "expected a port 0..65535, got 70000", "-1": "expected a port 0..65535, got -1"}


@pytest.mark.parametrize("port", [*PORTS, None])
def test_a_start_that_fails_is_told_in_a_line_and_leaves_nothing(
    port, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        wanted = port or str(other.getsockname()[1])
        text = refusal(capsys, play.main, ["--web", "--partner", "greedy", f"--port={wanted}"])
    assert PORTS.get(port, "Address already in use") in text
    assert len(text.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_serves_ends_by_ctrl_c_and_goes_on_at_the_same_link(tmp_path):
    command = [sys.executable, "-m", "goita_lab", "play", "--web", "--port", "0"]
    file = ["--partner", "greedy", "--opponents", "greedy", "--seed", "1", "-o", "m.json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    tokens, states = [], []
    for more in (file, ["--resume", "m.json"]):
        with subprocess.Popen(
            [*command, *more], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
        ) as served:
            link = re.search(r"http://127\.0\.0\.1:\d+/(\S+)/", served.stdout.readline())
            try:
                tokens.append(link[1])
                with urllib.request.urlopen(f"{link[0]}state", timeout=20) as answer:
                    states.append(json.loads(answer.read()))
                served.send_signal(signal.SIGINT)
                assert served.wait(20) == 130
            finally:
                served.kill()
            assert "--resume m.json" in served.stdout.read()
    assert tokens[0] == tokens[1]
    assert states[1]["mark"] == states[0]["mark"]
