"""A population of trained players to play with, against and to learn from: docs/population.md.

::

    population:selfplay-3                     an agent: METHOD-SEED
    population:train, population:validation      sets, where a list of agents is taken
    goita population          the table of all members
"""

from goita_agents.population.agent import load
from goita_agents.population.manifest import Member, Population, Strength, origin
from goita_agents.population.methods import METHODS, VALIDATION_BOTS, Method, Split

__all__ = [
    "METHODS",
    "VALIDATION_BOTS",
    "Member",
    "Method",
    "Population",
    "Split",
    "Strength",
    "load",
    "origin",
]
