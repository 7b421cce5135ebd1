"""Agents that play at tables with shown tiles and messages, also as `MODULE:CLASS`."""

import numpy as np

from goita_agents.base import sample
from goita_env.actions import MESSAGE
from goita_env.tiles import KING, PAWN


class Telling:
    """Tells whether it was dealt a king; plays by what it hears and whose tiles it is shown.

    Notes what it is asked in ``asked``: the views and masks.
    """

    name = "telling"

    def __init__(self):
        self.asked = []

    def plays(self, information):
        return True

    def act(self, view, legal, rng):
        return sample(self.probabilities(view, legal), rng)

    def probabilities(self, view, legal):
        """Returns nearly all weight on one action that what it knows names."""
        self.asked.append((view, legal))
        known = (
            1 + view.messages @ [1, 3, 9, 27] + np.maximum(view.hands, 0)[:, :, PAWN].sum(axis=1)
        )
        wanted = (known + view.num_plays) % legal.sum(axis=1)
        rank = legal.cumsum(axis=1) - 1
        likely = legal * np.where(rank == wanted[:, None], 1.0, 0.01)
        said = MESSAGE + (view.hand[:, KING] > 0)
        rows = np.flatnonzero(view.asked_message)
        likely[rows] = 0
        likely[rows, said[rows]] = 1
        return likely / likely.sum(axis=1, keepdims=True)


class WithMemory(Telling):
    """Remembers what it was told of each game, and plays by it."""

    name = "remembering"

    def __init__(self):
        super().__init__()
        self.told = {}
        self.ends = []

    def note(self, games, view):
        for row, game in enumerate(games.tolist()):
            words = view.words[row].tolist()
            self.told[game] = (self.told.get(game, 1) + sum(words)) % (1 << 61)

    def begin(self, games, seats, view):
        self.note(games, view)

    def redeal(self, games, view):
        self.note(games, view)

    def end(self, games, results, hands):
        self.note(games, results.view)
        self.ends.append(results.view)

    def act(self, view, legal, rng):
        self.asked.append((view, legal))
        self.note(view.game, view)
        told = [self.told[game] for game in view.game.tolist()]
        rows = zip(legal, told, strict=True)
        return np.array([np.flatnonzero(row)[number % row.sum()] for row, number in rows])


class Loud(Telling):
    """Always sends the last message, and plays its first legal action."""

    name = "loud"

    def probabilities(self, view, legal):
        last = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
        chosen = np.where(view.asked_message, last, legal.argmax(axis=1))
        return (np.arange(legal.shape[1]) == chosen[:, None]) * 1.0


class Plainly:
    """Plays the base game alone: the first legal action."""

    name = "plainly"

    def act(self, view, legal, rng):
        assert legal.shape[1] == 69
        assert view.words.shape[1] == 8
        return legal.argmax(axis=1)
