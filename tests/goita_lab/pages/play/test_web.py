"""The page's server: who is let in, what it answers, and that a restart loses nothing."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from goita_agents.bots.greedy import GreedyAgent
from goita_env import Rules
from goita_lab.commands import play
from goita_lab.pages.play import savegame
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import Sitting
from goita_lab.pages.play.table import PlayTable
from play_tables import GREEDY, OWN, TOKEN, any_move, request, scope
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
        *((STATE, host, 200) for host in ("localhost:1", "192.168.0.5:8742")),
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
        (OWN | {"origin": "https://127.0.0.1:8742"}, 403),
        (OWN | {"origin": "http://127.0.0.1:8743"}, 403),
    ],
)
def test_only_the_page_itself_may_change_anything(headers, status):
    assert request(server(), f"/{TOKEN}/move", {"action": 1}, headers)[0] == status
    if status == 403 and "origin" in headers:
        assert request(server(), STATE, headers=headers)[0] == 403


def test_other_methods_and_large_bodies_are_refused():
    assert request(server(), f"/{TOKEN}/move", None)[0] == 405
    assert request(server(), STATE, {})[0] == 405
    assert request(server(), f"/{TOKEN}/move", b"x" * (web.LARGEST + 1))[0] == 413


def streamed(path: str, parts: list[dict]) -> tuple[list[dict], int]:
    """Posts a body part by part; returns what is sent, and how many parts were received."""
    received, sent = iter(parts), []
    headers = OWN | {"content-length": "5", "transfer-encoding": "chunked"}

    async def receive() -> dict:
        if (part := next(received, None)) is None:
            await asyncio.Event().wait()  # the client waits
        return part

    async def send(message: dict) -> None:
        sent.append(message)

    asyncio.run(server()(scope("POST", path, headers), receive, send))
    return sent, len(parts) - len(list(received))


def test_a_body_is_measured_by_what_comes_whatever_it_announces():
    part = {"type": "http.request", "body": b"x" * 400, "more_body": True}
    sent, received = streamed(f"/{TOKEN}/move", [part] * 1000)
    assert sent[0]["status"] == 413
    assert (b"connection", b"close") in sent[0]["headers"]
    assert received == 3
    last = {"type": "http.request", "body": b"", "more_body": False}
    sent, received = streamed(f"/{TOKEN}/move", [part, part, last])
    assert sent[0]["status"] == 409
    assert received == 3


def test_a_client_that_drops_its_body_raises_nothing():
    part = {"type": "http.request", "body": b'{"a"', "more_body": True}
    sent, received = streamed(f"/{TOKEN}/move", [part, {"type": "http.disconnect"}])
    assert (sent[0]["status"], received) == (400, 2)


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
    for mark in ({}, {"mark": "x"}, {"mark": 1}):
        answer = request(app, f"/{TOKEN}/move", {"action": action} | mark)
        assert answer[0] == 409
        assert "behind" in told(answer)["error"]
    assert told(request(app, STATE)) == state


def test_of_requests_that_answer_an_act_twice_one_alone_is_done():
    table = PlayTable(MatchSettings(GREEDY, 0))
    app = server(table)
    for number in range(1, 5):  # each time the same request from several tabs
        state = standing(app)
        if state["asks"] == "round":
            request(app, f"/{TOKEN}/next", {"mark": state["mark"]})
            state = standing(app)
        told_to = {"action": state["actions"][0]["action"], "mark": state["mark"]}
        with ThreadPoolExecutor(4) as tabs:
            ways = [f"/{TOKEN}/move"] * 4
            statuses = [one[0] for one in tabs.map(partial(request, app), ways, [told_to] * 4)]
        assert sorted(statuses) == [200, 409, 409, 409]
        assert len(table._choices) == number
    before = told(request(app, STATE))
    assert request(app, f"/{TOKEN}/move", told_to)[0] == 409
    assert told(request(app, STATE)) == before


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


def test_a_restart_of_the_server_loses_nothing(tmp_path):
    file = tmp_path / "match.json"
    table = savegame.begin(MatchSettings(("", "random", "greedy", "random"), 3), file)
    app, choose = server(table), any_move(1)
    state = told(request(app, STATE))
    while state["asks"] != "match" and len(state["rounds"]) < 3:
        way = {"round": "next", "move": "move"}[state["asks"]]
        change = {"action": choose(table)} if way == "move" else {}
        state = told(request(app, f"/{TOKEN}/{way}", change | {"mark": state["mark"]}))
        table = savegame.resume(file)
        app = server(table)
        again = told(request(app, STATE))
        if way == "move":  # what "next" does without a move after it is not in the file
            assert again | {"frames": []} == state | {"frames": []}
            assert again["frames"][-1] == state["frames"][-1]
        state = again


def test_the_token_of_a_match_is_secret_and_stays(tmp_path):
    file = tmp_path / "match.json"
    token = web.token_of(file)
    assert len(token) >= 24
    assert web.token_of(file) == token != web.token_of(tmp_path / "other.json")
    (kept,) = tmp_path.glob(".match.json.*")
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"  \n", b"abc", b"\xff" * 24])
def test_a_token_file_that_was_cut_gets_a_new_token(tmp_path, content):
    kept = tmp_path / ".match.json.token"
    kept.write_bytes(content)
    token = web.token_of(tmp_path / "match.json")
    assert len(token) >= 24
    assert kept.read_text() == token
    assert kept.stat().st_mode & 0o077 == 0


PORTS = {
    "70000": "expected a port 0..65535, got 70000",
    "-1": "expected a port 0..65535, got -1",
}


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
