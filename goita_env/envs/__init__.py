"""Holds the environments: ``aec`` (PettingZoo), ``vector`` (all seats), seat environments.

Seat environments are gymnasium's, one game or many.

Our own interfaces take and return masks as bool [N, 69], True where legal.
docs/environments/index.md lists the masks of other types.
"""
