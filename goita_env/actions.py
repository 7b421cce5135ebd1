"""Numbers the 69 actions: one discrete space for every decision.

======================== =======================================================================
0                        pass
1 + 8 * block + attack   play the pair of kinds (block, attack); whether the block lies face down
                         follows from the position
65 / 66                  call the special hand / keep silent
67 / 68                  redeal / continue (the partner of a five-pawn caller)
======================== =======================================================================

Games with messages (``goita_env.InformationStructure``) have 77: the actions 69 to 76 send message
0 to 7.
"""

from __future__ import annotations

from operator import index
from typing import Final, SupportsIndex

from goita_env.errors import ActionError
from goita_env.tiles import DIGITS, NUM_KINDS

PASS: Final = 0
CALL: Final = 65
SILENT: Final = 66
REDEAL: Final = 67
CONTINUE: Final = 68
NUM_ACTIONS: Final = 69
MESSAGE: Final = NUM_ACTIONS
"""Sends message 0, silence; the next seven actions send messages 1 to 7. Only with messages."""
MAX_ACTIONS: Final = MESSAGE + 8

_WORDS: Final = {PASS: "p", CALL: "call", SILENT: "silent", REDEAL: "redeal", CONTINUE: "continue"}
_MESSAGES: Final = {action: f"say{action - MESSAGE}" for action in range(MESSAGE, MAX_ACTIONS)}
_NUMBERS: Final = {word: action for action, word in (_WORDS | _MESSAGES).items()}


def _is_index(value: object, size: int) -> bool:
    return isinstance(value, SupportsIndex) and 0 <= index(value) < size


def encode(block: int, attack: int) -> int:
    """Numbers the play of a pair of kinds (block, attack), each 0 to 7.

    Raises:
        ActionError: if one is not a kind.
    """
    if not (_is_index(block, NUM_KINDS) and _is_index(attack, NUM_KINDS)):
        raise ActionError(f"expected two kinds 0..7, got block {block!r} and attack {attack!r}")
    return 1 + NUM_KINDS * block + attack


def decode(action: int) -> tuple[int, int] | None:
    """Returns the pair of kinds (block, attack) that an action plays, None if it plays none.

    Raises:
        ActionError: if it is not an action.
    """
    if not _is_index(action, NUM_ACTIONS):
        raise ActionError(f"expected an action 0..{NUM_ACTIONS - 1}, got {action!r}")
    return None if action in _WORDS else divmod(int(action) - 1, NUM_KINDS)


def hide_block(action: int) -> int:
    """Returns a play as others see it whose block lies face down: with kind 0 as its block.

    Passes and answers are returned as they are.
    """
    return action if action in _WORDS else 1 + (action - 1) % NUM_KINDS


def name(action: int, num_actions: int = NUM_ACTIONS) -> str:
    """Returns the short name of an action: "p", two digits as in records ("52"), "call", ...

    Args:
        action: the action.
        num_actions: how many there are: 69, or with messages 77, which adds "say0" to "say7".

    Raises:
        ActionError: if it is not an action.
    """
    if num_actions > NUM_ACTIONS and action in _MESSAGES:
        return _MESSAGES[action]
    pair = decode(action)
    return _WORDS[action] if pair is None else DIGITS[pair[0]] + DIGITS[pair[1]]


def parse(text: str) -> int:
    """Returns the action of a short name, the inverse of ``name``; 9 is read as a king.

    The names of messages are read, too, though only games with messages have these actions.

    Raises:
        ActionError: if the text names no action.
    """
    if isinstance(text, str):
        if text in _NUMBERS:
            return _NUMBERS[text]
        digits = text.replace("9", "8")
        if len(digits) == 2 and digits[0] in DIGITS and digits[1] in DIGITS:
            return encode(DIGITS.index(digits[0]), DIGITS.index(digits[1]))
    words = ", ".join(repr(word) for word in _WORDS.values())
    raise ActionError(f"expected an action, two digits 1..9 or one of {words}, got {text!r}")
