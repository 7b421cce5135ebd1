"""Plays a match between you and three agents, in the terminal or on a page of this machine.

::

    goita play --partner champion --opponents heuristic
    goita play --web
    goita play --resume match-1.json

The match is saved after every move, so it can be resumed after Ctrl-C; ``goita watch
FILE`` makes a replay page of it. ``table`` plays the match, ``terminal`` and ``web`` show it.
"""
