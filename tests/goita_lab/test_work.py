"""Workers: what they are held to, how many are started, and that none is left behind."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from goita_agents import AgentError
from goita_env.errors import SettingError
from goita_lab import work
from goita_lab.arena.tournament.arena import play_blocks
from goita_lab.arena.tournament.plan import tasks
from goita_lab.work import WorkerError, capped, check_workers, on_workers
from programs import ROOT


def matrix_threads(_):
    from threadpoolctl import threadpool_info

    # Not what other tests have loaded since (scipy, torch): no agent multiplies with it.
    found = [library for library in threadpool_info() if "numpy" in library["filepath"]]
    return [library["num_threads"] for library in found]


@pytest.mark.parametrize("workers", [1, 2])
def test_matrices_are_multiplied_by_one_thread_in_every_worker(workers, monkeypatch):
    from threadpoolctl import threadpool_limits

    # Not the one thread that conftest.py gives to every process of the tests.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(variable, "2")
    monkeypatch.setattr(work, "_cores", lambda: 2)
    with threadpool_limits(2, user_api="blas"):
        assert {n for found in on_workers(matrix_threads, range(4), workers) for n in found} == {1}


def die_in_third(number):
    if number == 3:
        time.sleep(1)
        os._exit(3)
    time.sleep(0 if number < 3 else 60)


def test_a_worker_that_died_is_an_error_that_names_what_was_being_done(monkeypatch):
    monkeypatch.setattr(work, "_cores", lambda: 2)
    with pytest.raises(WorkerError) as caught:
        list(on_workers(die_in_third, range(1, 9), 2))
    assert caught.value.items == (3, 4)  # neither what was done before nor what was waiting
    assert sorted(on_workers(abs, [-5, -6], 2)) == [5, 6]


def test_workers_end_with_work_that_waits_and_nothing_goes_wrong_in_a_thread(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    results = on_workers(time.sleep, [0.01, *(60 for _ in range(20))], 2)
    start = time.monotonic()
    next(results)
    results.close()
    assert time.monotonic() - start < 30
    assert told == []


@pytest.mark.parametrize("terminal", [False, True])
def test_the_time_left_is_told_even_after_a_line_was_wiped_out(monkeypatch, capsys, terminal):
    seconds = iter(range(0, 10_000, 100))
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    show = work.stderr_progress()
    for done in (8, 0, 2, 8, 4):
        show("games", done, 8)
    lines = re.findall(r"games: .*", capsys.readouterr().err.replace("\r", "\n"))
    assert lines == [
        "games: 0 of 8, time left: not known",
        "games: 2 of 8, time left: 0:05:00",
        "games: 4 of 8, time left: 0:03:20",
    ]


def test_no_more_workers_are_started_than_are_of_use(monkeypatch, capfd):
    monkeypatch.setattr(work, "_cores", lambda: 4)
    work._tell.cache_clear()
    workers, items = capped(100, iter("abcdef"))
    assert (workers, "".join(items)) == (4, "abcdef")
    assert capped(24, "a")[0] == 1
    assert capped(2, range(10))[0] == 2
    assert capped(8, ())[0] == 1
    assert capfd.readouterr().err == (
        "started 4 of 100 workers: there are 4 core(s)\n"
        "started 1 of 24 workers: there is no more work\n"
    )


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
        assert re.fullmatch(r"\nstopped with .* deals left; the same command continues\n", error)
    while True:  # the session is empty as soon as the system has cleaned up
        assert time.monotonic() < deadline
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)


def test_impossible_workers_and_a_cluster_without_ray_are_refused(monkeypatch):
    for number in (0, -1, 10**6):
        with pytest.raises(SettingError, match="workers"):
            check_workers(number)
    monkeypatch.setattr(work, "find_spec", lambda name: None)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    check_workers(1)
    with pytest.raises(SettingError, match=r"\[ray,lab\]"):
        check_workers(2)


def test_an_agents_error_in_another_process_comes_back_as_it_is():
    with pytest.raises(AgentError, match=r"^expected to build 'file:no/such/file'"):
        list(play_blocks(tasks(("greedy", "file:no/such/file"), 32, block_deals=4), 2))
