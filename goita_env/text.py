"""Writes rules and positions as text, for language models, and reads their answers.

Seats are *you*, *next*, *partner* and *previous*. Actions have the names of ``actions.name``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import numpy as np

from goita_env import actions
from goita_env.arrays import Bool
from goita_env.errors import ActionError, SettingError
from goita_env.hands import format_hand
from goita_env.rules import Rules, get_rules
from goita_env.tiles import (
    DIGITS,
    KING,
    NAMES,
    NONE,
    NUM_KINDS,
    NUM_SEATS,
    PAWN,
    POINTS,
    RELATIVE_SEATS,
)
from goita_env.views import View
from goita_env.worlds.constraints import Hidden, hidden

__all__ = ["describe", "parse", "rules"]

_SEAT_NAMES: Final = ("you", *RELATIVE_SEATS)
_QUESTIONS: Final = (
    "nothing, you are not asked",
    "call your pawns, or keep silent",
    "send a message; say0 is silence",
    "choose a redeal, or continue",
    "lead: a block face down, then an attack",
    "receive the attack {attack} of {attacker}, or pass",
)
_MARKED_CODE: Final = re.compile(
    r"\[([^\[\]]*)\]|\\boxed\{([^{}]*)\}|`([^`]*)`|\"action\"\s*:\s*\"?([^\",{}\s]*)",
    re.IGNORECASE,
)
"""The parts of a line that may be the code of an action, one group for each form."""

_ANSWER_LABEL: Final = re.compile(r"^(?:action|move|play|answer)\s*[:=]\s*")
_LATEX_TEXT: Final = re.compile(r"\\text(?:bf|tt)?\{([^{}]*)\}")
_JAPANESE_BRACKETS: Final = str.maketrans("【】", "[]")


def rules(rule_set: str | Rules) -> str:
    """Explains a rule set in at most 350 words; a SettingError if there is no such rule set."""
    r = get_rules(rule_set)
    has_king = r.deck[KING] > 0
    kinds = [f"{DIGITS[k]} {NAMES[k]}, {n}, {POINTS[k]}" for k, n in enumerate(r.deck) if n]
    by_king = ", or a king unless the attack is pawn, lance or king" if has_king else ""
    both = "were dealt both kings" if r.second_king_after_own_face_down else "hold both as you play"
    or_last = ", or it is your last tile" if r.last_king else ""
    unlike = " (not for two kings)" if has_king and not r.kings_are_alike else ""
    lines = [
        "Goita. You and your partner play against the next and the previous player. Turns go to "
        f"you, next, partner, previous. Each is dealt {r.hand_size} of {sum(r.deck)} tiles, which "
        f"the others do not see. Tiles (digit, kind, number, points): {'; '.join(kinds)}.",
        "A play is two digits: a block, then an attack. The dealer leads: any tile face down "
        "(written ? if you cannot see it) as the block, then an attack. The next player passes (p) "
        f"or receives: its block lies face up and is of the attack's kind{by_king}; then it "
        "attacks. You may pass although you could receive, and may receive your partner's attack. "
        "After three passes the attacker leads again and may not pass.",
    ]
    if has_king:
        lines.append(
            f"You may attack with a king only if a king lies face up, or you {both}{or_last}. "
            "Nothing receives that attack."
        )
    lines.append(
        "The first player without tiles ends the round. Its team scores the points of the last "
        f"tile, twice if the last block lies face down and is of the same kind{unlike}."
    )
    if not r.is_small:
        lines += _match_and_calls(r)
    return "\n".join(lines)


def _match_and_calls(r: Rules) -> list[str]:
    """Explains the match, and the calls before play, which small games do not have."""
    says = {"choice": "may call (call) or keep silent (silent)", "duty": "must call (call)"}
    five, six = says[r.call_five], says[r.call_six_or_more]
    who = f"five pawns or more {five}" if five == six else f"five pawns {five}, with more {six}"
    unlike = "" if r.kings_are_alike else " (kings are not)"
    twice = f", twice if alike{unlike}" if r.six_alike_doubles else ""
    fives = "with five each, called or not," if r.partners_fives_win == "held" else "who call five"
    when = "if both partners choose it" if r.opponents_fives == "choice" else "at once"
    return [
        f"That player deals next. The first team with {r.match_points} points wins the match.",
        f"Before play, from the dealer on, a player with {who}. A call shows the pawns. After five "
        "the caller's partner chooses a new deal by the same dealer (redeal), or play (continue). "
        "A call of more ends the round for the caller's team: six pawns score the higher of the "
        f"other tiles{twice}; seven, twice the other tile; eight, 100. Partners {fives} win 150. "
        f"If two opponents call five, there is a new deal {when}.",
    ]


def describe(
    view: View, legal: Bool, *, deduced: bool = False, list_legal: bool = True
) -> list[str]:
    """Writes N positions as N texts, which depend only on the view and the legal actions.

    Args:
        view: N positions.
        legal: bool [N, 69], with messages [N, 77]. Where none is legal the viewer does not act.
        deduced: where the viewer acts, add all that follows for certain from tiles and rules.
        list_legal: end with the codes of the legal actions; False: the model has to know them.

    Raises:
        SettingError: if ``legal`` has another shape, or a deduction meets the end of a round.
    """
    shape = (len(view), view.information.num_actions)
    if np.shape(legal) != shape:
        raise SettingError(f"expected legal actions of the shape {shape}, got {np.shape(legal)}")
    allowed, scores, hands = np.asarray(legal, bool), view.scores.tolist(), view.hands
    is_asked = np.asarray(allowed.any(axis=1))
    # [6, N] In the order of ``_QUESTIONS``.
    flags = [
        ~is_asked,
        view.asked_call,
        view.asked_message,
        view.asked_choice,
        view.leads,
        is_asked,
    ]
    question = np.argmax(flags, axis=0)  # the index of the first flag that is true
    shown_seats = (0, *view.information.shown_seats)
    # One for each row in which the viewer acts, taken one by one below.
    deductions = hidden(view[is_asked]) if deduced else iter(())
    names, texts = [actions.name(action, shape[1]) for action in range(shape[1])], []
    for n, moves in enumerate(_moves(view)):
        attack, attacker = DIGITS[view.attack[n]], _SEAT_NAMES[view.attacker[n]]
        seen = [f"{_SEAT_NAMES[s]} {format_hand(hands[n, s])}" for s in shown_seats]
        tiles_left = [
            f"{_SEAT_NAMES[s]} {size}" for s, size in enumerate(view.hand_sizes[n].tolist())
        ]
        lines = [
            f"Rule set {view.rules.name}. Dealer: {_SEAT_NAMES[view.dealer[n]]}.",
            f"Points: your team {scores[n][0]}, the other team {scores[n][1]}",
            f"Known hands: {', '.join(seen)}",
            f"Moves: {'; '.join(moves) or 'none'}",
            f"Tiles left: {', '.join(tiles_left)}",
            *(_deduced(next(deductions)) if deduced and is_asked[n] else ()),
            f"To do: {_QUESTIONS[question[n]].format(attack=attack, attacker=attacker)}",
        ]
        if list_legal:
            codes = " ".join(names[action] for action in np.flatnonzero(allowed[n]).tolist())
            lines.append(f"Legal actions: {codes}")
        texts.append("\n".join(lines))
    return texts


def _moves(view: View) -> Iterator[list[str]]:
    """Yields each row's moves in order as far as its viewer knows them."""
    # FACE_DOWN, in place of a kind, is the index of "?"; verbs by whether the block lies face down.
    decisions, signs, verbs = view.decisions(), DIGITS + "?", ("receive", "lead")
    answers = zip(view.dealer, view.messages, view.called, view.choices, strict=True)
    tiles = (view.known_blocks.tolist(), view.attacks.tolist())
    decided = [
        column.tolist()
        for column in (decisions.seat, decisions.play, decisions.event, decisions.face_down)
    ]
    for n, (dealer, sent, called, chosen) in enumerate(answers):
        order = [(int(dealer) + turn) % NUM_SEATS for turn in range(NUM_SEATS)]
        callers = [s for s in order if called[s]]
        moves = [f"{_SEAT_NAMES[s]}: say{sent[s]}" for s in order if sent[s]]
        moves += [f"{_SEAT_NAMES[s]}: call {called[s]} pawns" for s in callers]
        partners = [(s + 2) % NUM_SEATS for s in callers]
        moves += [f"{_SEAT_NAMES[s]}: {actions.name(chosen[s])}" for s in partners if chosen[s]]
        for place in range(decisions.length[n]):
            s, play, event, down = (column[n][place] for column in decided)
            code = "".join(signs[column[n][s][play]] for column in tiles)
            moves.append(
                f"{_SEAT_NAMES[s]}: " + ("p" if event == NONE else f"{verbs[down]} {code}")
            )
        yield moves


