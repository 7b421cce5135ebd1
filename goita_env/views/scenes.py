"""Describes views and whole tables as scenes, which ``goita_env.render`` draws."""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_env import actions
from goita_env.engine.state import State
from goita_env.engine.tables import (
    CALL_CHOICE,
    CALL_DUTY,
    CHOOSE,
    FRESH,
    MESSAGE_CHOICE,
    OVER,
    WAITING,
    tables,
)
from goita_env.errors import SettingError
from goita_env.render.scene import Place, Scene
from goita_env.render.translation import Phrase
from goita_env.tiles import NONE, NUM_KINDS, NUM_SEATS, PAWN, RELATIVE_SEATS
from goita_env.views.fields import ViewFields
from goita_env.views.observation import pack_seat

_KINDS: Final = np.arange(NUM_KINDS)
_RELATIVE_NAMES: Final = ("you", *RELATIVE_SEATS)
_NUMBER_WORDS: Final = {5: "five", 6: "six", 7: "seven", 8: "eight"}
_QUESTIONS: Final = {
    CALL_CHOICE: "call or keep silent",
    CALL_DUTY: "call, a duty",
    CHOOSE: "redeal or continue",
    MESSAGE_CHOICE: "send a message, or keep silent",
}


def of_view(view: ViewFields, viewer: int | None = None) -> Scene:
    """Describes what one seat may know; arguments and errors as ``View.scene``."""
    if len(view) == 0:
        raise SettingError("expected a position to draw, got a view of none")
    position = view[:1]
    names = _RELATIVE_NAMES if viewer is None else _names(viewer)
    is_asked = position.asked_call[0] or position.asked_choice[0] or position.asked_message[0]
    mover = 0 if is_asked else NONE if position.attack[0] == NONE else int(position.mover[0])
    template, who = _moment_of_view(position, names)
    own, theirs = position.scores[0].tolist()
    if viewer is None:
        scores: tuple[tuple[str, int], ...] = (("you and partner", own), ("the others", theirs))
    else:
        scores = _scores(own, theirs) if viewer % 2 == 0 else _scores(theirs, own)
    return Scene(
        rules=position.rules.name,
        places=_places(position, names, mover),
        scores=scores,
        bottom_team=0 if viewer is None else viewer % 2,
        attack=_open_attack(position),
        mover=mover,
        template=template,
        who=who,
        dealer=int(position.dealer[0]),
        decisions=_decisions(position),
    )


def of_state(state: State, viewer: int = 0) -> Scene:
    """Describes the whole table of the first game, all tiles open, ``viewer`` at the bottom."""
    names = _names(viewer)
    if state.num_games == 0:
        raise SettingError("expected a game to draw, got none")
    game = state.select(np.zeros(1, np.int64))
    seats = [(viewer + place) % NUM_SEATS for place in range(NUM_SEATS)]
    acting_seat = int(game.seat[0])
    mover = (acting_seat - viewer) % NUM_SEATS if acting_seat >= 0 else NONE
    even, odd = game.scores[:, 0].tolist()
    words = pack_seat(game.repeat(NUM_SEATS), np.array(seats))
    eyes = ViewFields(words, rules=game.rules, information=game.information)
    template, who = _moment_of_state(game, eyes, f"seat {acting_seat}")
    return Scene(
        rules=game.rules.name,
        places=_places(eyes, names, mover),
        scores=_scores(even, odd),
        bottom_team=viewer % 2,
        attack=_open_attack(eyes),
        mover=mover,
        template=template,
        who=who,
        points=int(game.points[0]),
        dealer=int(eyes.dealer[0]),
        decisions=_decisions(eyes),
    )


def _open_attack(view: ViewFields) -> int:
    return int(view.attack[0]) if view.passes[0] < 3 else NONE


def _decisions(view: ViewFields) -> tuple[int, ...]:
    decided = view[:1].decisions()
    return tuple(decided.event[0, : decided.length[0]].tolist())


