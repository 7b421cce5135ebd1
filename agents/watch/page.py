"""Puts a page together: one HTML file, its script and its drawings inside, nothing loaded."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, PackageLoader

from agents.report.figures import clean, signed
from agents.watch.frames import Book
from agents.watch.reading import Source
from goita_env.render import svg, themes
from goita_env.render.pen import PREFIX

if TYPE_CHECKING:
    from agents.watch.telling import Shown

_IDS: Final = "w"
"""What the ids of the drawings begin with in a page."""


def html(source: Source, book: Book, analysed: Shown | None = None) -> str:
    """Returns the page of a book as HTML text, with an analysis if there is one."""
    told = {
        "lines": list(book.lines.numbers),
        "sentences": list(book.sentences.numbers),
        "faces": book.faces(),
        "fill": themes.THEMES["light"].text,
        "dark": themes.darkened(),
        "deals": book.deals,
        "analysis": None if analysed is None else analysed.data,
    }
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace(PREFIX, _IDS)
    # Nothing that a record holds can end the script that holds it, or is no Unicode.
    text = text.encode(errors="replace").decode()
    data = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return (
        _environment()
        .get_template("page.html")
        .render(
            title=clean(source.title),
            shown=len(source.deals),
            total=source.total,
            size=svg.SIZE,
            data=data,
            analysed=analysed,
        )
    )


@cache
def _environment() -> Environment:
    """Returns what fills the template; all text is escaped but what is marked as safe."""
    found = Environment(
        loader=PackageLoader("agents.watch"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    found.filters |= {"clean": clean, "signed": signed}
    return found
