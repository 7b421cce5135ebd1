"""Gives stable-baselines3 the vector environment itself: a slot a game, no Python loop over games.

A slot shows the position of whichever seat is asked in its game, so two steps of a slot in a row
belong to two seats. Tools that only watch (monitors, masks, random play) can use the ``VecEnv``
contract as it is; learning must follow the seats, which ``SelfPlayPPO`` does through ``turn``.
Stock algorithms run on it too, but credit one seat with the next one's fortune, so the first step
by the contract warns: for them there is ``SeatVecEnv``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from agents.learning.games_vec_env import GamesVecEnv
from goita_env import GoitaVectorEnv
from goita_env.envs.vector import Turn

RESET_OPTIONS: Final = ("hands", "dealer", "scores")


class GoitaVecEnv(GamesVecEnv):
    """Plays N games as the N slots of a ``VecEnv``.

    A slot's reward is that of the seat that just decided; ``turn.reward`` and, at the end of an
    episode, ``infos[i]["rewards"]`` hold all four seats'. An episode that ends is replaced in the
    same step. Nobody is asked after the end, so ``terminal_observation`` is all zero.

    Args:
        games: the games.

    Attributes:
        turn: what the games ask now, with the rewards of the last step.
    """

    games: GoitaVectorEnv
    turn: Turn

    def __init__(self, games: GoitaVectorEnv) -> None:
        self.games = games  # VecEnv's constructor already reads attributes of it
        self._warned = False
        space = games.single_observation_space
        self._after_the_end = np.zeros(space.shape, space.dtype)
        self._after_the_end.flags.writeable = False
        super().__init__(games.num_games, space, games.single_action_space)

    # ------------------------------------------------------------------------ what learning uses

    def begin(self) -> Turn:
        """Begins the next episode of every game, with the seed and options set since the last."""
        if self._seeds[0] is not None:
            self.games.seed(self._seeds[0])
        self.turn = self.games.reset(**{key: self._option(key) for key in RESET_OPTIONS})
        self._reset_seeds()
        self._reset_options()
        return self.turn

    def advance(self, actions: npt.NDArray[np.int64]) -> Turn:
        """Makes one decision in every game; ``actions``: int [N], legal ones."""
        self.turn = self.games.step(actions)
        return self.turn

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> Turn:
        """Goes on where ``games`` were saved, as ``GoitaVectorEnv.restore`` does."""
        self.turn = self.games.restore(arrays)
        self._reset_seeds()
        return self.turn

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns what each asked seat may do: bool [N, 69]."""
        return self.turn.action_mask

    # ------------------------------------------------------------------------ the VecEnv contract

    def reset(self) -> npt.NDArray[np.uint8]:
        """Begins the next episode of every game and returns the observations: uint8 [N, 512]."""
        self.begin()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.turn.observation

    def step_wait(self) -> VecEnvStepReturn:
        """Makes the step.

        Returns:
            Observations uint8 [N, 512] of the seats asked now, rewards float32 [N] of the seats
            that decided, dones bool [N], and a dict a game, filled where an episode ended.

        Raises:
            RuntimeError: if no actions were given.
            ActionError, IllegalActionError: if they are wrong; nothing has changed then.
        """
        actions = self._take_actions()
        if not self._warned:
            self._warned = True
            warnings.warn(
                "steps of a GoitaVecEnv in a row are of different seats, which a stock algorithm "
                "takes for one player's: learn with SelfPlayPPO, or on a SeatVecEnv",
                stacklevel=2,
            )
        movers = self.turn.seat
        turn = self.advance(actions)
        infos: list[dict[str, Any]] = [{}] * self.num_envs  # one dict for all that go on
        for game in np.flatnonzero(turn.done).tolist():
            infos[game] = {
                "terminal_observation": self._after_the_end,
                "TimeLimit.truncated": False,
                "rewards": turn.reward[game],
                "points": int(turn.points[game]),
                "winner": int(turn.winner[game]),
            }
        rewards = turn.reward[np.arange(self.num_envs), movers]
        return turn.observation, rewards, turn.done, infos

    def close(self) -> None:
        """Does nothing: no resources are held."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of some games: one value, the batch's, for each.

        Raises:
            AttributeError: if there is none of this name.
        """
        if attr_name == "render_mode":
            return [None] * len(self._numbers(indices))
        return super().get_attr(attr_name, indices)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Calls a method of some games; the one there is, ``action_masks``, gives their rows.

        Raises:
            AttributeError: for any other method, since games have none of their own.
        """
        if method_name != "action_masks":
            raise AttributeError(f"expected the method 'action_masks', got {method_name!r}")
        return list(self.action_masks()[self._numbers(indices)])

    # ------------------------------------------------------------------------------------ helpers

    def _option(self, key: str) -> npt.NDArray[np.int64] | None:
        """Returns a reset option stacked over the games, None where no game has it.

        Raises:
            ValueError: if only some games have it, or a game has an unknown option.
        """
        unknown = {name for options in self._options for name in options} - set(RESET_OPTIONS)
        if unknown:
            raise ValueError(f"expected reset options of {RESET_OPTIONS}, got {sorted(unknown)!r}")
        given = [options[key] for options in self._options if key in options]
        if given and len(given) != self.num_envs:
            raise ValueError(f"expected {key!r} for all games or none, got it for {len(given)}")
        return np.array(given) if given else None
