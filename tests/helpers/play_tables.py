"""Tables of play in tests: agents that play as told, persons who choose, requests."""

import asyncio
import json
from collections.abc import Callable, Iterable
from multiprocessing import Pipe

import numpy as np

from deals import digits
from goita_env.actions import CALL, REDEAL
from goita_env.records import DealRecord
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import Background
from goita_lab.pages.play.table import PlayTable
from redrawn_worlds import World

GREEDY = ("", "greedy", "greedy", "greedy")
TOKEN = "secret"
HOST = "127.0.0.1:8742"
OWN = {"host": HOST, "origin": f"http://{HOST}"}
"""Headers of a request that the page itself makes."""


class Scripted:
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


def table_of(world: World, viewer: int) -> PlayTable:
    """A table at which the world's moves will be made; the viewer is the person."""
    agents = tuple("" if seat == viewer else Scripted(seat, world.moves) for seat in range(4))
    hands, scores = tuple(digits(world.hands)), tuple(world.scores)
    first = DealRecord(hands, world.dealer, scores=scores, rules=world.rules)
    return PlayTable(MatchSettings(agents, 1, first.rules, first=first))


def play_on(
    table: PlayTable, choose: Callable[[PlayTable], int], rounds: int = 100
) -> Iterable[str]:
    """Plays rounds, or to the end of the match; yields what the person is told."""
    while table.asks != "match" and len(table.results) < rounds:
        yield from table.advance()
        if table.asks == "round":
            table.next_round()
        elif table.asks == "move":
            yield table.decide(choose(table))


class FedBackground(Background):
    """An analysis whose messages a test sends."""

    def begin(self, source, keep):
        self.close()
        self._source, self._analysis, self._pages = source, None, {}
        self._messages, self.sender = Pipe(duplex=False)


def any_move(seed: int) -> Callable[[PlayTable], int]:
    """A person who decides at random."""
    rng = np.random.default_rng(seed)
    return lambda table: int(rng.choice(table.legal))


def scope(method: str, target: str, headers: dict) -> dict:
    """What a server is told of a request."""
    path, _, query = target.partition("?")
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": method, "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": query.encode(), "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8742),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip


def request(
    app: object, path: str, told: object = None, headers: dict | None = None
) -> tuple[int, dict, bytes, bytes]:
    """Makes a request as a browser would; returns status, headers, body, and all bytes sent."""
    body = b"" if told is None else told if isinstance(told, bytes) else json.dumps(told).encode()
    method = "GET" if told is None else "POST"
    given = OWN if headers is None else headers
    given = given | ({"content-length": str(len(body))} if method == "POST" else {})
    sent: list[dict] = []

    async def receive() -> dict:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict) -> None:
        sent.append(message)

    asyncio.run(app(scope(method, path, given), receive, send))
    start, *parts = sent
    content = b"".join(part.get("body", b"") for part in parts)
    found = {name.decode(): value.decode() for name, value in start["headers"]}
    whole = b"".join(name + value for name, value in start["headers"]) + content
    return start["status"], found, content, str(start["status"]).encode() + whole
