"""Measures how often agents follow principles of play, and what following them reveals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.principles import PRINCIPLES, Principle
from goita_env.actions import MESSAGE, PASS
from goita_env.tiles import PARTNER
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals.listening import POLICY, ActionInformation
from goita_lab.signals.measures.information_gain import over_deals
from goita_lab.signals.playing import Play

MIN_PRINCIPLE_ACTIONS: Final = 20
"""Number of actions that a figure needs."""


@dataclass(frozen=True)
class PrincipleUse:
    """The use of a principle by the players of a play."""

    name: str
    actions: int
    """Actions that follow it or go against it."""
    followed: Interval | None
    """Share of these actions that follow it; None: fewer than ``MIN_PRINCIPLE_ACTIONS``."""
    revealed: Interval | None
    """Mean nats about the hand that an action which follows it reveals to the partner, over
    observed actions; None: too few. A play shows tiles, so it reveals more than a pass anyway."""
    against: Interval | None
    """The same for actions that go against it."""


def principle_use(
    play: Play, heard: ActionInformation, model: str = POLICY
) -> tuple[PrincipleUse, ...]:
    """Measures how the players of a play follow each of ``PRINCIPLES``, with intervals over deals.

    An action counts where the principle applies: where some legal actions follow it and some go
    against it. Players who are only skilled follow principles, too, and where most legal actions
    follow a principle even a random player does: so compare the shares with a random player's.

    Args:
        play: the play.
        heard: what its actions revealed.
        model: the model under which they did.

    Raises:
        SettingError: if there is no such model.
    """
    uses = []
    for principle in PRINCIPLES:
        follow, against = taken(principle, play)
        uses.append(
            PrincipleUse(
                name=principle.name,
                actions=int((follow | against).sum()),
                followed=followed(play, follow, against),
                revealed=information_revealed(play, heard, follow, model=model),
                against=information_revealed(play, heard, against, model=model),
            )
        )
    return tuple(uses)


def taken(principle: Principle, play: Play) -> tuple[Bool, Bool]:
    """Returns which actions of a play follow a principle, and which go against it: bool [D]."""
    message = play.action >= MESSAGE
    # Principles have no columns for messages: read a pass in their place, and do not count it.
    cells = np.arange(len(play.action)), np.where(message, PASS, play.action)
    follow, against = (actions[cells] & ~message for actions in principle.actions(play.view()))
    return follow, against


def followed(play: Play, follow: Bool, against: Bool) -> Interval | None:
    """Returns the share of actions that follow a principle; ``taken`` returns the arguments."""
    (rows,) = np.nonzero(follow | against)
    return _figure(play, rows, follow[rows])


def information_revealed(
    play: Play,
    heard: ActionInformation,
    selected: Bool,
    speakers: Collection[int] = (PARTNER,),
    model: str = POLICY,
) -> Interval | None:
    """Returns the mean nats that selected actions, bool [D], reveal to listeners.

    ``speakers`` are the seats of the actions relative to the listener.
    """
    counted = selected[heard.row] & np.isin(heard.speaker, list(speakers))
    return _figure(play, heard.row[counted], heard.revealed[counted, heard.of(model)])


def _figure(play: Play, rows: Int, values: Bool | Float) -> Interval | None:
    enough = len(rows) >= MIN_PRINCIPLE_ACTIONS and len(np.unique(play.deal[rows])) > 1
    return over_deals(play, rows, values) if enough else None
