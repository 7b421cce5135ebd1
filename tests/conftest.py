"""Sets up what all tests stand on: hypothesis, and the signal of Ctrl-C.

Hypothesis: the same examples in every run, no files, no deadline on a shared machine.
"""

import signal

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.load_profile("steady")

# A shell's background job ignores Ctrl-C, and so would the programs whose end by it is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)
