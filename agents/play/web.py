"""Serves a match as a page of this machine: Starlette with uvicorn (extra ``goita-env[play]``).

The server holds the game and sends what its player may know (``pages``). It answers at the link
that it prints alone: a secret token is part of it, requests under another name of the machine or
from other pages are refused, and the page may load nothing but its own style sheet and script.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from agents.play import pages
from agents.play.table import Table
from goita_env.errors import GoitaError, SettingError
from goita_env.render.pen import FACES, Faces
from goita_env.render.themes import Theme

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

LARGEST: Final = 1000
"""Bytes of a request's body, at most."""

_KINDS: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


class Room:
    """Holds a match for its page: one request at a time.

    Args:
        table: the match.
    """

    def __init__(self, table: Table) -> None:
        self.table, self._lock = table, Lock()

    def show(self, look: pages.Look) -> dict[str, Any]:
        """Returns the state; the others move first if they are to."""
        with self._lock:
            return self._advanced(look, [])

    def change(
        self, look: pages.Look, mark: object, change: Callable[[Table], str | None]
    ) -> dict[str, Any]:
        """Changes the match and returns the state.

        Args:
            look: how the page is drawn.
            mark: of the position that the page shows.
            change: what is to be done; returns what is told of it.

        Raises:
            SettingError: if the page shows another position.
            GoitaError: if it is impossible; nothing has changed.
        """
        with self._lock:
            if mark != pages.mark(self.table):
                raise SettingError("The page was behind the match; it shows it now as it stands.")
            told = change(self.table)
            return self._advanced(look, [pages.frame(self.table, look, told)] if told else [])

    def ask(self, question: Callable[[Table], dict[str, Any]]) -> dict[str, Any]:
        """Returns an answer that leaves the match as it is.

        Raises:
            GoitaError: if the player is not asked for a move, or the answer is impossible.
        """
        with self._lock:
            if self.table.asks != "move":
                raise SettingError("Advice is given where it is your move.")
            return question(self.table)

    def _advanced(self, look: pages.Look, frames: list[dict[str, Any]]) -> dict[str, Any]:
        """Lets the others move; returns the state with what was to be seen on the way."""
        frames += [pages.frame(self.table, look, told) for told in self.table.advance()]
        return pages.state(self.table, look, frames)


def application(table: Table, token: str, host: str) -> Starlette:
    """Returns the server of a match.

    Args:
        table: the match.
        token: the secret part of its address.
        host: name or address by which it may be called, beside those of this machine.

    Raises:
        ImportError: if Starlette is missing.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.trustedhost import TrustedHostMiddleware
        from starlette.routing import Route
    except ImportError as error:
        raise ImportError("a page needs Starlette: pip install 'goita-env[play]'") from error

    room = Room(table)
    routes = [
        Route("/", partial(_file, "page.html")),
        Route("/style.css", partial(_file, "style.css")),
        Route("/script.js", partial(_file, "script.js")),
        Route("/icon.svg", partial(_drawn, lambda _: pages.icon())),
        Route("/tiles", partial(_drawn, pages.tiles)),
        Route("/state", partial(_state, room)),
        Route("/move", partial(_move, room), methods=["POST"]),
        Route("/next", partial(_change, room, Table.go_on), methods=["POST"]),
        Route("/back", partial(_change, room, Table.take_back), methods=["POST"]),
        Route("/hint", partial(_ask, room, pages.hint), methods=["POST"]),
        Route("/partner", partial(_ask, room, pages.partner), methods=["POST"]),
    ]
    hosts = ["127.0.0.1", "localhost", host]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            Middleware(Guard, token=token),
        ],
    )


class Guard:
    """Lets pass what comes with the token and from the page itself, and adds the headers.

    Args:
        app: what is guarded; it sees paths without the token.
        token: the first part of every path.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        from starlette.responses import PlainTextResponse

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        if scope["type"] != "http":
            return
        headers, body = dict(scope["headers"]), None
        token, slash, rest = str(scope["path"]).removeprefix("/").partition("/")
        own = b"http://" + headers.get(b"host", b"")
        post = scope["method"] == "POST"
        origin = headers.get(b"origin", None if post else own)
        app: ASGIApp = self._app
        if not slash or not secrets.compare_digest(token.encode(), self._token):
            app = PlainTextResponse("expected the link that agents.play printed", 404)
        elif origin != own:
            app = PlainTextResponse("expected a request of the page itself", 403)
        elif post:
            body = await _read(receive)
            if body is None:
                return  # nobody waits for an answer
            if len(body) > LARGEST:
                close = {"connection": "close"}  # what is still on its way is not awaited
                app = PlainTextResponse(f"expected at most {LARGEST} bytes", 413, close)
        path = f"/{rest}"
        scope = {**scope, "path": path, "raw_path": path.encode()}
        await app(scope, receive if body is None else _again(body, receive), send_more)


