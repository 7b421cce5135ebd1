"""Explains the rules of Goita one by one, each in a position in which it matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from goita_env import View, actions
from goita_env.render.translation import Phrase
from goita_env.tiles import KING, NAMES, POINTS

ANSWERS: Final = {
    actions.CALL: "Call: you show your pawns. With five, your partner chooses whether the tiles "
    "are dealt again; with more, the round ends and scores at once.",
    actions.SILENT: "Keep silent: nobody learns that you were asked.",
    actions.REDEAL: "Redeal: the tiles are dealt again, because a seat called five pawns.",
    actions.CONTINUE: "Continue: the round is played with these tiles.",
}
"""What the answers before play do."""


def lessons(view: View, legal: Sequence[int]) -> Iterator[tuple[str, Phrase]]:
    """Yields what a player who is asked may have to be told: (name, text), the first first.

    Args:
        view: of the player: one row.
        legal: its legal actions.
    """
    for answer, text in ANSWERS.items():
        if answer in legal:
            yield actions.name(answer), Phrase(text)
    pairs = [pair for pair in map(actions.decode, legal) if pair is not None]
    if not pairs:
        return
    tiles, plays = int(view.hand_sizes[0, 0]), int(view.num_plays[0])
    if view.leads[0]:
        first = "You lead: first lay any tile face down, which nobody sees, then attack."
        yield "lead", Phrase(first)
        if plays:
            again = "All others passed, so you lead again: a tile face down and a new attack."
            yield "again", Phrase(again)
    else:
        receive = (
            "The attack is a {attack}. Receive it with a tile of the same kind, then attack with "
            "another tile. Or pass: you may receive a later attack."
        )
        yield "receive", Phrase(receive, attack=NAMES[int(view.attack[0])])
        if int(view.attacker[0]) == 2:
            own = "Your partner attacks. You may receive it; if all pass, your partner leads again."
            yield "partner", Phrase(own)
        if any(block == KING for block, _ in pairs):
            king = "A king receives every attack but a pawn, a lance or a king."
            yield "king", Phrase(king)
    if any(attack == KING for _, attack in pairs) and tiles > 2:
        allowed = (
            "You may attack with a king, for a king lies face up or you were dealt both. Nobody "
            "can receive a king."
        )
        yield "king-attack", Phrase(allowed)
    if tiles == 2:
        block, attack = pairs[-1]
        last = "Your last tile ends the round and scores its points: {points}."
        yield "last", Phrase(last, points=POINTS[attack])
        if view.leads[0] and block == attack:
            yield "double", Phrase("Both are of the same kind, so the points count twice.")
