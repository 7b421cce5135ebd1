"""Exact answers in small games: values, best responses and equilibria (``goita exact``)."""
