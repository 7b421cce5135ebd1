"""What a ``VecEnv`` of stable-baselines3 is asked of its slots, where one batch holds all games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices


class GamesVecEnv(VecEnv):
    """Answers for slots that are the games of one batch; subclasses reset and step it.

    Attributes:
        games: the batch.
    """

    games: Any
    _actions: npt.NDArray[np.int64] | None = None

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Takes the actions of the next step: int [N]."""
        self._actions = actions

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of some games: one value, the batch's, for each.

        Raises:
            AttributeError: if there is none of this name.
        """
        value = getattr(self if attr_name == "action_masks" else self.games, attr_name)
        return [value] * len(self._numbers(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute of the batch.

        Raises:
            ValueError: if it is meant for some of the games only.
        """
        if len(self._numbers(indices)) != self.num_envs:
            raise ValueError(f"expected to set {attr_name!r} for all games, got {indices!r}")
        setattr(self.games, attr_name, value)

    def env_is_wrapped(
        self,
        wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]],
        indices: VecEnvIndices = None,
    ) -> list[bool]:
        """Returns False for each game."""
        return [False] * len(self._numbers(indices))

    def get_images(self) -> Sequence[None]:
        """Returns no pictures."""
        return [None] * self.num_envs

    def _take_actions(self) -> npt.NDArray[np.int64]:
        """Returns the actions that ``step_async`` took, once.

        Raises:
            RuntimeError: if no actions were given.
        """
        if self._actions is None:
            raise RuntimeError("expected step_async before step_wait")
        actions, self._actions = self._actions, None
        return actions

    def _numbers(self, indices: VecEnvIndices) -> npt.NDArray[np.int64]:
        """Returns the numbers of the games meant by indices."""
        return np.arange(self.num_envs)[list(self._get_indices(indices))]
