"""Serves bots over a socket to those who have the token, so that their weights stay here.

::

    goita host people my_bots:Partner --token-file token --port 7777
    goita host file:mine.safetensors --token-file token --port 0 --most 8
    goita coordination AGENT --partners "exec:goita connect 127.0.0.1:7777 0 --token-file token"

The token file is made where there is none. Each connection is a process of its own that plays one
seat of the bot that it asks for, by number, and speaks the bot protocol (docs/protocol.md). Nothing
is encrypted: serve another machine through a tunnel such as ssh -L. It ends with Ctrl-C. Exit code
0: stopped. 1: an error stopped it. 2: wrong arguments.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from goita_agents.base import close
from goita_agents.files import write_whole
from goita_agents.registry import expand, load_agent
from goita_env.errors import SettingError
from goita_lab import cli

LEAST_TOKEN: Final = 16
"""Characters."""
MOST_LINE: Final = 1_024
"""Bytes of the line by which a client names token and bot."""
SECONDS: Final = 10.0
"""In which that line has to come."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    bots: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """bots, as goita evaluate takes them; clients name them by number, from 0"""
    token_file: Path
    """file with the token that clients have to know"""
    address: str = "127.0.0.1"
    """address to listen at"""
    port: int = 7777
    """port; 0: any that is free, which is printed"""
    most: int = 64
    """processes at a time; further connections are closed"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        bots = expand(args.bots)
        for bot in bots:
            close([load_agent(bot)])
        make_token(args.token_file)
        server = Server(bots, read_token(args.token_file), args.most)
        listener = socket.create_server((args.address, args.port))
    except (ValueError, OSError) as error:
        cli.fail(error)
    host, port = listener.getsockname()[:2]
    print(f"serving {len(bots)} bots at {host}:{port}", flush=True)
    for number, bot in enumerate(bots):
        print(f"{number}: {bot}", flush=True)
    with listener, suppress(KeyboardInterrupt):
        server.serve(listener)
    server.stop()
    return 0


def make_token(path: Path) -> None:
    """Writes a token for its owner alone, where there is none."""
    if not path.exists():
        write_whole(path, secrets.token_urlsafe(32).encode() + b"\n")
        path.chmod(0o600)


def read_token(path: Path) -> str:
    """Returns the token of a file.

    Raises:
        SettingError: if it is too short to be one.
        OSError: if the file cannot be read.
    """
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < LEAST_TOKEN:
        raise SettingError(f"expected a token of {LEAST_TOKEN} characters or more in {path}")
    return token


class Server:
    """A server that gives each connection a process that plays one bot.

    Args:
        bots: the texts of the bots, by number.
        token: what a client has to know.
        most: processes at a time.
    """

    def __init__(self, bots: Sequence[str], token: str, most: int) -> None:
        self._bots, self._token, self._most = bots, token, most
        self._running: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    def serve(self, listener: socket.socket) -> None:
        """Takes connections until the listener is closed or an interrupt comes."""
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self._admit, args=(connection,), daemon=True).start()

    def stop(self) -> None:
        """Ends all processes."""
        with self._lock:
            for one in self._running:
                one.terminate()
            for one in self._running:
                one.wait()

    def _admit(self, connection: socket.socket) -> None:
        """Starts the bot that a client asks for; a client that may not has its connection closed.

        The process has the connection as its standard input and output.
        """
        with connection, suppress(OSError):
            connection.settimeout(SECONDS)
            bot = self._asked_for(_line(connection))
            if bot is None:
                return
            connection.settimeout(None)
            with self._lock:
                self._running = [one for one in self._running if one.poll() is None]
                if len(self._running) >= self._most:
                    return
                command = [sys.executable, "-m", "goita_lab", "bot", bot]
                end = connection.fileno()
                self._running.append(subprocess.Popen(command, stdin=end, stdout=end))

    def _asked_for(self, line: bytes) -> str | None:
        """Returns the text of the bot that a client's first line asks for; None: it may not."""
        try:
            asked: Any = json.loads(line)
            token, number = asked["token"].encode(), asked["bot"]
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        fine = hmac.compare_digest(token, self._token.encode())
        known = type(number) is int and 0 <= number < len(self._bots)
        return self._bots[number] if fine and known else None


def _line(connection: socket.socket) -> bytes:
    """Returns the first line, and reads nothing beyond it, which is the bot's."""
    line = b""
    while not line.endswith(b"\n") and len(line) < MOST_LINE:
        byte = connection.recv(1)
        if not byte:
            return b""
        line += byte
    return line
