"""Knows the languages of pages: one table of texts, ``japanese.json``, by the English ones.

What else pages have in common stands here, too: the names that a player has for seats (you, next,
partner, previous), and the base of the style sheets.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal, get_args

from goita_env.render.scene import Scene
from goita_env.render.themes import THEMES
from goita_env.render.translation import ENGLISH, Language, Phrase
from goita_env.rules import JGA, PAGAT, Rules
from goita_env.tiles import NUM_SEATS, RELATIVE_SEATS

LanguageName = Literal["en", "ja"]
LANGUAGES: Final[tuple[LanguageName, ...]] = get_args(LanguageName)

_RULES: Final = {JGA: "rules of the Japan Goita Association", PAGAT: "rules of pagat.com"}


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


PLACES: Final = ("you", *RELATIVE_SEATS)
"""The seats from the player's own counter-clockwise."""


PERSONS: Final = ("you", "the player at your right", "your partner", "the player at your left")
"""What sentences call those who sit there."""


def person(seat: int, viewer: int | None) -> str:
    """Returns what a sentence calls who sits at a seat; a viewer of None sees numbers."""
    return f"seat {seat}" if viewer is None else PERSONS[(seat - viewer) % NUM_SEATS]


def place(seat: int, viewer: int) -> str:
    """Returns what a viewer calls a seat."""
    return PLACES[(seat - viewer) % NUM_SEATS]


def round_end(who: str, points: int) -> Phrase:
    """Returns who ended a round, and with how many points; ``who``: as ``place`` names a seat."""
    text = "you end the round: {points} points"
    if who != PLACES[0]:
        text = "{who} ends the round: {points} points"
    return Phrase(text, who=who, points=points)


def seen_from(scene: Scene, viewer: int) -> Scene:
    """Returns a scene whose seats have numbers with the names that a viewer has for them."""
    names = {f"seat {seat}": place(seat, viewer) for seat in range(NUM_SEATS)}
    own, others = scene.scores if viewer % 2 == 0 else scene.scores[::-1]
    bottom = [*names].index(scene.places[0].name)
    return replace(
        scene,
        places=tuple(replace(one, name=names[one.name]) for one in scene.places),
        scores=(("you and partner", own[1]), ("the others", others[1])),
        bottom_team=(bottom - viewer) % 2,
        who=names.get(scene.who, scene.who),
    )


@cache
def style() -> str:
    """Returns what stands before a page's own style sheet."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{color};" for name, color in vars(palette).items())
        for palette in (THEMES["light"], THEMES["dark"])
    )
    colors = (
        f":root{{{light}color-scheme:light}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}color-scheme:dark}}}}\n"
    )
    return colors + files(__package__).joinpath("base.css").read_text(encoding="utf-8")
