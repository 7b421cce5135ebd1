"""Draws and lists worlds: the ways in which the tiles that a view hides may lie.

``sample`` draws worlds exactly uniformly over the ways to put the distinct unseen tiles into the
hidden places, given all that ``facts`` reads from a view; ``enumerate_worlds`` lists them, and
``determinize`` turns worlds into positions that can be played on, or solved.

No view tells that another seat is asked before play, so one of a seat that waits meanwhile is taken
at the moment when all have answered.
"""

from goita_env.worlds.determinize import Positions, determinize
from goita_env.worlds.worlds import Worlds, enumerate_worlds, sample

__all__ = ["Positions", "Worlds", "determinize", "enumerate_worlds", "sample"]
