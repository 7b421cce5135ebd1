"""Workers: what they are held to, and that none is left behind."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings

import pytest

from goita_agents import AgentError
from goita_env.errors import SettingError
from goita_lab.arena.tournament import workers
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import tasks
from goita_lab.arena.tournament.workers import check_workers, play_blocks
from programs import ROOT


def test_matrices_are_multiplied_by_one_thread_in_every_worker(monkeypatch):
    from threadpoolctl import threadpool_info, threadpool_limits

    seen = []

    def look(task, **settings):
        # Not what other tests have loaded since (scipy, torch): no agent multiplies with it.
        found = [library for library in threadpool_info() if "numpy" in library["filepath"]]
        seen.extend(library["num_threads"] for library in found)
        return play_block(task)

    monkeypatch.setattr(workers, "play_block", look)
    with threadpool_limits(2, user_api="blas"):
        list(play_blocks(tasks(("greedy", "greedy"), 2)))
    assert set(seen) == {1}


@pytest.mark.parametrize(
    ("number", "send"),
    [
        (signal.SIGINT, os.killpg),
        (signal.SIGKILL, os.kill),
        pytest.param(signal.SIGINT, os.kill, marks=pytest.mark.slow),
    ],
)
def test_no_worker_is_left_behind_after_an_interrupt_or_a_kill(tmp_path, number, send):
    file, log = tmp_path / "results.db", tmp_path / "results.db-wal"
    command = [sys.executable, "evaluate.py", "--agents", "greedy", "random", "--deals", "1000000"]
    command += ["--workers", "2", "--results", file]
    settings = {"cwd": ROOT, "stderr": subprocess.PIPE, "start_new_session": True, "text": True}
    with subprocess.Popen(command, **settings) as process:
        deadline = time.monotonic() + 30
        while not log.exists() or log.stat().st_size < 100_000:  # some blocks
            assert time.monotonic() < deadline
            time.sleep(0.01)
        send(process.pid, number)  # Ctrl-C in a terminal goes to the workers, too
        error = process.stderr.read()  # until nobody can write there any more
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert re.fullmatch(r"\nstopped with .* deals left; the same command goes on\n", error)
    while True:  # the session is empty as soon as the system has cleaned up
        assert time.monotonic() < deadline
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)


def test_who_stops_taking_results_is_told_nothing_of_unfinished_work():
    many = tasks(("greedy", "greedy"), 400_000, block_deals=400)
    results = play_blocks(many, 2)
    next(results)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results.close()
    assert not told


def test_impossible_workers_and_backends_are_refused(monkeypatch):
    monkeypatch.setattr(workers, "find_spec", lambda name: None)  # Ray is not installed
    wrong = [*((number, "loky", "workers") for number in (0, -1, 10**6))]
    for number, backend, words in (*wrong, (1, "dask", "backend"), (1, "ray", r"\[ray,lab\]")):
        with pytest.raises(SettingError, match=words):
            check_workers(number, backend)


def test_an_agents_error_in_another_process_comes_back_as_it_is():
    with pytest.raises(AgentError, match=r"^expected to build 'file:no/such/file'"):
        list(play_blocks(tasks(("greedy", "file:no/such/file"), 32, block_deals=4), 2))
