"""Serves a match as a page of this machine: Starlette with uvicorn (extra ``goita-env[lab]``).

The server holds the match and sends what its player may know (``replies``). It answers only at the
link that it prints: a secret token is part of it, requests under another name of the machine or
from other pages are refused, and the page may load nothing but its own style sheet and script.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from goita_env.errors import GoitaError, SettingError, install

try:
    import uvicorn
    from anyio import from_thread
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route
except ImportError as error:
    raise ImportError(f"a page needs Starlette and uvicorn: {install('lab')}") from error

from goita_lab.pages.play import documents, replies
from goita_lab.pages.play.background import Progress
from goita_lab.pages.play.documents import look_of
from goita_lab.pages.play.guard import POLICY, Guard, policy_of
from goita_lab.pages.play.sitting import Sitting
from goita_lab.pages.play.table import PlayTable

_NAMED: Final = {"action": "an action", "deal": "a deal", "move": "a move"}

LARGEST: Final = 1000
"""Bytes of a request's body, at most."""

_TOKEN: Final = re.compile(rb"[\w-]{16,}")

T = TypeVar("T")


class MatchServer:
    """A server of a match's page: one request at a time, unless its client has gone."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting, self._lock = sitting, Lock()

    async def state(self, request: Request) -> Response:
        """Answers with all that the page shows; the others move first if they are to.

        ``past=yes``: what was to be seen of a round under way comes with it, from the deal on.
        """
        past = request.query_params.get("past") == "yes"
        return await self._answer(request, lambda: self._advanced(look_of(request), [], past=past))

    async def move(self, request: Request) -> Response:
        """Makes a move: {"action": 46, "mark": "..."}."""
        return await self._change(request, self._move)

    async def next_round(self, request: Request) -> Response:
        """Begins the next round: {"mark": "..."}."""
        return await self._change(request, self._next_round)

    async def take_back(self, request: Request) -> Response:
        """Takes the last decision back: {"mark": "..."}."""
        return await self._change(request, lambda _: self._sitting.table.take_back())

    async def try_again(self, request: Request) -> Response:
        """Plays a round that is over again: {"deal": 3, "move": 7}; 0: the last, 1: from its begin.

        What is played now need not be what the page showed.
        """
        return await self._change(request, self._try_again, marked=False)

    async def leave(self, request: Request) -> Response:
        """Returns to the match from a round that was tried again: {"mark": "..."}."""
        return await self._change(request, lambda _: self._sitting.leave())

    async def new_match(self, request: Request) -> Response:
        """Begins another match: {"mark": "...", "partner": "champion", "next": ..., ...}."""
        return await self._change(request, self._new_match)

    async def open_match(self, request: Request) -> Response:
        """Goes on with a match of the folder: {"mark": "...", "file": "match-2.json"}."""
        return await self._change(request, lambda body: self._sitting.open(_text_of(body, "file")))

    async def matches(self, request: Request) -> Response:
        """Answers with the matches of the folder, and what a new one may be of."""
        look = look_of(request)
        return await self._answer(request, lambda: replies.matches(self._sitting, look))

    async def analysis(self, request: Request) -> Response:
        """Answers with the page of the rounds that are over, or how far it is."""
        look = look_of(request)
        try:
            found = await run_in_threadpool(
                self._alone, request, lambda: self._sitting.analysis(look.language)
            )
        except (GoitaError, OSError, ImportError) as error:
            return documents.waiting(documents.told(error, look), look, 409)
        if isinstance(found, Progress):
            told = look.say("Deals analysed: {done} of {of} …", done=found.done, of=found.of)
            return documents.waiting(told, look)
        return Response(found, media_type="text/html", headers={POLICY: policy_of(found)})

    async def hint(self, request: Request) -> Response:
        look = look_of(request)
        return await self._answer(request, lambda: replies.hint(self._asked(), look))

    async def partner(self, request: Request) -> Response:
        return await self._answer(request, lambda: replies.partner(self._asked()))

    async def _answer(self, request: Request, work: Callable[[], dict[str, Any]]) -> Response:
        """Does work in a thread and answers with what it returns, or with what was wrong."""
        try:
            return JSONResponse(await run_in_threadpool(self._alone, request, work))
        except (GoitaError, OSError, ImportError) as error:
            return JSONResponse({"error": documents.told(error, look_of(request))}, 409)

    def _alone(self, request: Request, work: Callable[[], T]) -> T:
        with self._lock:
            if from_thread.run(request.is_disconnected):
                raise SettingError("expected somebody who waits for the answer, got nobody")
            return work()

    async def _change(
        self,
        request: Request,
        change: Callable[[dict[str, Any]], str | None],
        *,
        marked: bool = True,
    ) -> Response:
        """Changes what is played, and answers with the state.

        ``marked``: only if the page shows the present position.
        """
        body, look = await _body(request), look_of(request)

        def changed() -> dict[str, Any]:
            now = replies.mark(self._sitting.table, self._sitting.trial)
            if marked and body.get("mark") != now:
                raise SettingError("The page was behind the match; it shows it now as it stands.")
            told = change(body)
            table = self._sitting.table
            return self._advanced(look, [replies.frame(table, look, told)] if told else [])

        return await self._answer(request, changed)

    def _move(self, body: dict[str, Any]) -> str:
        return self._sitting.table.decide(_number(body, "action"))

    def _next_round(self, _: dict[str, Any]) -> None:
        if self._sitting.trial is not None:
            raise SettingError("A round that is tried again has no next one.")
        self._sitting.table.next_round()

    def _try_again(self, body: dict[str, Any]) -> None:
        self._sitting.try_again(_number(body, "deal"), _number(body, "move"))

    def _advanced(
        self, look: replies.Look, frames: list[dict[str, Any]], *, past: bool = False
    ) -> dict[str, Any]:
        """Lets the others move; returns the state with what was to be seen on the way.

        ``past``: of a round under way, with all that came before.
        """
        table = self._sitting.table
        frames += [replies.frame(table, look, told) for told in table.advance()]
        if past and table.asks == "move":
            frames = replies.past(table, look)
        return replies.state(table, look, frames, self._sitting.trial)

    def _asked(self) -> PlayTable:
        if self._sitting.table.asks != "move":
            raise SettingError("Advice is given where it is your move.")
        return self._sitting.table

    def _new_match(self, body: dict[str, Any]) -> None:
        names = ("partner", "next", "previous", "rules")
        self._sitting.new_match(
            {name: _text_of(body, name) for name in names} if "partner" in body else None
        )


def application(sitting: Sitting, token: str, host: str) -> Starlette:
    """Returns the server of a match.

    Args:
        sitting: the match.
        token: the secret part of its address.
        host: name or address by which it may be called, beside 127.0.0.1 and localhost.
    """
    server = MatchServer(sitting)
    routes = [
        Route("/", documents.match_page),
        *(Route(f"/{name}", partial(documents.file, name)) for name in documents.FILES),
        Route("/icon.svg", partial(documents.drawn, lambda _: replies.icon())),
        Route("/tiles", partial(documents.drawn, replies.tiles)),
        Route("/state", server.state),
        Route("/move", server.move, methods=["POST"]),
        Route("/next", server.next_round, methods=["POST"]),
        Route("/back", server.take_back, methods=["POST"]),
        Route("/again", server.try_again, methods=["POST"]),
        Route("/leave", server.leave, methods=["POST"]),
        Route("/match", server.new_match, methods=["POST"]),
        Route("/open", server.open_match, methods=["POST"]),
        Route("/matches", server.matches),
        Route("/analysis", server.analysis),
        Route("/hint", server.hint, methods=["POST"]),
        Route("/partner", server.partner, methods=["POST"]),
    ]
    hosts = ["127.0.0.1", "localhost", host]
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            Middleware(Guard),
            Middleware(GZipMiddleware, minimum_size=2000, compresslevel=5),
        ],
        exception_handlers={ClientDisconnect: lambda *_: Response(status_code=400)},
    )


async def _body(request: Request) -> dict[str, Any]:
    """Returns the object that a request holds, an empty one if it holds something else.

    What comes is counted: a header may announce another length, or none.
    """
    text = b""
    async for part in request.stream():
        text += part
        if len(text) > LARGEST:  # what is still on its way is not awaited
            raise HTTPException(413, f"expected at most {LARGEST} bytes", {"connection": "close"})
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _number(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if type(value) is not int:
        raise SettingError(f"expected the number of {_NAMED[name]}, got {value!r}")
    return value


def _text_of(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise SettingError(f"expected a text as {name}, got {value!r}")
    return value


def token_of(path: Path, wanted: str | None = None) -> str:
    """Returns the token of a match, the same each time; it lies beside the match's file.

    ``wanted``: of a match that has none; None: a new one.
    """
    file = path.with_name(f".{path.name}.token")
    with suppress(FileNotFoundError):
        kept = file.read_bytes().strip()
        if _TOKEN.fullmatch(kept):  # else it was cut, as where the disk was full
            return kept.decode()
    token = wanted or secrets.token_urlsafe(18)
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as new:
        new.write(token)
    part.replace(file)
    return token


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens at an address of this machine.

    Args:
        host: the address.
        port: of it; 0: any that is free.

    Raises:
        SettingError: if the address is that of all networks or none.
        OSError: if the address cannot be used.
    """
    if host in ("", "0.0.0.0", "::", "*"):
        raise SettingError(
            f"expected one address of this machine, as others write it, got {host!r}"
        )
    # With the protocol named, uvicorn sends small answers at once (no Nagle's algorithm).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()  # a quick click on the link waits a moment
    except UnicodeError as error:
        listening.close()
        raise SettingError(f"expected an address of this machine, got {host!r}") from error
    except BaseException:
        listening.close()
        raise
    return listening


def serve(sitting: Sitting, token: str, note: str, host: str, listening: socket.socket) -> None:
    """Serves a match until Ctrl-C.

    Args:
        sitting: the match.
        token: the secret part of its address.
        note: is printed beside the address.
        host: address of this machine at which ``listening`` listens.
        listening: is closed in the end.
    """
    app = application(sitting, token, host)
    with listening:
        address = f"http://{host}:{listening.getsockname()[1]}/{token}/"
        print(f"Play at {address}   ({note})", flush=True)
        # Where a crowd takes all the files that a process may open, asyncio tells of each attempt.
        logging.getLogger("asyncio").addFilter(
            lambda record: not record.getMessage().startswith("socket.accept()")
        )
        config = uvicorn.Config(app, log_level="warning", lifespan="off", backlog=128)
        uvicorn.Server(config).run(sockets=[listening])
