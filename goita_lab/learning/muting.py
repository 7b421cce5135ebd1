"""Mutes one team in a share of the games that a training plays at once.

So silence stays familiar, and all seats learn to listen to messages as well as to do without.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from goita_agents.base import Bool

from goita_env.actions import MAX_ACTIONS, MESSAGE
from goita_env.envs.vector import StepResult
from goita_env.errors import SettingError
from goita_env.information import Information

_SILENCE: Final = np.arange(MAX_ACTIONS) == MESSAGE

TEAM_RUN: Final = 16
"""Games in a row that mute the same team: more than frozen players have groups, so that a muted
team is the learner's as often as theirs."""


class Muting:
    """Leaves muted seats only message 0, so they have no choice, and nothing is learnt from it.

    The last games of the N mute a team, 16 of them seats 0 and 2, the next 16 the others. Which
    ones follows from their number, so a resumed training mutes the same.

    Args:
        games: number of parallel games, N.
        share: of the games in which a team is muted.
        information: of the games; there must be a token where the share is above 0.

    Raises:
        SettingError: if the share is not from 0 to 1, or nobody could speak anyway.
    """

    def __init__(self, games: int, share: float, information: Information) -> None:
        if not 0 <= share <= 1:
            raise SettingError(f"expected a mute share from 0 to 1, got {share!r}")
        if share and information.token is None:
            raise SettingError(f"expected a token with a mute share above 0, got {information!r}")
        game = np.arange(games)
        muted = game >= games - round(share * games)
        self.team = np.where(muted, game // TEAM_RUN & 1, -1)
        """int64 [N] The muted team: 0 for seats 0 and 2, 1 for the others, -1 for none."""

    def legal(self, turn: StepResult) -> Bool:
        """Returns the legal actions of the seats that are asked, silence alone where muted."""
        legal = turn.action_mask
        silent = legal[:, MESSAGE:].any(axis=1) & ((turn.seat & 1) == self.team)
        return np.where(silent[:, None], _SILENCE, legal) if silent.any() else legal
