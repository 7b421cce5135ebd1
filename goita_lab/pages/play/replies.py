"""Builds what a page is sent: drawings, sentences and choices, all made in Python.

All of it follows from the views of one seat, from what that seat has been told, and from rounds
that are over. Nothing counts what is hidden: not the moves, for another seat may have been asked
before play and kept silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from goita_agents.registry import short_name
from goita_agents.search.advisor import HintOption
from goita_env import actions
from goita_env.errors import SettingError
from goita_env.render import pen, svg, words
from goita_env.render.pen import Faces
from goita_env.render.themes import Theme
from goita_env.render.translation import Language, Phrase
from goita_env.tiles import DIGITS, KING, NUM_SEATS, POINTS
from goita_lab.arena.report.figures import signed, true_minus
from goita_lab.pages.languages import LanguageName, language, place, rules_of
from goita_lab.pages.play import advice, savegame, sentences
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sentences import lessons
from goita_lab.pages.play.sitting import Sitting, Trial
from goita_lab.pages.play.table import PlayTable

CROPPED: Final = 545
"""Height of a drawing without the player's own hand, which the page shows itself."""


@dataclass(frozen=True)
class Look:
    """How a page is drawn."""

    theme: Theme = "light"
    faces: Faces = "characters"
    language: LanguageName = "en"

    @property
    def say(self) -> Language:
        return language(self.language)


def state(
    table: PlayTable, look: Look, frames: Iterable[dict[str, Any]] = (), trial: Trial | None = None
) -> dict[str, Any]:
    """Returns all that a page shows.

    Args:
        table: what is played.
        look: how it is drawn.
        frames: came before the present position.
        trial: the round that is tried again on the table; None: a match.
    """
    say = look.say
    names, seat, rules = table.settings.names, table.seat, table.settings.rules
    legal = table.legal if table.asks == "move" else []
    over = table.asks in ("round", "match")
    return {
        "frames": [*frames, frame(table, look, "", asking=True)],
        "trial": None if trial is None else asdict(trial),
        "rules": _capital(say(rules_of(rules))),
        "match_points": rules.match_points,
        "names": [say(names[(seat + place) % NUM_SEATS]) for place in range(NUM_SEATS)],
        "scores": table.scores,
        "asks": "trial" if trial and over else table.asks,
        "question": _question(table, trial, say),
        "leads": bool(table.view.leads[0]),
        "actions": [_action(action, say) for action in legal],
        "lessons": [(name, say(text)) for name, text in lessons(table.view, legal)],
        "points": POINTS,
        "deck": rules.deck,
        "log": [_capital(say(one)) for one in table.log],
        "rounds": [
            [say(place(winner, seat)), (winner - seat) % 2, points]
            for winner, points in table.results
        ],
        "may_take_back": table.may_take_back,
    }


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def frame(table: PlayTable, look: Look, told: str, *, asking: bool = False) -> dict[str, Any]:
    """Returns a position as the player sees it now: drawing, hand, sentences, what was told last.

    While a round is played, the page itself shows the player's hand, as buttons.
    ``asking``: nobody else moves before the player does.
    """
    scene = table.asking() if asking else table.scene()
    hand, size, shown = None, (svg.SIZE, svg.SIZE), scene
    if table.asks not in ("round", "match"):
        own, *others = scene.places
        hand, size = own.hand, (svg.SIZE, CROPPED)
        shown = replace(scene, places=(replace(own, hand=()), *others))
    drawing = svg.draw(shown, theme=look.theme, faces=look.faces, language=look.say)
    return {
        "svg": pen.document(replace(drawing, size=size)),
        "hand": hand,
        "words": [_capital(look.say(one)) for one in words.position(scene)],
        "said": _capital(look.say(told)),
    }


def hint(table: PlayTable, look: Look) -> dict[str, Any]:
    found = _asked(table).hint()
    return {
        "action": found.action,
        "said": look.say(sentences.action(found.action)),
        "best": found.best,
        "rival": found.rival,
        "principle": look.say(found.principle.sentence) if found.principle else "",
        "options": [_valued(one, look.say) for one in found.options],
        "deciding": [
            asdict(one) | {"place": (one.seat - table.seat) % NUM_SEATS}
            for one in found.deciding
            if abs(one.held - one.missing) >= 1
        ],
    }


def partner(table: PlayTable) -> dict[str, Any]:
    found = advice.partner(_asked(table).view, table.others)
    rows = zip(found.at_least_one.tolist(), found.expected.tolist(), strict=True)
    return {
        "kinds": [
            {"kind": kind, "chance": round(chance, 3), "expected": f"{number:.1f}"}
            for kind, (chance, number) in enumerate(rows)
        ],
        "likely": [
            {"hand": [DIGITS.index(tile) for tile in hand], "chance": sentences.share(chance)}
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


def matches(sitting: Sitting) -> dict[str, Any]:
    """Returns the matches of the folder."""
    return {
        "file": "" if sitting.path is None else sitting.path.name,
        "kept": [_kept(*one) for one in savegame.listed()],
    }


def _kept(file: str, settings: MatchSettings, scores: tuple[int, int]) -> dict[str, str]:
    one, partner, other = map(short_name, settings.others)
    own, others = scores[:: -1 if settings.seat % 2 else 1]
    players = f"{partner}; {', '.join(dict.fromkeys((one, other)))}"
    return {"file": file, "players": players, "result": f"{own} : {others}"}


def _asked(table: PlayTable) -> PlayTable:
    """Returns a table at which the player is asked; others have no advice."""
    if table.asks != "move":
        raise SettingError("Advice is given where it is your move.")
    return table


def _question(table: PlayTable, trial: Trial | None, say: Language) -> str:
    if table.asks == "match" and not trial:
        return say(sentences.match_end(*table.scores))
    if table.asks in ("round", "match"):
        asked = sentences.end(*table.results[-1], table.seat)
    else:
        scene = table.asking()
        asked = scene.what(words.tile(scene.attack))
    return _capital(say(Phrase("{said}.", said=asked)))


def _valued(one: HintOption, say: Language) -> dict[str, Any]:
    return _action(one.action, say) | {
        "chance": sentences.share(one.probability),
        "points": None if one.points is None else true_minus(signed(one.points, 1)),
        "error": None if one.points is None else f"{one.error:.1f}",
    }


def _action(action: int, say: Language) -> dict[str, Any]:
    pair = actions.decode(action)
    code = actions.name(action) if pair or action != actions.PASS else "pass"
    return {"action": action, "name": say(sentences.action(action)), "pair": pair, "code": code}
