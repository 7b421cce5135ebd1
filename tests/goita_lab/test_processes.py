"""Child processes: what a dead one does to the others, and how many are started."""

import os
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest
from joblib.externals import loky

from goita_lab import processes
from goita_lab.processes import Processes, WorkerError, capped


def test_a_pool_whose_child_died_answers_the_next_question():
    with Processes() as pool:
        with pytest.raises(BrokenProcessPool):
            pool.submit(partial(os._exit, 3)).result(60)
        assert pool.submit(os.getpid).result(60) != os.getpid()
        with pytest.raises(WorkerError) as caught:
            list(pool.each(os._exit, [3]))
        assert caught.value.items == (3,)
        assert list(pool.each(abs, [-5, -6])) == [5, 6]


def test_two_pools_have_children_of_their_own():
    with Processes() as one, Processes() as other:
        assert len({pool.submit(os.getpid).result(60) for pool in (one, other, one, other)}) == 2


def test_a_pool_ends_with_work_that_waits_and_nothing_goes_wrong_in_its_thread(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    pool = Processes()
    waiting = [pool.submit(partial(time.sleep, 60)) for _ in range(20)]
    pool.end()
    assert told == []
    assert all(one.exception() is not None for one in waiting)


def test_no_more_processes_are_started_than_are_of_use(monkeypatch, capfd):
    monkeypatch.setattr(loky, "cpu_count", lambda: 4)
    processes._tell.cache_clear()
    workers, items = capped(100, iter("abcdef"))
    assert (workers, "".join(items)) == (4, "abcdef")
    assert capped(24, "a")[0] == 1
    assert capped(2, range(10))[0] == 2
    assert capped(8, ())[0] == 1
    assert capfd.readouterr().err == (
        "started 4 of 100 processes: this machine has 4 core(s)\n"
        "started 1 of 24 processes: there is no more work\n"
    )
