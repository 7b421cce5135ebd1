"""Connects standard input and output with a bot that goita host serves.

::

    goita connect 127.0.0.1:7777 0 --token-file token      answers the bot protocol's messages
    goita connect host.example:7777 3 --token-file token

As an agent it is "exec:goita connect 127.0.0.1:7777 0 --token-file token".

Exit code 0: the bot ended. 1: there was no connection, or the server did not take it. 2: wrong
arguments.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goita_env.errors import SettingError
from goita_lab import cli
from goita_lab.commands.host import read_token

CHUNK: Final = 1 << 16


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    server: str = field(metadata=cli.POSITIONAL)
    """HOST:PORT"""
    bot: int = field(metadata=cli.POSITIONAL)
    """number of the bot there, from 0"""
    token_file: Path
    """file with the server's token"""

    def address(self) -> tuple[str, int]:
        """Returns host and port; raises a SettingError."""
        host, _, port = self.server.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65_535:
            raise SettingError(f"expected HOST:PORT, got {self.server!r}")
        return host, int(port)


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        address, token = args.address(), read_token(args.token_file)
    except (ValueError, OSError) as error:
        cli.fail(error)
    try:
        with socket.create_connection(address) as connection:
            asked = {"token": token, "bot": args.bot}
            connection.sendall(json.dumps(asked).encode() + b"\n")
            threading.Thread(target=_send, args=(connection,), daemon=True).start()
            received = _receive(connection)
    except OSError as error:
        sys.stderr.write(f"expected a server at {args.server}: {error}\n")
        return 1
    if not received:
        sys.stderr.write(f"{args.server} closed the connection: wrong token or bot, or too many\n")
        return 1
    return 0


def _send(connection: socket.socket) -> None:
    with suppress(OSError):
        while data := os.read(sys.stdin.fileno(), CHUNK):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)


def _receive(connection: socket.socket) -> int:
    """Writes what comes until the other side ends; returns how many bytes came."""
    received = 0
    with suppress(ConnectionResetError):  # so a server closes that left something unread
        while data := connection.recv(CHUNK):
            received += len(data)
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    return received
