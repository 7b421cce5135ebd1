"""Builds the replies of the server to a page: drawings, sentences and choices.

Replies follow from the views of one seat, from the log of that seat, and from rounds that are over.
They contain no count of moves, because another seat may have had a choice before play and kept
silent, which no one observes.
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

CROPPED_HEIGHT: Final = 545
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
    """Returns everything that a page shows.

    Args:
        table: the match, or the round that is tried again.
        look: how the page is drawn.
        frames: earlier positions that the page shows before the present one.
        trial: the round that is tried again on the table; None: the table plays a match.
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
        "names": [say(names[(seat + turn) % NUM_SEATS]) for turn in range(NUM_SEATS)],
        "scores": table.scores,
        "asks": "trial" if trial and over else table.asks,
        "question": _question(table, trial, say),
        "leads": bool(table.view.leads[0]),
        "actions": [_action(action, say) for action in legal],
        "lessons": [(name, say(text)) for name, text in lessons(table.view, legal)],
        "points": POINTS,
        "deck": rules.deck,
        "log": [_capital(say(sentence)) for sentence in table.log],
        # The winner, its team (0: the player's, 1: the others'), and the points of each round.
        "rounds": [
            [say(place(winner, seat)), (winner - seat) % 2, points]
            for winner, points in table.results
        ],
        "may_take_back": table.may_take_back,
    }


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def frame(table: PlayTable, look: Look, event: str, *, asking: bool = False) -> dict[str, Any]:
    """Returns the present position as the player sees it: drawing, hand, and sentences.

    While a round is played, the page itself shows the player's hand, as buttons.

    Args:
        table: the match.
        look: how the position is drawn.
        event: the sentence on the last move.
        asking: no other player moves before this one.
    """
    scene = table.asking() if asking else table.scene()
    hand, size, drawn_scene = None, (svg.SIZE, svg.SIZE), scene
    if table.asks not in ("round", "match"):
        own, *other_places = scene.places
        hand, size = own.hand, (svg.SIZE, CROPPED_HEIGHT)
        drawn_scene = replace(scene, places=(replace(own, hand=()), *other_places))
    drawing = svg.draw(drawn_scene, theme=look.theme, faces=look.faces, language=look.say)
    return {
        "svg": pen.write_document(replace(drawing, size=size)),
        "hand": hand,
        "words": [_capital(look.say(sentence)) for sentence in words.position(scene)],
        "said": _capital(look.say(event)),
    }


def glance(table: PlayTable, look: Look) -> dict[str, Any]:
    """Returns what the champion would play without looking ahead."""
    action, probability = _at_decision(table).glance()
    leads = bool(table.view.leads[0])
    return {
        "said": look.say(sentences.advice(action, leads=leads)),
        "chance": sentences.share(probability),
    }


def hint(table: PlayTable, look: Look) -> dict[str, Any]:
    """Returns what the champion advises at the player's decision.

    ``said`` is the advice in a sentence: two actions where neither is clearly better. ``worth`` is
    by how many points the suggested action leads ``rival``, if that is clear. ``deciding`` are the
    holdings of other seats on which the choice between ``best`` and ``rival`` depends.
    """
    advised = _at_decision(table).hint()
    comparison, leads = advised.comparison, bool(table.view.leads[0])
    return {
        "action": advised.action,
        "said": look.say(sentences.hint(advised, leads=leads)),
        "best": advised.best,
        "rival": comparison.rival,
        "worth": f"{comparison.lead:.0f}" if advised.clear and comparison.lead >= 0.5 else "",
        "principle": look.say(advised.principle.sentence) if advised.principle else "",
        "options": [_valued(option, look.say) for option in advised.options],
        "deciding": [
            asdict(holding) | {"place": (holding.seat - table.seat) % NUM_SEATS}
            for holding in comparison.deciding
        ],
    }


def partner(table: PlayTable) -> dict[str, Any]:
    """Returns which tiles the partner may hold, and the models by which that was inferred."""
    guess = advice.partner(_at_decision(table).view, table.others)
    rows = zip(guess.at_least_one.tolist(), guess.expected.tolist(), strict=True)
    return {
        "kinds": [
            {"kind": kind, "chance": round(chance, 3), "expected": f"{expected:.1f}"}
            for kind, (chance, expected) in enumerate(rows)
        ],
        "likely": [
            {"hand": [DIGITS.index(tile) for tile in hand], "chance": sentences.share(chance)}
            for hand, chance in guess.likely
        ],
        "models": list(guess.models),
    }


def tiles(look: Look) -> str:
    """Returns the definitions of the tiles with which the page draws a hand."""
    return "".join(pen.every_tile(look.theme, look.faces)).replace(pen.PREFIX, "w")


def icon() -> str:
    tile = pen.Pen("light", "characters")
    tile.tile(26, 26, KING)
    return pen.write_document(tile.drawing(52, 52, "Goita", "A tile."))


def matches(sitting: Sitting) -> dict[str, Any]:
    """Returns the matches of the folder."""
    return {
        "file": "" if sitting.path is None else sitting.path.name,
        "kept": [_listed(*saved_match) for saved_match in savegame.listed()],
    }


def _listed(file: str, settings: MatchSettings, scores: tuple[int, int]) -> dict[str, str]:
    following, partner, previous = map(short_name, settings.others)
    own, opposing = scores if settings.seat % 2 == 0 else scores[::-1]
    # Opponents with the same agent are named once.
    players = f"{partner}; {', '.join(dict.fromkeys((following, previous)))}"
    return {"file": file, "players": players, "result": f"{own} : {opposing}"}


def _at_decision(table: PlayTable) -> PlayTable:
    """Returns the table if the player has a decision to make; elsewhere there is no advice."""
    if table.asks != "move":
        raise SettingError("Advice is given where it is your move.")
    return table


def _question(table: PlayTable, trial: Trial | None, say: Language) -> str:
    if table.asks == "match" and not trial:
        return say(sentences.match_end(*table.scores))
    if table.asks in ("round", "match"):
        question = sentences.end(*table.results[-1], table.seat)
    else:
        scene = table.asking()
        question = scene.what(words.tile(scene.attack))
    return _capital(say(Phrase("{said}.", said=question)))


def _valued(option: HintOption, say: Language) -> dict[str, Any]:
    return _action(option.action, say) | {
        "chance": sentences.share(option.probability),
        "points": None if option.points is None else true_minus(signed(option.points, 1)),
        "error": None if option.points is None else f"{option.error:.1f}",
    }


def _action(action: int, say: Language) -> dict[str, Any]:
    pair = actions.decode(action)
    code = actions.name(action) if pair or action != actions.PASS else "pass"
    return {"action": action, "name": say(sentences.action(action)), "pair": pair, "code": code}
