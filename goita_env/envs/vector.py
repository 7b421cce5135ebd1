"""Plays N games at once, all four seats, with masks and rewards, in no library's conventions.

An episode that ends is replaced at once by the next one. Then observation, mask, seat and view of
the ``StepResult`` belong to the new episode; reward, points and winner belong to the ended one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete, Space
from gymnasium.vector.utils import batch_space

from goita_env.arrays import Bits, Int
from goita_env.checks import check_actions, illegal_action
from goita_env.engine import core
from goita_env.engine.episodes import Episode, Match, Outcome, Reward, check_reward
from goita_env.engine.legal_bits import sample_legal
from goita_env.engine.state import NO_ROWS
from goita_env.errors import EpisodeOverError, SettingError, StaleTurnError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View
from goita_env.views import observation as packing

_SEAT_AT: Final = np.array([[(c - o) & 3 for o in range(4)] for c in range(4)], np.int8)
"""[4, 4] Seat on the clock's slot, by clock and the game's offset."""
_MESSAGE_REWARDS: Final = np.array([-1, 1, -1, 1], np.float32)
"""By seat, its reward a point that seats 0 and 2 pay for a message."""


class StepResult:
    """The result of a step; later steps do not change its arrays.

    Where the environment does not observe, ``words``, ``observation`` and ``view`` raise a
    ``StaleTurnError`` once it has stepped on.

    Attributes:
        action_mask: bool [N, 69], True where legal, for the acting seat; with messages [N, 77].
        seat: int8 [N], the acting seat.
        reward: float32 [N, 4], of this step, all seats.
        done: bool [N], this step ended the episode; observation, mask, seat and view
            already belong to the next one.
        points: int16 [N], of the round that this step ended, to the team of ``winner``; 0: none
            ended.
        winner: int8 [N], the seat that ended the round, -1: none ended.
    """

    def __init__(
        self, env: GoitaVectorEnv, outcome: Outcome | None, costs: Int | None = None
    ) -> None:
        match = env._match
        games, state = match.num_games, match.state
        self._env, self._step = env, env._steps
        if env.observe:  # else the cached properties of these names are built when first used
            self.words = packing.pack(state)
            self.observation = packing.expand(self.words)
        self.action_mask = core.unpack_legal(env._low, env._high, env._num_actions)
        self.seat = _SEAT_AT[state.clock].take(state.offset)
        self.reward = np.zeros((games, NUM_SEATS), np.float32)
        self.done = np.zeros(games, bool)
        self.points = np.zeros(games, np.int16)
        self.winner = env._no_winner.copy()
        if outcome is not None:
            rows = outcome.rows
            self.points[rows], self.winner[rows] = outcome.points, outcome.winner
            self.done[rows] = outcome.done
            self.reward[rows] = outcome.rewards(env.reward)
        if costs is not None:
            self.reward += costs[:, None] * _MESSAGE_REWARDS

    @cached_property
    def words(self) -> packing.Words:
        """The packed observation: uint64 [N, 8], more words where tiles of others are shown."""
        if self._env._steps != self._step:
            raise StaleTurnError(
                "expected to build the view of a turn before the next step, but step "
                f"{self._env._steps} was made after {self._step}; use observe=True"
            )
        return packing.pack(self._env._match.state)

    @cached_property
    def observation(self) -> packing.Observation:
        """The acting seat's observation: uint8 [N, 512], more where tiles of others are shown."""
        return packing.expand(self.words)

    @cached_property
    def view(self) -> View:
        """The acting seats' views, built when first used: [N]."""
        match = self._env._match
        return View(self.words, match.games, match.rules, match.information)


