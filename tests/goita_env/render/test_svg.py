"""The SVG drawings: what they show, their dialect, size and sameness, themes, panels, pixels."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from deals import RULE_SETS, special_hands, uniform_hands
from drawings import SVG, check_dialect, contrast, counted, middle_game
from goita_env import View, actions, errors
from goita_env.engine.episodes import Match
from goita_env.render import svg
from goita_env.render.themes import THEMES
from goita_env.tiles import NUM_KINDS
from goita_env.views import seat_view
from goita_env.views.scenes import of_state
from playing import legal_mask, pick
from raising import refuses


def beside(seed: int, legal: np.ndarray) -> dict:
    """Every panel with something in it."""
    rng = np.random.default_rng(seed)
    chances = legal * rng.random(69)
    belief = rng.dirichlet(np.ones(5), (4, NUM_KINDS))
    belief[0] = 0
    return {
        "probabilities": chances / max(chances.sum(), 1),
        "values": np.where(legal, rng.normal(0, 30, 69), np.nan),
        "belief": belief,
    }


@pytest.fixture(scope="module")
def positions():
    """Positions of all rule sets from the first question to the end, as states of one game."""
    found = []
    for rules in RULE_SETS:
        rng = np.random.default_rng(5)
        match = Match(32, rules, auto_reset=False)
        match.reset(np.concatenate([uniform_hands(rng, 16), special_hands(rng, 16)]))
        for step in range(46):
            if step % 3 == 0:
                found.append(match.state.select(np.array([step % 32])))
            match.step(pick(legal_mask(match.state), int(rng.integers(1000))))
    return found


def test_the_whole_table_shows_all_tiles_once_and_the_attack_again():
    assert counted(svg.render(middle_game())) == {
        # Seat 2 laid a pawn face down; the lance is the attack that is to be met.
        "0": 9, "0d": 1, "1": 5, "2": 4, "3": 4, "4": 4, "5": 2, "6": 2, "7": 2,
    }  # fmt: skip


def test_a_seat_is_shown_a_back_for_every_tile_that_it_does_not_see():
    # Seats 0 to 3 hold 6, 8, 4 and 4 tiles; in front of seat 2 lies a tile face down.
    backs = [counted(svg.render(middle_game().view(seat)))["b"] for seat in range(4)]
    assert backs == [8 + 4 + 4 + 1, 6 + 4 + 4 + 1, 6 + 8 + 4, 6 + 8 + 4 + 1]


def test_the_words_say_what_the_picture_shows():
    text = ElementTree.fromstring(svg.render(middle_game().view(2)))
    title, description = text.find(f"{SVG}title").text, text.find(f"{SVG}desc").text
    assert title == "Goita: previous: receive the lance, or pass"
    assert description.splitlines() == [
        "Rules jga. Points: you and partner 40, the others 20.",
        "you, dealer; played face-down pawn then pawn, rook then gold; in hand 3 silvers, bishop.",
        "next; played pawn then silver, gold then lance; 4 hidden tiles in hand.",
        "partner, passed; played king then rook; 6 hidden tiles in hand.",
        "previous, to move; 8 hidden tiles in hand.",
    ]
    whole = ElementTree.fromstring(svg.render(middle_game())).find(f"{SVG}desc").text
    assert [line.rpartition("; in hand ")[2] for line in whole.splitlines()[1:]] == [
        "2 pawns, lance, knight, 2 golds.",
        "4 pawns, lance, 3 knights.",
        "3 silvers, bishop.",
        "pawn, lance, bishop, king.",
    ]
    assert text.get("role") == "img"
    ids = {one.get("id") for one in text.iter()}
    assert set(text.get("aria-labelledby").split()) <= ids


@pytest.mark.parametrize("panels", [False, True])
def test_all_drawings_keep_to_the_dialect_and_are_small(positions, panels):
    for row, state in enumerate(positions):
        legal = legal_mask(state)[0]
        options = beside(row, legal) if panels else {}
        if panels and not legal.any():
            options.pop("probabilities")
        views = [seat_view(state, seat) for seat in range(4)]
        drawings = [
            svg.render(of_state(state, row % 4), **options),
            svg.render(views[row % 4], **options),
        ]
        for drawing in drawings:
            check_dialect(drawing)
            assert len(drawing.encode()) <= 25_000


@pytest.mark.parametrize("theme", THEMES)
def test_backs_have_their_own_wood_and_a_known_tile_face_down_lies_on_one(theme):
    p, drawn = THEMES[theme], svg.render(middle_game().view(2), theme=theme)
    groups = dict(re.findall(r'<g id="g[0-9a-f]{4}(\w+)">(.*?)</g>', drawn))
    colors = {name: set(re.findall('fill="(.*?)"', lines)) for name, lines in groups.items()}
    assert colors.pop("w") == {p.wood, p.edge}
    assert colors.pop("b") == {p.back, p.back_edge, p.back_line}
    assert {"t0", "t0d"} < colors.keys()
    for name, fills in colors.items():
        wood = re.findall('href="#g[0-9a-f]{4}(.)"', groups[name])
        assert (fills, wood) == ({p.ink}, ["b" if name == "t0d" else "w"])
        assert ("opacity" in groups[name]) == (name == "t0d")


@pytest.mark.parametrize("theme", THEMES)
def test_words_and_faces_stand_out(theme):
    p = THEMES[theme]
    pairs = [(p.text, p.ground), (p.text, p.board), (p.faint, p.ground), (p.faint, p.board)]
    for one, other in (*pairs, (p.ink, p.wood), (p.on_mover, p.mover)):
        assert contrast(one, other) >= 4.5


def test_actions_are_listed_best_first_with_their_figures():
    probabilities, values = np.zeros(69), np.full(69, np.nan)
    probabilities[[actions.PASS, actions.parse("21")]] = 0.25, 0.75
    values[[actions.PASS, actions.parse("23")]] = -10, 12.4
    drawn = svg.render(middle_game().view(1), probabilities=probabilities, values=values)
    # The likeliest has the mark of the best, and each a bar or none.
    assert drawn.count(f'fill="{THEMES["light"].last}"') == 1
    assert drawn.count(f'fill="{THEMES["light"].bar}"') == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theme": "blue"}, r"expected a theme of \('light', 'dark'\), got 'blue'"),
        ({"size": 0}, "expected a width in pixels above 0, got 0"),
        ({"values": [1.0]}, r"expected values of shape \(69,\), got \(1,\)"),
        ({"probabilities": np.full(69, 2)}, "expected probabilities from 0 to 1"),
        ({"belief": np.ones((4, 8))}, "expected a belief of shape"),
        ({"belief": np.ones((4, 8, 2))}, "probabilities that sum to 1"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(errors.SettingError, match=message):
        svg.render(middle_game().view(0), **options)


def test_actions_are_marked_in_the_hand_of_who_decides_where_it_is_shown():
    game = middle_game()
    seat, hand = game.seat, game.view(game.seat).hand[0]
    one, two = np.flatnonzero(hand)[:2]
    marked = {"played": actions.encode(one, two), "best": actions.encode(two, one)}
    plain = svg.render(game)
    for shown in (game, game.view(seat)):
        text = svg.render(shown, marked=marked)
        check_dialect(text)
        assert text.count("stroke-dasharray") == 2
        assert text.count(THEMES["light"].mover) == plain.count(THEMES["light"].mover) + 2
        assert "Marked as best: " in text
    hidden = game.view((seat + 1) % 4)
    assert svg.render(hidden, marked=marked) == svg.render(hidden)
    assert svg.render(game, marked={"played": actions.PASS}).count("stroke-dasharray") == 0
    lacking = int(np.flatnonzero(hand == 0)[0])
    for wrong in ({"worst": 0}, {"best": 69}, {"best": actions.encode(lacking, lacking)}):
        refuses(errors.SettingError, "expected", svg.render, game, marked=wrong)


def test_notebooks_show_games_and_views():
    game = middle_game()
    assert game._repr_svg_() == game.svg() == svg.render(game)
    assert game.view(1)._repr_svg_() == svg.render(game.view(1))
    assert View(np.zeros((0, 8), np.uint64))._repr_svg_() is None
