"""Plays a match between you and three agents, in the terminal or on a page: ``goita play``.

The match is saved after every move, so it can be resumed after Ctrl-C. ``table`` plays the match,
``terminal`` and ``web`` show it.
"""
