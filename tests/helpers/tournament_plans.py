"""Small tournaments, and what they find without what a clock measured."""

import json

from goita_agents.identity import Identities
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.games_folder import GamesFolder
from goita_lab.arena.tournament.plan import TournamentPlan
from goita_lab.arena.tournament.results import ResultsFile
from goita_lab.arena.tournament.summary import Summary

CLOCKED = ("ms_per_decision", "rounds_per_second")


def plan(agents=("random", "greedy", "random"), **settings):
    return TournamentPlan(agents, **{"deals": 100, "block_deals": 16, "seed": 3, **settings})


def found(tournament):
    """All that a tournament found but what a clock measured."""
    return unclocked(Summary.of(tournament.plan, tournament.played()).to_json())


def unclocked(result):
    for pair in result["pairs"]:
        for key in CLOCKED:
            del pair[key]
    return json.loads(json.dumps({k: v for k, v in result.items() if k not in ("seconds",)}))


def played(plan, **how):
    tournament = Tournament(plan)
    tournament.play(**how)
    return found(tournament)


def folder_of(path, plan, **options):
    """Returns the folder of the games of a plan."""
    return GamesFolder(path, plan, Identities(plan.specs), **options)


def keep(path, plan, **how):
    """Plays what a file of results lacks."""
    tournament = Tournament(plan, Identities(plan.specs))
    with ResultsFile(path, plan, tournament.identities) as file:
        tournament.add(file.blocks)
        tournament.play(file=file, **how)
    return tournament, file
