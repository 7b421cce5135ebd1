"""Guards a page that this machine serves: it alone changes anything, and it loads its own parts."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
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


def policy_of(text: str) -> str:
    """Returns the policy under which a page's own style and script run, those inside it."""
    policy = HEADERS[POLICY]
    for tag in ("style", "script"):
        (block,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(block.encode()).digest()).decode()
        policy = policy.replace(f"{tag}-src 'self'", f"{tag}-src 'sha256-{digest}'")
    return policy


class Guard:
    """A filter of requests: what changes anything comes from the page itself; headers are added."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        own = f"http://{headers.get('host', '')}"
        app: ASGIApp = self._app
        if headers.get("origin", "" if scope["method"] == "POST" else own) != own:
            app = PlainTextResponse("expected a request of the page itself", 403)
        await app(scope, receive, send_more)
