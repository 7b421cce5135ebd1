"""Wraps one game as a PettingZoo AEC environment: ``goita_v0``.

| what | |
|---|---|
| agents | ``player_0`` .. ``player_3`` in turn order; partners are 0 and 2, 1 and 3 |
| action space | ``Discrete(69)``, see ``goita_env.actions`` |
| observation | ``{"observation": uint8 [512], "action_mask": int8 [69]}`` (docs/observation.md) |
| state | uint8 [704]: all hands and face-down tiles, for centralised critics |
| reward "points" | of every scored round: its team's seats get the points, the others minus these |
| reward "win" | +1 and -1 at the end of the episode |
| episode | "round": ends with the first scored round; "match": ends at 150 points |

The mask is all zero for a seat that is not asked. The questions before play (calls of five or more
pawns) are asked of the seats they concern, so ``agent_selection`` shows every onlooker who is
asked. Observations don't: a seat that keeps silent tells nobody.

Version history: v0, the first.
"""

from __future__ import annotations

import secrets
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv

from goita_env import actions
from goita_env.checks import check_action
from goita_env.engine import core
from goita_env.engine.match import Episode, Match
from goita_env.envs.forfeit import ForfeitWrapper
from goita_env.envs.table import ILLEGAL_REWARD
from goita_env.envs.vector import REWARDS, Reward
from goita_env.errors import EpisodeOverError, IllegalActionError, SettingError
from goita_env.render import RENDER_MODES, RenderMode, check_render_mode, frame
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import packing
from goita_env.views.observation import OBSERVATION_SIZE

Observation: TypeAlias = dict[str, npt.NDArray[Any]]
_OPTIONS: Final = ("hands", "dealer", "scores")
_NO_MASK: Final = np.zeros(actions.NUM_ACTIONS, np.int8)


