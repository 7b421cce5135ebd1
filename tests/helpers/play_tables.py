"""Tables of agents.play in tests: agents that play as told, persons who choose, requests."""

import asyncio
import json
from collections.abc import Callable, Iterable

import numpy as np
from deals import digits
from redrawn_worlds import World

from agents.play.table import Setting, Table
from goita_env.actions import CALL, REDEAL
from goita_env.records import DealRecord

TOKEN = "secret"
HOST = "127.0.0.1:8742"
OWN = {"host": HOST, "origin": f"http://{HOST}"}
"""Headers of a request that the page itself makes."""


class Told:
    """Plays what a list of moves says, whatever it sees."""

    name = "told"

    def __init__(self, seat: int, moves: list) -> None:
        self._plays = [action for _, action in moves if action < CALL]
        answers = [action for who, action in moves if who == seat and action >= CALL]
        self._call = next((action for action in answers if action < REDEAL), None)
        self._choice = next((action for action in answers if action >= REDEAL), None)

    def act(self, view, legal, rng):
        if view.asked_call[0]:
            return np.array([self._call])
        if view.asked_choice[0]:
            return np.array([self._choice])
        return np.array([self._plays[int(view.decisions().length[0])]])


def table_of(world: World, viewer: int) -> Table:
    """A table at which the world's moves will be made; the viewer is the person."""
    agents = tuple("" if seat == viewer else Told(seat, world.moves) for seat in range(4))
    hands, scores = tuple(digits(world.hands)), tuple(world.scores)
    first = DealRecord(hands, world.dealer, scores=scores, rules=world.rules)
    return Table(Setting(agents, 1, first.rules, first=first))


def play_on(table: Table, choose: Callable[[Table], int], rounds: int = 100) -> Iterable[str]:
    """Plays rounds, or to the end of the match; yields what the person is told."""
    while table.asks != "match" and len(table.results) < rounds:
        yield from table.advance()
        if table.asks == "round":
            table.go_on()
        elif table.asks == "move":
            yield table.decide(choose(table))


def any_move(seed: int) -> Callable[[Table], int]:
    """A person who decides at random."""
    rng = np.random.default_rng(seed)
    return lambda table: int(rng.choice(table.legal))


def request(
    app: object, path: str, told: object = None, headers: dict | None = None, method: str = ""
) -> tuple[int, dict, bytes, bytes]:
    """Makes a request as a browser would; returns status, headers, body, and all bytes sent."""
    body = b"" if told is None else told if isinstance(told, bytes) else json.dumps(told).encode()
    method = method or ("GET" if told is None else "POST")
    given = OWN if headers is None else headers
    given = given | ({"content-length": str(len(body))} if method == "POST" else {})
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8742),
    }
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start, *parts = sent
    content = b"".join(part.get("body", b"") for part in parts)
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    whole = b"".join(name + value for name, value in start["headers"]) + content
    return start["status"], found, content, str(start["status"]).encode() + whole
