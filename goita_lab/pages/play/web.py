"""Serves a match as a page of this machine: Starlette with uvicorn.

The server holds the match and sends what its player may know (``replies``). It answers only at the
link that it prints, which contains a secret token. It refuses requests under another name of the
machine or from other pages, and the page may load only its own style sheet and script.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from goita_agents.files import decode
from goita_env.errors import GoitaError, SettingError
from goita_lab.pages.play import documents, replies
from goita_lab.pages.play.documents import look_of
from goita_lab.pages.play.sitting import AnalysisProgress, Sitting

_TOKEN: Final = re.compile(rb"[\w-]{16,}")

ANSWERED_ERRORS: Final = (GoitaError, OSError, ImportError)
"""Errors that a player reads as one line; others are faults of the program."""


@dataclass(frozen=True)
class Change:
    """A request of a page to change the match."""

    mark: int = -1
    """The server's count of changes when it sent the state that the page shows."""
    action: int = -1
    deal: int = 0
    """Deal of a round that is tried again (``Sitting.try_again``)."""
    move: int = 0
    """The first move that is made anew in this deal."""
    file: str = ""
    """File of a match of the folder."""


CHANGES: Final[Mapping[str, Callable[[Sitting, Change], str | None]]] = {
    "move": lambda sitting, change: sitting.table.decide(change.action),
    "next": lambda sitting, _: sitting.next_round(),
    "back": lambda sitting, _: sitting.table.take_back(),
    "again": lambda sitting, change: sitting.try_again(change.deal, change.move),
    "leave": lambda sitting, _: sitting.leave(),
    "match": lambda sitting, _: sitting.new_match(),
    "open": lambda sitting, change: sitting.open(change.file),
}
"""Functions that change the state, by name of the request; each returns a sentence, or None."""

CHANGES_WITHOUT_MARK: Final = ("again",)
"""Changes that the page of an analysis requests; it shows no state whose mark it could send."""


class MatchServer:
    """A server of a match's page: one request at a time."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting, self._lock = sitting, Lock()
        self._changes = 0

    async def state(self, request: Request) -> Response:
        """Answers with all that the page shows, after the moves of the others that are due."""
        look = look_of(request)
        return await self._answer(look, lambda: self._advanced(look, []))

    async def change(self, name: str, request: Request) -> Response:
        """Makes a change, and answers with the state.

        The change is refused unless the page shows the present state. The mark of a state counts
        the player's changes and not the moves, which would reveal that another seat had a choice
        before play.
        """
        body, look = await request.body(), look_of(request)

        def make_change() -> dict[str, Any]:
            change = decode(body, Change, "a request of the page")
            if change.mark != self._changes and name not in CHANGES_WITHOUT_MARK:
                raise SettingError("The page was behind the match; it shows it now as it stands.")
            event = CHANGES[name](self._sitting, change)
            self._changes += 1
            table = self._sitting.table
            return self._advanced(look, [replies.frame(table, look, event)] if event else [])

        return await self._answer(look, make_change)

    async def matches(self, request: Request) -> Response:
        """Answers with the matches of the folder."""
        return await self._answer(look_of(request), lambda: replies.matches(self._sitting))

    async def analysis(self, request: Request) -> Response:
        """Answers with the page of the analysed deals, or with the progress if none is yet."""
        look = look_of(request)

        def page_or_progress() -> AnalysisProgress | str:
            with self._lock:
                return self._sitting.analysis(look.language)

        try:
            reply = await run_in_threadpool(page_or_progress)
        except ANSWERED_ERRORS as error:
            return documents.waiting(_message(error, look), look, 409)
        if isinstance(reply, str):
            return documents.analysis_page(reply)
        message = look.say("Deals analysed: {done} of {of} …", done=reply.done, of=reply.of)
        return documents.waiting(message, look)

    async def renewal(self, request: Request) -> Response:
        """Answers a page of the analysis that asks for deals which were analysed since."""
        look, asked = look_of(request), request.query_params
        digest, done = asked.get("digest", ""), asked.get("done", "")
        if not re.fullmatch(r"[0-9]{1,6}", done):
            return JSONResponse({"error": "expected done=NUMBER"}, 400)
        renew = partial(self._sitting.renewal, digest, int(done), look.language)
        return await self._answer(look, renew)

    async def glance(self, request: Request) -> Response:
        """Answers with the champion's first choice, which needs no search."""
        look = look_of(request)
        return await self._answer(look, lambda: replies.glance(self._sitting.table, look))

    async def hint(self, request: Request) -> Response:
        """Answers with the hint; from now on the next hints are begun when the turn comes."""
        look = look_of(request)
        self._sitting.prepares_hints = True
        return await self._answer(look, lambda: replies.hint(self._sitting.table, look))

    async def partner(self, request: Request) -> Response:
        return await self._answer(look_of(request), lambda: replies.partner(self._sitting.table))

    async def _answer(self, look: replies.Look, work: Callable[[], dict[str, Any]]) -> Response:
        """Does work in a thread and answers with its result, or with the message of its error."""

        def locked_work() -> dict[str, Any]:
            with self._lock:
                return work()

        try:
            return JSONResponse(await run_in_threadpool(locked_work))
        except ANSWERED_ERRORS as error:
            return JSONResponse({"error": _message(error, look)}, 409)

    def _advanced(self, look: replies.Look, frames: list[dict[str, Any]]) -> dict[str, Any]:
        """Lets the others move; returns the state, with a frame after each observed move."""
        table = self._sitting.table
        table.prepares_hints = self._sitting.prepares_hints
        frames += [replies.frame(table, look, event) for event in table.advance()]
        return replies.state(table, look, frames, self._sitting.trial) | {"mark": self._changes}


