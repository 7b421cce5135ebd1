"""Changes rollouts: teams are muted, tiles of equal rules exchanged, kinds of plays rewarded.

In a share of the games one team sends no message. So silence stays familiar, and all seats learn to
listen to messages as well as to do without.

By Other-Play each seat sees the game under a symmetry of its own. Hu, Lerer, Peysakhovich and
Foerster, "Other-Play for Zero-Shot Coordination" (2020): a policy that plays with a partner who
sees the game under another symmetry cannot rely on which of two symmetric choices was agreed upon.
The rules stay the same if silver and gold are exchanged, or bishop and rook, so the group has four
elements. No other kinds may be: kings receive knights, but not lances.

Players that were rewarded for another behaviour play another, sensible way, which networks of plain
self-play hardly do (compare the event rewards of ZSC-Eval, Wang et al. 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Int
from goita_env import actions
from goita_env.actions import CALL, MAX_ACTIONS, MESSAGE, encode
from goita_env.arrays import U64
from goita_env.envs.vector import StepResult
from goita_env.errors import SettingError
from goita_env.information import InformationStructure
from goita_env.tiles import BISHOP, COUNTS, DIGITS, GOLD, NUM_KINDS, NUM_SEATS, ROOK, SILVER
from goita_env.views.observation import HAND_COUNTS, NUM_WORDS, SLICES, Words

_SILENCE: Final = np.arange(MAX_ACTIONS) == MESSAGE

MAX_POINTS: Final = 1e30
"""Points of a preference are closer to 0, so that float32 holds them."""

TEAM_RUN: Final = 16
"""Games in a row that mute the same team: more than frozen players have groups, so that a muted
team is the learner's as often as theirs."""


class Muting:
    """A rule for muted seats: only message 0 is left, and nothing is learned from it.

    The last games of the N mute a team, 16 of them seats 0 and 2, the next 16 the others. Which
    ones follows from their number, so a resumed training mutes the same.

    Args:
        games: number of parallel games, N.
        share: of the games in which a team is muted.
        information: of the games; there must be messages where the share is above 0.
    """

    def __init__(self, games: int, share: float, information: InformationStructure) -> None:
        if not 0 <= share <= 1:
            raise SettingError(f"expected a mute share from 0 to 1, got {share!r}")
        if share and information.channel is None:
            raise SettingError(f"expected messages with a mute share above 0, got {information!r}")
        game = np.arange(games)
        muted = game >= games - round(share * games)
        self.team = np.where(muted, game // TEAM_RUN & 1, -1)
        """int64 [N] The muted team: 0 for seats 0 and 2, 1 for the others, -1 for none."""

    def legal(self, turn: StepResult) -> Bool:
        """Returns the legal actions of the acting seats; only silence where a seat is muted."""
        legal = turn.action_mask
        silent = legal[:, MESSAGE:].any(axis=1) & ((turn.seat & 1) == self.team)
        return np.where(silent[:, None], _SILENCE, legal) if silent.any() else legal


PAIRS: Final = ((SILVER, GOLD), (BISHOP, ROOK))
"""Kinds that may be exchanged; bit i of an element says whether pair i is."""

ELEMENTS: Final = 1 << len(PAIRS)


def _swaps(kind: int) -> tuple[Words, Words]:
    """Returns shifts and masks, uint64 [8] each: where bits of a kind and of the next one are.

    A bit in the mask changes places with the one that lies ``shift`` above it.
    """
    shift, mask = np.ones(NUM_WORDS, U64), np.zeros(NUM_WORDS, U64)
    for piece in SLICES:
        # Most slices have one bit for each kind; those of tiles have one for each tile of a kind,
        # and both kinds have as many tiles. Slices that do not name kinds stay. All exchanged bits
        # of a word have the same shift.
        first, bits = piece.start + kind, 1
        if piece.name == "hand":
            first, bits = piece.start + sum(HAND_COUNTS[:kind]), HAND_COUNTS[kind]
        elif piece.name == "unseen":
            first, bits = piece.start + sum(COUNTS[:kind]), COUNTS[kind]
        elif not piece.name.startswith(("block_", "attack_", "passed_")) and piece.name != "attack":
            continue
        word, bit = divmod(first, 64)
        shift[word] = bits
        mask[word] |= U64(((1 << bits) - 1) << bit)
    return shift, mask


_SWAPS: Final = tuple(_swaps(kind) for kind, _ in PAIRS)


def _actions() -> Int:
    """Returns ``ACTION_IMAGES``."""
    exchanged = np.tile(np.arange(MAX_ACTIONS), (ELEMENTS, 1))
    for element in range(ELEMENTS):
        kinds = np.arange(NUM_KINDS)
        for bit, pair in enumerate(PAIRS):
            if element >> bit & 1:
                kinds[list(pair)] = pair[::-1]
        # Plays are actions 1 to CALL - 1, ordered by block, then by attack.
        plays = [encode(int(a), int(b)) for a in kinds for b in kinds]
        exchanged[element, 1:CALL] = plays
    return exchanged


ACTION_IMAGES: Final = _actions()
"""int64 [4, 77] What each action is after an element's exchanges; each is its own inverse."""


def elements_of(games: int) -> npt.NDArray[np.int64]:
    """Returns the element that each seat of each game sees the game under: int64 [N, 4].

    It follows from the number of the game, so a resumed training continues with the same. All
    combinations are as frequent.
    """
    # An element has two bits: seat s takes bits 2 s and 2 s + 1 of the game's number.
    return (np.arange(games)[:, None] >> (2 * np.arange(NUM_SEATS))) & (ELEMENTS - 1)


def exchange_words(words: Words, element: Int) -> Words:
    """Returns observations under elements [n]: uint64 [n, W]; their own inverse."""
    exchanged = words.copy()
    for bit, (shift, mask) in enumerate(_SWAPS):
        plain = exchanged[:, :NUM_WORDS]  # words of shown tiles and messages stay
        # Two bits change places by inverting both where they differ.
        differs = ((plain >> shift) ^ plain) & mask
        differs[(element >> bit & 1) == 0] = 0
        plain ^= differs ^ (differs << shift)
    return exchanged


def exchange_masks(legal: Bool, element: Int) -> Bool:
    """Returns the legal actions under elements [n]: bool [n, A]; their own inverse."""
    exchanged: Bool = np.take_along_axis(legal, ACTION_IMAGES[element, : legal.shape[1]], axis=1)
    return exchanged


def read_preferences(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Returns the points that a seat earns by each of its decisions: float32 [77].

    Args:
        texts: PLAYS:POINTS each, PLAYS as records write them: "p" a pass, "52" block and attack,
            "5x" every play with that block, "x2" every play with that attack. Several add up.
    """
    earned = np.zeros(actions.MAX_ACTIONS, np.float32)
    for text in texts:
        plays, _, points = text.partition(":")
        try:
            value = float(points)
        except ValueError:
            value = np.nan
        if not abs(value) < MAX_POINTS or not (rewarded := _actions_of(plays)):
            raise SettingError(f"expected PLAYS:POINTS such as p:1, 5x:-2 or x8:0.5, got {text!r}")
        earned[rewarded] += value
    return earned


def _actions_of(plays: str) -> list[int]:
    """Returns the actions that a text names; an empty list if it names no action."""
    if plays == "p":
        return [actions.PASS]
    if len(plays) != 2:
        return []
    block, attack = (range(NUM_KINDS) if digit == "x" else [DIGITS.find(digit)] for digit in plays)
    return [actions.encode(b, a) for b in block for a in attack if min(b, a) >= 0]
