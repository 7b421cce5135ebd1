"""Bots as classes for `MODULE:CLASS`, good ones and bad ones, hosted in processes of their own."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np


class DrawsOne:
    """Plays the legal action that one random number a row chooses."""

    name = "draws one"

    def act(self, view, legal, rng):
        """Chooses."""
        drawn = rng.random(len(legal))
        return np.array(
            [np.flatnonzero(row)[int(x * row.sum())] for row, x in zip(legal, drawn, strict=True)]
        )


class Remembers:
    """Plays by all that it was told of the game, redeals among it."""

    name = "remembers"

    def __init__(self):
        self.told = {}
        self.redeals = 0

    def note(self, games, view, numbers):
        """Mixes what it is told into what it knows."""
        for row, game in enumerate(games.tolist()):
            words = [self.told.get(game, 0), *view.words[row].tolist(), int(numbers[row])]
            self.told[game] = hash(tuple(words))

    def begin(self, games, seats, view):
        """Takes notice."""
        self.note(games, view, seats)

    def redeal(self, games, view):
        """Takes notice."""
        self.redeals += len(games)
        self.note(games, view, games)

    def end(self, games, results, hands):
        """Takes notice."""
        self.note(games, results.view, results.points + 1000 * results.winner + hands[:, 1, 0])

    def act(self, view, legal, rng):
        """Chooses by what it knows."""
        return np.array(
            [
                np.flatnonzero(row)[self.told[game] % row.sum()]
                for row, game in zip(legal, view.game.tolist(), strict=True)
            ]
        )


class OfItsBatch(DrawsOne):
    """Plays the first legal action, or the last one where it is asked for several rows."""

    def act(self, view, legal, rng):
        """Chooses."""
        last = len(legal) > 1
        return np.array([np.flatnonzero(row)[-1 if last else 0] for row in legal])


class CountsCalls(DrawsOne):
    """Plays by how often it was called, whatever the game."""

    def __init__(self):
        self.calls = 0

    def act(self, view, legal, rng):
        """Chooses."""
        self.calls += 1
        return np.array([np.flatnonzero(row)[self.calls % row.sum()] for row in legal])


class OfItsProcess(DrawsOne):
    """Plays otherwise where it is not at home."""

    def act(self, view, legal, rng):
        """Chooses."""
        return np.array(
            [np.flatnonzero(row)[0 if "agents.check" in sys.modules else -1] for row in legal]
        )


class RaisesElsewhere(OfItsProcess):
    """Fails where it is not at home."""

    def act(self, view, legal, rng):
        """Chooses."""
        if "agents.check" not in sys.modules:
            raise OSError("not here")
        return super().act(view, legal, rng)


class EvilError(Exception):
    """Cannot be printed."""

    def __str__(self):
        raise RuntimeError("no words for it")


class Hostile:
    """Plays the first legal action, and misbehaves as it is told to."""

    name = "hostile"
    forfeited = True
    faults = ("none of yours",) * 20

    def __init__(self, behaviour: str, mark: str = ""):
        self.behaviour = behaviour
        if behaviour == "raises in init":
            raise ZeroDivisionError("no start")
        if behaviour == "exits in init":
            sys.exit(0)
        if behaviour == "hangs in init":
            time.sleep(600)

    def begin(self, games, seats, view):
        """Fails."""
        if self.behaviour == "raises in begin":
            raise LookupError("begin")

    def redeal(self, games, view):
        """Fails."""
        if self.behaviour == "raises in redeal":
            raise LookupError("redeal")

    def end(self, games, results, hands):
        """Fails."""
        if self.behaviour == "raises in end":
            raise LookupError("end")

    def close(self):
        """Fails."""
        if self.behaviour == "raises in close":
            raise LookupError("close")

    def act(self, view, legal, rng):
        """Chooses."""
        chosen = legal.argmax(axis=1)
        done = getattr(self, self.behaviour.replace(" ", "_"), None)
        answer = done(chosen) if done else None
        legal[:] = False  # theirs to spoil
        return chosen if answer is None else answer

    def raises(self, chosen):
        """Fails."""
        raise ValueError("boom")

    def raises_what_cannot_be_printed(self, chosen):
        """Fails."""
        raise EvilError

    def raises_a_long_text(self, chosen):
        """Fails."""
        raise ValueError("\N{GAME DIE}\ud800\x1b[2J" * 100_000)

    def exits(self, chosen):
        """Fails."""
        sys.exit(0)

    def exits_at_once(self, chosen):
        """Fails."""
        os._exit(0)

    def is_interrupted(self, chosen):
        """Fails."""
        raise KeyboardInterrupt

    def recurses(self, chosen):
        """Fails."""
        return self.recurses(chosen)

    def recurses_without_end(self, chosen):
        """Fails."""
        sys.setrecursionlimit(2**31 - 1)
        return sorted([chosen], key=self.recurses_without_end)

    def loops(self, chosen):
        """Fails."""
        while True:
            pass

    def allocates(self, chosen):
        """Fails."""
        return np.ones(100 << 30, np.uint8)

    def answers_two(self, chosen):
        """Fails."""
        return np.append(chosen, chosen)

    def answers_nothing(self, chosen):
        """Fails."""
        return "pass"

    def answers_ragged(self, chosen):
        """Fails."""
        return [[1], [1, 2]]

    def answers_doubles(self, chosen):
        """Fails."""
        return chosen * 1.0

    def answers_999(self, chosen):
        """Fails."""
        return chosen * 0 + 999

    def answers_below_0(self, chosen):
        """Fails."""
        return chosen * 0 - 1

    def prints(self, chosen):
        """Prints wherever it can."""
        print('{"type":"act","game":17,"action":"88"}', flush=True)
        os.write(1, b"noise\n")
        subprocess.run(["/bin/echo", "noise"], check=True)
        subprocess.run(["/bin/cat"], check=True)

    def closes_its_output(self, chosen):
        """Closes what it can."""
        with contextlib.suppress(OSError):  # the second time
            os.close(1)
            os.close(0)

    def closes_every_file(self, chosen):
        """Closes the conversation."""
        os.closerange(0, 256)

    def reads(self, chosen):
        """Reads what is not its own."""
        input()

    def floods_stderr(self, chosen):
        """Prints."""
        print("noise\n" * 200_000, file=sys.stderr)

    def changes_folder(self, chosen):
        """Moves."""
        os.chdir("/")

    def ignores_signals(self, chosen):
        """Stays."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        threading.Thread(target=time.sleep, args=(600,)).start()

    def leaves_a_thread(self, chosen):
        """Goes on."""
        threading.Thread(target=time.sleep, args=(600,)).start()

    def forks(self, chosen):
        """Multiplies."""
        for _ in range(3):
            os.fork()
        if os.getpid() % 2:
            time.sleep(0.01)

    def forks_sleepers(self, chosen):
        """Multiplies."""
        for _ in range(5):
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)

    def stops(self, chosen):
        """Stops."""
        os.kill(os.getpid(), signal.SIGSTOP)
