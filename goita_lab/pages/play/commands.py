"""Reads what a player types in the terminal: moves and commands, and the text that lists them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final
from unicodedata import normalize

from goita_env import actions
from goita_env.errors import ActionError
from goita_env.hands import format_hand
from goita_env.render import ansi
from goita_env.tiles import (
    CHARACTERS,
    DIGITS,
    KING,
    LETTERS,
    NAMES,
    POINTS,
    SECOND_KING_CHARACTER,
    SECOND_KING_DIGIT,
)
from goita_env.views import View
from goita_lab.pages.play import sentences

COMMANDS: Final = {
    "?": "what can be typed",
    "hint": "what the champion would do, with the points of a search",
    "partner": "what your partner may hold, from all that has been seen",
    "back": "take back your last move",
    "quit": "leave; the match is saved",
}

BETWEEN: Final = ("?", "back", "quit")
"""Those that can be typed after a round, too."""

_MOVES: Final = (actions.PASS, actions.CALL, actions.SILENT, actions.REDEAL, actions.CONTINUE)
WORDS: Final[dict[str, int]] = {sentences.action(action): action for action in _MOVES}
"""The moves that play no tiles."""

_KINDS: Final = {
    **{tile: kind for tiles in (CHARACTERS, DIGITS, LETTERS) for kind, tile in enumerate(tiles)},
    SECOND_KING_CHARACTER: KING,
    SECOND_KING_DIGIT: KING,
    **{name.upper(): kind for kind, name in enumerate(NAMES)},
}
_NAMED: Final = re.compile("|".join(sorted(map(re.escape, _KINDS), key=len, reverse=True)))


def read(line: str, legal: Sequence[int]) -> int | str:
    """Returns the action or the command that a line stands for.

    Words and commands may be cut short as long as one alone is meant.

    Args:
        line: what was typed.
        legal: the legal actions; none after a round.

    Raises:
        ActionError: if it is neither, or no legal action.
    """
    text = normalize("NFKC", line).strip()
    word = text.lower()
    pair = _pair(text)
    action = actions.encode(*pair) if pair else WORDS.get("pass" if word == "p" else word)
    if action is not None and action in legal:
        return action
    known = [word for word, action in WORDS.items() if action in legal]
    known += COMMANDS if legal else BETWEEN
    meant = [one for one in known if word and one.startswith(word)]
    if len(meant) == 1:
        return WORDS.get(meant[0], meant[0])
    if action is not None and legal:
        name = sentences.action(action)
        raise ActionError(f"expected a legal move, got {text!r} ({name}); ? lists them")
    wanted = "a move or ? for what can be typed"
    if meant or not legal:
        wanted = f"one of {', '.join(meant or BETWEEN)}"
    raise ActionError(f"expected {wanted}, got {line.strip()[:40]!r}")


def _pair(text: str) -> tuple[int, int] | None:
    """Returns the block and the attack that a text names, None if it is not two tiles."""
    text = re.sub(r"[\s,/+-]", "", text).upper()
    tiles = _NAMED.findall(text)
    if len(tiles) != 2 or "".join(tiles) != text:
        return None
    return _KINDS[tiles[0]], _KINDS[tiles[1]]


def help_text(view: View, legal: Sequence[int], faces: str) -> str:
    """Returns what can be typed, the legal moves first, at most 78 columns wide.

    Args:
        view: of the player: one row.
        legal: the legal actions; none after a round.
        faces: how tiles are written: eight of the characters, letters or digits.
    """
    signs = textwrap.wrap(ansi.signs(ascii=faces == DIGITS), 76)
    if not legal:
        rows = {"Enter": "the next round", **{name: COMMANDS[name] for name in BETWEEN}}
        return "\n".join(["You may type:", *_rows(rows), *signs])
    verb, attacks = "lay face down" if view.leads[0] else "receive with", dict[int, str]()
    for pair in filter(None, map(actions.decode, legal)):
        attacks[pair[0]] = attacks.get(pair[0], "") + faces[pair[1]]
    lines = [f"{verb} {faces[one]}, attack with one of {each}" for one, each in attacks.items()]
    lines += [word for word, action in WORDS.items() if action in legal]
    columns = [*dict.fromkeys((faces, DIGITS, LETTERS)), NAMES]
    names = ", ".join(
        f"{' '.join(column[kind] for column in columns)} {points}"
        for kind, points in enumerate(POINTS)
    )
    hand = "".join(faces[DIGITS.index(tile)] for tile in format_hand(view.hand[0]))
    told = [
        f"You may (your hand: {hand}):",
        *(f"  {line}" for line in lines),
        *textwrap.wrap(f"Tiles and their points: {names}.", 76),
        *signs,
        "Type the two tiles, the attack last, in any of these ways: 54, GS, gold silver.",
        "Or:",
        *_rows(COMMANDS),
    ]
    return "\n".join(told)


def _rows(told: Mapping[str, str]) -> list[str]:
    return [f"  {name:8} {text}" for name, text in told.items()]
