"""Plays one game with a learner among bots, as a ``gymnasium.Env``: for reading and checking.

It is a batch of one (``solo``), so a thousand games side by side take hardly longer.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode

from goita_env.checks import check_action
from goita_env.engine.match import Episode
from goita_env.envs.bots import Named, Opponents
from goita_env.envs.solo import Form, Illegal, SeatVectorEnv
from goita_env.envs.table import Seat
from goita_env.envs.vector import Reward
from goita_env.render import RENDER_MODES, RenderMode, check_render_mode, frame
from goita_env.rules import Rules


class SeatEnv(gymnasium.Env[Any, int]):
    """Plays one game with a learner among bots: the game 0 of a batch.

    Args:
        rules, episode, reward, seat, partner, opponents, observation, keys, illegal: as
            ``SeatVectorEnv`` takes them.
        render_mode: as ``goita_v0.env`` takes it; the whole table is drawn.

    Raises:
        SettingError: if a setting is outside its choices.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (gymnasium declares it so)
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
    }

    def __init__(
        self,
        *,
        rules: str | Rules = "jga",
        episode: Episode = "round",
        reward: Reward = "points",
        seat: Seat = None,
        partner: Named | None = None,
        opponents: Opponents = "random",
        observation: Form = "flat",
        keys: tuple[str, str] = ("observation", "action_mask"),
        illegal: Illegal = "forfeit",
        render_mode: RenderMode | None = None,
    ) -> None:
        check_render_mode(render_mode)
        self.render_mode = self._mode = render_mode
        self._batch = SeatVectorEnv(
            1,
            rules=rules,
            episode=episode,
            reward=reward,
            seat=seat,
            partner=partner,
            opponents=opponents,
            observation=observation,
            keys=keys,
            illegal=illegal,
            autoreset_mode=AutoresetMode.DISABLED,
        )
        self.observation_space: Space[Any] = self._batch.single_observation_space
        self.action_space: Space[Any] = self._batch.single_action_space

    def set_opponents(
        self, opponents: Opponents | None = None, partner: Named | None = None
    ) -> None:
        """Chooses who plays from the next deal on, as ``SeatVectorEnv.set_opponents``."""
        self._batch.set_opponents(opponents, partner)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins the next episode, or with a seed its first, and plays on to the first decision.

        Args:
            seed: of deals, seats and bots.
            options: "hands", "dealer", "scores" of the first deal, as the other environments take
                them; others are ignored, as usual.

        Raises:
            SettingError, HandsError: if one of them is impossible; nothing has changed then.
        """
        options = {key: value for key, value in (options or {}).items() if key != "reset_mask"}
        if seed is None and not self._batch.begun:
            seed = int(self.np_random.integers(1 << 63))
        observation, info = self._batch.reset(seed=seed, options=options)
        super().reset(seed=seed)
        if self.render_mode == "human":
            self.render()
        return _one(observation), _told(info)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Makes the learner's decision and plays on until it is asked again, or to the end.

        Returns:
            Observation, reward, whether the episode ended, False, info.

        Raises:
            EpisodeOverError: before the first reset, or after the end.
            ActionError, IllegalActionError: as ``SeatVectorEnv.step``.
        """
        check_action(action)
        observation, reward, done, _, info = self._batch.step(np.array([action]))
        if self.render_mode == "human":
            self.render()
        return _one(observation), float(reward[0]), bool(done[0]), False, _told(info)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns what the learner may do, all True after the end: bool [69]."""
        masks: npt.NDArray[np.bool_] = self._batch.action_masks()[0]
        return masks

    def render(self) -> Any:
        """Draws the whole table, as ``goita_v0.env`` does: returns it, or prints it ("human")."""
        if not self._batch.begun:
            return None
        return frame(self._batch.positions()._state, self._mode)

    def close(self) -> None:
        """Ends what bots that were named by texts run beside the game."""
        self._batch.close()


def _one(observation: Any) -> Any:
    """Returns the only row of a batch of one."""
    if isinstance(observation, dict):
        return {key: rows[0] for key, rows in observation.items()}
    return observation[0]


def _told(info: dict[str, Any]) -> dict[str, Any]:
    """Returns what a batch of one tells of its game, numbers as Python's."""
    return {
        key: rows[0] if rows.ndim > 1 else rows[0].item()
        for key, rows in info.items()
        if not key.startswith("_")
    }
