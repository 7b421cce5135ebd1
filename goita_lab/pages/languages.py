"""Holds the languages of pages: ``japanese.json`` gives each English text in Japanese.

Here are also the names that a player has for seats (you, Right, Partner, Left), and the base of the
style sheets.
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


def language_named(name: str | None) -> LanguageName | None:
    """Returns a name as that of a language; None: there is no such language."""
    return next((code for code in LANGUAGES if code == name), None)


def preferred_language(header: str) -> LanguageName:
    """Returns the first language of a browser's Accept-Language header that pages have."""
    codes = (entry.partition(";")[0].strip().lower()[:2] for entry in header.split(","))
    return next(filter(None, map(language_named, codes)), "en")


def for_template(name: LanguageName) -> dict[str, Any]:
    """Returns what a template and its script need to show their texts."""
    say = language(name)
    table = json.dumps(say.table, ensure_ascii=False).replace("<", "\\u003c")
    return {"language": name, "say": say, "texts": table}


def rules_of(rules: Rules) -> str:
    """Returns what a page calls a rule set: its description, or the name of a user's own."""
    return _RULES.get(rules) or Phrase("rules {name}", name=rules.name)


PLACES: Final = ("you", "Right", "Partner", "Left")
"""What a player calls the players of the seats, counter-clockwise from the own seat on."""


def person(seat: int, viewer: int | None) -> str:
    """Returns what a sentence calls the player of a seat: its number if the viewer is None."""
    return f"seat {seat}" if viewer is None else place(seat, viewer)


def place(seat: int, viewer: int) -> str:
    """Returns what a viewer calls a seat."""
    return PLACES[(seat - viewer) % NUM_SEATS]


def round_end(who: str, points: int) -> Phrase:
    """Returns which seat, named as by ``place``, ended a round, and with how many points."""
    text = "you end the round: {points} points"
    if who != PLACES[0]:
        text = "{who} ends the round: {points} points"
    return Phrase(text, who=who, points=points)


def for_player(scene: Scene) -> Scene:
    """Returns a scene of a view with the player's names for seats, as in all sentences."""
    names: dict[str, str] = dict(zip(RELATIVE_SEATS, PLACES[1:], strict=True))
    (_, own_points), (_, opposing_points) = scene.scores
    return _renamed(scene, names, own_points, opposing_points)


def seen_from(scene: Scene, viewer: int) -> Scene:
    """Returns a scene of numbered seats with the viewer's names for the seats (``place``)."""
    names = {f"seat {seat}": place(seat, viewer) for seat in range(NUM_SEATS)}
    (_, even), (_, odd) = scene.scores  # each a team's name and its points
    own_points, opposing_points = (even, odd) if viewer % 2 == 0 else (odd, even)
    bottom = [*names].index(scene.places[0].name)
    renamed = _renamed(scene, names, own_points, opposing_points)
    return replace(renamed, bottom_team=(bottom - viewer) % 2)


def _renamed(scene: Scene, names: dict[str, str], own_points: int, opposing_points: int) -> Scene:
    """Returns a scene with other names for its seats, and with its points by the viewer's teams."""
    return replace(
        scene,
        places=tuple(replace(hand, name=names.get(hand.name, hand.name)) for hand in scene.places),
        scores=(("you and partner", own_points), ("opponents", opposing_points)),
        who=names.get(scene.who, scene.who),
    )


@cache
def style() -> str:
    """Returns the style that all pages begin with: the colours of both themes, and ``base.css``."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{color};" for name, color in vars(palette).items())
        for palette in (THEMES["light"], THEMES["dark"])
    )
    colors = (
        f":root{{{light}color-scheme:light}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}color-scheme:dark}}}}\n"
    )
    return colors + files(__package__).joinpath("base.css").read_text(encoding="utf-8")
