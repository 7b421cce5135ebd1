"""Says in words what a drawing shows, for readers who do not see it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from goita_env import actions
from goita_env.render.scene import Place, Scene
from goita_env.render.translation import Joined, Phrase
from goita_env.tiles import FACE_DOWN, NAMES, NONE


def title(scene: Scene) -> Phrase:
    return Phrase("Goita: {moment}", moment=scene.moment(tile(scene.attack)))


def position(scene: Scene) -> list[Phrase]:
    teams = (Phrase("{team} {points}", team=team, points=points) for team, points in scene.scores)
    scores = Joined(", ", teams)
    head = Phrase("Rules {rules}. Points: {scores}.", rules=scene.rules, scores=scores)
    return [head, *(_place(place) for place in scene.places)]


def action(action: int, between: str = "{block} {attack}") -> Phrase:
    """Says which tiles an action plays; ``between``: the text around the names of both kinds."""
    if (pair := actions.decode(action)) is None:
        return Phrase("pass" if action == actions.PASS else actions.name(action))
    return Phrase(between, block=NAMES[pair[0]], attack=NAMES[pair[1]])


def action_in_sentence(action_code: int) -> Phrase:
    """Says an action within a sentence: "gold then silver", "pass"."""
    return action(action_code, "{block} then {attack}")


def _place(place: Place) -> Phrase:
    """Says what a place's seat has called and played, and what it holds."""
    clauses: list[str] = [Joined(", ", [place.name, *place.remarks, *place.calls])]
    plays = [
        play(tile(block), attack, down=down and block != FACE_DOWN)
        for block, attack, down in zip(place.blocks, place.attacks, place.face_down, strict=True)
        if block != NONE
    ]
    clauses += [Phrase("played {plays}", plays=Joined(", ", plays))] if plays else []
    if place.hand is None:
        clauses.append(Phrase("{n} hidden tiles in hand", n=place.tiles))
    else:
        clauses.append(Phrase("in hand {tiles}", tiles=counted(place.hand) or "nothing"))
    return Phrase("{said}.", said=Joined("; ", clauses))


def play(block: str, attack: int, *, down: bool) -> Phrase:
    text = "face-down {block} then {attack}" if down else "{block} then {attack}"
    return Phrase(text, block=block, attack=tile(attack))


def counted(kinds: Iterable[int]) -> Phrase:
    """Returns sorted kinds in words: "2 pawns, king"."""
    groups = [(kind, len(list(same))) for kind, same in groupby(kinds)]
    return Joined(
        ", ",
        (
            Phrase("{n} {kind}s", n=n, kind=NAMES[kind]) if n > 1 else NAMES[kind]
            for kind, n in groups
        ),
    )


def tile(kind: int) -> str:
    if kind == NONE:
        return "nothing"
    return "face-down tile" if kind == FACE_DOWN else NAMES[kind]
