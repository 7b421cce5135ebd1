"""Holds what the AEC environments of PettingZoo share: spaces, rewards, the end, the wrapper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper
from pettingzoo.utils.wrappers import BaseWrapper

from goita_env.checks import check_options
from goita_env.errors import ActionError, EpisodeOverError, IllegalActionError, SettingError
from goita_env.render import RenderMode, check_render_mode

Observation: TypeAlias = dict[str, npt.NDArray[Any]]

_CONFORMANCE_KEY: Final = "options"
"""PettingZoo's conformance tests hand over ``{"options": 1}``, to see that options are taken."""


class SeatedEnv(AECEnv[str, Any, int | None]):
    """An environment of agents ``player_0``, ... in turn order; one acts at a time.

    Args:
        num_seats: number of agents.
        observation: space of an observation.
        num_actions: actions from 0 on.
        render_mode: one of ``RENDER_MODES``, or None.
        flat: observations come without the mask, which is in ``infos`` then.
    """

    def __init__(
        self,
        num_seats: int,
        observation: Box,
        num_actions: int,
        render_mode: RenderMode | None,
        flat: bool = False,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(num_seats)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self._flat, mask = flat, Box(0, 1, (num_actions,), np.int8)
        self._observation_spaces: dict[str, Space[Any]] = {
            agent: observation if flat else Dict({"observation": observation, "action_mask": mask})
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: Discrete(num_actions) for agent in self.possible_agents}
        self._has_reset = False

    def observation_space(self, agent: str) -> Space[Any]:
        """Returns the space of an agent's observations; a SettingError for other names."""
        self._seat(agent)
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Returns the space of an agent's actions; a SettingError for other names."""
        self._seat(agent)
        return self._action_spaces[agent]

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns observation, reward since its last step, and the flags of ``agent_selection``.

        Raises:
            EpisodeOverError: before the first reset, and after the last step of all agents.
        """
        self._check_running("a call of last()")
        return super().last(observe)

    def forfeit(self) -> None:
        """Ends the episode against ``agent_selection``, as after an illegal action.

        Raises:
            EpisodeOverError: before the first reset, and after the end.
        """
        self._check_running("a forfeit")
        self._begin_rewards()
        self._reward(self._forfeited(self._seats[self.agent_selection]))
        self._end()

    def close(self) -> None:
        """Does nothing: there is no window."""

    def _forfeited(self, offender: int) -> Iterable[float]:
        """Returns the reward of each seat when ``offender`` forfeits."""
        raise NotImplementedError

    def _begin(self) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._has_reset = True

    def _seat(self, agent: object) -> int:
        """Returns the seat of an agent; a SettingError for other names."""
        if not isinstance(agent, str) or agent not in self._seats:
            raise SettingError(f"expected an agent of {self.possible_agents}, got {agent!r}")
        return self._seats[agent]

    def _deal_options(self, options: dict[str, Any] | None, *names: str) -> dict[str, Any]:
        if isinstance(options, dict):
            options = {key: value for key, value in options.items() if key != _CONFORMANCE_KEY}
        return check_options(options, names)

    def _check_begun(self, what: str) -> None:
        if not self._has_reset:
            raise EpisodeOverError(f"expected a reset before the first {what}")

    def _check_running(self, came: str) -> None:
        if not self.agents:
            what = "after the end of the episode" if self._has_reset else "before the first reset"
            raise EpisodeOverError(f"expected a reset, got {came} {what}")

    def _leaves(self, action: int | None) -> bool:
        """Tells whether the agent was at the end; a step with None then removes it."""
        self._check_running(f"a step with {action!r}")
        agent = self.agent_selection
        if not self.terminations[agent]:
            return False
        if action is not None:
            raise EpisodeOverError(f"expected None from {agent} after the end, got {action!r}")
        self._was_dead_step(None)
        return True

    def _begin_rewards(self) -> None:
        """Begins a step's rewards; the acting agent has seen its former ones."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()

    def _reward(self, gains: Iterable[float]) -> None:
        self.rewards = dict(zip(self.possible_agents, gains, strict=True))
        self._accumulate_rewards()

    def _end(self) -> None:
        """Terminates all agents; each then takes one step with None."""
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()


class ForfeitWrapper(BaseWrapper[str, Any, int | None]):
    """A wrapper that ends the episode on an illegal action: the offender's side pays.

    PettingZoo's own wrapper punishes the offender only, which breaks the zero sum.
    """

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Returns what ``raw_env.last`` does, with its errors."""
        return self.env.last(observe)

    def step(self, action: int | None) -> None:
        """Makes the decision; an illegal one forfeits the episode instead of raising."""
        try:
            self.env.step(action)
        except IllegalActionError:
            cast(SeatedEnv, self.env.unwrapped).forfeit()


class AllAct(turn_based_aec_to_parallel_wrapper[str, Any, Any]):
    """A wrapper that takes actions of all agents; only the acting seat's action counts."""

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Makes the decision of the acting agent.

        Raises:
            EpisodeOverError: before the first reset.
            ActionError: if its action is missing. Both errors leave the game as it was.
        """
        cast(SeatedEnv, self.unwrapped)._check_begun("step")
        if self.agents and (agent := self.aec_env.agent_selection) not in actions:
            raise ActionError(f"expected an action of {agent!r}, got those of {[*actions]!r}")
        return super().step(actions)  # type: ignore[no-untyped-call]
