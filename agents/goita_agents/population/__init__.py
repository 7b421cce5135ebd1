"""A population of trained players for play, measurements and training: docs/population.md.

::

    population:selfplay-3                     an agent: METHOD-SEED
    population:train, population:validation      sets, where a list of agents is taken
    goita population          the table of all members
"""

from goita_agents.population.manifest import Member, Population, Split, Strength, origin

__all__ = ["Member", "Population", "Split", "Strength", "origin"]
