"""Plays agents against each other, and says how strong they are."""

from goita_env.errors import naming_extras

with naming_extras():
    from goita_lab.arena.tournament.arena import Tournament, play_pair
    from goita_lab.arena.tournament.plan import TournamentPlan

__all__ = ["Tournament", "TournamentPlan", "play_pair"]
