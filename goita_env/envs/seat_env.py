"""Plays one game with a learner among bots, as a ``gymnasium.Env``: for reading and checking.

It is a batch of one (``seat_vector_env``); a batch of a thousand takes hardly longer.
"""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode

from goita_env.checks import check_action, check_options, check_seed
from goita_env.envs.bots import Named, Opponents
from goita_env.envs.seat_vector_env import DEAL_OPTIONS, SeatSettings, SeatVectorEnv
from goita_env.errors import EpisodeOverError
from goita_env.render import RENDER_MODES, RenderMode, check_render_mode, frame


class SeatEnv(gymnasium.Env[Any, int]):
    """A single game with a learner among bots.

    Args:
        render_mode: as ``goita_v0.env`` takes it; the full table is drawn, hidden hands included.
        settings: as ``SeatVectorEnv`` takes them.

    Raises:
        SettingError: if a setting is outside its choices.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (gymnasium declares it so)
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
    }

    def __init__(
        self, *, render_mode: RenderMode | None = None, **settings: Unpack[SeatSettings]
    ) -> None:
        check_render_mode(render_mode)
        self.render_mode = self._mode = render_mode
        self._batch = SeatVectorEnv(1, autoreset_mode=AutoresetMode.DISABLED, **settings)
        self.observation_space: Space[Any] = self._batch.single_observation_space
        self.action_space: Space[Any] = self._batch.single_action_space

    def set_opponents(
        self, opponents: Opponents | None = None, partner: Named | None = None
    ) -> None:
        """Chooses the bots from the next deal on, as ``SeatVectorEnv.set_opponents``."""
        self._batch.set_opponents(opponents, partner)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins the next episode, with a seed the first of that seed, and plays to a decision.

        Args:
            seed: of deals, seats and bots.
            options: "hands", "dealer", "scores" of the first deal, as the other environments take
                them.

        Raises:
            SettingError, HandsError: if one of them is impossible; nothing has changed then.
        """
        deal_options = check_options(options, DEAL_OPTIONS)
        seed = None if seed is None else check_seed(seed)
        if seed is None and not self._batch.has_begun:
            seed = int(self.np_random.integers(1 << 63))
        observation, info = self._batch.reset(seed=seed, options=deal_options)
        super().reset(seed=seed)
        if self.render_mode == "human":
            self.render()
        return _first_game(observation), _first_info(info)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Makes the learner's decision and plays on to its next one, or to the end.

        Returns:
            Observation, reward, whether the episode ended, False, info.

        Raises:
            EpisodeOverError: before the first reset, or after the end.
            ActionError: as ``SeatVectorEnv.step``.
        """
        check_action(action, self._batch._num_actions)
        if self._batch.over:
            raise EpisodeOverError("expected a reset with the episode over, got a step")
        observation, reward, is_over, _, info = self._batch.step(np.array([action]))
        if self.render_mode == "human":
            self.render()
        return (
            _first_game(observation),
            float(reward[0]),
            bool(is_over[0]),
            False,
            _first_info(info),
        )

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns the learner's legal actions, all True after the end: bool [69], or [77]."""
        return np.asarray(self._batch.action_masks()[0])

    def render(self) -> Any:
        """Draws the full table, as ``goita_v0.env`` does: returns it, or prints it ("human")."""
        return frame(self._batch.positions(), self._mode) if self._batch.has_begun else None

    def close(self) -> None:
        """Ends the processes of bots that were named by texts."""
        self._batch.close()


def _first_game(observation: Any) -> Any:
    if isinstance(observation, dict):
        return {key: rows[0] for key, rows in observation.items()}
    return observation[0]


def _first_info(info: dict[str, Any]) -> dict[str, Any]:
    """Returns the info of a batch of one for its game, numbers as Python's."""
    return {
        key: rows[0] if rows.ndim > 1 else rows[0].item()
        for key, rows in info.items()
        if not key.startswith("_")
    }
