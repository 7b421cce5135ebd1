"""Plain play: given hands dealt into a bare state, legal actions picked, named actions played."""

from collections.abc import Sequence

import numpy as np

from goita_env import Game, InformationStructure, actions
from goita_env.engine import core
from goita_env.engine.core import unpack_legal
from goita_env.engine.episodes import Match
from goita_env.information import PLAIN
from goita_env.seeds import mix
from goita_env.views import View


def deal(
    rules: object,
    hands: np.ndarray,
    dealer: Sequence[int] | np.ndarray,
    scores: np.ndarray | None = None,
    information: InformationStructure = PLAIN,
) -> core.State:
    """Deals given hands and returns the bare state; nothing is dealt after these."""
    match = Match(len(hands), rules, auto_reset=False, information=information)
    match.reset(hands, dealer, scores)
    return match.state


def legal_mask(state: core.State) -> np.ndarray:
    """Returns what each acting seat may do: bool [N, 69], with messages [N, 77]."""
    return unpack_legal(*core.legal_actions(state), state.information.num_actions)


def pick(mask: np.ndarray, numbers: int | np.ndarray) -> np.ndarray:
    """Returns the legal action number ``numbers % how many`` of each row, 0 where none is legal."""
    count = mask.sum(axis=1)
    rank = numbers % np.maximum(count, 1)
    return ((mask.cumsum(axis=1) > rank[:, None]) & mask).argmax(axis=1)


def habits(view: View, legal: np.ndarray) -> np.ndarray:
    """Returns an action for each view, a function of the view alone: int [m]."""
    mixed = view.words[:, 0].copy()
    for word in range(1, 8):
        mixed = mix(mixed) ^ view.words[:, word]
    rank = mix(mixed) % legal.sum(axis=1).astype(np.uint64)
    return ((legal.cumsum(axis=1) > rank[:, None].astype(np.int64)) & legal).argmax(axis=1)


def played(game: Game, *names: str) -> Game:
    """Plays actions by their short names and returns the game."""
    for name in names:
        game.play(actions.parse(name))
    return game


def frozen(state: core.State) -> tuple[object, ...]:
    """Returns all of a state in a form that can be compared later."""
    return state.data.tobytes(), state.clock, state.asking.tolist()


def after_reset(thing, *given, **options):
    """Resets an environment or a match and returns it."""
    thing.reset(*given, **options)
    return thing
