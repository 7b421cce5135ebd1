"""Says in words what a drawing shows, for those who don't see it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from goita_env import actions
from goita_env.render.scene import Place, Scene
from goita_env.tiles import FACE_DOWN, NAMES, NONE


def title(shown: Scene) -> str:
    return f"Goita: {shown.moment(tile(shown.attack))}"


def position(shown: Scene) -> list[str]:
    scores = ", ".join(f"{team} {points}" for team, points in shown.scores)
    return [f"Rules {shown.rules}. Points: {scores}.", *(_place(place) for place in shown.places)]


def action(number: int, between: str = " ") -> str:
    if (pair := actions.decode(number)) is None:
        return "pass" if number == actions.PASS else actions.name(number)
    return f"{NAMES[pair[0]]}{between}{NAMES[pair[1]]}"


def _place(place: Place) -> str:
    said = [", ".join([place.name, *place.remarks, *place.calls])]
    plays = [
        f"{'face-down ' * (down and block != FACE_DOWN)}{tile(block)} then {tile(attack)}"
        for block, attack, down in zip(place.blocks, place.attacks, place.face_down, strict=True)
        if block != NONE
    ]
    said += [f"played {', '.join(plays)}"] if plays else []
    if place.hand is None:
        said.append(f"{place.tiles} hidden tile{'s' * (place.tiles != 1)} in hand")
    else:
        said.append(f"in hand {counted(place.hand) or 'nothing'}")
    return f"{'; '.join(said)}."


def counted(kinds: Iterable[int]) -> str:
    """Returns sorted kinds in words: "2 pawns, king"."""
    groups = [(kind, len(list(same))) for kind, same in groupby(kinds)]
    return ", ".join(f"{n} {NAMES[kind]}s" if n > 1 else NAMES[kind] for kind, n in groups)


def tile(kind: int) -> str:
    if kind == NONE:
        return "nothing"
    return "face-down tile" if kind == FACE_DOWN else NAMES[kind]
