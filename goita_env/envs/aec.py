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
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from pettingzoo import AECEnv

from goita_env import actions
from goita_env.checks import check_action
from goita_env.engine import core
from goita_env.engine.match import Episode, Match
from goita_env.envs.forfeit import ForfeitWrapper
from goita_env.envs.seated import Observation, SeatedEnv
from goita_env.envs.table import ILLEGAL_REWARD
from goita_env.envs.vector import REWARDS, Reward
from goita_env.errors import IllegalActionError, SettingError
from goita_env.render import RENDER_MODES, RenderMode, frame
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import packing
from goita_env.views.observation import OBSERVATION_SIZE

_OPTIONS: Final = ("hands", "dealer", "scores")
_NO_MASK: Final = np.zeros(actions.NUM_ACTIONS, np.int8)


class raw_env(SeatedEnv):  # noqa: N801  (PettingZoo's name for it)
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
        if reward not in REWARDS:
            raise SettingError(f"expected a reward of {REWARDS}, got {reward!r}")
        space = Box(0, 1, (OBSERVATION_SIZE,), np.uint8)
        super().__init__(NUM_SEATS, space, actions.NUM_ACTIONS, render_mode)
        self._match = Match(1, rules, episode, secrets.randbits(63), auto_reset=False)
        self.reward: Reward = reward
        self.state_space = Box(0, 1, (packing.STATE_SIZE,), np.uint8)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins the next episode, or with a seed its first.

        Args:
            seed: of the deals; None goes on with the next episode.
            options: for the first deal, any of "hands" (four strings of digits, or kinds, int
                [4, 8]), "dealer" (a seat), "scores" (the points of seats 0 and 2, and of seats 1
                and 3, before the round).

        Raises:
            HandsError, SettingError: if one of them is impossible; nothing has changed then.
        """
        given = self._given(options, *_OPTIONS)
        match = self._match if seed is None else self._match.copy()
        if seed is not None:
            match.seed(seed)
        match.reset(**given)
        self._match = match
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
        check_action(action)
        assert action is not None
        if not self._legal[action]:
            legal = " ".join(actions.name(int(one)) for one in np.flatnonzero(self._legal))
            raise IllegalActionError(
                f"expected one of {legal} from {self.agent_selection}, "
                f"got {actions.name(int(action))!r} ({action})"
            )
        outcome = self._match.step(np.array([action]))
        self._begin_rewards()
        if outcome is None:
            self._ask()
        else:
            done = bool(outcome.done[0])
            gain = float(outcome.points[0]) if self.reward == "points" else float(done)
            self._pay(int(outcome.winner[0]), gain)
            if done:
                self._end()
            else:
                self._ask()
        if self.render_mode == "human":
            self.render()

    def forfeit(self) -> None:
        """Ends the episode against the team of ``agent_selection``, as after an illegal action.

        Raises:
            EpisodeOverError: before the first reset, and after the end.
        """
        self._check_running("a forfeit")
        self._begin_rewards()
        loss = ILLEGAL_REWARD if self.reward == "points" else 1
        self._pay(self._seats[self.agent_selection], -float(loss))
        self._end()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent may know, asked or not.

        Raises:
            EpisodeOverError: before the first reset.
        """
        self._check_begun("observation")
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
        self._check_begun("state")
        states = packing.expand(packing.pack_state(self._match.state))
        state: npt.NDArray[np.uint8] = states[0]
        return state

    def render(self) -> str | npt.NDArray[Any] | None:
        """Draws the whole table, all tiles open, as ``render_mode`` says; None before a reset.

        Raises:
            ImportError: if "rgb_array" lacks its extra.
        """
        return frame(self._match.state, self.render_mode) if self._has_reset else None

    def _ask(self) -> None:
        """Turns to the seat that is asked now."""
        state = self._match.state
        self._asked = int(state.seat[0])
        self._legal = core.unpack_legal(*core.legal_actions(state))[0].view(np.int8)
        self.agent_selection = self.possible_agents[self._asked]

    def _pay(self, seat: int, gain: float) -> None:
        """Gives a seat's team a reward and the other team its negative."""
        self._reward(gain if (other - seat) % 2 == 0 else -gain for other in range(NUM_SEATS))

    def _end(self) -> None:
        """Terminates all agents; nobody is asked any more."""
        self._asked = -1
        super()._end()


def env(
    rules: str | Rules = "jga",
    episode: Episode = "round",
    reward: Reward = "points",
    render_mode: RenderMode | None = None,
) -> AECEnv[str, Observation, int | None]:
    """Returns ``raw_env`` behind the wrapper that ends the episode on an illegal action."""
    return ForfeitWrapper(raw_env(rules, episode, reward, render_mode))
