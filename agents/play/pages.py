"""Tells a page what its player may know: drawings, sentences and choices, all made in Python.

All of it follows from the views of one seat, from what that seat has been told, and from rounds
that are over. Nothing counts what is hidden: not the moves, for another seat may have been asked
before play and kept silent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from agents.play import advice, sentences, showing
from agents.play.table import Table
from agents.play.typed import said
from goita_env import actions
from goita_env.render import pen, svg, themes, words
from goita_env.render.pen import Faces
from goita_env.render.scene import Scene
from goita_env.render.themes import Theme
from goita_env.tiles import DIGITS, KING, NAMES, NUM_SEATS

CROPPED: Final = 545
"""Height of a drawing without the player's own hand, which the page shows itself."""


@dataclass(frozen=True)
class Look:
    """Says how a page is drawn."""

    theme: Theme = "light"
    faces: Faces = "characters"


def state(table: Table, look: Look, frames: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """Returns all that a page shows.

    Args:
        table: the match.
        look: how it is drawn.
        frames: what was to be seen on the way here, as ``frame`` gives it.
    """
    return _facts(table) | {"frames": [*frames, frame(table, look, "")], "mark": mark(table)}


def mark(table: Table) -> str:
    """Returns what tells a position from others: a page that shows another one is told so."""
    text = json.dumps([_facts(table), words.position(_scene(table)), table.taken_back])
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _facts(table: Table) -> dict[str, Any]:
    """Returns what is told beside drawings."""
    names, seat = table.setting.names, table.seat
    legal = table.legal if table.asks == "move" else []
    return {
        "rules": table.setting.rules.name,
        "names": [names[(seat + place) % NUM_SEATS] for place in range(NUM_SEATS)],
        "scores": table.scores,
        "asks": table.asks,
        "question": _question(table),
        "leads": bool(table.view.leads[0]),
        "actions": [_action(action) for action in legal],
        "log": table.log,
        "rounds": [
            [sentences.place(winner, seat), (winner - seat) % 2, points]
            for winner, points in table.results
        ],
        "may_take_back": table.may_take_back,
    }


def _scene(table: Table) -> Scene:
    """Returns what is to be seen: the open table between rounds, else what the player may know."""
    over = table.asks in ("round", "match")
    return showing.opened(table) if over else showing.seen(table)


def frame(table: Table, look: Look, told: str) -> dict[str, Any]:
    """Returns a position as the player sees it now: drawing, hand, sentences, what was told last.

    While a round is played, the page itself shows the player's hand, as buttons.
    """
    shown, hand = _scene(table), None
    if table.asks in ("round", "match"):
        drawing = svg.draw(shown, theme=look.theme, faces=look.faces)
    else:
        own, *others = shown.places
        hand, bare = own.hand, replace(shown, places=(replace(own, hand=()), *others))
        drawing = svg.draw(bare, theme=look.theme, faces=look.faces)
        drawing = replace(drawing, size=(svg.SIZE, CROPPED))
    return {
        "svg": pen.document(drawing),
        "hand": hand,
        "words": words.position(shown),
        "said": told,
    }


def hint(table: Table) -> dict[str, Any]:
    """Returns what the champion would do."""
    found = advice.hint(table.view)
    return {
        "action": found.action,
        "said": said(found.action),
        "options": [
            _action(one.action)
            | {
                "chance": f"{one.probability:.0%}",
                "points": f"{one.points:+.1f}",
                "error": f"{one.error:.1f}",
            }
            for one in found.options
        ],
    }


def partner(table: Table) -> dict[str, Any]:
    """Returns what the partner may hold.

    Raises:
        SettingError: if the round was decided before play.
    """
    found = advice.partner(table.view, table.others)
    rows = zip(NAMES, found.at_least_one.tolist(), found.expected.tolist(), strict=True)
    return {
        "kinds": [
            {"kind": kind, "name": name, "chance": round(chance, 3), "expected": f"{number:.1f}"}
            for kind, (name, chance, number) in enumerate(rows)
        ],
        "likely": [
            {"hand": [DIGITS.index(tile) for tile in hand], "chance": f"{chance:.0%}"}
            for hand, chance in found.likely
        ],
        "assumed": list(found.assumed),
    }


def tiles(look: Look) -> str:
    """Returns the definitions of the tiles with which the page draws a hand."""
    return "".join(pen.every_tile(look.theme, look.faces)).replace(pen.PREFIX, "w")


def icon() -> str:
    """Returns the drawing of a king's tile."""
    tile = pen.Pen("light", "characters")
    tile.tile(26, 26, KING)
    return pen.document(tile.drawing(52, 52, "Goita", "A tile."))


def colors() -> str:
    """Returns the colours of both themes as properties of a style sheet."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{color};" for name, color in vars(palette).items())
        for palette in (themes.THEMES["light"], themes.THEMES["dark"])
    )
    wanted = f":root:not(.light){{{dark}color-scheme:dark}}"
    return (
        f":root{{{light}color-scheme:light}}:root.dark{{{dark}color-scheme:dark}}"
        f"@media (prefers-color-scheme:dark){{{wanted}}}\n"
    )


def _question(table: Table) -> str:
    """Says what the player is asked."""
    if table.asks == "match":
        own, other = table.scores
        return f"The match is over: you {'win' if own > other else 'lose'}, {own} to {other}."
    if table.asks == "round":
        said = sentences.end(*table.results[-1], table.seat)
        return f"{said[:1].upper()}{said[1:]}."
    shown = showing.seen(table)
    asked = shown.moment(words.tile(shown.attack)).partition(": ")[2]
    return f"{asked[:1].upper()}{asked[1:]}."


def _action(action: int) -> dict[str, Any]:
    """Returns an action as the page offers it."""
    pair = actions.decode(action)
    return {"action": action, "name": said(action), "pair": pair}
