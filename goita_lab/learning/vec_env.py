"""Runs vector environments as the ``VecEnv`` of stable-baselines3: one slot a game, no loop.

``SelfPlayVecEnv`` is for ``SelfPlayPPO``: a slot shows the position of the acting seat of its game,
so consecutive steps belong to different seats. ``SeatVecEnv`` is for stock algorithms: a slot
is one learner's seat among bots.
"""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from goita_env import GoitaVectorEnv, SeatVectorEnv
from goita_env.checks import check_reward_scale
from goita_env.envs.vector import StepResult
from goita_env.errors import SettingError

RESET_OPTIONS: Final = ("hands", "dealer", "scores")


class _BatchVecEnv(VecEnv):
    """The access to single slots for games that are one batch."""

    games: Any
    render_mode: str | None = None
    _actions: npt.NDArray[np.int64] | None = None

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

    def _take_actions(self) -> npt.NDArray[np.int64]:
        if self._actions is None:
            raise RuntimeError("expected step_async before step_wait")
        actions, self._actions = self._actions, None
        return actions

    def _numbers(self, indices: VecEnvIndices) -> npt.NDArray[np.int64]:
        return np.arange(self.num_envs)[list(self._get_indices(indices))]


class SelfPlayVecEnv(_BatchVecEnv):
    """N games as the N slots of a ``VecEnv``, all four seats in each.

    Monitors, masks and random play can use the ``VecEnv`` contract as it is. Learning must follow
    the seats, as ``SelfPlayPPO`` does through ``turn``. A stock algorithm would credit one seat
    with the next seat's rewards, so the first step by the contract warns.

    A slot's reward is that of the seat that just decided; ``turn.reward`` and, at the end of an
    episode, ``infos[i]["rewards"]`` hold all four seats'. An episode that ends is replaced in the
    same step. Nobody is asked after the end, so ``terminal_observation`` is all zero.

    Attributes:
        turn: what the games ask now, with the rewards of the last step.
    """

    games: GoitaVectorEnv
    turn: StepResult

    def __init__(self, games: GoitaVectorEnv) -> None:
        self.games = games  # VecEnv's constructor already reads attributes of it
        self._warned = False
        space = games.single_observation_space
        self._after_the_end = np.zeros(space.shape, space.dtype)
        self._after_the_end.flags.writeable = False
        super().__init__(games.num_games, space, games.single_action_space)

    def begin(self) -> StepResult:
        """Begins the next episode of every game, with the seed and options set since the last."""
        given = {key: self._option(key) for key in RESET_OPTIONS}
        self.turn = self.games.reset(seed=self._seeds[0], **given)
        self._reset_seeds()
        self._reset_options()
        return self.turn

    def advance(self, actions: npt.NDArray[np.int64]) -> StepResult:
        """Makes one decision in every game; ``actions``: int [N], legal ones."""
        self.turn = self.games.step(actions)
        return self.turn

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> StepResult:
        """Goes on where ``games`` were saved, as ``GoitaVectorEnv.restore`` does."""
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
        """Makes the step.

        Returns:
            Observations uint8 [N, 512] of the seats asked now, rewards float32 [N] of the seats
            that decided, dones bool [N], and a dict a game, filled where an episode ended.

        Raises:
            ActionError, IllegalActionError: if actions are wrong; nothing has changed then.
        """
        actions = self._take_actions()
        if not self._warned:
            self._warned = True
            warnings.warn(
                "consecutive steps of a SelfPlayVecEnv are of different seats, which a stock "
                "algorithm takes for one player's: use SelfPlayPPO, or a SeatVecEnv",
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

    def _option(self, key: str) -> npt.NDArray[np.int64] | None:
        unknown = {name for options in self._options for name in options} - set(RESET_OPTIONS)
        if unknown:
            raise ValueError(f"expected reset options of {RESET_OPTIONS}, got {sorted(unknown)!r}")
        given = [options[key] for options in self._options if key in options]
        if given and len(given) != self.num_envs:
            raise ValueError(f"expected {key!r} for all games or none, got it for {len(given)}")
        return np.array(given) if given else None


class SeatVecEnv(_BatchVecEnv):
    """The N games of a ``SeatVectorEnv`` as the N slots of a ``VecEnv``.

    ``MaskablePPO("MlpPolicy", SeatVecEnv(games))`` trains as it is: masks come by ``action_masks``.

    The deals follow from ``seed`` alone, not from ``VecEnv.seed``: ``MaskablePPO.load`` passes the
    first run's seed to it again, and a resumed run would repeat the deals that it has learnt from.

    Args:
        games: a ``SeatVectorEnv`` in SAME_STEP mode, which is what stable-baselines3 means, or
            gymnasium's vector wrappers around one.
        seed: of the deals and bots; give a resumed run another one. None: one is drawn, not 0 as
            in other batches. What stable-baselines3 saves of a run tells nothing of its deals, so
            with a fixed default a loaded run would repeat those that it has learnt from.
        reward_scale: a factor on every reward, above 0, beside that of the games. A value loss
            wants rewards of about 1; points are 10 to 150.

    Raises:
        SettingError: if the games are others or in another mode, or the factor is not above 0.
    """

    games: SeatVectorEnv  # without wrappers

    def __init__(
        self, games: VectorEnv[Any, Any, Any], seed: int | None = None, reward_scale: float = 1.0
    ) -> None:
        batch = games.unwrapped
        if not isinstance(batch, SeatVectorEnv):
            raise SettingError(f"expected a SeatVectorEnv, got {games!r}")
        if batch.autoreset_mode != AutoresetMode.SAME_STEP:
            raise SettingError(f"expected games in SAME_STEP mode, got {batch.autoreset_mode}")
        self._reward_scale = check_reward_scale(reward_scale)
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
