"""Principles of play: where each applies, what follows it, its evidence, and what is said."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from goita_agents import principles
from goita_agents.principles import PRINCIPLES, evidence, speaking
from goita_env import Game
from goita_env.actions import name, parse
from goita_env.views import View
from goita_lab.pages.play import replies
from goita_lab.pages.play.advice import advisor

USUAL = ("11235578", "11112333", "11444567", "11224569")
SILVERS = ("11234578", "11112333", "11445567", "11224569")
LANCES = ("11345578", "11113335", "11444567", "11222269")
RUN = ("12", "p", "p", "p")


def position(hands, dealer, *moves):
    game = Game(hands=list(hands), dealer=dealer)
    for move in moves:
        game.play(parse(move))
    return game.view(game.seat)


PARTNERS = position(USUAL, 0, "15", "p")  # Seat 2 may receive the gold of its partner.
OPPONENTS = position(USUAL, 0, "13")
KING = position(USUAL, 0, "15", "p", "p")  # Seat 3 may receive with gold or king.
FIRST = position(USUAL, 0)
OTHER = position(USUAL, 3)  # Two lances, no other pair but pawns.
AGAIN = position(USUAL, 3, *RUN)
SILVER = position(SILVERS, 2, "14", "45")  # The partner led a silver.
PAWN = position(USUAL, 3, "21", "p")  # The partner led a pawn.
FOUR = position(LANCES, 3, *RUN, *RUN)  # All lances are its own.
TWO = position(LANCES, 3, *RUN, *RUN, "26")

CASES = {
    "pass_partner": (PARTNERS, {"p"}, OPPONENTS),
    "stop": (TWO, {"81", "83", "84", "85", "87"}, OPPONENTS),
    "hold_back": (OPPONENTS, {"p"}, PARTNERS),
    "king_waits": (KING, {"p", "51", "52", "54", "56"}, PARTNERS),
    "no_king_down": (FIRST, {"15", "57", "32"}, position(USUAL, 1)),
    "sure_attack": (FOUR, {"22", "62", "82"}, AGAIN),
    "answer": (SILVER, {"54", "84"}, FIRST),
    "pair": (FIRST, {"15", "25", "35", "75", "85"}, OTHER),
    "single_lance": (FIRST, {"15", "21", "85"}, OTHER),
    "lance_run": (AGAIN, {"12", "42", "52", "62", "82"}, OTHER),
    "join_pawns": (PAWN, {"11"}, position(USUAL, 0, "21", "p")),
    "keep_pawn": (AGAIN, {"24", "45", "86"}, OTHER),
}


BREAKING = ("51", "p", "31", "81", "85", "26", "57", "55", "12", "14", "12", "21")
"""An action against each."""
SOME = ("no_king_down", "single_lance", "keep_pawn")
"""Principles that so many actions follow that three are named."""


def test_every_principle_has_a_case():
    keys = [one.key for one in PRINCIPLES]
    assert keys == [*CASES]


@pytest.mark.parametrize(("key", "breaking"), [*zip(CASES, BREAKING, strict=True)])
def test_a_principle_applies_in_one_position_and_not_in_another(key, breaking):
    view, wanted, elsewhere = CASES[key]
    one = next(one for one in PRINCIPLES if one.key == key)
    follow, against = one.actions(view)
    named = {name(action) for action in np.flatnonzero(follow[0]).tolist()}
    assert wanted <= named if key in SOME else wanted == named
    assert against[0, parse(breaking)]
    assert not (follow & against).any()
    assert not ((follow | against) & ~view.legal()).any()
    assert not np.any(one.actions(elsewhere))


def test_many_positions_are_tested_at_once():
    views = [view for view, _, _ in CASES.values()]
    every = View(np.concatenate([view.words for view in views]))
    for one in PRINCIPLES:
        alone = np.concatenate([one.actions(view) for view in views], axis=1)
        assert np.array_equal(one.actions(every), alone)


def test_the_evidence_has_every_figure_of_every_principle():
    text = Path(principles.__file__).with_suffix(".json").read_text(encoding="utf-8")
    assert json.loads(text)["format"] == "goita-principles-2"
    assert {"champion", "people"} <= json.loads(text)["weights"].keys()
    found = evidence()
    assert [*found] == [one.key for one in PRINCIPLES]
    for one in found.values():
        assert (one.worth is None) == (one.beyond is None) == (one.positions < 20)
        assert [*one.followed] == ["champion", "people", "population"]
        figures = [one.worth, one.beyond, *one.followed.values(), one.partner, one.opponents]
        assert all(low <= mean <= high for mean, low, high in filter(None, figures))
        assert all(0 <= mean <= 1 for mean, _, _ in one.followed.values())
    assert [found[key].pays for key in ("stop", "hold_back")] == [True, False]


def valued(view, **points):
    """Points of the legal actions: 0 where none are given; a pass is "p", a play "_15"."""
    given = {parse(code.strip("_")): value for code, value in points.items()}
    return {a: given.get(a, 0.0) for a in np.flatnonzero(view.legal()[0]).tolist()}


def test_a_principle_speaks_where_evidence_and_values_agree():
    best = parse("p")
    said = speaking(PARTNERS, valued(PARTNERS, p=5.0), best)
    assert said is principles.pass_partner
    assert said.sentence == "Your partner attacked: pass."
    assert speaking(PARTNERS, valued(PARTNERS, p=0.5), best) is None  # hardly better
    assert speaking(PARTNERS, valued(PARTNERS, _51=5.0), parse("51")) is None  # an exception
    assert speaking(OPPONENTS, valued(OPPONENTS, p=9.0), best) is None  # worth nothing
    # What was dropped early in lucky worlds does not count.
    assert speaking(PARTNERS, valued(PARTNERS, p=5.0, _51=9.0), best) is said


def test_the_principle_that_was_broken_speaks_first(monkeypatch):
    points = valued(AGAIN, _42=20.0, _45=15.0, _12=15.0)
    lances, pawn = principles.lance_run, principles.keep_pawn
    measured = evidence()  # both pay, whatever the present exam says of them
    paying = replace(measured["keep_pawn"], worth=(5.0, 4.0, 6.0), beyond=(3.0, 2.0, 4.0))
    monkeypatch.setattr(principles, "evidence", lambda: measured | {"keep_pawn": paying})
    # People would gain more by lances, which is what is said of a play against both.
    for chosen, said in (("45", lances), ("12", pawn), ("14", lances)):
        assert speaking(AGAIN, points, parse("42"), parse(chosen)) is said


def test_a_hint_names_a_principle_and_another_hint_none():
    # Where no action is clearly better, nothing speaks for one.
    hints = [advisor().advise(view, 0) for view in (KING, PARTNERS)]
    assert [(hint.clear, hint.principle) for hint in hints] == 2 * [(False, None)]
    hints[0] = replace(hints[0], principle=principles.king_waits)
    table = SimpleNamespace(asks="move", seat=3, hint=lambda: hints[0], view=KING)
    for language, said in (("en", "Few tiles are out"), ("ja", "王で切りません")):
        assert said in replies.hint(table, replies.Look(language=language))["principle"]
