"""Offers the PettingZoo environments of one game: ``env``, ``raw_env`` and ``parallel_env``.

With a PettingZoo that has a registry, ``pettingzoo.make("aec", "goita/goita-v0")`` and
``pettingzoo.make("parallel", "goita/goita-v0")`` work after ``import goita_env``.

| what | |
|---|---|
| agents | ``player_0`` .. ``player_3`` in turn order; partners are 0 and 2, 1 and 3 |
| action space | ``Discrete(69)``, see ``goita_env.actions`` |
| observation | ``{"observation": uint8 [512], "action_mask": int8 [69]}`` (docs/observation.md) |
| "flat" | uint8 [512]; the mask is in ``infos`` |
| state | uint8 [704]: all hands and face-down tiles, for centralised critics |
| reward "points" | of every scored round: its team's seats get the points, the others minus these |
| information | shown tiles and messages; it may change the three sizes |
| reward "win" | +1 and -1 at the end of the episode |
| episode | "round": ends with the first scored round; "match": ends at the rules' total |

The mask is all zero for a seat that does not act. In the pre-play decisions (calls of five or more
pawns) only the seats with such a hand act, and ``agent_selection`` shows them to every onlooker.
Observations do not: a silent seat reveals nothing.

Version history: v0, the first.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pettingzoo
from gymnasium.spaces import Box
from pettingzoo import AECEnv, ParallelEnv

from goita_env.checks import check_action, illegal_action
from goita_env.engine import core
from goita_env.engine.episodes import Episode, Match, Reward, check_reward
from goita_env.envs.aec_base import AllAct, ForfeitWrapper, SeatedEnv
from goita_env.envs.seat_games import forfeit_loss
from goita_env.envs.seat_vector_env import DEAL_OPTIONS, Form, check_form
from goita_env.information import PLAIN, InformationStructure
from goita_env.render import RENDER_MODES, RenderMode, frame
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import observation as packing
from goita_env.views.scenes import of_state

__all__ = ["env", "parallel_env", "raw_env"]


class raw_env(SeatedEnv):  # noqa: N801  (PettingZoo's name for it)
    """An environment of one round or match; an illegal action raises an error and changes nothing.

    Args:
        rules: a rule set or its name: "jga", "pagat", "nine".
        episode: "round" or "match".
        reward: "points" or "win".
        render_mode: None, "ansi" (``render`` returns the whole table as text), "human" (prints
            it), "svg" (returns it as SVG text) or "rgb_array" (uint8 [600, 600, 3], extra
            ``goita-env[render]``).
        information: shown tiles and messages (``goita_env.InformationStructure``).
        observation: "dict" (observation and mask) or "flat" (the mask is in ``infos``).

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
        information: InformationStructure = PLAIN,
        observation: Form = "dict",
    ) -> None:
        flat = check_form(observation) == "flat"
        self.reward: Reward = check_reward(reward, information)
        self._match = Match(
            1, rules, episode, secrets.randbits(63), auto_reset=False, information=information
        )
        self._num_actions = information.num_actions
        space = Box(0, 1, (information.observation_size,), np.uint8)
        super().__init__(NUM_SEATS, space, self._num_actions, render_mode, flat=flat)
        self.state_space = Box(0, 1, (64 * packing.state_words(information),), np.uint8)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins the next episode; with a seed, the first episode of that seed.

        Args:
            seed: seed of the deals; None: the next episode of the present seed.
            options: for the first deal, any of "hands" (four strings of digits, or kinds, int
                [4, 8]), "dealer" (a seat), "scores" (the points of seats 0 and 2, and of seats 1
                and 3, before the round).

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        self._match.reset(**self._deal_options(options, *DEAL_OPTIONS), seed=seed)
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
        check_action(action, self._num_actions)
        assert action is not None
        if not self._legal[action]:
            source = f" from {self.agent_selection}"
            raise illegal_action(int(action), self._legal.view(bool), source)
        chosen = np.array([action])
        costs = core.costs(self._match.state, chosen)
        outcome = self._match.step(chosen)
        self._begin_rewards()
        if outcome is not None:
            self._reward(outcome.rewards(self.reward)[0].tolist())
        elif costs is not None:
            cost = float(costs[0])
            self._reward((-cost, cost, -cost, cost))
        if outcome is not None and outcome.done[0]:
            self._end()
        else:
            self._ask()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Any:
        """Returns what an agent may know, acting or not.

        Raises:
            EpisodeOverError: before the first reset.
            SettingError: if there is no such agent.
        """
        self._check_begun("observation")
        state, seat = self._match.state, self._seat(agent)
        is_acting = seat == self._acting_seat
        # For the acting seat ``pack_seat`` returns the same words, but takes longer.
        words = packing.pack(state) if is_acting else packing.pack_seat(state, seat)
        seen = packing.expand(words)[0]
        return seen if self._flat else {"observation": seen, "action_mask": self._mask(seat)}

    def state(self) -> npt.NDArray[np.uint8]:
        """Returns the complete state, for centralised critics: uint8 [704], with messages [768].

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun("state")
        return np.asarray(packing.expand(packing.pack_state(self._match.state))[0])

    def render(self) -> str | npt.NDArray[Any] | None:
        """Draws the whole table, all tiles open, as ``render_mode`` says; None before a reset.

        Raises:
            ImportError: if "rgb_array" lacks its extra.
        """
        return frame(of_state(self._match.state), self.render_mode) if self._has_reset else None

    def _forfeited(self, offender: int) -> Iterable[float]:
        loss = float(forfeit_loss(self.reward))
        return (loss if (seat - offender) % 2 else -loss for seat in range(NUM_SEATS))

    def _ask(self) -> None:
        state = self._match.state
        self._acting_seat = int(state.seat[0])
        low, high = core.legal_actions(state)
        self._legal = core.unpack_legal(low, high, self._num_actions)[0].view(np.int8)
        self.agent_selection = self.possible_agents[self._acting_seat]
        self._write_masks()

    def _end(self) -> None:
        self._acting_seat = -1
        self._write_masks()
        super()._end()

    def _mask(self, seat: int) -> npt.NDArray[np.int8]:
        return self._legal.copy() if seat == self._acting_seat else np.zeros_like(self._legal)

    def _write_masks(self) -> None:
        if self._flat:
            self.infos = {
                agent: {"action_mask": self._mask(seat)} for agent, seat in self._seats.items()
            }


def env(
    rules: str | Rules = "jga",
    episode: Episode = "round",
    reward: Reward = "points",
    render_mode: RenderMode | None = None,
    information: InformationStructure = PLAIN,
    observation: Form = "dict",
) -> AECEnv[str, Any, int | None]:
    """Returns ``raw_env`` behind the wrapper that ends the episode on an illegal action."""
    return ForfeitWrapper(raw_env(rules, episode, reward, render_mode, information, observation))


def parallel_env(
    rules: str | Rules = "jga",
    episode: Episode = "round",
    reward: Reward = "points",
    render_mode: RenderMode | None = None,
    information: InformationStructure = PLAIN,
    observation: Form = "dict",
) -> ParallelEnv[str, Any, Any]:
    """Returns ``env`` behind the parallel API: all act, only the acting seat's action counts."""
    return AllAct(env(rules, episode, reward, render_mode, information, observation))


if hasattr(pettingzoo, "register"):
    pettingzoo.register("aec", "goita/goita-v0", entry_point="goita_env.goita_v0:env")
    pettingzoo.register("parallel", "goita/goita-v0", entry_point="goita_env.goita_v0:parallel_env")
