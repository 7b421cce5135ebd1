"""Guards a page that this machine serves: only its link opens it, and only its own parts load."""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY: Final = "content-security-policy"

HEADERS: Final = {
    POLICY: "default-src 'none'; script-src 'self'; style-src 'self'; "
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


def policy_of(text: str) -> str:
    """Returns the policy under which a page's own style and script run, those inside it."""
    policy = HEADERS[POLICY]
    for tag in ("style", "script"):
        (block,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(block.encode()).digest()).decode()
        policy = policy.replace(f"{tag}-src 'self'", f"{tag}-src 'sha256-{digest}'")
    return policy


class Guard:
    """A filter of requests: they need the token and come from the page; headers are added.

    The app that is guarded sees paths without the token, their first part.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                own_headers = {name for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                more = [one for one in more if one[0] not in own_headers]
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
            app = PlainTextResponse("expected the link that goita_lab.pages.play printed", 404)
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
    """Returns a body, of a large one the first parts; None: the client has gone.

    What comes is counted: a header may announce another length, or none.
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
    """Returns what a server receives once a request's body has been read."""
    told = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        message = next(told, None)
        return await receive() if message is None else message

    return receive_again
