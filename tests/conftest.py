"""Sets up what all tests stand on: threads, hypothesis, and the signal of Ctrl-C.

A run in which every test was skipped has checked nothing, and fails: ``make test-web`` without a
browser, ``make test-ray`` without Ray.

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


def pytest_sessionfinish(session, exitstatus):
    """Makes the exit code of a run in which no test ran that of a run without tests."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus or reporter is None or session.config.option.collectonly:
        return
    if not any(reporter.stats.get(outcome) for outcome in ("passed", "xfailed")):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.fixture(scope="session", autouse=True)
def logs(tmp_path_factory):
    """Gives the loggers of stable-baselines3 a folder, which else each make one of their own."""
    os.environ["SB3_LOGDIR"] = str(tmp_path_factory.mktemp("logs"))
