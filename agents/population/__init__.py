"""A population of trained players to play with, against and to learn from: docs/population.md.

::

    population:selfplay-3                     an agent: METHOD-SEED
    population:train, population:heldout      sets, where a list of agents is taken
    python -m agents.population list          the table of all members
    python -m agents.population train --method selfplay --seeds 8
"""

from agents.population.agent import load
from agents.population.manifest import Member, Population, Strength, expand, origin
from agents.population.methods import HELD_OUT_BOTS, METHODS, Method, Split

__all__ = [
    "HELD_OUT_BOTS",
    "METHODS",
    "Member",
    "Method",
    "Population",
    "Split",
    "Strength",
    "expand",
    "load",
    "origin",
]