class raw_env(AECEnv[str, Observation, int | None]):  # noqa: N801  (PettingZoo's name for it)
    """Plays one round or match; an illegal action raises and changes nothing.

    Args:
        rules: a rule set or its name: "jga", "pagat", "nine".
        episode: "round" or "match".
        reward: "points" or "win".
        render_mode: None, "ansi" (``render`` returns the whole table as text), "human" (prints
            it), "svg" (returns it as SVG text) or "rgb_array" (uint8 [600, 600, 3], extra
            ``goita-env[render]``).

    Raises:
        SettingError: if a setting is outside its choices.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo declares it so)
        "name": "goita_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Rules = "jga",
        episode: Episode = "round",
        reward: Reward = "points",
        render_mode: RenderMode | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if reward not in REWARDS:
            raise SettingError(f"expected a reward of {REWARDS}, got {reward!r}")
        check_render_mode(render_mode)
        self._match = Match(1, rules, episode, secrets.randbits(63), auto_reset=False)
        self.reward: Reward = reward
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(NUM_SEATS)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self._observation_spaces: dict[str, Space[Any]] = {
            agent: Dict(
                {
                    "observation": Box(0, 1, (OBSERVATION_SIZE,), np.uint8),
                    "action_mask": Box(0, 1, (actions.NUM_ACTIONS,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {
            agent: Discrete(actions.NUM_ACTIONS) for agent in self.possible_agents
        }
        self.state_space = Box(0, 1, (packing.STATE_SIZE,), np.uint8)
        self._has_reset = False

    def observation_space(self, agent: str) -> Space[Any]:
        """Returns the space of an agent's observations, always the same object."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Returns the space of an agent's actions, always the same object."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins the next episode, or with a seed its first.

        Args:
            seed: of the deals; None goes on with the next episode.
            options: for the first deal, any of "hands" (four strings of digits, or kinds, int
                [4, 8]), "dealer" (a seat), "scores" (the points of seats 0 and 2, and of seats 1
                and 3, before the round); others are ignored, as usual.

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        given = options or {}
        hands, dealer, scores = (given.get(name) for name in _OPTIONS)
        match = self._match if seed is None else self._match.copy()
        if seed is not None:
            match.seed(seed)
        match.reset(hands, dealer, scores)
        self._match = match
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._has_reset = True
        self._ask()

    def step(self, action: int | None) -> None:
        """Makes the decision of ``agent_selection``; at the end each agent steps once with None.

        Raises:
            EpisodeOverError: before a reset, after the last step, or for an action after the end.
            ActionError: if it is no action.
            IllegalActionError: if the rules forbid it. Nothing has changed in each case.
        """
        if not self.agents:
            what = "after the end of the episode" if self._has_reset else "before the first reset"
            raise EpisodeOverError(f"expected a reset, got a step with {action!r} {what}")
        agent = self.agent_selection
        if self.terminations[agent]:
            if action is not None:
                raise EpisodeOverError(f"expected None from {agent} after the end, got {action!r}")
            self._was_dead_step(None)
            return
        check_action(action)
        assert action is not None
        if not self._legal[action]:
            legal = " ".join(actions.name(int(one)) for one in np.flatnonzero(self._legal))
            raise IllegalActionError(
                f"expected one of {legal} from {agent}, "
                f"got {actions.name(int(action))!r} ({action})"
            )
        outcome = self._match.step(np.array([action]))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if outcome is None:
            self._ask()
        else:
            done = bool(outcome.done[0])
            gain = float(outcome.points[0]) if self.reward == "points" else float(done)
            self._reward(int(outcome.winner[0]), gain)
            if done:
                self._end()
            else:
                self._ask()
        if self.render_mode == "human":
            self.render()

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Returns observation, reward since its last step, and the flags of ``agent_selection``.

        Raises:
            EpisodeOverError: before the first reset, and after the last step of all agents.
        """
        if not self.agents:
            what = "after the end of the episode" if self._has_reset else "before the first reset"
            raise EpisodeOverError(f"expected a reset, got a call of last() {what}")
        return super().last(observe)

    def forfeit(self) -> None:
        """Ends the episode against the team of ``agent_selection``, as after an illegal action."""
        agent = self.agent_selection
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        loss = ILLEGAL_REWARD if self.reward == "points" else 1
        self._reward(self._seats[agent], -float(loss))
        self._end()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent may know, asked or not.

        Raises:
            EpisodeOverError: before the first reset.
        """
        if not self._has_reset:
            raise EpisodeOverError("expected a reset before the first observation")
        state, seat = self._match.state, self._seats[agent]
        asked = seat == self._asked
        words = packing.pack(state) if asked else packing.pack_seat(state, seat)
        mask = self._legal if asked else _NO_MASK
        return {"observation": packing.expand(words)[0], "action_mask": mask.copy()}

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns everything there is to know, for centralised critics: uint8 [704].

        Raises:
            EpisodeOverError: before the first reset.
        """
        if not self._has_reset:
            raise EpisodeOverError("expected a reset before the first state")
        states = packing.expand(packing.pack_state(self._match.state))
        state: npt.NDArray[np.uint8] = states[0]
        return state

    def render(self) -> str | npt.NDArray[Any] | None:
        """Draws the whole table, all tiles open, as ``render_mode`` says; None before a reset.

        Raises:
            ImportError: if "rgb_array" lacks its extra.
        """
        return frame(self._match.state, self.render_mode) if self._has_reset else None

    def close(self) -> None:
        """Does nothing: there is no window."""

    def _ask(self) -> None:
        """Turns to the seat that is asked now."""
        state = self._match.state
        self._asked = int(state.seat[0])
        self._legal = core.unpack_legal(*core.legal_actions(state))[0].view(np.int8)
        self.agent_selection = self.possible_agents[self._asked]

    def _reward(self, seat: int, gain: float) -> None:
        """Gives a seat's team a reward and the other team its negative."""
        for agent, other in self._seats.items():
            self.rewards[agent] = gain if (other - seat) % 2 == 0 else -gain
        self._accumulate_rewards()

    def _end(self) -> None:
        """Terminates all agents; each then takes one step with None."""
        self.terminations = dict.fromkeys(self.agents, True)
        self._asked = -1
        self._deads_step_first()


def env(
    rules: str | Rules = "jga",
    episode: Episode = "round",
    reward: Reward = "points",
    render_mode: RenderMode | None = None,
) -> AECEnv[str, Observation, int | None]:
    """Returns ``raw_env`` behind the wrapper that ends the episode on an illegal action."""
    return ForfeitWrapper(raw_env(rules, episode, reward, render_mode))
