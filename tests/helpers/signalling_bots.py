"""Agents of which it is known what they tell: for checking measures of signalling."""

import numpy as np

from goita_agents.base import sample
from goita_env.tiles import NUM_KINDS, PAWN


def dealt(view):
    """Returns what the viewers were dealt: [N, 8]."""
    return view.hand + view.face_up[:, 0] + view.own_face_down


class LeadBot:
    """Plays any legal action unless it leads: then any with the attack that it wants."""

    def __init__(self, name):
        self.name = name

    def act(self, view, legal, rng):
        return sample(self.probabilities(view, legal), rng)

    def probabilities(self, view, legal):
        likely = legal / legal.sum(axis=1, keepdims=True)
        rows = np.flatnonzero(view.leads & legal[:, 1:65].any(axis=1))
        pairs = legal[rows, 1:65].reshape(-1, NUM_KINDS, NUM_KINDS)
        attacks = pairs.any(axis=1)
        wanted = self.lead(dealt(view)[rows], attacks)
        chosen = pairs * (np.arange(NUM_KINDS) == wanted[:, None])[:, None]
        likely[rows] = 0
        likely[rows, 1:65] = (chosen / chosen.sum(axis=(1, 2), keepdims=True)).reshape(-1, 64)
        return likely


class LengthBot(LeadBot):
    """Leads the kind of which it was dealt the most, the cheaper among equals."""

    def __init__(self):
        super().__init__("length")

    def lead(self, hands, attacks):
        return np.where(attacks, hands, -1).argmax(axis=1)


class CodeBot(LeadBot):
    """Tells with a lead whether it was dealt an even number of pawns.

    It leads the cheapest or the dearest kind that it may; the code says which of them means even.
    """

    def __init__(self, code):
        super().__init__(f"code {code}")
        self.code = code

    def lead(self, hands, attacks):
        cheapest, dearest = attacks.argmax(axis=1), 7 - attacks[:, ::-1].argmax(axis=1)
        return np.where((hands[:, PAWN] + self.code) % 2 == 0, cheapest, dearest)


class MixedCodeBot(LeadBot):
    """Plays one code or the other, as if each were equally likely."""

    def __init__(self):
        super().__init__("mixed code")
        self.codes = CodeBot(0), CodeBot(1)

    def probabilities(self, view, legal):
        one, other = (bot.probabilities(view, legal) for bot in self.codes)
        return (one + other) / 2
