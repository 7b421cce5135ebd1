"""The example of a language model, with a stub of a server in place of one."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("openai")

from goita_agents.base import AgentError
from goita_agents.registry import load_agent
from goita_env import Game, GoitaVectorEnv, View
from goita_lab.commands import evaluate

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SECRET = "sk-very-secret"
BELIEFS = "[0.1 1 0 .5 0.5 0 0 0]\n[0, 0, 0, 0, 0, 0, 0, 1]\n[1 1 1 1 1 1 1 1]"
HANDS = ["12355688", "11123467", "11122344", "11134557"]


class Stub(ThreadingHTTPServer):
    """Answers as its function says: a text, a status, or after seconds."""

    daemon_threads, answer, pause = True, staticmethod(lambda asked, number: 500), 0.0

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.keys, self.refused, self.lock = [], set(), 0, threading.Lock()

    def spec(self, folder, **options):
        options |= {"model": "m", "base": f"http://127.0.0.1:{self.server_port}/v1"}
        options |= {"answers": folder / "answers.sqlite"}
        listed = ",".join(f"{name}={value}" for name, value in options.items())
        return f"language_model:LanguageModel:{listed}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append(body["messages"])
            self.server.keys.add(self.headers["Authorization"])
            number = len(self.server.asked)
        answer = self.server.answer(body["messages"][-1]["content"], number)
        if isinstance(answer, float):
            time.sleep(answer)
        status = answer if isinstance(answer, int) else 200
        self.server.refused += status != 200
        content = {"error": {"message": f"not with {self.headers['Authorization']}"}}
        if status == 200:
            content = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
        sent = json.dumps(content).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(sent)
        except OSError:
            pass  # the client has gone

    def log_message(self, *_):
        pass


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("STUB_KEY", SECRET)
    with Stub() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def last_code(asked: str, number: int) -> str:
    """Chooses the last legal action."""
    return f"I choose [{re.findall('Legal actions: (.+)', asked)[-1].split()[-1]}]."


def position() -> View:
    return Game(hands=HANDS, dealer=0).view(0)


@pytest.mark.parametrize(
    ("answers", "action", "requests"),
    [
        (["I could pass: [p].\n[32]"], 18, 1),
        (["[p] or [32]", "[32]"], 18, 2),  # which of the two is not told
        ([429, "[32]"], 18, 2),
        ([500, "[32]"], 18, 2),
        ([0.8, "[32]"], 18, 2),  # a time-out
        (["", "[32]"], 18, 2),
        (["no idea", "[99], no, [p]"], -1, 2),
        (["[p]", 500, "[32]"], 18, 3),
    ],
)
def test_an_error_and_an_answer_without_a_legal_code_get_one_more_try(
    stub, tmp_path, answers, action, requests
):
    stub.answer = lambda asked, number: answers[number - 1]
    agent, view = load_agent(stub.spec(tmp_path, timeout=0.4)), position()
    for _ in range(2):  # the second time from the file
        assert agent.act(view, view.legal(), np.random.default_rng(0)).tolist() == [action]
    agent.close()
    assert len(stub.asked) == requests
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as store:
        kept = store.execute("SELECT answer FROM answers ORDER BY attempt").fetchall()
    assert [one for (one,) in kept] == [one for one in answers if isinstance(one, str)]


@pytest.mark.parametrize(
    ("status", "told"), [(429, "RateLimitError"), (401, "AuthenticationError")]
)
def test_a_server_that_answers_nothing_is_told_without_its_words(stub, tmp_path, status, told):
    stub.answer = lambda asked, number: status
    agent, view = load_agent(stub.spec(tmp_path, key="STUB_KEY")), position()
    with pytest.raises(AgentError, match=f"got {told}$"):
        agent.act(view, view.legal(), np.random.default_rng(0))
    agent.close()
    assert stub.keys == {f"Bearer {SECRET}"}
    with pytest.raises(AgentError, match="expected a key in the environment variable 'NONE'"):
        load_agent(stub.spec(tmp_path, key="NONE"))


def test_a_row_that_fails_leaves_the_others(stub, tmp_path):
    stub.answer = lambda asked, number: 500 if "Dealer: you" in asked else last_code(asked, number)
    env = GoitaVectorEnv(num_games=40, seed=3)
    turn, rng = env.reset(), np.random.default_rng(0)
    for _ in range(8):
        turn = env.step(env.sample_legal(rng))
    agent = load_agent(stub.spec(tmp_path))
    actions = agent.act(turn.view, turn.action_mask, rng)
    agent.close()
    failed = turn.view.dealer == 0
    assert failed.any()
    assert not failed.all()
    assert (actions[failed] == -1).all()
    assert turn.action_mask[~failed, actions[~failed]].all()


def test_beliefs_are_asked_after_the_action(stub, tmp_path):
    stub.answer = lambda asked, number: BELIEFS if "How likely" in asked else "[32]"
    agent, view = load_agent(stub.spec(tmp_path)), position()
    agent.act(view, view.legal(), np.random.default_rng(0))
    found = agent.beliefs(view)
    assert found.shape == (1, 3, 8)
    assert found[0, :, 0].tolist() == [0.1, 0, 1]
    roles = [message["role"] for message in stub.asked[-1]]
    assert (len(stub.asked), roles[-3:]) == (2, ["user", "assistant", "user"])
    stub.answer = lambda asked, number: "[1 2 3]"
    assert (agent.beliefs(Game(hands=HANDS, dealer=0, scores=(10, 0)).view(0)) == 0.5).all()
    agent.close()


def test_a_killed_tournament_asks_for_nothing_twice_and_writes_the_key_nowhere(
    stub, tmp_path, monkeypatch, capsys
):
    stub.answer = last_code
    spec = stub.spec(tmp_path, key="STUB_KEY", parallel=4)
    program = f"import goita_lab.arena as a; a.play_pair({spec!r}, 'random', deals=6, seed=5)"
    paths = os.pathsep.join([str(EXAMPLES), *sys.path])
    environment = os.environ | {"PYTHONPATH": paths}
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as killed:
        while len(stub.asked) < 30:
            time.sleep(0.01)
            assert killed.poll() is None
        killed.kill()
    monkeypatch.chdir(tmp_path)
    stub.answer = lambda asked, n: 401 if "left: you 4" in asked else last_code(asked, n)
    first = len(stub.asked)
    files = ["--results", "results.sqlite", "--json", "table.json"]
    evaluate.main(["--agents", spec, "random", "--deals", "6", "--seed", "5", *files])
    with closing(sqlite3.connect("answers.sqlite")) as store:
        (kept,) = store.execute("SELECT COUNT(*) FROM answers").fetchone()
    answered = len(stub.asked) - stub.refused
    assert 30 <= first < answered
    assert kept <= answered <= kept + 4  # at most what was under way at the kill
    assert stub.refused
    told = capsys.readouterr().out
    assert "AuthenticationError" in told
    held = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(held) >= 3
    assert not [one for one in (told.encode(), *held) if SECRET.encode() in one]
