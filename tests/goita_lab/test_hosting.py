"""A bot that is served over a socket plays as it does here, and only for those with the token."""

import re
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from goita_env.rules import JGA
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import Task
from goita_lab.commands import connect

BOTS = ("population:offbelief-0", "greedy")


@pytest.fixture
def served(tmp_path):
    """The address of a server, and the file with its token."""
    token = tmp_path / "token"
    command = [sys.executable, "-m", "goita_lab", "host", *BOTS, "--token-file", str(token)]
    with subprocess.Popen(
        [*command, "--port", "0", "--most", "4"], stdout=subprocess.PIPE, text=True
    ) as process:
        first = process.stdout.readline()
        yield re.fullmatch(r"serving 2 bots at (127\.0\.0\.1:\d+)\n", first)[1], token
        process.terminate()


def test_a_served_bot_plays_as_it_does_here(served):
    address, token = served
    assert token.stat().st_mode & 0o77 == 0
    one_seat = ((0, 1, 1, 1),)  # a process for each seat would take longer
    here = play_block(Task((BOTS[0], "random"), 3, 0, 0, 3, JGA, seatings=one_seat))
    program = f"{sys.executable} -m goita_lab connect {address} 0 --token-file {token}"
    agents = (f"exec:[ms=60000]{program}", "random")
    there = play_block(Task(agents, 3, 0, 0, 3, JGA, seatings=one_seat))
    assert there.faults == ()
    assert (there.points == here.points).all()


def test_others_are_refused(served, tmp_path, capsys):
    address, token = served
    wrong = tmp_path / "wrong"
    wrong.write_text("no such token is known\n")
    for words in (
        [address, "0", "--token-file", str(wrong)],
        [address, "2", "--token-file", str(token)],
    ):
        assert connect.main(words) == 1
        assert "closed the connection: wrong token or bot" in capsys.readouterr().err
    host, _, port = address.rpartition(":")
    for line in (b"\n", b"[1]\n", b'{"token": 3, "bot": 0}\n', b"x" * 5000):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(line)
            with suppress(ConnectionResetError):
                assert connection.recv(100) == b""


def test_a_client_needs_an_address_and_a_token(tmp_path, capsys):
    missing = tmp_path / "none"
    for words, said in (
        (["nowhere", "0", "--token-file", str(missing)], "expected HOST:PORT"),
        (["a:1", "0", "--token-file", str(missing)], "No such file"),
    ):
        with pytest.raises(SystemExit) as stopped:
            connect.main(words)
        assert stopped.value.code == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert not missing.exists()
