"""Serves what a match's page is made of, which no match changes: page, script, style."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader
from starlette.requests import Request
from starlette.responses import Response

from goita_env.render.pen import FACES
from goita_lab.pages.languages import LanguageName, for_template, known, wanted
from goita_lab.pages.play import replies

_BROWSER: Final = "goita_lab.pages.play.browser"

FILES: Final = {
    "style.css": (_BROWSER, "text/css"),
    "script.js": (_BROWSER, "text/javascript"),
    "say.js": ("goita_lab.pages", "text/javascript"),
}
"""The files that the page loads, each with its package and type."""


REFRESH: Final = "2"
"""Seconds after which a page that waits asks again."""


async def match_page(request: Request) -> Response:
    return Response(_match_text(look_of(request).language), media_type="text/html")


@cache
def _match_text(name: LanguageName) -> str:
    environment = Environment(loader=PackageLoader(__package__, "browser"), autoescape=True)
    return environment.get_template("page.html").render(**for_template(name))


async def file(name: str, _: Request) -> Response:
    return Response(_text(name), media_type=FILES[name][1])


@cache
def _text(name: str) -> str:
    package, kind = FILES[name]
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return replies.colors() + text if kind == "text/css" else text


def waiting(told: str, look: replies.Look, status: int = 200) -> Response:
    """Answers with a page that says how far an analysis is, and asks again; 409: what is wrong."""
    title = look.say("Analysis of the match")
    text = (
        f'<!DOCTYPE html><html lang="{look.language}"><meta charset="utf-8">'
        f"<title>{look.say('Goita')}{look.say(': ')}{title}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="icon.svg"><link rel="stylesheet" href="style.css">'
        f'<main class="text"><h1>{title}</h1><p role="status">{escape(told)}</p>'
        f'<p><a href="./">{look.say("Back to the match")}</a></p></main></html>'
    )
    headers = {"refresh": REFRESH} if status == 200 else {}
    return Response(text, status, media_type="text/html", headers=headers)


def told(error: Exception, look: replies.Look) -> str:
    return look.say(str(error).partition("\n")[0])


async def drawn(draw: Callable[[replies.Look], str], request: Request) -> Response:
    return Response(draw(look_of(request)), media_type="image/svg+xml")


def look_of(request: Request) -> replies.Look:
    theme, faces = (request.query_params.get(name) for name in ("theme", "faces"))
    header = request.headers.get("accept-language", "")
    return replies.Look(
        "dark" if theme == "dark" else "light",
        next((one for one in FACES if one == faces), "characters"),
        known(request.cookies.get("language")) or wanted(header),
    )
