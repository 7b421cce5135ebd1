"""Whom the players of a match play like: recognised from finished rounds, told on pages."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

pytest.importorskip("numba")

from goita_agents import load_agent
from goita_agents.search.library import NOBODY, Likely
from goita_env import Game
from goita_env.records import DealRecord, from_game
from goita_env.render.translation import Phrase
from goita_lab.pages import watch
from goita_lab.pages.languages import language
from goita_lab.pages.watch.pages import Review
from goita_lab.pages.watch.reading import Source, Watched
from goita_lab.pages.watch.recognition import (
    CROWD,
    FOLLOWS,
    LEAST,
    _library,
    _name,
    in_words,
    recognise,
)

PLAYERS = ("greedy", "heuristic:conventions=off", "population:entropy-3", "random")


@cache
def match() -> tuple[DealRecord, ...]:
    """The first five rounds of a match."""
    game, rng = Game(seed=3, episode="match"), np.random.default_rng(0)
    agents = [load_agent(one) for one in PLAYERS]
    while len(game.deals) < 6:
        view = game.view(game.seat)
        game.play(int(agents[game.seat].act(view, view.legal(), rng)[0]))
    return from_game(game).deals[:5]


def test_each_seat_is_recognised_by_itself_whoever_its_partner_is():
    found = recognise(match())
    assert [likely[0].name for likely in found] == [*PLAYERS[:3], NOBODY]
    for likely in found:
        chances = [one.probability for one in likely]
        assert chances == sorted(chances, reverse=True)
        assert sum(chances) == pytest.approx(1)


def test_nobody_is_recognised_before_two_rounds_are_scored():
    first, second = match()[:2]
    assert recognise([first]) == recognise([first, replace(second, moves=second.moves[:5])]) == []
    assert len(recognise([first, second])) == 4


def test_only_who_is_likely_enough_is_named_and_what_follows_from_it_is_said():
    assert in_words([Likely("greedy", 0.714)]) == f"plays like greedy (0.71): {FOLLOWS['greedy']}"
    network = Likely("population:selfplay-3", LEAST)
    assert in_words([network]) == "plays like a network of self-play, run 3 (0.30)"
    for unknown in (Likely("greedy", 0.29), Likely(NOBODY, 0.9), Likely(CROWD, 0.9)):
        assert in_words([unknown]) == "plays like nobody who is known"


def test_every_player_of_the_library_has_one_name_in_both_languages():
    names, table = _library()[1], language("ja").table
    told = [_name(one) for one in names]
    assert len(set(told)) == len(names)
    assert FOLLOWS.keys() < {*names}
    texts = {one.text if isinstance(one, Phrase) else one for one in told}
    assert texts - table.keys() == {CROWD, NOBODY}
    assert {*FOLLOWS.values()} < table.keys()


def test_pages_of_an_analysis_say_it_of_all_seats_but_their_readers():
    deal = replace(match()[3], moves=match()[3].moves[:1])
    source = Source("", (Watched(deal), Watched(deal, earlier=match()[:3])), 2)
    analysis = watch.analyse(source, "greedy", worlds=1, types=("greedy",))
    assert analysis.players == ((), tuple(map(in_words, recognise(match()[:3]))))
    assert "Seat 0 plays like greedy (0." in watch.page(source, analysis)
    review = Review(0, (1, 2), 0)
    text = watch.page(source, analysis, review)
    assert text.count(" plays like ") == 3
    assert "The player at your right plays like heuristic without its conventions (0." in text
    assert "右の人：定石を使わないheuristicに似た打ち方（0." in watch.page(
        source, analysis, review, "ja"
    )
