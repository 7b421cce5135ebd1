"""Holds the environments: ``vector`` (all seats), seat environments, ``aec_base`` for PettingZoo.

Seat environments are gymnasium's, one game or many.

Our own interfaces take and return masks as bool [N, 69], True where legal.
docs/environments/index.md lists the masks of other types.
"""
