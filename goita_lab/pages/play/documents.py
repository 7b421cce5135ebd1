"""Serves the fixed parts of a match's page, under a policy that guards the page.

Requests that change anything must come from the page itself, and the page loads only its own parts.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from goita_agents.principles import PRINCIPLES
from goita_env.render.pen import FACES
from goita_lab.pages import languages
from goita_lab.pages.languages import LanguageName, language_named, preferred_language
from goita_lab.pages.play import replies

_BROWSER: Final = "goita_lab.pages.play.browser"

BROWSER_FILES: Final = {
    "style.css": (_BROWSER, "text/css"),
    "script.js": (_BROWSER, "text/javascript"),
    "say.js": ("goita_lab.pages", "text/javascript"),
}
"""The files that the page loads, each with its package and type."""

FOR_BEGINNERS: Final = ("pass_partner", "stop", "king_waits", "no_king_down", "sure_attack")
"""Keys of the principles that the welcome and the rules name."""

REFRESH_SECONDS: Final = "2"
"""Seconds after which a page that waits for an analysis loads itself again."""

SECURITY_POLICY: Final = "content-security-policy"

HEADERS: Final = {
    SECURITY_POLICY: "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard(BaseHTTPMiddleware):
    """A filter that refuses requests of other pages, and adds ``HEADERS`` to each answer."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        own = f"http://{request.headers.get('host', '')}"
        response: Response = PlainTextResponse("expected a request of the page itself", 403)
        if request.headers.get("origin", "" if request.method == "POST" else own) == own:
            response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response


async def match_page(request: Request) -> Response:
    return Response(_match_text(look_of(request).language), media_type="text/html")


@cache
def _match_text(name: LanguageName) -> str:
    environment = Environment(loader=PackageLoader(__package__, "browser"), autoescape=True)
    principles = [principle.sentence for principle in PRINCIPLES if principle.key in FOR_BEGINNERS]
    return environment.get_template("page.html").render(
        principles=principles, **languages.for_template(name)
    )


async def file(name: str, _: Request) -> Response:
    return Response(_text(name), media_type=BROWSER_FILES[name][1])


@cache
def _text(name: str) -> str:
    package, kind = BROWSER_FILES[name]
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return languages.style() + text if kind == "text/css" else text


def analysis_page(text: str) -> Response:
    """Answers with the page of an analysis; only the style and script inside the page may run."""
    policy = HEADERS[SECURITY_POLICY]
    for tag in ("style", "script"):
        (block,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(sha256(block.encode()).digest()).decode()
        policy = policy.replace(f"{tag}-src 'self'", f"{tag}-src 'sha256-{digest}'")
    return Response(text, media_type="text/html", headers={SECURITY_POLICY: policy})


def waiting(message: str, look: replies.Look, status: int = 200) -> Response:
    """Answers with how far an analysis is, on a page that loads itself again; 409: an error."""
    title = look.say("Analysis of the match")
    text = (
        f'<!DOCTYPE html><html lang="{look.language}"><meta charset="utf-8">'
        f"<title>{look.say('Goita')}{look.say(': ')}{title}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="icon.svg"><link rel="stylesheet" href="style.css">'
        f'<main class="text"><h1>{title}</h1><p role="status">{escape(message)}</p>'
        f'<p><a href="./">{look.say("Back to the match")}</a></p></main></html>'
    )
    headers = {"refresh": REFRESH_SECONDS} if status == 200 else {}
    return Response(text, status, media_type="text/html", headers=headers)


async def drawn(draw: Callable[[replies.Look], str], request: Request) -> Response:
    return Response(draw(look_of(request)), media_type="image/svg+xml")


def look_of(request: Request) -> replies.Look:
    theme, faces = (request.query_params.get(name) for name in ("theme", "faces"))
    header = request.headers.get("accept-language", "")
    return replies.Look(
        "dark" if theme == "dark" else "light",
        next((name for name in FACES if name == faces), "characters"),
        language_named(request.cookies.get("language")) or preferred_language(header),
    )
