"""Exact answers in small games: values, best responses and equilibria (``goita exact``)."""

import goita_lab.installed  # noqa: F401
