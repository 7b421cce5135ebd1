"""Tells how likely a round that is over was, under each type of players: all hands are known."""

from __future__ import annotations

import numpy as np

from agents.base import Float, Int
from agents.beliefs.filtering import RoundStart, SeatFilter
from agents.beliefs.history import Answers, events
from agents.beliefs.types import Types
from agents.models import OpponentModel, UnexplainedError
from goita_env import View


def log_likelihood(view: View, types: Types, hands: Int) -> Float:
    """Returns the log-probability of all that the others did, under each pair of types: [K, J].

    Tiles that still lie face down are summed over. Nats; minus infinity where a type would never
    have played so.

    Args:
        view: the end of a round as one seat sees it: one row.
        types: how the others may have played.
        hands: [4, 8] tiles of each kind that each seat was dealt, the viewer first.
    """
    if not view.num_plays.any():  # decided before play
        return np.zeros((len(types.opponents), len(types.partners)))
    one, two, three = (
        np.array([_of_seat(view, seat, hands[seat], model) for model in models])
        for seat, models in ((1, types.opponents), (2, types.partners), (3, types.opponents))
    )
    found: Float = (one + three)[:, None] + two
    return found


def _of_seat(view: View, seat: int, hand: Int, model: OpponentModel) -> float:
    """Returns the log-probability of what a seat did, which was dealt ``hand`` [8]."""
    own, other = view.scores[0].tolist()
    start = RoundStart(view.rules, int(view.dealer[0]), (own, other), Answers.read(view))
    fewest = view.face_up[0, seat].astype(np.int64)
    try:
        one = SeatFilter(start, seat, hand[None], (fewest, hand), model)
        for event in events(view):
            one.take(event)
    except UnexplainedError:
        return -np.inf
    return float(np.log(one.by_hand()[0]) + one.scale)
