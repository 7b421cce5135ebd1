"""The oracle with messages before play and shown tiles, and random choices of the options."""

from collections.abc import Sequence

import numpy as np

from goita_env import InformationStructure, MessageChannel
from oracle import Referee

SILENCE = 69
SHOWN = {None: (), "partner": (2,), "all": (1, 2, 3)}
"""Seats, counted from the viewer, whose tiles it sees."""

OPTIONS = [
    InformationStructure(shown, channel)
    for shown in (None, "partner", "all")
    for channel in (
        None,
        MessageChannel(1, "all"),
        MessageChannel(2, "partner", cost=50),
        MessageChannel(3, "all", cost=1),
    )
][1:]
"""Every kind of option but the base game."""


class InformedReferee(Referee):
    """Asks each seat for a message, the dealer first, before it goes on as the oracle does.

    Attributes:
        messages: what each seat has sent in this deal, None before.
        paid: what each seat has got for messages in all deals, below 0 where it paid.
    """

    def __init__(
        self,
        rules: str,
        hands: Sequence[Sequence[int]],
        dealer: int,
        scores: Sequence[int] = (0, 0),
        information: InformationStructure = OPTIONS[0],
    ) -> None:
        self.information = information
        self.paid = [0, 0, 0, 0]
        super().__init__(rules, hands, dealer, scores)

    def _start_deal(self, hands: Sequence[Sequence[int]], dealer: int) -> None:
        super()._start_deal(hands, dealer)
        self.messages: list[int | None] = [None] * 4
        self.blocks: list[list[tuple[int, int]]] = [[], [], [], []]
        if self.information.channel is not None:
            self._after = self.phase, self.seat
            self.phase, self.seat = "message", dealer

    def legal_actions(self) -> list[int]:
        if self.phase == "message":
            return [SILENCE + number for number in range(2**self.information.channel.bits)]
        return super().legal_actions()

    def play(self, action: int) -> None:
        seat = self.seat
        if self.phase != "message":
            super().play(action)
            if 0 < action <= 64:
                self.blocks[seat].append(divmod(action - 1, 8))
            return
        if action not in self.legal_actions():
            raise ValueError(f"seat {seat} may not send {action}")
        self.log.append((seat, action))
        self.messages[seat] = action - SILENCE
        if action > SILENCE:
            cost = self.information.channel.cost
            for other in range(4):
                self.paid[other] += cost if (other - seat) % 2 else -cost
        self.seat = (seat + 1) % 4
        if self.seat == self.dealer:
            self.phase, self.seat = self._after

    def heard(self, viewer: int) -> list[int]:
        """Returns the messages that a seat knows, counted from it; 0 where it knows none."""
        known = []
        for place in range(4):
            message = self.messages[(viewer + place) % 4]
            private = self.information.channel and self.information.channel.audience == "partner"
            known.append(0 if message is None or (private and place % 2) else message)
        return known

    def shown_to(self, viewer: int) -> dict[int, tuple[list[int], list[tuple[int, int]]]]:
        """Returns hand and plays of each seat that a viewer is shown, by place from it."""
        return {
            place: (sorted(self.hands[(viewer + place) % 4]), self.blocks[(viewer + place) % 4])
            for place in SHOWN[self.information.shown]
        }


def some_options(rng: np.random.Generator, episode: str = "round") -> InformationStructure:
    """Draws options; those that cost only where a round is an episode."""
    while True:
        options = OPTIONS[rng.integers(len(OPTIONS))]
        if episode == "round" or options.cost == 0:
            return options
