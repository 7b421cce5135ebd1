"""Trains one run for each of several seeds, in processes of their own (``goita train --seeds``).

A run is a process ``goita train --seed S --name NAME-S``, and may be stopped and resumed like any
other. The same command leaves finished runs as they are and resumes unfinished ones.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, Self

from goita_agents.registry import RUN_POLICY
from goita_agents.solver import cores
from goita_env.errors import SettingError

SEED_RANGE: Final = re.compile(r"(\d+)(?:-(\d+))?")
MAX_RUNS: Final = 1_000
POLL_SECONDS: Final = 0.2


@dataclass(frozen=True)
class SeedOptions:
    """The options of a command line that several runs have, and one run has not or otherwise."""

    seeds: str | None = None
    workers: int | None = None
    name: str | None = None
    threads: int | None = None

    @classmethod
    def read(cls, words: Sequence[str]) -> tuple[Self, list[str]]:
        """Returns these options, and the words that are none of them."""
        import tyro

        return tyro.cli(
            cls,
            args=words,
            config=(tyro.conf.DisallowNone,),
            return_unknown_args=True,
            add_help=False,
        )


def read_seeds(text: str) -> tuple[int, ...]:
    """Returns the seeds of "1-8", or of "1-3,7", each once.

    Raises:
        SettingError: if the text is something else, or means too many runs.
    """
    seeds: list[int] = []
    for part in text.split(","):
        match = SEED_RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not 0 <= last - first < MAX_RUNS:
            raise SettingError(f"expected seeds such as 1-8 or 1-3,7, got {text!r}")
        seeds += range(first, last + 1)
    if len(seeds) > MAX_RUNS:
        raise SettingError(f"expected at most {MAX_RUNS:,} runs, got {len(seeds):,}")
    return tuple(dict.fromkeys(seeds))


def share_cores(workers: int | None, threads: int | None) -> tuple[int, int]:
    """Returns how many runs train at the same time, and the threads of each.

    Raises:
        SettingError: if they need more than the cores of this machine.
    """
    threads = threads or 1
    workers = workers or max(1, cores() // threads)
    if workers * threads > max(cores(), threads):
        raise SettingError(
            f"expected --workers times --threads of at most the {cores()} cores of this machine, "
            f"got {workers} x {threads}"
        )
    return workers, threads


class SeedRuns:
    """The runs of several seeds, of which some train at the same time.

    Args:
        words: options of ``goita train`` that all runs have in common.
        name: of the runs; a run's own name is NAME-SEED.
        seeds: a seed for each run.
        workers: number of runs that train at the same time.
        show: prints a line.
    """

    def __init__(
        self,
        words: Sequence[str],
        name: str,
        seeds: Sequence[int],
        workers: int,
        show: Callable[[str], None] = print,
    ) -> None:
        self._words, self._name, self._workers, self._show = words, name, workers, show
        self._waiting = list(seeds)
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._readers: list[threading.Thread] = []
        self._failed: list[str] = []

    def train(self) -> int:
        """Trains all runs that are not finished; returns the exit code of the command.

        Ctrl-C and SIGTERM are handed on to the runs, each of which then saves itself.
        """
        handler = signal.signal(signal.SIGTERM, _terminate)
        try:
            while self._waiting or self._running:
                while self._waiting and len(self._running) < self._workers:
                    self._start(self._waiting.pop(0))
                self._collect()
                time.sleep(POLL_SECONDS)
        except (KeyboardInterrupt, _Terminated) as stop:
            self._stop(signal.SIGTERM if isinstance(stop, _Terminated) else signal.SIGINT)
            self._show("stopped and saved; the same command continues")
            return 130
        finally:
            signal.signal(signal.SIGTERM, handler)
            self._stop(signal.SIGTERM)
        if self._failed:
            self._show(f"failed: {', '.join(self._failed)}")
        return 1 if self._failed else 0

    def _start(self, seed: int) -> None:
        """Starts or resumes the run of a seed, unless it is finished."""
        name = f"{self._name}-{seed}"
        directory = Path("runs", name)
        if (directory / RUN_POLICY).is_file():
            self._show(f"{name}: finished before")
            return
        words = ["--seed", str(seed), "--name", name, *self._words]
        if (directory / "checkpoint.safetensors").is_file():
            words = ["--resume", str(directory)]
        child = subprocess.Popen(
            [sys.executable, "-m", "goita_lab", "train", *words, "--no-progress"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches it only through this process
        )
        reader = threading.Thread(target=self._repeat, args=(name, child), daemon=True)
        reader.start()
        self._running[name] = child
        self._readers.append(reader)

    def _repeat(self, name: str, child: subprocess.Popen[str]) -> None:
        """Shows the lines of a run with its name before each."""
        assert child.stdout is not None
        with child.stdout as lines:
            for line in lines:
                self._show(f"{name}: {line.rstrip()}")

    def _collect(self) -> None:
        """Notes which runs have ended, and which of these have failed."""
        for name, child in list(self._running.items()):
            if child.poll() is not None:
                del self._running[name]
                if child.returncode:
                    self._failed.append(name)

    def _stop(self, number: signal.Signals) -> None:
        """Hands a signal on to the running runs and waits until they have saved themselves."""
        for child in self._running.values():
            child.send_signal(number)
        for child in self._running.values():
            child.wait()
        self._running.clear()
        for reader in self._readers:
            reader.join(timeout=5)


class _Terminated(BaseException):
    """SIGTERM has come."""


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise _Terminated
