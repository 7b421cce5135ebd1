"""Plays agents against each other, and says how strong they are."""

import goita_lab.installed  # noqa: F401
from goita_lab.arena.tournament.arena import Tournament, play_pair
from goita_lab.arena.tournament.plan import TournamentPlan

__all__ = ["Tournament", "TournamentPlan", "play_pair"]
