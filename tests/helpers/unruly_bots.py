"""Classes that misbehave, each in one way; where they do nothing else they play the first legal."""

import os
import time

import numpy as np


class First:
    """Plays the first legal action."""

    name = "first"

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)


class Told(First):
    """Has a memory that it does not use."""

    def begin(self, games, seats, view):
        pass

    def end(self, games, results, hands):
        pass


class Raises(First):
    def __init__(self, every: int = 1):
        self.asked, self.every = 0, every

    def act(self, view, legal, rng):
        self.asked += 1
        if self.asked % self.every == 0:
            raise RuntimeError("out of ideas")
        return super().act(view, legal, rng)


class Exits(First):
    def act(self, view, legal, rng):
        raise SystemExit(0)


class ExitsAtBirth(First):
    def __init__(self):
        raise SystemExit(0)


class RaisesInBegin(Told):
    def begin(self, games, seats, view):
        raise RuntimeError("no beginning")


class RaisesInEnd(Told):
    def end(self, games, results, hands):
        raise RuntimeError("no end")


class RaisesInClose(First):
    def close(self):
        raise RuntimeError("not now")


class ExitsAsItIsRead(First):
    """Answers with an object that leaves as it is made an array."""

    def act(self, view, legal, rng):
        class Answer:
            def __array__(self, *_, **__):
                raise SystemExit(0)

        return Answer()


class ExitsAsItIsLookedAt(First):
    @property
    def close(self):
        raise SystemExit(0)


class ExitsAsItIsAsked(First):
    def __getattr__(self, name):
        raise SystemExit(0)


class BreaksItsProcess(First):
    """Takes from numpy what others need."""

    def act(self, view, legal, rng):
        np.where = None
        return super().act(view, legal, rng)


class Interrupts(First):
    def act(self, view, legal, rng):
        raise KeyboardInterrupt


class Prints(First):
    def act(self, view, legal, rng):
        print("HELLO")
        return super().act(view, legal, rng)


class RaisesNonsense(First):
    """Raises what cannot be shown."""

    def act(self, view, legal, rng):
        class OddError(Exception):
            def __str__(self):
                raise RuntimeError("\udc80")

        raise OddError


class OneIllegal(First):
    """Answers one row of its first call with an action that is not legal."""

    def __init__(self):
        self.done = False

    def act(self, view, legal, rng):
        chosen = super().act(view, legal, rng)
        if not self.done:
            self.done, chosen[0] = True, legal[0].argmin()
        return chosen


class OneNan(First):
    """Answers one row of its first call with no number."""

    def __init__(self):
        self.done = False

    def act(self, view, legal, rng):
        chosen = super().act(view, legal, rng)
        if self.done:
            return chosen
        self.done, floats = True, chosen.astype(float)
        floats[0] = np.nan
        return floats


class Short(First):
    def act(self, view, legal, rng):
        return np.zeros(len(view) + 1, int)


class Words(First):
    def act(self, view, legal, rng):
        return np.full(len(view), "pass")


class WritesMask(First):
    """Makes everything legal in the mask that it is handed, and plays something else."""

    def act(self, view, legal, rng):
        wrong = legal.argmin(axis=1)
        legal[:] = True
        return wrong


class Claims(First):
    """Says that it made faults and is out; nobody asked."""

    faults = ("many",)
    forfeited = True

    def forfeit(self):
        raise RuntimeError("never")

    def close(self):
        pass


class GoesElsewhere(First):
    def act(self, view, legal, rng):
        os.chdir("/")
        return super().act(view, legal, rng)


class Dies(First):
    """Ends its process in the deals of the blocks after the first."""

    def __init__(self, after: int = 0):
        self.calls, self.after = 0, after

    def act(self, view, legal, rng):
        self.calls += 1
        if self.calls > self.after:
            os._exit(0)
        return super().act(view, legal, rng)


class Hangs(First):
    def act(self, view, legal, rng):
        while True:
            time.sleep(0.01)


INSTANCES = []


class Diary(Told):
    """Notes the seats and games of each instance, while they are under way."""

    def __init__(self):
        INSTANCES.append(self)
        self.seats, self.hands = set(), []

    def begin(self, games, seats, view):
        self.seats |= set(seats.tolist())
        self.hands += [
            (int(dealer), tuple(hand))
            for dealer, hand in zip(view.dealer, view.hand.tolist(), strict=True)
        ]
