"""Gives the solver's tests their positions: late ones as states and games, and known ones."""

from collections.abc import Iterator, Sequence

import numpy as np

from brute_force import DIGITS, Late
from goita_env import Game
from goita_env.engine import core
from goita_env.records import DealRecord
from goita_env.worlds import Positions
from playing import deal

KNOWN = (
    "11244556,12234569,11123378,11113457,s3,"
    "371,411,115,2p,3p,4p,145,252,3p,4p,124,2p"
)  # fmt: skip
"""A deal as far as the second turn of the third seat."""

KNOWN_VALUES = {"p": -40, "81": -40, "82": -50, "83": -40}
"""Points of its actions for the third seat's team."""

WHOLE_DEAL = "12222447,11134568,11134557,11133569,s1"
"""A deal before its first turn."""

WHOLE_DEAL_POINTS = 60


def states(lates: Sequence[Late]) -> Iterator[Positions]:
    """Yields late positions of one rule set one by one, played out all at once."""
    hands, dealers = np.array([late.hands for late in lates]), [late.dealer for late in lates]
    state, playing = deal(lates[0].rules, hands, dealers), np.arange(len(lates))
    found: dict[int, Positions] = {}
    made = 0
    while len(playing):
        lengths = np.array([len(lates[index].log) for index in playing])
        for row in np.flatnonzero(lengths == made):
            found[int(playing[row])] = Positions(state.select(np.array([row])))
        state, playing = state.select(np.flatnonzero(lengths > made)), playing[lengths > made]
        seats_and_actions = np.array([lates[index].log[made] for index in playing]).reshape(-1, 2)
        assert (state.seat == seats_and_actions[:, 0]).all()
        if len(playing):
            core.step(state, seats_and_actions[:, 1])
        made += 1
    for index in range(len(lates)):
        yield found[index]


def record_of(late: Late) -> DealRecord:
    """Returns the record of a late position."""
    hands = tuple("".join(DIGITS[kind] for kind in hand) for hand in late.hands)
    return DealRecord(hands, late.dealer, late.log, rules=late.rules)


def game_of(late: Late) -> Game:
    """Returns the game of a late position."""
    record = record_of(late)
    game = Game(record.rules, hands=record.hands, dealer=record.dealer)
    for _, action in late.log:
        game.play(action)
    return game
