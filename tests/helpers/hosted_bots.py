"""Bots as classes for `MODULE:CLASS`, good ones and bad ones, hosted in processes of their own."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
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


class Remembers:
    """Plays by all that it was told of the game, redeals among it."""

    name = "remembers"

    def __init__(self):
        self.told = {}
        self.redeals = 0

    def note(self, games, view, numbers):
        for row, game in enumerate(games.tolist()):
            words = [self.told.get(game, 0), *view.words[row].tolist(), int(numbers[row])]
            self.told[game] = hash(tuple(words))

    def begin(self, games, seats, view):
        self.note(games, view, seats)

    def redeal(self, games, view):
        self.redeals += len(games)
        self.note(games, view, games)

    def end(self, games, results, hands):
        self.note(games, results.view, results.points + 1000 * results.winner + hands[:, 1, 0])

    def act(self, view, legal, rng):
        return pick(legal, [self.told[game] for game in view.game.tolist()])


class OfItsProcess(First):
    """Plays otherwise where it is not at home."""

    def act(self, view, legal, rng):
        return pick(legal, [0 if "goita_lab.arena.check" in sys.modules else -1] * len(legal))


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

    def __init__(self, behaviour: str, mark: str = "", every: int = 1):
        self.behaviour, self.asked, self.every = behaviour, 0, every
        if behaviour == "raises in init":
            raise ZeroDivisionError("no start")
        if behaviour == "exits in init":
            sys.exit(0)
        if behaviour == "hangs in init":
            time.sleep(600)

    def begin(self, games, seats, view):
        if self.behaviour == "raises in begin":
            raise LookupError("begin")

    def redeal(self, games, view):
        if self.behaviour == "raises in redeal":
            raise LookupError("redeal")

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

    def raises_a_long_text(self, chosen):
        raise ValueError("\N{GAME DIE}\ud800\x1b[2J" * 100_000)

    def exits(self, chosen):
        sys.exit(0)

    def exits_two_seconds_later(self, chosen):
        time.sleep(2)  # what other workers play is done by then
        os._exit(0)

    def exits_at_once(self, chosen):
        os._exit(0)

    def is_interrupted(self, chosen):
        raise KeyboardInterrupt

    def recurses(self, chosen):
        return self.recurses(chosen)

    def recurses_without_end(self, chosen):
        sys.setrecursionlimit(2**31 - 1)
        return sorted([chosen], key=self.recurses_without_end)

    def loops(self, chosen):
        while True:
            pass

    def allocates(self, chosen):
        return np.ones(100 << 30, np.uint8)

    def answers_two(self, chosen):
        return np.append(chosen, chosen)

    def answers_nothing(self, chosen):
        return "pass"

    def answers_ragged(self, chosen):
        return [[1], [1, 2]]

    def answers_doubles(self, chosen):
        return chosen * 1.0

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

    def breaks_its_process(self, chosen):
        np.where = None

    def answers_999(self, chosen):
        return chosen * 0 + 999

    def answers_below_0(self, chosen):
        return chosen * 0 - 1

    def prints(self, chosen):
        print('{"type":"act","game":17,"action":"88"}', flush=True)
        os.write(1, b"noise\n")
        subprocess.run(["/bin/echo", "noise"], check=True)
        subprocess.run(["/bin/cat"], check=True)

    def closes_its_output(self, chosen):
        with contextlib.suppress(OSError):  # the second time
            os.close(1)
            os.close(0)

    def closes_every_file(self, chosen):
        os.closerange(0, 256)

    def reads(self, chosen):
        input()

    def floods_stderr(self, chosen):
        print("noise\n" * 200_000, file=sys.stderr)

    def changes_folder(self, chosen):
        os.chdir("/")

    def ignores_signals(self, chosen):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        threading.Thread(target=time.sleep, args=(600,)).start()

    def leaves_a_thread(self, chosen):
        threading.Thread(target=time.sleep, args=(600,)).start()

    def forks(self, chosen):
        for _ in range(3):
            os.fork()
        if os.getpid() % 2:
            time.sleep(0.01)

    def forks_sleepers(self, chosen):
        for _ in range(5):
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)

    def stops(self, chosen):
        os.kill(os.getpid(), signal.SIGSTOP)
