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

from goita_agents.registry import short_name
from goita_agents.search.advisor import HintOption
from goita_env import actions
from goita_env.render import pen, svg, themes, words
from goita_env.render.pen import Faces
from goita_env.render.scene import Scene
from goita_env.render.themes import Theme
from goita_env.render.translation import ENGLISH, Language, Phrase
from goita_env.tiles import DIGITS, KING, NUM_SEATS, POINTS
from goita_lab.arena.report.figures import signed, true_minus
from goita_lab.pages.languages import LanguageName, language, rules_of
from goita_lab.pages.places import place
from goita_lab.pages.play import advice, sentences
from goita_lab.pages.play.lessons import lessons
from goita_lab.pages.play.matches import AGENTS, RULES, Kept
from goita_lab.pages.play.seating import HUMAN
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
    return _facts(table, trial, look.say) | {"frames": frames, "mark": mark(table, trial)}


def mark(table: PlayTable, trial: Trial | None = None) -> str:
    """Returns a digest of the position: a change is refused if the page shows another one."""
    text = json.dumps(
        [_facts(table, trial, ENGLISH), words.position(table.scene()), table.taken_back]
    )
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _facts(table: PlayTable, trial: Trial | None, say: Language) -> dict[str, Any]:
    names, seat, rules = table.settings.names, table.seat, table.settings.rules
    legal = table.legal if table.asks == "move" else []
    over = table.asks in ("round", "match")
    return {
        "trial": None if trial is None else asdict(trial),
        "rules": _capital(say(rules_of(rules))),
        "match_points": rules.match_points,
        "names": [say(names[(seat + place) % NUM_SEATS]) for place in range(NUM_SEATS)],
        "scores": table.scores,
        "asks": "trial" if trial and over else table.asks,
        "question": _question(table, trial, say),
        "leads": bool(table.view.leads[0]),
        "actions": [_action(action, say) for action in legal],
        "meaning": " ".join(map(say, sentences.meanings(legal))),
        "lessons": [(name, say(text)) for name, text in lessons(table.view, legal)],
        "points": POINTS,
        "deck": rules.deck,
        "log": [_capital(say(one)) for one in table.log],
        "rounds": [
            [say(place(winner, seat)), (winner - seat) % 2, points]
            for winner, points in table.results
        ],
        "may_take_back": table.may_take_back,
        "takes_round_back": table.takes_round_back,
    }


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


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
    drawn = {"svg": pen.document(replace(_drawing(shown, look), size=size)), "hand": hand}
    return drawn | {"words": _in_words(scene, look), "said": _capital(look.say(told))}


def _drawing(scene: Scene, look: Look) -> pen.Drawing:
    return svg.draw(scene, theme=look.theme, faces=look.faces, language=look.say)


def _in_words(scene: Scene, look: Look) -> list[str]:
    return [_capital(look.say(one)) for one in words.position(scene)]


def hint(table: PlayTable, look: Look) -> dict[str, Any]:
    found = table.hint()
    return {
        "action": found.action,
        "said": look.say(sentences.action(found.action)),
        "best": found.best,
        "rival": found.rival,
        "options": [_valued(one, look.say) for one in found.options],
        "deciding": [
            asdict(one) | {"place": (one.seat - table.seat) % NUM_SEATS}
            for one in found.deciding
            if abs(one.held - one.missing) >= 1
        ],
    }


def partner(table: PlayTable) -> dict[str, Any]:
    found = advice.partner(table.view, table.others)
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


def matches(sitting: Sitting, look: Look) -> dict[str, Any]:
    """Returns the matches of the folder, and what a new one may be of."""
    settings, kept = sitting.match.settings, sitting.matches
    one, partner, other = settings.others
    rules = {name: rules_of(found) for name, found in RULES.items()}
    rules.setdefault(settings.rules.name, rules_of(settings.rules))
    return {
        "agents": [
            (
                agent,
                f"{agent}{look.say(': ')}{look.say(AGENTS[agent])}" if agent in AGENTS else agent,
            )
            for agent in dict.fromkeys((*AGENTS, one, partner, other))
        ],
        "rules": [(name, _capital(look.say(text))) for name, text in rules.items()],
        "seated": {
            "next": one,
            "partner": partner,
            "previous": other,
            "rules": settings.rules.name,
        },
        "file": "" if kept is None else kept.path.name,
        "kept": [] if kept is None else [_kept(found) for found in kept.listed()],
    }


def _kept(match: Kept) -> dict[str, str]:
    seat, names = match.players.index(HUMAN), [short_name(one) for one in match.players]
    one, partner, other = (names[(seat + place) % NUM_SEATS] for place in (1, 2, 3))
    own, others = match.scores[seat % 2], match.scores[1 - seat % 2]
    players = f"{partner}; {', '.join(dict.fromkeys((one, other)))}"
    return {"file": match.file, "players": players, "result": f"{own} : {others}"}


def _question(table: PlayTable, trial: Trial | None, say: Language) -> str:
    if trial and table.results:
        now = sentences.end(*table.results[-1], table.seat)
        asked = Phrase("{now}; in the match: {was}", now=now, was=trial.was)
    elif table.asks == "match":
        return say(sentences.match_end(*table.scores))
    elif table.asks == "round":
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
