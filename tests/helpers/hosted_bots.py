"""Bots as classes for `MODULE:CLASS`, good ones and bad ones."""

import os
import subprocess
import sys
import time

import numpy as np


def pick(legal, numbers):
    """Returns each row's legal action of that number, modulo how many there are."""
    rows = zip(legal, numbers, strict=True)
    return np.array([np.flatnonzero(row)[number % row.sum()] for row, number in rows])


class First:
    """Plays the first legal action."""

    name = "first"

    def act(self, view, legal, rng):
        return legal.argmax(axis=1)


class DrawsOne(First):
    """Plays the legal action that one random number a row chooses."""

    name = "draws one"

    def act(self, view, legal, rng):
        return pick(legal, (rng.random(len(legal)) * legal.sum(axis=1)).astype(int))


class ExitsAsItIsLookedAt(First):
    @property
    def close(self):
        raise SystemExit(0)


DIARIES = []


class Diary(First):
    """Notes the seats of each instance, and counts its deals."""

    def __init__(self):
        DIARIES.append(self)
        self.seats, self.deals = set(), 0

    def begin(self, games, seats, view):
        self.seats |= set(seats.tolist())
        self.deals += len(games)

    def end(self, games, results, hands):
        pass


class EvilError(Exception):
    """Cannot be printed."""

    def __str__(self):
        raise RuntimeError("\udc80")


class Hostile:
    """Plays the first legal action, and misbehaves as it is told to, in every n-th call."""

    name = "hostile"
    forfeited = True
    faults = ("none of yours",) * 20

    def __init__(self, behaviour: str, every: int = 1):
        self.behaviour, self.asked, self.every = behaviour, 0, every
        if behaviour == "exits in init":
            sys.exit(0)

    def begin(self, games, seats, view):
        if self.behaviour == "raises in begin":
            raise LookupError("begin")

    def end(self, games, results, hands):
        if self.behaviour == "raises in end":
            raise LookupError("end")

    def close(self):
        if self.behaviour == "raises in close":
            raise LookupError("close")

    def act(self, view, legal, rng):
        chosen, answer = legal.argmax(axis=1), None
        self.asked += 1
        if self.behaviour == "writes into the mask":
            answer = legal.argmin(axis=1)
        elif self.asked % self.every == 0 and self.behaviour != "fine":
            answer = getattr(self, self.behaviour.replace(" ", "_"), lambda _: None)(chosen)
        legal[:] = answer is not None  # theirs to spoil
        return chosen if answer is None else answer

    def raises(self, chosen):
        raise ValueError("boom")

    def raises_what_cannot_be_printed(self, chosen):
        raise EvilError

    def exits(self, chosen):
        sys.exit(0)

    def exits_two_seconds_later(self, chosen):
        time.sleep(2)  # what other workers play is done by then
        os._exit(0)

    def answers_two(self, chosen):
        return np.append(chosen, chosen)

    def answers_nothing(self, chosen):
        return "pass"

    def answers_one_pass(self, chosen):
        if self.asked == 1:
            chosen[0] = 0  # where it leads

    def answers_one_nan(self, chosen):
        return np.append(np.nan, chosen[1:]) if self.asked == 1 else chosen

    def answers_what_exits(self, chosen):
        class Answer:
            def __array__(self, *_, **__):
                raise SystemExit(0)

        return Answer()

    def answers_999(self, chosen):
        return chosen * 0 + 999

    def prints(self, chosen):
        print('{"type":"act","game":17,"action":"88"}', flush=True)
        os.write(1, b"noise\n")
        subprocess.run(["/bin/echo", "noise"], check=True)
        subprocess.run(["/bin/cat"], check=True)
