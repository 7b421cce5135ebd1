"""Says whom the players of a match play like, after two rounds: the likeliest of a library.

Each seat is inferred by itself, from what its partner saw of finished rounds and from the hands,
which are shown when a round ends. The priors of the players are those of the champion's search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from goita_agents.champion.agent import EPSILON, FIRST, first_types, known_players
from goita_agents.models import UNIFORM_MODEL
from goita_agents.search.library import NOBODY, Likely, with_library
from goita_env.records import DealRecord
from goita_env.render.translation import Joined, Phrase
from goita_env.tiles import NUM_SEATS
from goita_lab.pages.watch.matches import MatchPriors
from goita_lab.pages.watch.reading import Watched

ROUNDS: Final = 2
"""Rounds that are scored before anybody is recognised."""

LEAST: Final = 0.3
"""Probability with which somebody is named."""

CROWD: Final = FIRST[-1]
"""Stands for bots that nobody knows."""

NAMES: Final = {
    "champion": "the champion",
    "champion:temperature=1": "the champion, sampled",
    "people": "the model of people",
    "people:temperature=0": "the model of people, at its likeliest",
    "heuristic:conventions=off": "heuristic without its conventions",
}
"""Players of the library in words, where these are not their names."""

METHODS: Final = {
    "selfplay": "a network of self-play, run {run}",
    "entropy": "a network of self-play with much entropy, run {run}",
    "snapshots": "a network after a quarter of its self-play, run {run}",
    "otherplay": "a network of Other-Play, run {run}",
}
"""Members of the population in words, by method."""

FOLLOWS: Final = {
    "heuristic": "it leaves its partner the attack unless it has a good reason",
    "heuristic:conventions=off": "it treats its partner's attack like any other",
    "greedy": "it receives an opponent's attack whenever it can",
}
"""What players do by their definition."""


def recognise(earlier: Sequence[DealRecord]) -> list[list[Likely]]:
    """Returns whom each seat plays like, by seat, the likeliest first.

    Args:
        earlier: the deals of a match so far.

    Returns:
        Four lists; none before ``ROUNDS`` rounds are scored.
    """
    if sum(Watched(one).gained is not None for one in earlier) < ROUNDS:
        return []
    priors, names = _library()
    known = priors.after(earlier)[:, 0]  # [4, J]: of each seat's partner
    found = []
    for seat in range(NUM_SEATS):
        shares = known[(seat + 2) % NUM_SEATS].tolist()
        likely = map(Likely, names, shares)
        found.append(sorted(likely, key=lambda one: -one.probability))
    return found


def in_words(likely: Sequence[Likely]) -> Phrase:
    """Returns whom a seat plays like, without the seat: "plays like greedy (0.71): ...".

    Args:
        likely: players of the library, the likeliest first.
    """
    first = likely[0]
    if first.name in (CROWD, NOBODY) or first.probability < LEAST:
        return Phrase("plays like nobody who is known")
    found = Phrase(
        "plays like {whom} ({chance})",
        whom=_name(first.name),
        chance=f"{first.probability:.2f}",
    )
    so = FOLLOWS.get(first.name)
    return found if so is None else Joined(": ", [found, so])


def _name(text: str) -> str:
    method, _, run = text.removeprefix("population:").rpartition("-")
    return Phrase(METHODS[method], run=run) if method in METHODS else NAMES.get(text, text)


@cache
def _library() -> tuple[MatchPriors, tuple[str, ...]]:
    """Returns the priors of J partners beside one type of opponents, and the names of the J."""
    # One player may have two texts; then it has the first as its name.
    library = {agent: text for text, agent in reversed(known_players(()).items())}
    first = first_types()
    types = with_library(first, tuple(library), (), EPSILON)
    alone = replace(
        types,
        opponents=(UNIFORM_MODEL,),
        opponent_prior=(),
        partners=types.opponents,
        partner_prior=types.opponent_prior,
    )
    return MatchPriors(alone), (*FIRST, *library.values(), NOBODY)