def _deduced(hidden_tiles: Hidden) -> Iterator[str]:
    """Yields the facts about the tiles that the viewer cannot see."""
    places, counts = hidden_tiles.places, np.bincount(hidden_tiles.others, minlength=NUM_KINDS)
    # A pinned king, and pawns whose split is restricted, are not among ``others``.
    if hidden_tiles.king:
        counts[KING] += 1
    if hidden_tiles.pawns is not None:
        counts[PAWN] += hidden_tiles.pawns.counts[0].sum()  # the same in every split
    unseen = [f"{count} of {DIGITS[kind]}" for kind, count in enumerate(counts) if count]
    yield f"Tiles not seen, in hands or face down: {', '.join(unseen) or 'none'}"
    if hidden_tiles.pawns is not None:
        low, high = hidden_tiles.pawns.counts.min(axis=0), hidden_tiles.pawns.counts.max(axis=0)
        ranges = [f"{_SEAT_NAMES[s]} {low[s - 1]} to {high[s - 1]}" for s in (1, 2, 3)]
        yield f"Pawns of these: {', '.join(ranges)}"
    if hidden_tiles.king:
        down = [
            places.down[place - places.num_hand]
            for place in hidden_tiles.king
            if place >= places.num_hand
        ]
        where = ["in hand"] if hidden_tiles.king[0] < places.num_hand else []
        where += [f"face down in play {1 + play % NUM_SEATS}" for play in down]
        holder = _SEAT_NAMES[places.seat[hidden_tiles.king[0]]]
        yield f"The king not seen: {holder}, {' or '.join(where)}"


