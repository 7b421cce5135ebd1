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
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from pettingzoo import AECEnv

from goita_env.checks import check_seed
from goita_env.envs.aec_base import ForfeitWrapper, Observation, SeatedEnv
from goita_env.errors import SettingError
from goita_env.render import RENDER_MODES, RenderMode, rendered
from goita_env.tiles import NUM_KINDS
from goita_env.uke_shogi.game import UkeShogiGame, check_rules
from goita_env.uke_shogi.rules import IMO_SHOGI, NUM_ACTIONS, UkeShogiRules
from goita_env.uke_shogi.view import observation_size


class raw_env(SeatedEnv):  # noqa: N801  (PettingZoo's name for it)
    """An environment of one round or match; an illegal action raises and changes nothing.

    Args:
        rules: how it is played.
        deals: deals of an episode.
        render_mode: as ``goita_v0.env`` takes it.

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
        if isinstance(deals, bool) or not isinstance(deals, int) or deals < 1:
            raise SettingError(f"expected a number of deals from 1 up, got {deals!r}")
        size, most = observation_size(check_rules(rules)), max(rules.counts)
        super().__init__(rules.players, Box(0, most, (size,), np.uint8), NUM_ACTIONS, render_mode)
        self.rules = rules
        self.deals = deals
        self.state_space = Box(0, most, (NUM_KINDS * rules.players + size,), np.uint8)
        self._seed, self._episode, self._number = secrets.randbits(63), -1, 0
        self._game = UkeShogiGame(rules)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins the next episode, or with a seed its first.

        Args:
            seed: of the deals; None goes on with the next episode.
            options: for the first deal, any of "hands" (strings of digits, or kinds, int
                [players, hand_size]) and "dealer" (a seat).

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        given = self._given(options, "hands", "dealer")
        episode = self._episode + 1 if seed is None else 0
        new_seed = self._seed if seed is None else check_seed(seed)
        self._game = UkeShogiGame(self.rules, **given, seed=new_seed, episode=episode)
        self._seed, self._episode, self._number = new_seed, episode, 0
        self._begin()
        self._ask()

    def step(self, action: int | None) -> None:
        """Makes the decision of ``agent_selection``; at the end each agent steps once with None.

        Raises:
            EpisodeOverError: before a reset, after the last step, or for an action after the end.
            ActionError: if it is no action.
            IllegalActionError: if the rules forbid it. Nothing has changed in each case.
        """
        if self._leaves(action):
            return
        game = self._game
        game.play(action)
        self._begin_rewards()
        if game.winner is not None:
            self._reward(game.rewards())
            if self._number + 1 < self.deals:
                self._number += 1
                place = (self._seed, self._episode, self._number)
                self._game = UkeShogiGame(self.rules, None, game.winner, *place)
        self._ask()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent may know, asked or not.

        Raises:
            EpisodeOverError: before the first reset.
            SettingError: if there is no such agent.
        """
        self._check_begun("observation")
        view = self._game.view(self._seat(agent))
        mask = np.zeros(NUM_ACTIONS, np.int8)
        if self.agents and not self.terminations.get(agent, True):
            mask[view.legal_actions()] = 1
        return {"observation": view.observation(), "action_mask": mask}

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns everything there is to know: uint8 [16 + 27 * players].

        Every seat's hand, 8 numbers each, then the observation of ``player_0``.
        """
        self._check_begun("state")
        game = self._game
        return np.concatenate([np.array(game.hands, np.uint8).ravel(), game.view(0).observation()])

    def render(self) -> str | npt.NDArray[Any] | None:
        """Draws the whole table, all hands open, as ``render_mode`` says; None before a reset."""
        game = self._game
        return (
            rendered(self.render_mode, game.__str__, game._repr_svg_) if self._has_reset else None
        )

    def _forfeited(self, offender: int) -> Iterable[float]:
        return self.rules.forfeit(offender, self._game.hands[offender])

    def _ask(self) -> None:
        if (seat := self._game.seat) is None:
            self._end()
        else:
            self.agent_selection = self.possible_agents[seat]


def env(
    rules: UkeShogiRules = IMO_SHOGI, deals: int = 1, render_mode: RenderMode | None = None
) -> AECEnv[str, Observation, int | None]:
    """Returns ``raw_env`` behind the wrapper that ends the episode on an illegal action."""
    return ForfeitWrapper(raw_env(rules, deals, render_mode))
