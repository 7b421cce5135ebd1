"""Offers Uke-Shogi to PettingZoo: ``env``, ``raw_env`` and ``parallel_env``; registers them.

With a PettingZoo that has a registry, ``pettingzoo.make("aec", "goita/uke_shogi-v0")`` and
``pettingzoo.make("parallel", "goita/uke_shogi-v0")`` work after ``import goita_env``.

| what | |
|---|---|
| agents | ``player_0`` .. in turn order, two to seven; each plays on its own |
| action space | ``Discrete(9)``: 0 passes, 1 + k plays a tile of kind k |
| observation | ``{"observation": uint8 [16 + 19 * players], "action_mask": int8 [9]}`` |
| reward | of every deal, zero in sum: the payments, or +1 for the winner, shared by the others |
| episode | so many deals; the winner of one deals the next |

The mask is all zero for a seat that does not act. ``goita_env.uke_shogi.view.layout`` lists the
observation.

Version history: v0, the first.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

import numpy as np
import pettingzoo
from gymnasium.spaces import Box
from pettingzoo import AECEnv, ParallelEnv

from goita_env.checks import check_seed
from goita_env.envs.aec_base import AllAct, ForfeitWrapper, Observation, SeatedEnv
from goita_env.errors import SettingError
from goita_env.render import TEXT_MODES, RenderMode, check_render_mode, in_characters
from goita_env.uke_shogi.game import UkeShogiGame
from goita_env.uke_shogi.rules import IMO_SHOGI, NUM_ACTIONS, UkeShogiRules
from goita_env.uke_shogi.view import observation_size

__all__ = ["env", "parallel_env", "raw_env"]


class raw_env(SeatedEnv):  # noqa: N801  (PettingZoo's name for it)
    """An environment of some deals; an illegal action raises and changes nothing.

    Args:
        rules: the rules.
        deals: deals of an episode.
        render_mode: None, "ansi" or "human".

    Raises:
        SettingError: if a setting is outside its choices.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (PettingZoo declares it so)
        "name": "uke_shogi_v0",
        "render_modes": list(TEXT_MODES),
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
        check_render_mode(render_mode, TEXT_MODES)
        game = UkeShogiGame(rules)
        space = Box(0, max(rules.counts), (observation_size(rules),), np.uint8)
        super().__init__(rules.players, space, NUM_ACTIONS, render_mode)
        self.rules = rules
        self.deals = deals
        self._seed, self._episode, self._deal_number = secrets.randbits(63), -1, 0
        self._game = game

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins the next episode; with a seed, the first episode of that seed.

        Args:
            seed: of the deals; None: the next episode of the present seed.
            options: for the first deal, any of "hands" (strings of digits, or kinds, int
                [players, hand_size]) and "dealer" (a seat).

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        deal_options = self._deal_options(options, "hands", "dealer")
        episode = self._episode + 1 if seed is None else 0
        new_seed = self._seed if seed is None else check_seed(seed)
        self._game = UkeShogiGame(self.rules, **deal_options, seed=new_seed, episode=episode)
        self._seed, self._episode, self._deal_number = new_seed, episode, 0
        self._begin()
        self._ask()

    def step(self, action: int | None) -> None:
        """Makes the decision of ``agent_selection``; at the end each agent steps once with None.

        Raises:
            EpisodeOverError: before a reset, after the last step, or for an action after the end.
            ActionError: if it is not an action.
            IllegalActionError: if the rules forbid it. All errors leave the game as it was.
        """
        if self._leaves(action):
            return
        game = self._game
        game.play(action)
        self._begin_rewards()
        if game.winner is not None:
            self._reward(game.rewards())
            if self._deal_number + 1 < self.deals:
                self._deal_number += 1
                self._game = UkeShogiGame(
                    self.rules,
                    dealer=game.winner,
                    seed=self._seed,
                    episode=self._episode,
                    number=self._deal_number,
                )
        self._ask()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent may know, acting or not.

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

    def render(self) -> str | None:
        """Draws the whole table, all hands open: "ansi" returns it as text, "human" prints it.

        Returns None before a reset.
        """
        if not self._has_reset:
            return None
        return in_characters(str(self._game), self.render_mode)

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


def parallel_env(
    rules: UkeShogiRules = IMO_SHOGI, deals: int = 1, render_mode: RenderMode | None = None
) -> ParallelEnv[str, Observation, Any]:
    """Returns ``env`` behind the parallel API: all act, only the acting seat's action counts."""
    return AllAct(env(rules, deals, render_mode))


if hasattr(pettingzoo, "register"):
    _MODULE = "goita_env.uke_shogi_v0"
    pettingzoo.register("aec", "goita/uke_shogi-v0", entry_point=f"{_MODULE}:env")
    pettingzoo.register("parallel", "goita/uke_shogi-v0", entry_point=f"{_MODULE}:parallel_env")