class GoitaVectorEnv:
    """N games in parallel, for use by one thread at a time.

    Args:
        num_games: N, from 1.
        rules: a rule set or its name: "jga", "pagat", "nine".
        episode: "round" (ends with the first scored round) or "match" (ends at the rules' total).
        reward: "points" (of each round, plus for the winner's team, minus for the other) or "win"
            (+1 / -1 at the end of the episode).
        seed: 0 to 2**64 - 1; game i of episode k has the same deals in a batch of any size.
        observe: build observations in every step; False is faster, and they and the views are built
            only when first read, until the next step.
        information: shown tiles and messages (``goita_env.InformationStructure``). It sets the
            sizes below.

    Raises:
        SettingError: if a setting is outside its choices.

    Attributes:
        reward: "points" or "win".
        observe: whether observations are built in every step.
        information: the options.
        single_observation_space: of one game's observation: uint8 [512], [640] or [896].
        single_action_space: of one game's action: 0 to 68, with messages to 76.
        state_space: of one game's row of ``state()``: uint8 [704], with messages [768].
    """

    def __init__(
        self,
        num_games: int,
        rules: str | Rules = "jga",
        episode: Episode = "round",
        reward: Reward = "points",
        seed: int = 0,
        observe: bool = True,
        information: InformationStructure = PLAIN,
    ) -> None:
        self.reward: Reward = check_reward(reward, information)
        self._match = Match(num_games, rules, episode, seed, information=information)
        self.observe, self.information = observe, information
        self._num_actions = information.num_actions
        self.single_observation_space = Box(0, 1, (information.observation_size,), np.uint8)
        self.single_action_space = Discrete(self._num_actions)
        self.state_space = Box(0, 1, (64 * packing.state_words(information),), np.uint8)
        self._no_winner = np.full(self.num_games, -1, np.int8)
        self._steps = -1  # made since the first reset
        # What is legal now, as bits: actions 0 to 63, and from 64.
        self._low: Bits = np.zeros(num_games, np.uint64)
        self._high: Bits = np.zeros(num_games, np.uint64)

    @property
    def num_games(self) -> int:
        """Returns N."""
        return self._match.num_games

    # A batch of spaces holds bounds of every number: two kilobytes a game, which few ask for.
    @cached_property
    def observation_space(self) -> Space[Any]:
        """The space of all games' observations: uint8 [N, 512], [N, 640] or [N, 896]."""
        return batch_space(self.single_observation_space, self.num_games)

    @cached_property
    def action_space(self) -> Space[Any]:
        """The space of all games' actions: int64 [N]."""
        return batch_space(self.single_action_space, self.num_games)

    def reset(
        self,
        *,
        seed: int | None = None,
        hands: npt.ArrayLike | None = None,
        dealer: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
    ) -> StepResult:
        """Begins the next episode of every game, or with a seed its first.

        Hands, dealer and scores are those of the first deal of this episode: one value for all
        games, or a row for each game.

        Args:
            seed: seed of the deals from now on; None: the next episodes of the present seed.
            hands: four strings of digits ("11235578", ...) or kinds, int [4, 8]; or N such deals,
                kinds as int [N, 4, 8]; None: dealt.
            dealer: seat of the first dealer, or int [N]; None: drawn.
            scores: points of seats 0 and 2, and of seats 1 and 3, before the first round, multiples
                of ten below the rules' total: int [2], or int [N, 2]; None: 0.

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        self._match.reset(hands, dealer, scores, seed=seed)
        return self._turn(None)

    def step(self, actions: npt.ArrayLike) -> StepResult:
        """Makes one decision in every game.

        Args:
            actions: int [N], a legal action of each acting seat.

        Raises:
            EpisodeOverError: before the first reset.
            ActionError: if the actions have the wrong length, type or range.
            IllegalActionError: if one is illegal. All errors leave the games as they were.
        """
        chosen = self._check(actions)
        costs = core.costs(self._match.state, chosen)
        return self._turn(self._match.step(chosen), costs)

    def sample_legal(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draws an action for each acting seat, uniform over the legal ones: int64 [N].

        Args:
            rng: the source of randomness; one double is drawn for each game.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun("action")
        return sample_legal(self._low, self._high, rng)

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns the complete state, for centralised critics: uint8 [N, 704].

        With messages it is [N, 768]. A game's row is what the AEC environment's ``state()``
        returns.

        Raises:
            EpisodeOverError: before the first reset.
        """
        return packing.expand(self.packed_state())

    def packed_state(self) -> npt.NDArray[np.uint64]:
        """Returns ``state()`` packed, 64 bits a word, the first bit lowest: uint64 [N, 11].

        Words 0 to 3 are the plays of seats 0 to 3 as they themselves see them, 4 and 5 the public
        notes, 6 to 9 the seats' tiles, 10 the table as seat 0 sees it and the acting seat. Except
        for the acting seat, the bits of each are those of the observation's words
        (docs/observation.md). With messages, word 11 holds the messages of seats 0 to 3, three bits
        each, and in the next bit whether the acting seat sends one now.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun("state")
        return packing.pack_state(self._match.state)

    def save(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the state of the games as arrays that a file can hold; see ``restore``.

        They hold the hands of all seats and the keys of all deals to come.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun("save")
        return self._saved()

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> StepResult:
        """Continues saved games; returns their next decisions, with no rewards.

        Args:
            arrays: from ``save``, of as many games with the same rules and episode.

        Raises:
            SettingError: if arrays have other names, types or shapes; nothing has changed then.
        """
        match = self._match
        saved, expected = (
            {name: (array.dtype.name, array.shape) for name, array in source.items()}
            for source in (arrays, self._saved())
        )
        if saved != expected:
            raise SettingError(f"expected saved games as arrays {expected}, got {saved}")
        match.state = match.state.like(arrays["state"].copy())
        match.state.clock = int(arrays["clock"][0])
        match.keys, match.episodes = arrays["keys"].copy(), arrays["episodes"].copy()
        match.deals, match.redealt = arrays["deals"].copy(), NO_ROWS
        match.ready.clear()
        return self._turn(None)

    def _saved(self) -> dict[str, npt.NDArray[Any]]:
        match, state = self._match, self._match.state
        return {
            "state": state.data.copy(),
            "clock": np.array([state.clock]),
            "keys": match.keys.copy(),
            "episodes": match.episodes.copy(),
            "deals": match.deals.copy(),
        }

    def _check_begun(self, method: str) -> None:
        if self._steps < 0:
            raise EpisodeOverError(f"expected a reset before the first {method}")

    def _check(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Returns the actions as int64 [N] after a check; errors as ``step``."""
        self._check_begun("step")
        chosen = check_actions(actions, self.num_games)
        allowed = core.allowed(self._low, self._high, chosen)
        if np.count_nonzero(allowed) < self.num_games:
            game = int(allowed.argmin())
            legal = core.unpack_legal(self._low, self._high, self._num_actions)[game]
            seat = f" from seat {self._match.state.seat[game]}"
            raise illegal_action(int(chosen[game]), legal, seat, f" in game {game}")
        return chosen

    def _turn(self, outcome: Outcome | None, costs: Int | None = None) -> StepResult:
        self._steps += 1
        self._low, self._high = core.legal_actions(self._match.state)
        return StepResult(self, outcome, costs)
