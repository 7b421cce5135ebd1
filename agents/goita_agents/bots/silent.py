"""Seats agents at tables with more information than they take, or silences those that take it.

``plain:base=A`` plays any game by what the agent would know in the plain one. ``muted:base=A`` is
an agent that plays the table's game, with everything that it sees and hears. Both send message 0,
which is silence, whenever they are asked for a message.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from goita_agents.base import Agent, Bool, plays
from goita_agents.bots.wrapped import Wrapped, wrap
from goita_agents.registry import Entry
from goita_env.actions import MESSAGE, NUM_ACTIONS
from goita_env.information import PLAIN, Information
from goita_env.views import View


class MutedAgent(Wrapped):
    """Plays as an agent that says nothing."""

    @classmethod
    def of(cls, base: Agent) -> Self:
        """Returns such an agent around another, which is all else that the other is."""
        return wrap(cls, base)

    def asked(self, legal: Bool) -> Bool:
        """Tells in which rows the agent inside is asked: [N]; not for messages."""
        if legal.shape[1] == NUM_ACTIONS:
            return super().asked(legal)
        return np.asarray(~legal[:, MESSAGE])


class PlainAgent(MutedAgent):
    """Plays any game as an agent that sees the plain one."""

    def shown(self, view: View) -> View:
        """Returns what the seat would know in the plain game."""
        return view if view.information == PLAIN else view.plain()

    def plays(self, information: Information) -> bool:
        """Tells whether the agent inside plays the plain game; then this one plays any."""
        return plays(self.base, PLAIN)


PLAIN_ENTRY = Entry(PlainAgent.of)
MUTED_ENTRY = Entry(MutedAgent.of)
"""``plain`` and ``muted``, as texts name them."""
