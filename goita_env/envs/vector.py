"""Plays N games at once, all four seats, with masks and rewards, in no library's conventions.

Episodes that end are replaced at once: the arrays of a ``Turn`` that tell what is asked
(observation, mask, seat, view) belong to the next episode then, those that tell what happened to
the one that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NoReturn

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from goita_env.actions import NUM_ACTIONS, name
from goita_env.checks import came, integers
from goita_env.engine import core
from goita_env.engine.match import Episode, Match, Outcome
from goita_env.errors import (
    ActionError,
    EpisodeOverError,
    IllegalActionError,
    SettingError,
    StaleTurnError,
)
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View, packing
from goita_env.views.observation import OBSERVATION_SIZE

Reward = Literal["points", "win"]
REWARDS: Final = ("points", "win")
U64 = np.uint64

_BYTES_ONE: Final = np.array(0x0101010101010101, U64)
_BYTES_HIGH: Final = np.array(0x8080808080808080, U64)
_LOW_BYTE: Final = np.array(255, U64)
_THREE: Final = np.array(3, U64)
_EIGHT: Final = np.array(8, U64)
_FIFTY_SIX: Final = np.array(56, U64)


def _select_table() -> npt.NDArray[np.int64]:
    """Returns the place of the r-th one in a byte: [256 * 8], index 8 * byte + r."""
    table = np.zeros((256, 8), np.int64)
    for byte in range(256):
        ones = [bit for bit in range(8) if byte >> bit & 1]
        table[byte, : len(ones)] = ones
    return table.reshape(-1)


_SELECT: Final = _select_table()


class Turn:
    """Hands out what a step led to; its arrays are never written again.

    Attributes:
        action_mask: bool [N, 69], True where legal, for the seat that is asked now.
        seat: int8 [N], who is asked now.
        reward: float32 [N, 4], of the step just made, all seats.
        done: bool [N], the step just made ended the episode; observation, mask, seat and view
            already belong to the next one.
        points: int16 [N], of the round that this step ended, to the team of ``winner``; 0: none
            ended.
        winner: int8 [N], the seat that ended the round, -1: none ended.
    """

    __slots__ = (
        "_env",
        "_observation",
        "_step",
        "_view",
        "_words",
        "action_mask",
        "done",
        "points",
        "reward",
        "seat",
        "winner",
    )

    def __init__(self, env: GoitaVectorEnv, outcome: Outcome | None) -> None:
        match = env._match
        games, state = match.num_games, match.state
        self._env, self._step = env, env._steps
        self._view: View | None = None
        self._words: packing.Words | None = None
        self._observation: packing.Observation | None = None
        if env.observe:
            self._words = packing.pack(state)
            self._observation = packing.expand(self._words)
        self.action_mask = core.unpack_legal(env._low, env._high)
        self.seat = _SEAT_AT[state.clock].take(state.offset)
        self.reward = np.zeros((games, NUM_SEATS), np.float32)
        self.done = np.zeros(games, bool)
        self.points = np.zeros(games, np.int16)
        self.winner = env._no_winner.copy()
        if outcome is not None:
            rows = outcome.rows
            self.points[rows], self.winner[rows] = outcome.points, outcome.winner
            self.done[rows] = outcome.done
            gain = outcome.points if env.reward == "points" else outcome.done
            self.reward[rows] = gain[:, None] * _SIGNS[outcome.winner & 1]

    @property
    def words(self) -> packing.Words:
        """Returns the packed observation: uint64 [N, 8].

        Raises:
            StaleTurnError: if the environment does not observe and has stepped on.
        """
        if self._words is None:
            if self._env._steps != self._step:
                raise StaleTurnError(
                    "expected to build the view of a turn before the next step, but step "
                    f"{self._env._steps} was made after {self._step}; use observe=True"
                )
            self._words = packing.pack(self._env._match.state)
        return self._words

    @property
    def observation(self) -> packing.Observation:
        """Returns what the asked seat sees: uint8 [N, 512].

        Raises:
            StaleTurnError: if the environment does not observe and has stepped on.
        """
        if self._observation is None:
            self._observation = packing.expand(self.words)
        return self._observation

    @property
    def view(self) -> View:
        """Returns the asked seats' views, built when first used.

        Raises:
            StaleTurnError: if the environment does not observe and has stepped on.
        """
        if self._view is None:
            match = self._env._match
            self._view = View(self.words, match.games, match.rules)
        return self._view


_SEAT_AT: Final = np.array([[(c - o) & 3 for o in range(4)] for c in range(4)], np.int8)
"""Seat at the clock's slot by the game's offset."""

_SIGNS: Final = np.array([[1, -1, 1, -1], [-1, 1, -1, 1]], np.float32)


class GoitaVectorEnv:
    """Plays N games at once.

    Args:
        num_games: N, 1 to 2**24.
        rules: a rule set or its name: "jga", "pagat", "nine".
        episode: "round" (ends with the first scored round) or "match" (ends at 150 points).
        reward: "points" (of each round, plus for the winner's team, minus for the other) or "win"
            (+1 / -1 at the end of the episode).
        seed: integer from 0; game i of episode k has the same deals in a batch of any size.
        observe: build observations in every step; False is faster, and they and the views are built
            only when asked for, until the next step.

    Raises:
        SettingError: if a setting is outside its choices.

    Attributes:
        reward: "points" or "win".
        observe: whether observations are built in every step.
        single_observation_space: of one game's observation: uint8 [512].
        single_action_space: of one game's action: 0 to 68.
        state_space: of one game's row of ``state()``: uint8 [704].
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules = "jga",
        episode: Episode = "round",
        reward: Reward = "points",
        seed: int = 0,
        observe: bool = True,
    ) -> None:
        if reward not in REWARDS:
            raise SettingError(f"expected a reward of {REWARDS}, got {reward!r}")
        self._match = Match(num_games, rules, episode, seed)
        self.reward: Reward = reward
        self.observe = observe
        self.single_observation_space = Box(0, 1, (OBSERVATION_SIZE,), np.uint8)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.state_space = Box(0, 1, (packing.STATE_SIZE,), np.uint8)
        self._no_winner = np.full(self.num_games, -1, np.int8)
        self._steps = -1  # made since the first reset
        # What is legal now, as bits: actions 0 to 63, and 64 to 68.
        self._low: packing.Words = np.zeros(num_games, U64)
        self._high: packing.Words = np.zeros(num_games, U64)

    @property
    def num_games(self) -> int:
        """Returns N."""
        return self._match.num_games

    def seed(self, seed: int) -> None:
        """Takes another seed, whose first episode begins at the next reset.

        Raises:
            SettingError: if the seed is not an integer from 0 to 2**64 - 1.
        """
        self._match.seed(seed)

    def reset(
        self,
        *,
        hands: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
    ) -> Turn:
        """Begins the next episode of every game; ``seed`` begins the episodes anew.

        What is given applies to the first deal of this episode: one for all games, or a row a game.

        Args:
            hands: four strings of digits ("11235578", ...) or kinds, int [4, 8]; or N such deals,
                kinds as int [N, 4, 8]; None: dealt.
            dealer: seat of the first dealer, or int [N]; None: drawn.
            scores: points of seats 0 and 2, and of seats 1 and 3, before the first round, multiples
                of ten: int [2], or int [N, 2]; None: 0.

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        self._match.reset(hands, dealer, scores)
        return self._turn(None)

    def step(self, actions: npt.ArrayLike) -> Turn:
        """Makes one decision in every game.

        Args:
            actions: int [N], a legal action of each asked seat.

        Raises:
            EpisodeOverError: before the first reset.
            ActionError: if the actions have the wrong length, type or range.
            IllegalActionError: if one is illegal. Nothing has changed in each case.
        """
        return self._turn(self._match.step(self._check(actions)))

    def sample_legal(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draws an action for each asked seat, uniform over the legal ones: int64 [N].

        Args:
            rng: consumed: one double a game.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._steps < 0:
            raise EpisodeOverError("expected a reset before the first action")
        low, high = self._low, self._high
        ones = np.bitwise_count(low.view(np.uint8)).view(U64)
        ones *= _BYTES_ONE  # byte i now counts the ones of bytes 0 to i
        total = ones >> _FIFTY_SIX
        draws = rng.random(self.num_games)
        rank = (draws * (total + np.bitwise_count(high))).astype(U64)
        wide = rank * _BYTES_ONE
        wide |= _BYTES_HIGH
        wide -= ones
        wide &= _BYTES_HIGH  # one bit for each byte that lies before the rank-th one
        shift = np.bitwise_count(wide).astype(U64)
        shift <<= _THREE
        ones <<= _EIGHT
        ones >>= shift
        ones &= _LOW_BYTE
        index = low >> shift
        index &= _LOW_BYTE
        index <<= _THREE
        index += rank
        index -= ones
        drawn: npt.NDArray[np.int64] = _SELECT.take(index.view(np.int64), mode="clip")
        drawn += shift.view(np.int64)
        beyond = (rank >= total).nonzero()[0]
        if len(beyond):
            bits = high[beyond].view(np.int64) << 3
            drawn[beyond] = 64 + _SELECT[bits + (rank[beyond] - total[beyond]).view(np.int64)]
        return drawn

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns everything there is to know, for centralised critics: uint8 [N, 704].

        A game's row is what the AEC environment's ``state()`` returns.

        Raises:
            EpisodeOverError: before the first reset.
        """
        return packing.expand(self.packed_state())

    def packed_state(self) -> npt.NDArray[np.uint64]:
        """Returns ``state()`` packed, 64 bits a word, the first bit lowest: uint64 [N, 11].

        Words 0 to 3 are the plays of seats 0 to 3 as they themselves see them, 4 and 5 the public
        notes, 6 to 9 the seats' tiles, 10 the table as seat 0 sees it and who is asked. The bits of
        each are those of the observation's words (docs/observation.md), but for who is asked.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._steps < 0:
            raise EpisodeOverError("expected a reset before the first state")
        return packing.pack_state(self._match.state)

    def save(self) -> dict[str, npt.NDArray[Any]]:
        """Returns all that the games go on from, as arrays that a file can hold; see ``restore``.

        They hold the hands of all seats and the keys of all deals to come.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if self._steps < 0:
            raise EpisodeOverError("expected a reset before the games are saved")
        return dict(self._match.saved())

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> Turn:
        """Goes on where games were saved; returns what they ask now, with no rewards.

        Args:
            arrays: from ``save``, of as many games with the same rules and episode. They may come
                from a file that somebody else wrote: numbers that the games could not go on with
                are refused.

        Raises:
            SettingError: if these games cannot go on from there; nothing has changed then.
        """
        self._match.take_up(arrays)
        return self._turn(None)

    def _check(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Returns actions as int64 [N] after checking that each is legal."""
        if self._steps < 0:
            raise EpisodeOverError("expected a reset before the first step")
        given = integers(actions)
        if given is None or given.shape != (self.num_games,):
            raise ActionError(
                f"expected {self.num_games} actions as whole numbers of shape "
                f"({self.num_games},), got {came(actions)}"
            )
        array: npt.NDArray[np.int64] = given.astype(np.int64, copy=False)
        legal = core.allowed(self._low, self._high, array)
        if np.count_nonzero(legal) < self.num_games:
            game = int(np.flatnonzero(legal == 0)[0])
            self._refuse(int(array[game]), game)
        return array

    def _refuse(self, action: int, game: int) -> NoReturn:
        """Raises the error for an action of one game that is none or illegal."""
        if not 0 <= action < NUM_ACTIONS:
            raise ActionError(
                f"expected actions 0..{NUM_ACTIONS - 1}, got {action!r} in game {game}"
            )
        legal = np.flatnonzero(core.unpack_legal(self._low, self._high)[game])
        raise IllegalActionError(
            f"expected one of {' '.join(name(int(one)) for one in legal)} from seat "
            f"{int(self._match.state.seat[game])}, got {name(action)!r} ({action}) in game {game}"
        )

    def _turn(self, outcome: Outcome | None) -> Turn:
        """Works out what is legal now and hands everything out."""
        self._steps += 1
        self._low, self._high = core.legal_actions(self._match.state)
        return Turn(self, outcome)
