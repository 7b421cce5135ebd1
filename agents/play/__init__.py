"""Plays a match between you and three agents, in the terminal or on a page of this machine.

::

    python -m agents.play --partner champion --opponents heuristic
    python -m agents.play --web
    python -m agents.play --resume match-1.json

The match is saved after every move, so it can be resumed after Ctrl-C; ``python -m agents.watch
FILE`` makes a replay page of it. ``table`` plays the match, ``terminal`` and ``web`` show it.
"""
