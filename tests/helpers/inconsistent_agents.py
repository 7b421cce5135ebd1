"""Agents that are not what they claim: each one's answers depend on what they must not."""

import numpy as np


class Honest:
    """Plays the first legal action, but for a little, and draws no random number."""

    name = "honest"

    def __init_subclass__(cls):
        cls.name = cls.__name__

    def likely(self, view, legal):
        found = 0.5 * legal / legal.sum(axis=1, keepdims=True)
        found[np.arange(len(legal)), legal.argmax(axis=1)] += 0.5
        return found

    def probabilities(self, view, legal):
        return self.likely(view, legal)

    def act(self, view, legal, rng):
        return self.probabilities(view, legal).argmax(axis=1)


class Turned(Honest):
    """Favours the last legal action where a subclass says so: bool [N]."""

    def probabilities(self, view, legal):
        found = self.likely(view, legal)
        other = self.likely(view, legal[:, ::-1])[:, ::-1]
        return np.where(np.asarray(self.turned(view))[:, None], other, found)


class ByRows(Turned):
    """Looks at how many plays have been made in the other rows."""

    def turned(self, view):
        return view.num_plays > view.num_plays.mean()


class ByPlace(Turned):
    """Looks at a row's place in the batch."""

    def turned(self, view):
        return np.arange(len(view)) % 2 == 1


class ByBatch(Turned):
    """Looks at how many rows there are."""

    def turned(self, view):
        return np.full(len(view), len(view) == 1)


class ByGame(Turned):
    """Looks at the number of the game."""

    def turned(self, view):
        return view.game % 4 < 2


class ByState(Turned):
    """Counts how often it has been asked, and declares no memory."""

    asked = 0

    def turned(self, view):
        self.asked += 1
        return np.full(len(view), self.asked % 2 == 0)


class ByMemory(Turned):
    """Keeps what it answered in a game, and declares no memory."""

    def __init__(self):
        self.seen = set()

    def turned(self, view):
        met = [game in self.seen for game in view.game.tolist()]
        self.seen |= set(view.game.tolist())
        return met


class ActsByGame(Honest):
    """Has honest probabilities and acts by the number of the game."""

    def act(self, view, legal, rng):
        last = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
        return np.where(view.game % 2 == 0, legal.argmax(axis=1), last)


class ActsHonestly(Honest):
    """Plays the first legal action, whatever its probabilities."""

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)


class NotANumber(ActsHonestly):
    """Gives NaN where there are three legal actions or more."""

    def probabilities(self, view, legal):
        return np.where(legal.sum(axis=1, keepdims=True) > 2, np.nan, self.likely(view, legal))


class NotANumberAlone(ActsHonestly):
    """Gives NaN where it is shown one view."""

    def probabilities(self, view, legal):
        return self.likely(view, legal) * (np.nan if len(view) == 1 else 1)


class FlatAlone(ActsHonestly):
    """Gives no rows where it is shown one view."""

    def probabilities(self, view, legal):
        return np.squeeze(self.likely(view, legal))


class ActsTwiceAlone(Honest):
    """Has honest probabilities, and gives two actions where it is shown one view."""

    def act(self, view, legal, rng):
        return super().act(view, legal, rng).repeat(2 if len(view) == 1 else 1)


class ActsShort(Honest):
    """Has honest probabilities, and gives no action for the first view."""

    def act(self, view, legal, rng):
        return super().act(view, legal, rng)[1:]


class HalfSure(Honest):
    """Gives probabilities that sum to a half."""

    def probabilities(self, view, legal):
        return self.likely(view, legal) / 2


class Illegal(ActsHonestly):
    """Gives illegal actions a probability."""

    def probabilities(self, view, legal):
        return np.full(legal.shape, 1 / legal.shape[1])


class Negative(ActsHonestly):
    """Takes a probability below zero from one legal action and gives it to another."""

    def probabilities(self, view, legal):
        found = self.likely(view, legal)
        rows, first = np.arange(len(legal)), legal.argmax(axis=1)
        last = legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
        found[rows, first] += found[rows, last] + 0.5
        found[rows, last] -= found[rows, last] + 0.5
        return found


BAD = {
    ByRows: "when asked",
    ByPlace: "when asked",
    ByBatch: "when asked one at a time",
    ByGame: "when asked in games of other numbers",
    ByState: "when asked a second time",
    ByMemory: "when asked a second time",
    ActsByGame: "expected actions that depend only on the view",
    NotANumber: "expected finite probabilities",
    NotANumberAlone: "got others for 64 of 64 views when asked one at a time",
    FlatAlone: "expected probabilities of shape (64, 69), asked one at a time, got (4416,)",
    ActsShort: "expected actions of shape (256,), got (255,)",
    ActsTwiceAlone: "expected actions of shape (64,), asked one at a time, got (128,)",
    HalfSure: "expected probabilities that sum to 1",
    Illegal: "probability 0 for illegal actions",
    Negative: "expected probabilities of at least 0",
}
"""By agent, a part of the sentence by which it is refused."""
