"""An agent played twice, here and elsewhere, and compared."""

import numpy as np


class Twice:
    """Plays as an agent here does, and asserts that the one elsewhere says the same."""

    def __init__(self, here, there, rng=None):
        self.name, self.here, self.there = "twice", here, there
        self.rng, self.asked = rng, 0

    def __getattr__(self, name):
        if name not in ("begin", "redeal", "end"):
            raise AttributeError(name)

        def tell(*arguments):
            for agent in (self.here, self.there):
                if hasattr(agent, name):
                    getattr(agent, name)(*arguments)

        return tell

    def act(self, view, legal, rng):
        here = self.here.act(view, legal.copy(), self.rng or rng)
        assert self.there.act(view, legal, rng).tolist() == np.asarray(here).tolist()
        self.asked += len(legal)
        return here