async def _read(receive: Receive) -> bytes | None:
    """Returns the body of a request, of a large one no more than its first parts.

    What comes is counted: a header may announce another length, or none.

    Returns:
        None: the client has gone.
    """
    body = b""
    while len(body) <= LARGEST:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Returns what a server receives whose request's body has been read."""
    told = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        message = next(told, None)
        return await receive() if message is None else message

    return receive_again


# ---------------------------------------------------------------------------------------- answers


async def _file(name: str, _: Request) -> Response:
    """Answers with a file of the page."""
    from starlette.responses import Response

    return Response(_text(name), media_type=_KINDS[name.rpartition(".")[2]])


@cache
def _text(name: str) -> str:
    """Returns a file of the page."""
    text = files("agents.play").joinpath("page", name).read_text(encoding="utf-8")
    return pages.colors() + text if name.endswith(".css") else text


def _look(request: Request) -> pages.Look:
    """Returns how a page is drawn, as its address says."""
    wanted = request.query_params
    theme: Theme = "dark" if wanted.get("theme") == "dark" else "light"
    faces: Faces = "characters"
    return pages.Look(theme, next((one for one in FACES if one == wanted.get("faces")), faces))


async def _drawn(draw: Callable[[pages.Look], str], request: Request) -> Response:
    """Answers with a drawing."""
    from starlette.responses import Response

    return Response(draw(_look(request)), media_type="image/svg+xml")


async def _state(room: Room, request: Request) -> Response:
    """Answers with all that the page shows."""
    return await _answered(partial(room.show, _look(request)))


async def _move(room: Room, request: Request) -> Response:
    """Makes a move: {"action": 46, "mark": "..."}."""
    told = await _body(request)
    action = told.get("action")

    def move(table: Table) -> str:
        if type(action) is not int:
            raise SettingError(f"expected the number of an action, got {action!r}")
        return table.decide(action)

    return await _answered(partial(room.change, _look(request), told.get("mark"), move))


async def _change(room: Room, change: Callable[[Table], None], request: Request) -> Response:
    """Takes back, or begins the next round: {"mark": "..."}."""
    told = await _body(request)
    return await _answered(partial(room.change, _look(request), told.get("mark"), change))


async def _ask(room: Room, question: Callable[[Table], dict[str, Any]], _: Request) -> Response:
    """Answers a question."""
    return await _answered(partial(room.ask, question))


async def _body(request: Request) -> dict[str, Any]:
    """Returns what a request holds, nothing if it is no table."""
    try:
        told = json.loads(await request.body())
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


async def _answered(work: Callable[[], dict[str, Any]]) -> Response:
    """Does work in a thread and answers with what it returns, or with what was wrong."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    try:
        return JSONResponse(await run_in_threadpool(work))
    except (GoitaError, OSError) as error:
        return JSONResponse({"error": str(error).partition("\n")[0]}, 409)


# ---------------------------------------------------------------------------------------- serving


def token_of(path: Path) -> str:
    """Returns the token of a match, the same each time; it lies beside the match's file.

    Raises:
        OSError: if it can be neither read nor written.
    """
    file = path.with_name(f".{path.name}.token")
    try:
        with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(18))
    except FileExistsError:
        pass
    return file.read_text(encoding="ascii").strip()


def serve(table: Table, path: Path, host: str, port: int) -> None:
    """Serves a match until Ctrl-C.

    Args:
        table: the match.
        path: the file that keeps it.
        host: an address of this machine.
        port: 0: any that is free.

    Raises:
        SettingError: if the address is that of all networks.
        OSError: if the address cannot be used.
        ImportError: if Starlette or uvicorn is missing.
    """
    try:
        import uvicorn
    except ImportError as error:
        raise ImportError("a page needs uvicorn: pip install 'goita-env[play]'") from error

    if host in ("", "0.0.0.0", "::", "*"):
        raise SettingError(
            f"expected one address of this machine, as others write it, got {host!r}"
        )
    token = token_of(path)
    app = application(table, token, host)
    # With the protocol named, uvicorn sends small answers at once (no Nagle's algorithm).
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # who is quick with the link waits a moment
        address = f"http://{host}:{listening.getsockname()[1]}/{token}/"
        sys.stdout.write(f"Play at {address}   (Ctrl-C ends; the match is saved in {path})\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="warning", lifespan="off")
        uvicorn.Server(config).run(sockets=[listening])
