"""Knows the languages of pages: one table of texts, ``japanese.json``, by the English ones."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, get_args

from goita_env.render.translation import ENGLISH, Language, Phrase
from goita_env.rules import JGA, PAGAT, Rules

LanguageName = Literal["en", "ja"]
LANGUAGES: Final[tuple[LanguageName, ...]] = get_args(LanguageName)

_RULES: Final = {
    JGA: "rules of the Japan Goita Association",
    PAGAT: "rules of pagat.com",
}


@cache
def language(name: LanguageName) -> Language:
    """Returns a language by its name."""
    if name == "en":
        return ENGLISH
    text = files(__package__).joinpath("japanese.json").read_text(encoding="utf-8")
    table: dict[str, str] = json.loads(text)
    return Language(table)


def known(name: str | None) -> LanguageName | None:
    """Returns the name of a language if it is one."""
    return next((one for one in LANGUAGES if one == name), None)


def wanted(header: str) -> LanguageName:
    """Returns the first language that a browser asks for and is known: its Accept-Language."""
    asked = (one.partition(";")[0].strip().lower()[:2] for one in header.split(","))
    return next(filter(None, map(known, asked)), "en")


def for_template(name: LanguageName) -> dict[str, Any]:
    """Returns what a template needs to tell its texts, and its script."""
    say = language(name)
    table = json.dumps(say.table, ensure_ascii=False).replace("<", "\\u003c")
    return {"language": name, "say": say, "texts": table}


def rules_of(rules: Rules) -> str:
    """Says by which rules a game is played; the name of a rule set of somebody's own."""
    return _RULES.get(rules) or Phrase("rules {name}", name=rules.name)