def _names(viewer: int) -> tuple[str, ...]:
    if viewer not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3 at the bottom, got {viewer!r}")
    return tuple(f"seat {(viewer + place) % NUM_SEATS}" for place in range(NUM_SEATS))


def _scores(even: int, odd: int) -> tuple[tuple[str, int], ...]:
    return (("seats 0 and 2", even), ("seats 1 and 3", odd))


def _places(eyes: ViewFields, names: tuple[str, ...], mover: int) -> tuple[Place, ...]:
    """Describes the four places from the bottom; ``mover``: the place of the seat that acts next.

    ``eyes``: the view of the seat at the bottom, or four views, by place, if the table is open.
    """
    called, choices = eyes.called[0].tolist(), eyes.choices[0].tolist()
    # On an open table, each place's message is in its own view; else only observed ones are known.
    is_open = len(eyes) == NUM_SEATS
    messages = (eyes.messages[:, 0] if is_open else eyes.messages[0]).tolist()
    sizes, plays = eyes.hand_sizes[0].tolist(), int(eyes.num_plays[0])
    last_seat = int(eyes.event_seat[0, plays - 1]) if plays else NONE
    attacker, passes = int(eyes.attacker[0]), int(eyes.passes[0])
    passed = [(attacker + 1 + n) % NUM_SEATS for n in range(passes)] if attacker != NONE else []
    remarks = {"dealer": [int(eyes.dealer[0])], "passed": passed, "to move": [mover]}
    places = []
    for place, name in enumerate(names):
        row, seat = (place, 0) if is_open else (0, place)  # of ``eyes``
        sees_hand = is_open or place in (0, *eyes.information.shown_seats)
        calls: list[str] = []
        calls += [f"called {_NUMBER_WORDS[called[place]]} pawns"] if called[place] else []
        calls += [f"chose: {actions.name(choices[place])}"] if choices[place] else []
        calls += [Phrase("said {n}", n=messages[place])] if messages[place] else []
        last_play = (eyes.rules.hand_size - sizes[place]) // 2 - 1
        places.append(
            Place(
                name=name,
                remarks=tuple(remark for remark, marked in remarks.items() if place in marked),
                calls=tuple(calls),
                blocks=tuple(eyes.known_blocks[row, seat].tolist()),
                attacks=tuple(eyes.attacks[row, seat].tolist()),
                face_down=tuple(eyes.face_down[row, seat].tolist()),
                hand=tuple(_KINDS.repeat(eyes.hands[row, seat]).tolist()) if sees_hand else None,
                tiles=sizes[place],
                last=last_play if place == last_seat else NONE,
            )
        )
    return tuple(places)


def _turn(view: ViewFields) -> str:
    if view.mover_leads[0]:
        return "lead again with a tile face down"
    return "receive the {tile}, or pass"


def _moment_of_view(view: ViewFields, names: tuple[str, ...]) -> tuple[str, str]:
    """Returns ``Scene.template``, the moment in words, and the name of the acting seat."""
    if view.asked_call[0]:
        return _QUESTIONS[int(tables(view.rules).question[view.hand[0, PAWN]])], names[0]
    if view.asked_message[0]:
        return _QUESTIONS[MESSAGE_CHOICE], names[0]
    if view.asked_choice[0]:
        return _QUESTIONS[CHOOSE], names[0]
    if view.attack[0] != NONE:
        return _turn(view), names[view.mover[0]]
    if (view.hand_sizes[0] == 0).any() or (view.called[0] > 5).any():
        return "the round is over", ""
    return "no attack yet, the dealer leads", ""


def _moment_of_state(state: State, view: ViewFields, who: str) -> tuple[str, str]:
    """Returns the same for a whole table; ``who``: the name of the acting seat."""
    status = int(state.status[0])
    if status == OVER:
        return "{who} ended the round: {points} points", f"seat {int(state.winner[0])}"
    if status == WAITING:
        return "waiting for a deal", ""
    if status == FRESH:
        return "lead with a tile face down", who
    return _QUESTIONS[status] if status in _QUESTIONS else _turn(view), who
