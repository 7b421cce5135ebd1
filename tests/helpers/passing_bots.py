"""Two opposite types: one never receives, the other receives whenever it can."""

import numpy as np

from goita_env.actions import PASS


class Passing:
    """Passes whenever it may, else takes the first action."""

    name = "passing"
    deterministic = True

    def probabilities(self, view, legal):
        chosen = np.where(legal[:, PASS], PASS, legal.argmax(axis=1))
        return np.eye(legal.shape[1])[chosen]

    def act(self, view, legal, rng):
        return self.probabilities(view, legal).argmax(axis=1)


class Receiving(Passing):
    """Passes when it must, else takes the first action."""

    name = "receiving"

    def probabilities(self, view, legal):
        rest = legal.copy()
        rest[:, PASS] &= legal.sum(axis=1) == 1
        return np.eye(legal.shape[1])[rest.argmax(axis=1)]
