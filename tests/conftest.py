"""Sets up what all tests stand on: threads, hypothesis, and the signal of Ctrl-C.

Threads: one for each process, since the tests' own processes fill the machine; more would wait for
each other. Hypothesis: the same examples in every run, no files, no deadline on a shared machine.
"""

import os
import signal

os.environ["OMP_NUM_THREADS"] = "1"  # read where numpy is first imported
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.load_profile("steady")

# A shell's background job ignores Ctrl-C, and so would the programs whose end by it is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def logs(tmp_path_factory):
    """Gives the loggers of stable-baselines3 a folder, which else each make one of their own."""
    os.environ["SB3_LOGDIR"] = str(tmp_path_factory.mktemp("logs"))
