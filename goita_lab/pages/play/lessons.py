"""Explains the rules of Goita one by one, each in a position in which it matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goita_env import View, actions
from goita_env.render.telling import Told
from goita_env.tiles import KING, NAMES, POINTS


def lessons(view: View, legal: Sequence[int]) -> list[tuple[str, Told]]:
    """Returns what a player who is asked may have to be told: (name, text), the first first.

    Args:
        view: of the player: one row.
        legal: its legal actions.
    """
    return [(name, Told(text, **values)) for name, text, values in _lessons(view, legal)]


def _lessons(view: View, legal: Sequence[int]) -> Iterator[tuple[str, str, dict[str, object]]]:
    pairs = [pair for pair in map(actions.decode, legal) if pair is not None]
    if not pairs:
        return
    tiles, plays = int(view.hand_sizes[0, 0]), int(view.num_plays[0])
    if view.leads[0]:
        yield "lead", "You lead: first lay any tile face down, which nobody sees, then attack.", {}
        if plays:
            again = "All others passed, so you lead again: a tile face down and a new attack."
            yield "again", again, {}
    else:
        receive = (
            "The attack is a {attack}. Receive it with a tile of the same kind, then attack with "
            "another tile. Or pass: you may receive a later attack."
        )
        yield "receive", receive, {"attack": NAMES[int(view.attack[0])]}
        if int(view.attacker[0]) == 2:
            yield (
                "partner",
                "Your partner attacks. You may receive it; if all pass, your partner leads again.",
                {},
            )
        if any(block == KING for block, _ in pairs):
            yield "king", "A king receives every attack but a pawn, a lance or a king.", {}
    if any(attack == KING for _, attack in pairs) and tiles > 2:
        yield (
            "king-attack",
            "You may attack with a king, for a king lies face up or you were dealt both. Nobody "
            "can receive a king.",
            {},
        )
    if tiles == 2:
        block, attack = pairs[-1]
        yield (
            "last",
            "Your last tile ends the round and scores its points: {points}.",
            {"points": POINTS[attack]},
        )
        if view.leads[0] and block == attack:
            yield "double", "Both are of the same kind, so the points count twice.", {}
