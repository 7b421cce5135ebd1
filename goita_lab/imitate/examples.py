"""Holds decisions of recorded games, and splits them by game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float, Int
from goita_env import View
from goita_env.errors import SettingError
from goita_env.rules import Rules
from goita_env.views.observation import Words

TEST_SHARE: Final = 0.15
"""Share of the games that nothing is learned or chosen from, and of the rest that the weight is
chosen on."""

FEWEST_GAMES: Final = 5


@dataclass(frozen=True)
class Examples:
    """D decisions with a choice, each with the game that it is from.

    Decisions of one game share deals and players, so splits and intervals take games whole.
    """

    rules: Rules
    words: Words  #: uint64 [D, 8] the packed view of the seat that decided.
    legal: Bool  #: [D, 69]
    action: Int  #: [D] the action taken.
    game: Int  #: [D] number of the game, from 0.

    def __len__(self) -> int:
        return len(self.action)

    @property
    def games(self) -> int:
        """Number of games with a decision."""
        return len(np.unique(self.game))

    def view(self) -> View:
        """Returns what the seats saw: D positions."""
        return View(self.words, None, self.rules)

    def of_games(self, games: Int) -> Self:
        """Returns the decisions of some games."""
        return self.of_rows(np.flatnonzero(np.isin(self.game, games)))

    def of_rows(self, rows: Int) -> Self:
        """Returns some decisions."""
        return replace(
            self,
            words=self.words[rows],
            legal=self.legal[rows],
            action=self.action[rows],
            game=self.game[rows],
        )

    def taken(self, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the entry of the action taken in each row of a table [D, 69]: [D]."""
        return np.asarray(table[np.arange(len(self)), self.action])

    def by_game(self, values: npt.ArrayLike) -> tuple[Float, Float]:
        """Returns the sum of one value a decision [D] in each game, and the number of decisions."""
        _, which = np.unique(self.game, return_inverse=True)
        sums = np.bincount(which, np.asarray(values, np.float64))
        return sums.astype(np.float64), np.bincount(which).astype(np.float64)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Concatenates decisions of different games, which are numbered anew.

        Raises:
            SettingError: if there are none, or they are of several rule sets.
        """
        names = sorted({part.rules.name for part in parts})
        if len({part.rules for part in parts}) != 1:
            raise SettingError(f"expected games of one rule set, got those of {names}")
        begin = np.cumsum([0, *(int(part.game.max(initial=-1)) + 1 for part in parts)]).tolist()
        return cls(
            parts[0].rules,
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.legal for part in parts]),
            np.concatenate([part.action for part in parts]),
            np.concatenate([part.game + n for part, n in zip(parts, begin, strict=False)]),
        )


class Split(NamedTuple):
    """A split into three sets of decisions that share no game."""

    train: Examples
    validation: Examples  #: The weight, the temperature and the epsilon are chosen on these.
    test: Examples  #: Nothing is learned or chosen on these.


def split_games(examples: Examples, seed: int) -> Split:
    """Splits decisions by game, at random by a seed.

    Raises:
        SettingError: if there are too few games.
    """
    games = np.unique(examples.game)
    if len(games) < FEWEST_GAMES:
        raise SettingError(
            f"expected decisions of {FEWEST_GAMES} games or more, some to learn from and some to "
            f"hold out, got {len(games)}"
        )
    mixed = np.random.default_rng(seed).permutation(games)
    apart = max(2, round(TEST_SHARE * len(mixed)))
    held, rest = mixed[:apart], mixed[apart:]
    chosen = max(2, round(TEST_SHARE * len(rest)))
    parts = (rest[chosen:], rest[:chosen], held)
    return Split(*(examples.of_games(part) for part in parts))
