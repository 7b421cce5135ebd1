"""Describes a match to a player: moves in words, scenes of positions, lessons of the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from goita_agents.search.advisor import Hint
from goita_env import Game, View, actions
from goita_env.render import words
from goita_env.render.scene import Scene
from goita_env.render.translation import Phrase
from goita_env.tiles import KING, NAMES, PARTNER, POINTS
from goita_lab.pages.languages import place, round_end, seen_from

_NUMBERS: Final = {5: "five", 6: "six", 7: "seven", 8: "eight"}


def action(code: int) -> Phrase:
    """Returns an action in words: "gold then silver", "pass"."""
    return words.action_in_sentence(code)


def advice(code: int, *, leads: bool) -> Phrase:
    """Returns an action as advice in a sentence; ``leads``: the seat leads."""
    pair = actions.decode(code)
    if pair is None:
        return Phrase(ADVICE[code])
    block, attack = (NAMES[kind] for kind in pair)
    text = "Receive with the {block}, then attack with the {attack}."
    if leads:
        text = "Lay a {block} face down, then attack with a {attack}."
    return Phrase(text, block=block, attack=attack)


def hint(hint: Hint, *, leads: bool) -> Phrase:
    """Returns a hint in a sentence: the suggested action, or two where the difference is not clear.

    ``leads``: the seat leads.
    """
    if hint.clear:
        return advice(hint.action, leads=leads)
    other = hint.comparison.rival if hint.action == hint.best else hint.best
    text = "Either {first}, or {second}: the difference is not clear."
    if hint.action == hint.likeliest:
        text = "Either {first}, which the champion plays, or {second}: the difference is not clear."
    return Phrase(text, first=action(hint.action), second=action(other))


ADVICE: Final = {
    actions.PASS: "Pass.",
    actions.CALL: "Call.",
    actions.SILENT: "Keep silent.",
    actions.REDEAL: "Have the tiles dealt again.",
    actions.CONTINUE: "Play with these tiles.",
}
"""Actions without tiles as advice."""


def share(probability: float) -> str:
    """Returns a probability in percent: "0 %" only for 0, "100 %" only for 1."""
    rounded = f"{100 * probability:.0f} %"
    if rounded == "0 %" and probability > 0:
        return "<1 %"
    return ">99 %" if rounded == "100 %" and probability < 1 else rounded


def move(game: Game, action: int, viewer: int) -> Phrase:
    """Returns what a seat learns of the action about to be played, "" if nothing.

    The viewer does not learn that another seat could call and kept silent.
    """
    seat = game.seat
    assert seat is not None
    own, who = seat == viewer, place(seat, viewer)
    pair = actions.decode(action)
    if pair is not None:
        block, attack = (NAMES[kind] for kind in pair)
        leads = bool(game.view(seat).leads[0])
        if leads and own:
            text = "you lay a {block} face down, attack with a {attack}"
        elif leads:
            text = "{who} lays a tile face down, attacks with a {attack}"
        elif pair[0] == KING:  # Japanese has a word of its own for it
            text = "{who} receives with a king, attacks with a {attack}"
            if own:
                text = "you receive with a king, attack with a {attack}"
        elif own:
            text = "you receive with a {block}, attack with a {attack}"
        else:
            text = "{who} receives with a {block}, attacks with a {attack}"
        return Phrase(text, who=who, block=block, attack=attack)
    if action == actions.SILENT:
        return Phrase("you keep silent" if own else "")
    called = _NUMBERS.get(int(game.dealt[seat][0]), "")
    if own:
        texts = {actions.PASS: "you pass", actions.CALL: f"you call {called} pawns"}
        return Phrase(texts.get(action, f"you choose to {actions.name(action)}"))
    texts = {actions.PASS: "{who} passes", actions.CALL: f"{{who}} calls {called} pawns"}
    return Phrase(texts.get(action, f"{{who}} chooses to {actions.name(action)}"), who=who)


def forced(view: View) -> Phrase:
    """Returns why a player passes without a choice: no tile of its hand receives the attack."""
    return Phrase("you pass: no {attack}", attack=NAMES[int(view.attack[0])])


def end(winner: int, points: int, viewer: int) -> Phrase:
    """Returns which seat ended a round, and with how many points."""
    return round_end(place(winner, viewer), points)


def match_end(own: int, opposing: int) -> Phrase:
    """Returns whether the player won the match: points of the own and the opposing team."""
    text = "The match is over: you lose, {own} to {other}."
    if own > opposing:
        text = "The match is over: you win, {own} to {other}."
    return Phrase(text, own=own, other=opposing)


def leading(scene: Scene) -> Scene:
    """Returns the scene of a player that has to make the first lead of a round."""
    own, *other_places = scene.places
    own = replace(own, remarks=(*own.remarks, "to move"))
    request = "lead with a tile face down and an attack"
    return replace(scene, places=(own, *other_places), mover=0, template=request, who=own.name)


def ended_scene(over: Game, viewer: int, scores: tuple[int, int]) -> Scene:
    """Returns the scene of a round at its end, all hands open, with the viewer's names for seats.

    ``scores``: points of the viewer's team and of the opponents, this round included.
    """
    assert over.winner is not None
    own, opposing = scores
    result = end(over.winner, over.points, viewer)
    return replace(
        seen_from(over.scene(viewer), viewer),
        scores=(("you and partner", own), ("opponents", opposing)),
        template=result.text,
        who=place(over.winner, viewer) if "{who}" in result.text else "",
        points=over.points,
    )


ANSWER_SENTENCES: Final = {
    actions.CALL: "Call: you show your pawns. With five, your partner chooses whether the tiles "
    "are dealt again; with more, the round ends and scores at once.",
    actions.SILENT: "Keep silent: nobody learns that you were asked.",
    actions.REDEAL: "Redeal: the tiles are dealt again, because a seat called five pawns.",
    actions.CONTINUE: "Continue: the round is played with these tiles.",
}
"""What each answer before play does."""


def lessons(view: View, legal: Sequence[int]) -> Iterator[tuple[str, Phrase]]:
    """Yields the rules that a player needs for this decision, in order: (name, text).

    Args:
        view: of the player: one row.
        legal: its legal actions.
    """
    for answer, text in ANSWER_SENTENCES.items():
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
        if int(view.attacker[0]) == PARTNER:
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
        block, attack = pairs[-1]  # a lead has both orders of the two tiles; the text names one
        last = "Your last tile ends the round and scores its points: {points}."
        yield "last", Phrase(last, points=POINTS[attack])
        if view.leads[0] and block == attack:
            yield "double", Phrase("Both are of the same kind, so the points count twice.")
