"""No leak: every byte that a page is sent, with all changed that its player cannot know."""

from functools import cache

import numpy as np
import pytest

from deals import RULE_SETS
from goita_env.rules import get_rules
from goita_lab.pages.play import replies
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import Sitting
from goita_lab.pages.play.table import PlayTable
from play_tables import TOKEN, any_move, play_on, request, table_of
from redrawn_worlds import World, random_world, redraw
from samples import slow

pytest.importorskip("starlette")

from goita_lab.pages.play import web

EARLIER = ("analysis", "again")
"""What is asked of rounds that are over: of none here."""

PAIRS = 6
ROUNDS = {"jga": 100, "pagat": 2, "nine": 2}
"""A whole match, and the beginnings of two."""


def sent(world: World, viewer: int, questions: tuple[str, ...] = ()) -> list[bytes]:
    """Plays a world by requests up to its last move; returns every answer, byte for byte."""
    table = table_of(world, viewer)
    app = web.application(Sitting(table), TOKEN, "127.0.0.1")
    files = ("", "style.css", "script.js", "icon.svg", "tiles?faces=letters")
    answers = [request(app, f"/{TOKEN}/{name}") for name in files]
    answers += [request(app, f"/{TOKEN}/state?theme=dark")]
    mark = 0
    while len(table.game.moves) < len(world.moves):
        seat, action = world.moves[len(table.game.moves)]
        assert seat == viewer
        tried = {"action": 64, "mark": mark + 1}, {"action": 69, "mark": mark}
        told = {"action": action, "mark": mark}
        answers += [request(app, f"/{TOKEN}/move?faces=digits", one) for one in (*tried, told)]
        mark += 1
    assert (table.asks, len(table.game.deals)) == ("move", 1)
    answers += [request(app, f"/{TOKEN}/{way}", {"deal": 0, "move": 1}) for way in EARLIER]
    answers += [request(app, f"/{TOKEN}/{page}") for page in ("analysis", "renewal?done=0")]
    for question in questions:
        answers.append(request(app, f"/{TOKEN}/{question}", {}))
        assert answers[-1][0] == 200
    answers.append(request(app, f"/{TOKEN}/state"))
    for way in ("next", "back", "leave"):
        answers.append(request(app, f"/{TOKEN}/{way}", {"mark": mark}))
        mark += answers[-1][0] == 200
    return [whole for _, _, _, whole in answers]


@cache
def pairs(rules: str) -> list[tuple[World, World, int]]:
    """Worlds that wait for a seat's decision, the same redrawn, and the seat."""
    rng, found = np.random.default_rng(7), []
    while len(found) < PAIRS:
        world = random_world(rules, rng)
        viewer = world.judge.seat
        if viewer is None or len(world.judge.legal_actions()) == 1:
            continue
        other = redraw(world, viewer, rng)
        if other is not None and other.hidden_from(viewer) != world.hidden_from(viewer):
            found.append((world, other, viewer))
    return found


@pytest.mark.parametrize("rules", ["jga", slow("pagat"), slow("nine")])
def test_no_byte_tells_what_the_seat_cannot_know(rules):
    for number, (world, other, viewer) in enumerate(pairs(rules)[:4]):
        questions = {0: ("hint", "partner"), 1: ("hint",)}.get(number, ())
        questions = questions if rules == "jga" else questions[:1]
        assert sent(world, viewer, questions) == sent(other, viewer, questions)


@pytest.mark.slow
def test_no_byte_of_whole_matches_tells_it_either():
    rng, compared = np.random.default_rng(1), 0
    for rules, seat in zip(RULE_SETS, (0, 1, 3), strict=True):
        agents = tuple("" if place == seat else "heuristic" for place in range(4))
        worlds, choose = {}, any_move(seat)

        def noting(table: PlayTable) -> int:
            game = table.game
            hands = [np.repeat(np.arange(8), hand).tolist() for hand in game.dealt]
            before = list(game.deals[-1].scores)
            key = len(game.deals)
            worlds[key] = World(rules, hands, game.dealer, before, [*game.moves])  # noqa: B023
            return choose(table)  # noqa: B023

        list(play_on(PlayTable(MatchSettings(agents, 2, get_rules(rules))), noting, ROUNDS[rules]))
        for world in worlds.values():  # each deal up to the person's last decision in it
            other = redraw(world, seat, rng)
            if other is not None:
                assert sent(world, seat) == sent(other, seat)
                compared += 1
    assert compared >= 8


def test_a_planted_leak_is_caught(monkeypatch):
    state = replies.state

    def leaking(table, *more):
        return state(table, *more) | {"moves": repr(table.game.hands)}

    monkeypatch.setattr(replies, "state", leaking)
    world, other, viewer = pairs("jga")[0]
    assert sent(world, viewer) != sent(other, viewer)


def test_a_count_of_moves_would_leak_who_was_asked_before_play(monkeypatch):
    """Why nothing on the page counts moves: silences differ between worlds that look alike."""
    frame = replies.frame

    def leaking(table, look, told, **more):
        return frame(table, look, told, **more) | {"number": len(table.game.moves)}

    caught = [
        (world, other, viewer)
        for world, other, viewer in pairs("jga")
        if len(world.moves) != len(other.moves)
    ]
    assert caught
    monkeypatch.setattr(replies, "frame", leaking)
    assert all(sent(world, viewer) != sent(other, viewer) for world, other, viewer in caught)
