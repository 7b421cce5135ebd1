"""Wraps the game as environments: ``aec`` for PettingZoo, ``vector`` for N games at once."""
