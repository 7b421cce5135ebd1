"""Trains one seat among bots: ``goita/Seat-v0`` for gymnasium, many games at once or one.

::

    gymnasium.make_vec("goita/Seat-v0", num_envs=1024, partner="random", opponents="random")
    gymnasium.make("goita/Seat-v0", partner="random", opponents="random")

| what | |
|---|---|
| the learner | sits in a seat drawn for each episode, in ``seat=0..3``, or in both of a team |
| the others | texts that ``load_agent`` takes, or objects with ``act(view, legal, rng)`` |
| observation | uint8 [512] (docs/observation.md), or a Dict of it and the mask |
| action space | ``Discrete(69)``, see ``goita_env.actions`` |
| reward | what the learner's team got since its last decision: points, or +1 / -1 at the end |
| information | shown tiles and messages; it may change the sizes above |
| scale | ``reward_scale=0.02`` makes of points what a value loss likes |
| mask | ``info["action_mask"]`` int8, ``action_masks()`` bool; all ones after the end |
| illegal action | forfeits the episode: -100 points (``win``: -1) |

docs/one_seat.md lists all: every argument, every key of ``info``, the three autoreset modes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Literal, TypedDict

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from goita_env import checks
from goita_env.agent import uniform
from goita_env.engine.episodes import Episode, Reward
from goita_env.engine.state import NO_ROWS
from goita_env.envs.bots import Named, Opponents
from goita_env.envs.seat_games import Seat, SeatedGames, SeatStep
from goita_env.errors import EpisodeOverError, SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules
from goita_env.views import observation as packing
from goita_env.worlds import Positions

Form = Literal["flat", "dict"]
FORMS: Final = ("flat", "dict")

DEAL_OPTIONS: Final = ("hands", "dealer", "scores")


def check_form(form: Form) -> Form:
    """Returns a form of observations; a SettingError if there is no such form."""
    if form not in FORMS:
        raise SettingError(f"expected an observation of {FORMS}, got {form!r}")
    return form


class SeatSettings(TypedDict, total=False):
    """The settings that one game and a batch share; see ``SeatVectorEnv``."""

    rules: str | Rules
    episode: Episode
    reward: Reward
    reward_scale: float
    seat: Seat
    partner: Named | None
    opponents: Opponents
    observation: Form
    keys: tuple[str, str]
    information: InformationStructure


class SeatVectorEnv(VectorEnv[Any, npt.NDArray[Any], npt.NDArray[Any]]):
    """N games with a learner among bots, as a ``gymnasium.vector.VectorEnv``.

    Args:
        num_envs: N.
        rules: a rule set or its name: "jga", "pagat", "nine".
        episode: "round" (ends with the first scored round) or "match" (ends at the rules' total).
        reward: "points" or "win".
        reward_scale: a factor on every reward, above 0; points in ``info`` stay points.
        seat: the learner's: 0 to 3; None: drawn for each episode; "team": both of a drawn team.
        partner: the bot opposite; by default "random", or with ``seat="team"`` None.
        opponents: the bots of the other team: one bot, or a pair of them (seat after, seat before).
        observation: "flat" or "dict".
        keys: names of observation and mask in a Dict.
        autoreset_mode: SAME_STEP, NEXT_STEP or DISABLED, also as text ("SameStep").
        render_mode: None; a batch is not drawn.
        information: shown tiles and messages (``goita_env.InformationStructure``). Bots must know
            the actions of messages, if there are any.

    Raises:
        SettingError: if a setting is outside its choices.

    Attributes:
        autoreset_mode: as above, as an ``AutoresetMode``; also in ``metadata``.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (gymnasium declares it so)

    def __init__(
        self,
        num_envs: int = 1,
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
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: None = None,
        information: InformationStructure = PLAIN,
    ) -> None:
        self.closed = True  # there is nothing to close yet, should a setting be refused
        check_form(observation)
        if len(keys) != 2 or len({*keys}) != 2:
            raise SettingError(f"expected two keys, of observation and mask, got {keys!r}")
        self._reward_scale = checks.check_reward_scale(reward_scale)
        if render_mode is not None:
            raise SettingError(f"expected no render_mode for a batch, got {render_mode!r}")
        if partner is not None and seat == "team":
            raise SettingError(f"expected no partner where the learner plays both, got {partner!r}")
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        partner = "random" if partner is None and seat != "team" else partner
        self._games = SeatedGames(
            num_envs,
            rules,
            episode,
            reward,
            seat,
            partner,
            opponents,
            again=self._again,
            information=information,
        )
        self.closed = False
        self.num_envs = int(num_envs)
        self._team = seat == "team"
        self._keys = None if observation == "flat" else (keys[0], keys[1])
        self._num_actions = information.num_actions
        flat = Box(0, 1, (information.observation_size,), np.uint8)
        mask = Box(0, 1, (self._num_actions,), np.int8)
        self.single_observation_space: Space[Any] = (
            flat if self._keys is None else Dict({keys[0]: flat, keys[1]: mask})
        )
        self.single_action_space: Space[Any] = Discrete(self._num_actions)

    # Gymnasium declares them as attributes.
    @cached_property
    def observation_space(self) -> Space[Any]:  # type: ignore[override]
        """The space of all games' observations."""
        return batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> Space[Any]:  # type: ignore[override]
        """The space of all games' actions."""
        return batch_space(self.single_action_space, self.num_envs)

    def set_opponents(
        self, opponents: Opponents | None = None, partner: Named | None = None
    ) -> None:
        """Chooses the bots from each game's next deal on; None leaves them as they are.

        Raises:
            SettingError: if one is not a bot, or there is no partner. Nothing has changed then.
        """
        if partner is not None and self._team:
            raise SettingError(f"expected no partner where the learner plays both, got {partner!r}")
        self._games.bots.set(partner, opponents)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins the next episode of every game, or with a seed its first.

        Args:
            seed: of deals, seats and bots: game i has the same in a batch of any size. None: the
                next episodes of the present seed, or seed 0 the first time.
            options: "hands", "dealer", "scores" of the first deals, as ``GoitaVectorEnv.reset``
                takes them; "reset_mask" (bool [N]): the games that begin anew, to which the three
                others apply then. It is not changed.

        Returns:
            Observations and info of all games.

        Raises:
            SettingError, HandsError: if one of them is impossible; nothing has changed then.
        """
        deal_options = checks.check_options(options, (*DEAL_OPTIONS, "reset_mask"))
        rows = None
        if "reset_mask" in deal_options:
            mask = np.asarray(deal_options.pop("reset_mask"))
            is_mask = mask.shape == (self.num_envs,) and mask.dtype == np.bool_
            if not is_mask or not mask.any():
                all_false = ", all False" if is_mask else ""
                raise SettingError(
                    f"expected a reset_mask of shape ({self.num_envs},) and type bool, one True at "
                    f"least, got {checks.describe(mask)}{all_false}"
                )
            rows = mask.nonzero()[0]
        result = self._games.reset(seed, rows, **deal_options)
        return self._observation(self._games.words), self._info(result)

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Makes the learner's decision in every game and plays on to its next one.

        Args:
            actions: int [N]; those of games whose episode ended in the last step are ignored
                (NEXT_STEP: their next episodes begin).

        Returns:
            Observations, rewards float32 [N], terminations bool [N], truncations (all False), info.

        Raises:
            EpisodeOverError: before the first reset, or (DISABLED) where an episode is over.
            ActionError: if the actions have the wrong length, type or range. Both errors leave the
                games as they were. Errors of bots come through, and then a reset must follow.
        """
        games = self._games
        if not games.has_begun:
            raise EpisodeOverError("expected a reset before the first step")
        chosen = checks.check_actions(actions, self.num_envs)
        fresh = games.over.nonzero()[0]
        if len(fresh) and self.autoreset_mode == AutoresetMode.DISABLED:
            raise EpisodeOverError(
                f"expected a reset with options={{'reset_mask': ...}} after the end, got a step "
                f"with game {int(fresh[0])} over"
            )
        is_legal, lost = checks.are_legal(chosen, games.legal), NO_ROWS
        if not is_legal.all():  # never where the episode is over: all is legal there
            inside = (chosen >= 0) & (chosen < self._num_actions)
            if not inside.all():
                game = int(inside.argmin())
                source, place = " from the learner", f" in game {game}"
                raise checks.illegal_action(int(chosen[game]), games.legal[game], source, place)
            lost = (~is_legal).nonzero()[0]
        rows = (is_legal & ~games.over).nonzero()[0]
        result = games.step(rows, chosen[rows], lost, fresh)
        if self._reward_scale != 1:
            result.reward *= self._reward_scale
        info = self._info(result)
        observation = self._observation(games.words)
        return observation, result.reward, result.done, np.zeros(self.num_envs, bool), info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Returns the learner's legal actions, all True after the end: bool [N, 69], or [N, 77]."""
        return self._games.legal.copy()

    def sample_legal(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draws an action for each game, uniform over the legal ones: int64 [N]."""
        return uniform(self._games.legal, rng.random(self.num_envs))

    @property
    def has_begun(self) -> bool:
        """Tells whether there has been a reset."""
        return self._games.has_begun

    @property
    def over(self) -> bool:
        """Tells whether every episode is over, after a reset."""
        return self._games.has_begun and bool(self._games.over.all())

    def positions(self) -> Positions:
        """Returns all positions with all hands known: for drawings and studies, not for play."""
        return self._games.positions()

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the processes of bots that were named by texts."""
        self._games.bots.close()

    @property
    def _again(self) -> bool:
        return self.autoreset_mode == AutoresetMode.SAME_STEP

    def _observation(self, words: packing.Words, legal: npt.NDArray[np.bool_] | None = None) -> Any:
        """Returns new arrays; ``legal``: [n, A], None: of all games."""
        flat = packing.expand(words)
        if self._keys is None:
            return flat
        legal = self._games.legal if legal is None else legal
        return {self._keys[0]: flat, self._keys[1]: legal.astype(np.int8)}

    def _info(self, result: SeatStep) -> dict[str, Any]:
        """Returns the values of all games by key, and as "_" + key in which games they hold."""
        all_games = np.ones(self.num_envs, bool)
        games = self._games
        info: dict[str, Any] = {
            "action_mask": games.legal.astype(np.int8),
            "seat": games.seat.astype(np.int8),
            "skipped": result.skipped,
            "skipped_points": result.skipped_points,
        }
        always_valid = [*info]
        if result.done.any():
            last = {"points": result.points, "winner": result.winner, "rewards": result.rewards}
            if self._again:
                all_legal = np.ones((self.num_envs, self._num_actions), bool)
                info["final_obs"] = self._observation(result.words, all_legal)
                last |= {"action_mask": all_legal.view(np.int8), "seat": result.seat}
                info["final_info"] = last | {f"_{key}": result.done.copy() for key in last}
            else:
                info |= last
        return info | {
            f"_{key}": (all_games if key in always_valid else result.done).copy() for key in info
        }


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError as error:
        modes = [mode_value.value for mode_value in AutoresetMode]
        raise SettingError(f"expected an autoreset_mode of {modes}, got {mode!r}") from error
