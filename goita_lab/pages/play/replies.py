"""Builds what a page is sent: drawings, sentences and choices, all made in Python.

All of it follows from the views of one seat, from what that seat has been told, and from rounds
that are over. Nothing counts what is hidden: not the moves, for another seat may have been asked
before play and kept silent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from goita_env import Game, actions
from goita_env.render import pen, svg, themes, words
from goita_env.render.pen import Faces
from goita_env.render.scene import Scene
from goita_env.render.themes import Theme
from goita_env.tiles import DIGITS, KING, NAMES, NUM_SEATS, POINTS
from goita_lab.pages.play import advice, sentences
from goita_lab.pages.play.sitting import Trial
from goita_lab.pages.play.table import PlayTable

CROPPED: Final = 545
"""Height of a drawing without the player's own hand, which the page shows itself."""


@dataclass(frozen=True)
class Look:
    """How a page is drawn."""

    theme: Theme = "light"
    faces: Faces = "characters"


def state(
    table: PlayTable,
    look: Look,
    frames: Iterable[dict[str, Any]] = (),
    trial: Trial | None = None,
) -> dict[str, Any]:
    """Returns all that a page shows.

    Args:
        table: what is played.
        look: how it is drawn.
        frames: came before the present position.
        trial: the round that is tried again on the table; None: a match.
    """
    frames = [*frames, frame(table, look, "", asking=True)]
    return _facts(table, trial) | {"frames": frames, "mark": mark(table, trial)}


def mark(table: PlayTable, trial: Trial | None = None) -> str:
    """Returns a digest of the position: a change is refused if the page shows another one."""
    text = json.dumps([_facts(table, trial), words.position(table.scene()), table.taken_back])
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _facts(table: PlayTable, trial: Trial | None) -> dict[str, Any]:
    names, seat = table.settings.names, table.seat
    legal = table.legal if table.asks == "move" else []
    over = table.asks in ("round", "match")
    return {
        "trial": None if trial is None else asdict(trial),
        "rules": table.settings.rules.name,
        "match_points": table.settings.rules.match_points,
        "names": [names[(seat + place) % NUM_SEATS] for place in range(NUM_SEATS)],
        "scores": table.scores,
        "asks": "trial" if trial and over else table.asks,
        "question": _question(table, trial),
        "leads": bool(table.view.leads[0]),
        "actions": [_action(action) for action in legal],
        "meaning": sentences.meaning(legal),
        "points": POINTS,
        "log": table.log,
        "rounds": [
            [sentences.place(winner, seat), (winner - seat) % 2, points]
            for winner, points in table.results
        ],
        "may_take_back": table.may_take_back,
    }


def frame(table: PlayTable, look: Look, told: str, *, asking: bool = False) -> dict[str, Any]:
    """Returns a position as the player sees it now: drawing, hand, sentences, what was told last.

    While a round is played, the page itself shows the player's hand, as buttons.
    ``asking``: nobody else moves before the player does.
    """
    scene = table.asking() if asking else table.scene()
    return _frame(scene, look, told, over=table.asks in ("round", "match"))


def past(table: PlayTable, look: Look) -> list[dict[str, Any]]:
    """Returns the positions of a round under way from its deal on, as frames."""
    told = zip(("", *table.log), table.past, strict=True)
    return [_frame(scene, look, said, over=False) for said, scene in told]


def _frame(scene: Scene, look: Look, told: str, *, over: bool) -> dict[str, Any]:
    hand, size, shown = None, (svg.SIZE, svg.SIZE), scene
    if not over:
        own, *others = scene.places
        hand, size = own.hand, (svg.SIZE, CROPPED)
        shown = replace(scene, places=(replace(own, hand=()), *others))
    drawing = replace(svg.draw(shown, theme=look.theme, faces=look.faces), size=size)
    drawn = {"svg": pen.document(drawing), "hand": hand}
    return drawn | {"words": words.position(scene), "said": told}


def hint(table: PlayTable) -> dict[str, Any]:
    found = advice.hint(table.view)
    return {
        "action": found.action,
        "said": sentences.action(found.action),
        "options": list(map(_valued, found.options)),
    }


def variation(game: Game, look: Look) -> dict[str, Any]:
    """Returns a position that was made up, all hands open, with what each action is worth.

    The values are those of a hint to the seat that is asked. There are none where it has no choice.
    """
    over = game.winner is not None or len(game.deals) > 1
    seat, legal = (None, []) if over else (game.seat, game.legal_actions())
    options = [_action(action) | {"points": None} for action in legal]
    if len(legal) > 1 and seat is not None:
        options = list(map(_valued, advice.hint(game.view(seat), len(legal)).options))
    for one in options:
        one["code"] = actions.name(one.pop("action"))
    scene = game.scene()
    drawing = svg.draw(scene, theme=look.theme, faces=look.faces)
    return {
        "svg": pen.document(drawing),
        "words": words.position(scene),
        "seat": seat,
        "options": options,
        "end": "" if seat is not None else _ended(game),
    }


def _ended(game: Game) -> str:
    if game.winner is None:
        return "The tiles are dealt again."
    return f"Seat {game.winner} ends the round: {game.points} points."


def partner(table: PlayTable) -> dict[str, Any]:
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
        "models": list(found.models),
    }


def tiles(look: Look) -> str:
    """Returns the definitions of the tiles with which the page draws a hand."""
    return "".join(pen.every_tile(look.theme, look.faces)).replace(pen.PREFIX, "w")


def icon() -> str:
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


def _question(table: PlayTable, trial: Trial | None) -> str:
    if trial and table.results:
        asked = f"{sentences.end(*table.results[-1], table.seat)}; in the match: {trial.was}"
    elif table.asks == "match":
        return sentences.match_end(*table.scores)
    elif table.asks == "round":
        asked = sentences.end(*table.results[-1], table.seat)
    else:
        scene = table.asking()
        asked = scene.moment(words.tile(scene.attack)).partition(": ")[2]
    return f"{asked[:1].upper()}{asked[1:]}."


def _valued(one: advice.HintOption) -> dict[str, Any]:
    return _action(one.action) | {
        "chance": sentences.share(one.probability),
        "points": f"{one.points:+.1f}",
        "error": f"{one.error:.1f}",
    }


def _action(action: int) -> dict[str, Any]:
    return {"action": action, "name": sentences.action(action), "pair": actions.decode(action)}
