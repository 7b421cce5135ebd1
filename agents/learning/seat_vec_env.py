"""Puts stock algorithms of stable-baselines3 on one seat among bots: a slot a game, no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from agents.learning.games_vec_env import GamesVecEnv
from goita_env import SeatVectorEnv
from goita_env.checks import check_reward_scale
from goita_env.errors import SettingError


class SeatVecEnv(GamesVecEnv):
    """Plays the N games of a ``SeatVectorEnv`` as the N slots of a ``VecEnv``.

    ``MaskablePPO("MlpPolicy", SeatVecEnv(games))`` trains as it is: masks come by ``action_masks``.

    The deals follow from ``seed`` alone. What an algorithm hands to ``VecEnv.seed`` doesn't reach
    them: ``MaskablePPO.load`` hands over the seed of the first run again, and a resumed run would
    begin with the deals that it has learned from already.

    Args:
        games: a ``SeatVectorEnv`` in SAME_STEP mode, which is what stable-baselines3 means, or
            gymnasium's vector wrappers around one.
        seed: of the deals and bots; None: fresh ones. Give a resumed run another one.
        reward_scale: a factor on every reward, above 0, beside that of the games. A value loss
            wants rewards of about 1; points are 10 to 150.

    Raises:
        SettingError: if the games are others or in another mode, or the factor is none.

    Attributes:
        games: the ``SeatVectorEnv``, without wrappers.
    """

    games: SeatVectorEnv

    def __init__(
        self,
        games: VectorEnv[Any, Any, Any],
        seed: int | None = None,
        reward_scale: float = 1.0,
    ) -> None:
        batch = games.unwrapped
        if not isinstance(batch, SeatVectorEnv):
            raise SettingError(f"expected a SeatVectorEnv, got {games!r}")
        if batch.autoreset_mode != AutoresetMode.SAME_STEP:
            raise SettingError(f"expected games in SAME_STEP mode, got {batch.autoreset_mode}")
        self._reward_scale = check_reward_scale(reward_scale)
        self.games = batch  # VecEnv's constructor already reads attributes of it
        self._wrapped, self._seed = games, seed
        super().__init__(games.num_envs, games.single_observation_space, games.single_action_space)

    def reset(self) -> Any:
        """Begins the next episode of every game and returns the observations: [N, ...]."""
        observation, info = self._wrapped.reset(seed=self._seed)
        self._seed = None  # from here on episodes follow one another
        self.reset_infos = self._infos(info)
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_wait(self) -> VecEnvStepReturn:
        """Makes the step.

        Returns:
            Observations, rewards float32 [N], dones bool [N], and a dict a game with what it
            skipped and, where an episode ended, ``terminal_observation``, points and winner.

        Raises:
            RuntimeError: if no actions were given.
        """
        observation, rewards, done, _, info = self._wrapped.step(self._take_actions())
        infos = self._infos(info)
        if done.any():
            final, last = info["final_obs"], info["final_info"]
            for game in np.flatnonzero(done).tolist():
                infos[game] |= {
                    "terminal_observation": {key: rows[game] for key, rows in final.items()}
                    if isinstance(final, dict)
                    else final[game],
                    "TimeLimit.truncated": False,
                    "points": int(last["points"][game]),
                    "winner": int(last["winner"][game]),
                }
        if self._reward_scale != 1:
            rewards = rewards * np.float32(self._reward_scale)
        return observation, rewards, done, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns what the learner may do in each game: bool [N, 69]."""
        return self.games.action_masks()

    def close(self) -> None:
        """Ends what bots run beside the games."""
        self._wrapped.close()

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Calls a method of the batch; ``action_masks`` gives a row a game, others one value.

        Raises:
            AttributeError: if there is none of this name.
        """
        rows = self._numbers(indices)
        if method_name == "action_masks":
            return list(self.action_masks()[rows])
        value = getattr(self.games, method_name)(*method_args, **method_kwargs)
        return [value] * len(rows)

    def _infos(self, info: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns a dict a game, filled where deals were skipped."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(info["skipped"]).tolist():
            infos[game] = {
                "skipped": int(info["skipped"][game]),
                "skipped_points": int(info["skipped_points"][game]),
            }
        return infos
