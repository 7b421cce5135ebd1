"""Draws and lists worlds: the possible places of the tiles that a view hides.

``sample`` draws worlds exactly uniformly over the ways to put the distinct unseen tiles into the
hidden places, given all facts that ``constraints`` reads from a view; ``enumerate_worlds`` lists
them, and ``determinize`` turns worlds into positions that can be played on, or solved.

No view reveals that another seat acts before play. So the view of a seat that waits meanwhile is
taken at the moment when all have answered.
"""

from goita_env.worlds.determinize import Positions, determinize
from goita_env.worlds.worlds import Worlds, enumerate_worlds, sample

__all__ = ["Positions", "Worlds", "determinize", "enumerate_worlds", "sample"]
