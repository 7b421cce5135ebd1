"""Plays agents against each other, and says how strong they are."""

from goita_lab.arena.tournament.arena import Tournament, play_pair
from goita_lab.arena.tournament.plan import Plan

__all__ = ["Plan", "Tournament", "play_pair"]
