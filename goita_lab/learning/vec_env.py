"""Runs vector environments as the ``VecEnv`` of stable-baselines3: one slot a game, no loop.

``SelfPlayVecEnv`` is for ``SelfPlayPPO``: a slot shows the position of the acting seat of its game,
so consecutive steps belong to different seats. ``SeatVecEnv`` is for stock algorithms: a slot
is one learner's seat among bots.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from goita_env import GoitaVectorEnv, SeatVectorEnv
from goita_env.envs.vector import StepResult
from goita_env.errors import SettingError


class _BatchVecEnv(VecEnv):
    """The access to single slots for games that are one batch."""

    games: Any
    render_mode: str | None = None
    _actions: npt.NDArray[np.int64]

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns the legal actions of each game: bool [N, 69]."""
        raise NotImplementedError

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Takes the actions of the next step: int [N]."""
        self._actions = actions

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Returns an attribute of the batch, once for each of some games."""
        owner = self if attr_name in ("action_masks", "render_mode") else self.games
        return [getattr(owner, attr_name)] * len(self._numbers(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Sets an attribute of the batch; a ValueError if meant for some of the games only."""
        if len(self._numbers(indices)) != self.num_envs:
            raise ValueError(f"expected to set {attr_name!r} for all games, got {indices!r}")
        setattr(self.games, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Calls a method of the batch; ``action_masks`` gives a row a game, others one value."""
        rows = self._numbers(indices)
        if method_name == "action_masks":
            return list(self.action_masks()[rows])
        return [getattr(self.games, method_name)(*method_args, **method_kwargs)] * len(rows)

    def env_is_wrapped(
        self,
        wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]],
        indices: VecEnvIndices = None,
    ) -> list[bool]:
        """Returns False for each game."""
        return [False] * len(self._numbers(indices))

    def close(self) -> None:
        """Does nothing: no resources are held."""

    def _numbers(self, indices: VecEnvIndices) -> npt.NDArray[np.int64]:
        return np.arange(self.num_envs)[list(self._get_indices(indices))]


class SelfPlayVecEnv(_BatchVecEnv):
    """N games as the N slots of a ``VecEnv``, all four seats in each.

    Learning must follow the seats, as ``SelfPlayPPO`` does through ``turn`` and ``advance``. A
    stock algorithm would credit one seat with the next seat's rewards, so a step by the contract
    raises.

    Attributes:
        turn: what the games ask now, with the rewards of the last step.
    """

    games: GoitaVectorEnv
    turn: StepResult

    def __init__(self, games: GoitaVectorEnv) -> None:
        self.games = games  # VecEnv's constructor already reads attributes of it
        super().__init__(games.num_games, games.single_observation_space, games.single_action_space)

    def begin(self) -> StepResult:
        """Begins the next episode of every game, with the seed set since the last."""
        self.turn = self.games.reset(seed=self._seeds[0])
        self._reset_seeds()
        return self.turn

    def advance(self, actions: npt.NDArray[np.int64]) -> StepResult:
        """Makes one decision in every game; ``actions``: int [N], legal ones."""
        self.turn = self.games.step(actions)
        return self.turn

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> StepResult:
        """Continues where ``games`` were saved, as ``GoitaVectorEnv.restore`` does."""
        self.turn = self.games.restore(arrays)
        self._reset_seeds()
        return self.turn

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns the legal actions of each acting seat: bool [N, 69]."""
        return self.turn.action_mask

    def reset(self) -> npt.NDArray[np.uint8]:
        """Begins the next episode of every game and returns the observations: uint8 [N, 512]."""
        self.begin()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.turn.observation

    def step_wait(self) -> VecEnvStepReturn:
        """Raises: no algorithm of one player can learn from these steps."""
        raise RuntimeError(
            "expected SelfPlayPPO, since consecutive steps of a SelfPlayVecEnv are of different "
            "seats; a stock algorithm takes a SeatVecEnv"
        )


class SeatVecEnv(_BatchVecEnv):
    """The N games of a ``SeatVectorEnv`` as the N slots of a ``VecEnv``.

    ``MaskablePPO("MlpPolicy", SeatVecEnv(games))`` trains as it is: masks come by ``action_masks``.

    The deals follow only from ``seed``, not from ``VecEnv.seed``: ``MaskablePPO.load`` passes the
    first run's seed to it again, and a resumed run would repeat the deals that it has learnt from.

    Args:
        games: a ``SeatVectorEnv`` in SAME_STEP mode, which is what stable-baselines3 means, or
            gymnasium's vector wrappers around one.
        seed: of the deals and bots; give a resumed run another one. None: one is drawn, not 0 as
            in other batches. What stable-baselines3 saves of a run does not include its deals, so
            with a fixed default a loaded run would repeat those that it has learnt from.

    Raises:
        SettingError: if the games are others or in another mode.
    """

    games: SeatVectorEnv  # without wrappers

    def __init__(self, games: VectorEnv[Any, Any, Any], seed: int | None = None) -> None:
        batch = games.unwrapped
        if not isinstance(batch, SeatVectorEnv):
            raise SettingError(f"expected a SeatVectorEnv, got {games!r}")
        if batch.autoreset_mode != AutoresetMode.SAME_STEP:
            raise SettingError(f"expected games in SAME_STEP mode, got {batch.autoreset_mode}")
        self.games = batch  # VecEnv's constructor already reads attributes of it
        self._wrapped = games
        self._seed: int | None = secrets.randbits(63) if seed is None else seed
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
        """
        observation, rewards, done, _, info = self._wrapped.step(self._actions)
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
        return observation, rewards, done, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns the learner's legal actions in each game: bool [N, 69]."""
        return self.games.action_masks()

    def close(self) -> None:
        """Ends the processes of bots."""
        self._wrapped.close()

    def _infos(self, info: dict[str, Any]) -> list[dict[str, Any]]:
        """Returns a dict a game, filled where deals were skipped."""
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(info["skipped"]).tolist():
            infos[game] = {
                "skipped": int(info["skipped"][game]),
                "skipped_points": int(info["skipped_points"][game]),
            }
        return infos