def _message(error: Exception, look: replies.Look) -> str:
    return look.say(str(error).partition("\n")[0])


def application(sitting: Sitting, token: str, host: str) -> Starlette:
    """Returns the server of a match.

    Args:
        sitting: the match.
        token: the secret part of its address.
        host: name or address by which it may be reached, next to 127.0.0.1 and localhost.
    """
    server = MatchServer(sitting)
    routes = [
        Route("/", documents.match_page),
        *(Route(f"/{name}", partial(documents.file, name)) for name in documents.BROWSER_FILES),
        Route("/icon.svg", partial(documents.drawn, lambda _: replies.icon())),
        Route("/tiles", partial(documents.drawn, replies.tiles)),
        Route("/state", server.state),
        *(Route(f"/{name}", partial(server.change, name), methods=["POST"]) for name in CHANGES),
        Route("/matches", server.matches),
        Route("/analysis", server.analysis),
        Route("/glance", server.glance, methods=["POST"]),
        Route("/renewal", server.renewal),
        Route("/hint", server.hint, methods=["POST"]),
        Route("/partner", server.partner, methods=["POST"]),
    ]
    hosts = ["127.0.0.1", "localhost", host]
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            Middleware(documents.Guard),
            Middleware(GZipMiddleware, minimum_size=2000, compresslevel=5),
        ],
    )


def token_of(folder: Path) -> str:
    """Returns the token of the matches of a folder, which a file of the folder keeps."""
    file = folder / ".goita-play.token"
    with suppress(FileNotFoundError):
        saved_token = file.read_bytes().strip()
        if _TOKEN.fullmatch(saved_token):  # else it was cut, as by a full disk
            return saved_token.decode()
    token, part = secrets.token_urlsafe(18), file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    # A new file, which only its owner may read.
    with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as new:
        new.write(token)
    part.replace(file)
    return token


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket that listens at an address of this machine.

    Args:
        host: the address.
        port: its port; 0: any free one.
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
    except BaseException:
        listening.close()
        raise
    return listening


def serve(sitting: Sitting, token: str, note: str, host: str, listening: socket.socket) -> None:
    """Serves a match until Ctrl-C.

    Args:
        sitting: the match.
        token: the secret part of its address.
        note: a text that is printed next to the address.
        host: address of this machine.
        listening: a socket that listens there.
    """
    app = application(sitting, token, host)
    address = f"http://{host}:{listening.getsockname()[1]}/{token}/"
    print(f"Play at {address}   ({note})", flush=True)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", backlog=128)
    uvicorn.Server(config).run(sockets=[listening])
