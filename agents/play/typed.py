"""Reads what a player types: tiles as characters, digits, letters or names; words and commands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Final
from unicodedata import normalize

from goita_env import actions
from goita_env.errors import ActionError
from goita_env.hands import format_hand
from goita_env.tiles import (
    CHARACTERS,
    DIGITS,
    KING,
    LETTERS,
    NAMES,
    SECOND_KING_CHARACTER,
    SECOND_KING_DIGIT,
)
from goita_env.views import View

COMMANDS: Final = {
    "?": "what can be typed",
    "hint": "what the champion would do, with the points of a search",
    "partner": "what your partner may hold, from all that has been seen",
    "back": "take back your last move",
    "log": "this round so far",
    "table": "draw the table again",
    "quit": "leave; the match is saved",
}
"""What isn't a move, and what it does."""

BETWEEN: Final = ("back", "log", "table", "quit")
"""Those of them that can be typed after a round, too."""

WORDS: Final = {
    "pass": actions.PASS,
    "call": actions.CALL,
    "silent": actions.SILENT,
    "redeal": actions.REDEAL,
    "continue": actions.CONTINUE,
}
"""What a move may be called that plays no tiles."""

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
        legal: the legal actions.

    Raises:
        ActionError: if it is neither, or no legal action.
    """
    text = normalize("NFKC", line).strip()
    if text in ("?", "help"):
        return "?"
    pair = _pair(text)
    if pair is not None:
        return _checked(actions.encode(*pair), text, legal)
    known = [word for word, action in WORDS.items() if action in legal] + list(COMMANDS)
    meant = [word for word in known if text and word.startswith(text.lower())]
    exact = [word for word in meant if word == text.lower()]
    if text.lower() == "p" and actions.PASS in legal:
        return actions.PASS
    if len(exact or meant) == 1:
        (word,) = exact or meant
        return WORDS.get(word, word)
    if text.lower() in WORDS:
        return _checked(WORDS[text.lower()], text, legal)
    if len(meant) > 1:
        raise ActionError(f"expected one of {', '.join(meant)}, got {line.strip()!r}")
    raise ActionError(f"expected a move or ? for what can be typed, got {line.strip()[:40]!r}")


def read_between(line: str) -> str:
    """Returns the command that a line stands for after a round; "" goes on.

    Raises:
        ActionError: if it is none.
    """
    text = normalize("NFKC", line).strip().lower()
    if text in ("?", "help"):
        return "?"
    meant = [word for word in BETWEEN if word.startswith(text)]
    if text and len(meant) != 1:
        raise ActionError(
            f"expected Enter, {', '.join(BETWEEN)} or ? for what they do, got {line.strip()[:40]!r}"
        )
    return meant[0] if text else ""


def _pair(text: str) -> tuple[int, int] | None:
    """Returns the block and the attack that a text names, None if it isn't two tiles."""
    text = re.sub(r"[\s,/+-]", "", text).upper()
    tiles = _NAMED.findall(text)
    if len(tiles) != 2 or "".join(tiles) != text:
        return None
    return _KINDS[tiles[0]], _KINDS[tiles[1]]


def _checked(action: int, text: str, legal: Sequence[int]) -> int:
    """Returns an action.

    Raises:
        ActionError: if it is not legal.
    """
    if action not in legal:
        raise ActionError(f"expected a legal move, got {text!r} ({said(action)}); ? lists them")
    return action


def said(action: int) -> str:
    """Returns an action in words: "gold then silver", "pass"."""
    pair = actions.decode(action)
    if pair is None:
        return next(word for word, number in WORDS.items() if number == action)
    return f"{NAMES[pair[0]]} then {NAMES[pair[1]]}"


def help_text(view: View, legal: Iterable[int], faces: str) -> str:
    """Returns what can be typed, the legal moves first, at most 78 columns wide.

    Args:
        view: of the player: one row.
        legal: the legal actions.
        faces: how tiles are written: eight of the characters, letters or digits.
    """
    attacks: dict[int, str] = {}
    words = []
    for action in legal:
        pair = actions.decode(action)
        if pair is None:
            words.append(said(action))
        else:
            attacks[pair[0]] = attacks.get(pair[0], "") + faces[pair[1]]
    verb = "lay face down" if view.leads[0] else "receive with"
    lines = [
        f"  {verb} {faces[block]}, attack with one of {each}" for block, each in attacks.items()
    ]
    names = ", ".join(
        f"{faces[kind]} {DIGITS[kind]} {LETTERS[kind]} {NAMES[kind]}" for kind in range(len(NAMES))
    )
    hand = "".join(faces[DIGITS.index(tile)] for tile in format_hand(view.hand[0]))
    told = [
        f"You may (your hand: {hand}):",
        *lines,
        *(f"  {word}" for word in words),
        *textwrap.wrap(f"Tiles: {names}.", 70),
        "Type the two tiles, block first, in any of these ways: 54, GS, gold silver.",
        "Or:",
        *(f"  {name:8} {text}" for name, text in COMMANDS.items()),
    ]
    return "\n".join(told)


def help_between() -> str:
    """Returns what can be typed after a round."""
    rows = {"Enter": "the next round", **{name: COMMANDS[name] for name in BETWEEN}}
    return "\n".join(["You may type:", *(f"  {name:8} {text}" for name, text in rows.items())])
