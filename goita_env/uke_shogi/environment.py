"""Wraps Uke-Shogi as a PettingZoo AEC environment: ``uke_shogi_v0``.

| what | |
|---|---|
| agents | ``player_0`` .. in turn order, two to seven; each plays for himself |
| action space | ``Discrete(9)``: 0 passes, 1 + k plays a tile of kind k |
| observation | ``{"observation": uint8 [16 + 19 * players], "action_mask": int8 [9]}`` |
| state | uint8 [16 + 27 * players]: every hand, then what seat 0 may know |
| reward | of every deal, zero in sum: the payments, or +1 for the winner, shared by the others |
| episode | so many deals; the winner of one deals the next |

The mask is all zero for a seat that is not asked. docs/uke_shogi.md lists the observation.

Version history: v0, the first.
"""

from __future__ import annotations

import secrets
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import AECEnv

from goita_env.checks import check_seed
from goita_env.envs.forfeit import ForfeitWrapper
from goita_env.errors import EpisodeOverError, SettingError
from goita_env.render import RENDER_MODES, RenderMode, check_render_mode, rendered
from goita_env.tiles import NUM_KINDS
from goita_env.uke_shogi.game import UkeShogiGame, check_rules
from goita_env.uke_shogi.rules import IMO_SHOGI, NUM_ACTIONS, UkeShogiRules
from goita_env.uke_shogi.view import observation_size

Observation: TypeAlias = dict[str, npt.NDArray[Any]]


class raw_env(AECEnv[str, Observation, int | None]):  # noqa: N801  (PettingZoo's name for it)
    """Plays an episode; an illegal action raises and changes nothing.

    Args:
        rules: how it is played.
        deals: deals of an episode.
        render_mode: None, "ansi" (``render`` returns the whole table as text), "human" (prints
            it), "svg" (returns it as SVG text) or "rgb_array" (uint8 [600, 600, 3], extra
            ``goita-env[render]``).

    Raises:
        SettingError: if a setting is outside its choices.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo declares it so)
        "name": "uke_shogi_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: UkeShogiRules = IMO_SHOGI,
        deals: int = 1,
        render_mode: RenderMode | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if isinstance(deals, bool) or not isinstance(deals, int) or deals < 1:
            raise SettingError(f"expected a number of deals from 1 up, got {deals!r}")
        check_render_mode(render_mode)
        self.rules = check_rules(rules)
        self.deals = deals
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(rules.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        size, most = observation_size(rules), max(rules.counts)
        self._observation_spaces: dict[str, Space[Any]] = {
            agent: Dict(
                {
                    "observation": Box(0, most, (size,), np.uint8),
                    "action_mask": Box(0, 1, (NUM_ACTIONS,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.state_space = Box(0, most, (NUM_KINDS * rules.players + size,), np.uint8)
        self._seed, self._episode = secrets.randbits(63), -1
        self._game: UkeShogiGame | None = None

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
            options: for the first deal, any of "hands" (strings of digits, or kinds, int
                [players, hand_size]) and "dealer" (a seat); others are ignored, as usual.

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        given = options or {}
        episode = self._episode + 1 if seed is None else 0
        new_seed = self._seed if seed is None else check_seed(seed)
        self._game = UkeShogiGame(
            self.rules,
            hands=given.get("hands"),
            dealer=given.get("dealer"),
            seed=new_seed,
            episode=episode,
        )
        self._seed, self._episode, self._number = new_seed, episode, 0
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._ask()

    def step(self, action: int | None) -> None:
        """Makes the decision of ``agent_selection``; at the end each agent steps once with None.

        Raises:
            EpisodeOverError: before a reset, after the last step, or for an action after the end.
            ActionError: if it is no action.
            IllegalActionError: if the rules forbid it. Nothing has changed in each case.
        """
        game = self._running("a step")
        agent = self.agent_selection
        if self.terminations[agent]:
            if action is not None:
                raise EpisodeOverError(f"expected None from {agent} after the end, got {action!r}")
            self._was_dead_step(None)
            return
        game.play(action)
        self._begin_rewards(agent)
        if game.winner is not None:
            self._reward(game.rewards())
            self._next_deal(game.winner)
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
        self._running("a call of last()")
        return super().last(observe)

    def forfeit(self) -> None:
        """Ends the episode against ``agent_selection``, as after an illegal action.

        Raises:
            EpisodeOverError: before the first reset, and after the end.
        """
        game, agent = self._running("a forfeit"), self.agent_selection
        offender = self._seats[agent]
        self._begin_rewards(agent)
        self._reward(self.rules.forfeit(offender, game.hands[offender]))
        self._end()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent may know, asked or not.

        Raises:
            EpisodeOverError: before the first reset.
        """
        view = self._begun("observation").view(self._seats[agent])
        mask = np.zeros(NUM_ACTIONS, np.int8)
        if self.agents and not self.terminations.get(agent, True):
            mask[view.legal_actions()] = 1
        return {"observation": view.observation(), "action_mask": mask}

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns everything there is to know, for centralised critics: uint8 [16 + 27 * players].

        Every seat's hand, 8 numbers each, then the observation of ``player_0``.

        Raises:
            EpisodeOverError: before the first reset.
        """
        game = self._begun("state")
        return np.concatenate([np.array(game.hands, np.uint8).ravel(), game.view(0).observation()])

    def render(self) -> str | npt.NDArray[Any] | None:
        """Draws the whole table, all hands open, as ``render_mode`` says; None before a reset.

        Raises:
            ImportError: if "rgb_array" lacks its extra.
        """
        game = self._game
        if game is None:
            return None
        return rendered(self.render_mode, game.__str__, game._repr_svg_)

    def close(self) -> None:
        """Does nothing: there is no window."""

    def _begun(self, wanted: str) -> UkeShogiGame:
        """Returns the game; raises before the first reset."""
        if self._game is None:
            raise EpisodeOverError(f"expected a reset before the first {wanted}")
        return self._game

    def _running(self, came: str) -> UkeShogiGame:
        """Returns the game; raises before the first reset and after the last step."""
        if self._game is None or not self.agents:
            what = (
                "before the first reset" if self._game is None else "after the end of the episode"
            )
            raise EpisodeOverError(f"expected a reset, got {came} {what}")
        return self._game

    def _ask(self) -> None:
        """Turns to the seat that is asked now, or ends the episode."""
        seat = self._begun("question").seat
        if seat is None:
            self._end()
        else:
            self.agent_selection = self.possible_agents[seat]

    def _begin_rewards(self, agent: str) -> None:
        """Begins what agents gain by a step; the agent that makes it has seen its former gains."""
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()

    def _reward(self, gains: list[float]) -> None:
        """Gives every seat its gain."""
        self.rewards = dict(zip(self.possible_agents, gains, strict=True))
        self._accumulate_rewards()

    def _next_deal(self, dealer: int) -> None:
        """Deals again, where the episode has a deal left."""
        if self._number + 1 < self.deals:
            self._number += 1
            self._game = UkeShogiGame(
                self.rules,
                dealer=dealer,
                seed=self._seed,
                episode=self._episode,
                number=self._number,
            )

    def _end(self) -> None:
        """Terminates all agents; each then takes one step with None."""
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()


def env(
    rules: UkeShogiRules = IMO_SHOGI,
    deals: int = 1,
    render_mode: RenderMode | None = None,
) -> AECEnv[str, Observation, int | None]:
    """Returns ``raw_env`` behind the wrapper that ends the episode on an illegal action."""
    return ForfeitWrapper(raw_env(rules, deals, render_mode))
