"""Checks arguments of users: arrays, seeds, actions, dealers, scores."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.arrays import Int
from goita_env.errors import ActionError, IllegalActionError, SettingError
from goita_env.tiles import NUM_SEATS


def integers(values: npt.ArrayLike) -> npt.NDArray[np.integer[Any]] | None:
    """Reads values as an array of integers; None for other values or rows of different lengths."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array if array.dtype.kind in "iu" else None


def integer_rows(values: npt.ArrayLike, shape: tuple[int, ...]) -> Int | None:
    """Reads whole numbers of a shape [N, ...], or one row for all N games, as int64 [N, ...].

    Returns None if they are something else.
    """
    array = integers(values)
    if array is None or array.shape not in (shape, shape[1:]):
        return None
    return np.broadcast_to(array, shape).astype(np.int64)


def describe(values: npt.ArrayLike) -> str:
    """Says what came where an array was expected: its shape and type."""
    try:
        array = np.asarray(values)
    except ValueError:
        return "rows of different lengths"
    return f"shape {array.shape!r} of {array.dtype}"


def check_seed(seed: int) -> int:
    """Returns a seed; a SettingError if it is not an integer from 0 to 2**64 - 1."""
    is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_integer or not 0 <= seed < 1 << 64:
        raise SettingError(f"expected a seed from 0 to 2**64 - 1, got {seed!r}")
    return int(seed)


def is_writable(text: str) -> bool:
    """Tells whether UTF-8 can write a text: it cannot write half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_count(count: int, what: str) -> int:
    """Returns a number of things; a SettingError if it is not a whole number from 1 on."""
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not whole or count < 1:
        raise SettingError(f"expected a whole number of {what} from 1 on, got {count!r}")
    return int(count)


def check_reward_scale(scale: float) -> float:
    """Returns the factor on rewards; a SettingError if it is not finite and greater than 0."""
    real = isinstance(scale, int | float | np.integer | np.floating) and not isinstance(scale, bool)
    if not real or not 0 < scale < math.inf:
        raise SettingError(f"expected a finite reward_scale greater than 0, got {scale!r}")
    return float(scale)


def check_regular(path: Path) -> None:
    """Raises a SettingError for a folder, a device or a fifo, at which a program would wait."""
    if path.exists() and not path.is_file():
        raise SettingError(f"expected a regular file, got {str(path)!r}, which is not one")


def read_limited(path: Path, limit: int) -> bytes:
    """Returns the content of a regular file; a SettingError if it has more than ``limit`` bytes."""
    check_regular(path)
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise SettingError(f"expected at most {limit:,} bytes in {str(path)!r}, got more")
    return content


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON whose keys differ, as ``object_pairs_hook`` of ``json.loads``.

    Raises:
        SettingError: if a key occurs twice; Python would take the last.
    """
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in table if keys.count(key) > 1)
        raise SettingError(f"expected each key once, got {twice!r} twice")
    return table


def check_options(options: object, names: Collection[str]) -> dict[str, Any]:
    """Returns the options of ``reset`` that are not None; a SettingError for unknown ones."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise SettingError(f"expected options as a dict with keys of {[*names]}, got {options!r}")
    if unknown := [key for key in options if key not in names]:
        raise SettingError(f"expected options of {[*names]}, got {unknown!r}")
    return {key: value for key, value in options.items() if value is not None}


def check_action(action: object, num_actions: int = actions.NUM_ACTIONS) -> int:
    """Returns one action; an ActionError if it is not an integer from 0 to num_actions - 1."""
    if isinstance(action, bool) or not isinstance(action, int | np.integer):
        raise ActionError(f"expected an action as a whole number, got {action!r}")
    if not 0 <= action < num_actions:
        raise ActionError(f"expected an action 0..{num_actions - 1}, got {action!r}")
    return int(action)


def check_actions(values: npt.ArrayLike, count: int, source: str = "") -> Int:
    """Returns actions as int64 [count] after a check of type and shape, not of range."""
    # Of no actions any array is taken: an empty list is one of floats.
    array = integers(values) if count else np.asarray(values)
    if array is None or array.shape != (count,):
        raise ActionError(
            f"expected {count} actions as whole numbers of shape ({count},){source}, "
            f"got {describe(values)}"
        )
    return array.astype(np.int64, copy=False)


def are_legal(chosen: Int, legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Tells which of ``chosen``, whole numbers, are legal actions: bool [N]; ``legal``: [N, A]."""
    inside: npt.NDArray[np.bool_] = (chosen >= 0) & (chosen < legal.shape[1])
    # Numbers outside look up action 0, and stay False whatever it says.
    inside &= legal[np.arange(len(chosen)), chosen * inside]
    return inside


def illegal_action(
    action: int, legal: npt.NDArray[np.bool_], source: str = "", place: str = "", came: str = ""
) -> ActionError:
    """Returns the error for a number that is not an action, or an action that the rules forbid.

    Args:
        action: the number that came.
        legal: bool [A], the legal actions.
        source: the seat or agent, as " from seat 0".
        place: the game, as " in game 3".
        came: the name that the user wrote, if it is not the action's own.
    """
    if not 0 <= action < len(legal):
        return ActionError(f"expected actions 0..{len(legal) - 1}{source}, got {action!r}{place}")
    size = len(legal)
    names = " ".join(actions.name(choice, size) for choice in np.flatnonzero(legal).tolist())
    came = came or actions.name(action, size)
    return IllegalActionError(f"expected one of {names}{source}, got {came!r} ({action}){place}")


def check_dealer(dealer: npt.ArrayLike, num_games: int, num_seats: int = NUM_SEATS) -> Int:
    """Returns first dealers, a seat for all games or [N], as int64 [N]; else a SettingError."""
    if (seats := integer_rows(dealer, (num_games,))) is None:
        raise SettingError(
            f"expected a dealer, a seat 0..{num_seats - 1}, or a row a game, shape ({num_games},), "
            f"got {dealer!r}"
        )
    if seats.min() < 0 or seats.max() >= num_seats:
        raise SettingError(f"expected dealers of seats 0..{num_seats - 1}, got {seats.tolist()!r}")
    return seats


def check_scores(scores: npt.ArrayLike, num_games: int, below: int) -> Int:
    """Returns the teams' points, [2] for all games or [N, 2], as int64 [2, N]."""
    if (array := integer_rows(scores, (num_games, 2))) is None:
        raise SettingError(
            f"expected the points of two teams, or a row a game, shape ({num_games}, 2), "
            f"got {scores!r}"
        )
    if (array % 10).any() or array.min() < 0 or array.max() >= below:
        raise SettingError(
            f"expected points before a round, multiples of ten from 0 to {below - 10}, "
            f"got {array.tolist()!r}"
        )
    return array.T
