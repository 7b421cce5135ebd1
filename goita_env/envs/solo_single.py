"""Plays one game with a learner among bots, as a ``gymnasium.Env``: for reading and checking.

It is a batch of one (``solo``), so a thousand games side by side take hardly longer.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode

from goita_env.checks import check_action, check_options, check_seed
from goita_env.engine.match import Episode
from goita_env.envs.bots import Named, Opponents
from goita_env.envs.solo import GIVEN, Form, Illegal, SeatVectorEnv
from goita_env.envs.table import Seat
from goita_env.envs.vector import Reward
from goita_env.render import RENDER_MODES, RenderMode, check_render_mode, frame
from goita_env.rules import Rules


class SeatEnv(gymnasium.Env[Any, int]):
    """Plays one game with a learner among bots: the game 0 of a batch.

    Args:
        rules, episode, reward, reward_scale, seat, partner, opponents, observation, keys, illegal:
            as ``SeatVectorEnv`` takes them.
        render_mode: as ``goita_v0.env`` takes it; the whole table is drawn.

    Raises:
        SettingError: if a setting is outside its choices.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (gymnasium declares it so)
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
    }
    _advised: ClassVar[bool] = False
    """The advice was given."""

    def __init__(
        self,
        *,
        rules: str | Rules = "jga",
        episode: Episode = "round",
        reward: Reward = "points",
        reward_scale: float = 1.0,
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
            reward_scale=reward_scale,
            seat=seat,
            partner=partner,
            opponents=opponents,
            observation=observation,
            keys=keys,
            illegal=illegal,
            autoreset_mode=AutoresetMode.DISABLED,
        )
        self._advise()
        self.observation_space: Space[Any] = self._batch.single_observation_space
        self.action_space: Space[Any] = self._batch.single_action_space

    def set_opponents(
        self, opponents: Opponents | None = None, partner: Named | None = None
    ) -> None:
        """Chooses who plays from the next deal on, as ``SeatVectorEnv.set_opponents``."""
        self._batch.set_opponents(opponents, partner)
        self._advise()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins the next episode, or with a seed its first, and plays on to the first decision.

        Args:
            seed: of deals, seats and bots.
            options: "hands", "dealer", "scores" of the first deal, as the other environments take
                them.

        Raises:
            SettingError, HandsError: if one of them is impossible; nothing has changed then.
        """
        given = check_options(options, GIVEN)
        seed = None if seed is None else check_seed(seed)
        if seed is None and not self._batch.begun:
            seed = int(self.np_random.integers(1 << 63))
        observation, info = self._batch.reset(seed=seed, options=given)
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

    def _advise(self) -> None:
        """Tells once in a process that many games at once are faster, if bots look at the table."""
        if SeatEnv._advised or not self._batch._table.bots.look:
            return
        SeatEnv._advised = True
        gymnasium.logger.warn(
            "goita/Seat-v0: one game asks its bots about one position at a time; "
            "gymnasium.make_vec('goita/Seat-v0', num_envs=1024, ...) asks them about many, and "
            "makes decisions far faster (docs/one_seat.md#speed)"
        )


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
