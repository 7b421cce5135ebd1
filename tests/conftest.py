"""Sets up hypothesis: the same examples in every run, no files, no deadline on a shared machine."""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.load_profile("steady")