def parse(answer: str, legal: Bool) -> int | None:
    r"""Returns the action that an answer names; None if it names none, or more than one.

    An action is named by its code in brackets, ``[13]``, or in another form in which language
    models mark an answer: ``[Action: 13]``, ``[1 3]``, ``\boxed{13}``, a code between backticks,
    ``{"action": "13"}``, ``【13】``, and brackets or digits of full width. The last line that
    names an action decides. A line that names two, as "[31], since I would not pass [p]" does, is
    no answer: their order does not say which of them is meant. All before ``</think>`` is left
    out.

    Args:
        answer: the text of a language model.
        legal: bool [69], with messages [77]. An illegal action does not count as an answer.
    """
    text = unicodedata.normalize("NFKC", answer).translate(_JAPANESE_BRACKETS)
    text = _LATEX_TEXT.sub(r"\1", text.rpartition("</think>")[2])
    for line in reversed(text.splitlines()):
        codes = (
            "".join(groups) for groups in _MARKED_CODE.findall(line)
        )  # one group of each is filled
        named = {action for code in codes if (action := _action(code)) is not None}
        if named:
            action = named.pop()
            return action if not named and action < len(legal) and legal[action] else None
    return None


def _action(text: str) -> int | None:
    """Returns the action whose code a marked part of an answer is; None if it is not a code."""
    code = _ANSWER_LABEL.sub("", text.strip().lower())
    try:
        return actions.parse("".join(code.split()))
    except ActionError:
        return None
