"""Tells how likely a round that is over was, under each type of players: all hands are known."""

from __future__ import annotations

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.filtering import RoundStart, SeatFilter
from goita_agents.beliefs.history import Messages, Sent, check_followed, events
from goita_agents.beliefs.types import Types
from goita_agents.models import OpponentModel, UnexplainedError
from goita_env import View


def log_likelihood(view: View, types: Types, hands: Int) -> Float:
    """Returns the log-probability of all that the others did, under each pair of types: [K, J].

    Tiles that still lie face down are summed over, as are messages that the viewer doesn't hear.
    Nats; minus infinity where a type would never have played so.

    Args:
        view: the end of a round as one seat sees it: one row.
        types: how the others may have played.
        hands: [4, 8] tiles of each kind that each seat was dealt, the viewer first.

    Raises:
        SettingError: if tiles of others are shown, or messages are private and have three bits.
    """
    check_followed(view.information)
    if not view.num_plays.any():  # decided before play
        return np.zeros((len(types.opponents), len(types.partners)))
    possible = Messages.read(view).possible()
    one, three = (
        np.array(
            [[_of_seat(view, seat, hands[seat], m, sent) for sent in possible] for m in models]
        )
        for seat, models in ((1, types.opponents), (3, types.opponents))
    )
    two = np.array([_of_seat(view, 2, hands[2], model, possible[0]) for model in types.partners])
    found: Float = np.logaddexp.reduce(one + three, axis=1)[:, None] + two
    return found


def _of_seat(view: View, seat: int, hand: Int, model: OpponentModel, sent: Sent) -> float:
    """Returns the log-probability of what a seat did, which was dealt ``hand`` [8]."""
    start = RoundStart.read(view, sent)
    fewest = view.face_up[0, seat].astype(np.int64)
    try:
        one = SeatFilter(start, seat, hand[None], (fewest, hand), model)
        for event in events(view):
            one.take(event)
    except UnexplainedError:
        return -np.inf
    return float(np.log(one.by_hand()[0]) + one.scale)
