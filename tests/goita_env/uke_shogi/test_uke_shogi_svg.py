"""The drawings: what they show, that they fit and stay the same, and the environment's modes."""

import re
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from drawings import SVG, check_dialect, counted
from goita_env import uke_shogi_v0
from goita_env.errors import SettingError
from goita_env.render import RENDER_MODES
from goita_env.render.pen import glyphs
from goita_env.render.themes import THEMES, darkened
from goita_env.tiles import LETTERS
from goita_env.uke_shogi import MURRAY, UMEBAYASHI, UkeShogiGame, svg
from raising import refuses
from uke_shogi_playing import FEW, HANDS, VARIANTS, played, random_game, short


def middle_game() -> UkeShogiGame:
    """Seat 0 has matched a king with its own; two have passed on it, and seat 3 is to move."""
    return played(UkeShogiGame(UMEBAYASHI, hands=HANDS, dealer=0), "7 7 8 p 8 pp")


def words(text: str) -> tuple[str, list[str]]:
    """Reads the title and the description's lines."""
    root = ElementTree.fromstring(text)
    return root.find(f"{SVG}title").text, root.find(f"{SVG}desc").text.splitlines()


def shown(game: UkeShogiGame) -> dict[str, int]:
    """Counts every tile of the game as a drawing does: dealt ones and that to be matched."""
    kinds = Counter({str(kind): n for kind, n in enumerate(np.sum(game.dealt, axis=0).tolist())})
    kinds[str(game.led)] += 1 if game.led is not None else 0
    return {kind: n for kind, n in kinds.items() if n}


@pytest.mark.parametrize("rules", VARIANTS, ids=short)
def test_a_game_shows_every_tile_and_a_view_its_own_and_backs(rules):
    rng = np.random.default_rng(3)
    game = random_game(rules, rng, decisions=int(rng.integers(2 * rules.players)))
    assert counted(svg.draw(game)) == shown(game)
    view = game.view(rules.players - 1)
    seen = counted(svg.draw(view))
    assert seen.pop("b", 0) == view.tiles_left[1:].sum()
    assert sum(seen.values()) == view.hand.sum() + view.played.sum() + (game.led is not None)


def test_the_words_say_what_the_picture_shows():
    game = middle_game()
    assert words(svg.draw(game)) == (
        "Uke-Shogi: seat 3: match the rook",
        [
            "4 players, 40 tiles.",
            "seat 0, dealer, 12 points; played rook, king; in hand 7 pawns, lance.",
            "seat 1, passed, 84 points; played rook; in hand 4 pawns, lance, knight, silver, gold, "
            "bishop.",
            "seat 2, passed, 84 points; played king; in hand 4 pawns, lance, knight, silver, gold, "
            "bishop.",
            "seat 3, to move, 58 points; in hand 3 pawns, lance, 2 knights, 2 silvers, 2 golds.",
        ],
    )
    assert words(svg.draw(game.view(3))) == (
        "Uke-Shogi: you: match the rook",
        [
            "4 players, 40 tiles.",
            "you, to move, 58 points; in hand 3 pawns, lance, 2 knights, 2 silvers, 2 golds.",
            "seat +1, 8 tiles; played rook, king; in hand 8 hidden.",
            "seat +2, passed, 9 tiles; played rook; in hand 9 hidden.",
            "seat +3, passed, 9 tiles; played king; in hand 9 hidden.",
        ],
    )


def test_the_end_tells_who_won_and_what_everybody_gained():
    game = played(middle_game(), "p 1111 1111 1111 111p 1ppp 1ppp 1ppp 2")
    title, said = words(svg.draw(game))
    assert title == "Uke-Shogi: seat 0: the last tile is played"
    assert said[1].startswith("seat 0, dealer, wins, +215; played rook, king, pawn")
    assert said[1].endswith("; in hand nothing.")
    assert [re.findall(r", (-\d+);", line) for line in said[2:]] == [["-80"], ["-80"], ["-55"]]
    assert words(svg.draw(game.view(1)))[0] == "Uke-Shogi: seat +3: the last tile is played"


def test_murrays_two_have_the_rest_of_the_set_aside():
    game = played(UkeShogiGame(MURRAY, hands=["11112267", "11133334"], dealer=0), "7p")
    title, said = words(svg.draw(game))
    assert title == "Uke-Shogi: seat 0: lead a tile"
    assert said[0] == "2 players, 40 tiles, 24 of them aside."
    assert said[1] == "seat 0, dealer, to move; played rook; in hand 4 pawns, 2 lances, bishop."


def test_the_kind_to_match_is_marked_while_there_is_one():
    mark = f'stroke="{THEMES["light"].last}"'
    assert svg.draw(middle_game()).count(mark) == 1
    assert svg.draw(UkeShogiGame(hands=HANDS)).count(mark) == 0


@pytest.mark.parametrize("rules", VARIANTS[::4] + FEW, ids=short)
@pytest.mark.parametrize("decisions", [0, 25, None])
def test_drawings_keep_to_the_dialect_stay_the_same_and_fit(rules, decisions):
    game = random_game(rules, np.random.default_rng(decisions), decisions)
    for one in (game, game.view(0)):
        text = svg.draw(one)
        check_dialect(text)
        assert text == svg.draw(one)
        assert len(text) < 22_000
        for x, y in places(text):
            assert 14 < x < 586
            assert 14 < y < 586


def places(text: str) -> list[tuple[float, float]]:
    """Returns where the tiles of a drawing lie, turned and scaled."""
    found, turn = [], 0.0
    for line in text.split("</defs>")[1].splitlines():
        if rotated := re.match(r'<g transform="rotate\((\S+) 300 300\)">', line):
            turn = np.deg2rad(float(rotated[1]))
        elif line == "</g>":
            turn = 0.0
        elif scaled := re.match(r'<g transform="scale\((\S+)\)"><use href="#\w+(?:t|b)', line):
            for x, y in re.findall(r'x="(\S+)" y="(\S+)"', line):
                right, down = (float(scaled[1]) * float(one) - 300 for one in (x, y))
                across = right * np.cos(turn) - down * np.sin(turn)
                along = right * np.sin(turn) + down * np.cos(turn)
                found.append((300 + across, 300 + along))
    assert found
    return found


def test_the_dark_theme_changes_colours_alone():
    light, dark = (svg.draw(middle_game(), theme=theme) for theme in THEMES)
    for one, other in darkened().items():
        light = light.replace(f'"{one}"', f'"{other}"')
    assert re.sub(r"\bg[0-9a-f]{4}", "g", light) == re.sub(r"\bg[0-9a-f]{4}", "g", dark)


def test_faces_size_and_what_is_refused():
    letters = svg.draw(middle_game(), faces="letters", size=300)
    assert f'd="{glyphs()[LETTERS[7]][1]}"' in letters
    assert 'viewBox="0 0 600 600" width="300" height="300"' in letters
    check_dialect(letters)
    for options in ({"theme": "grey"}, {"faces": "kanji"}, {"size": 0}):
        refuses(SettingError, "expected", svg.draw, middle_game(), **options)
    refuses(SettingError, "a UkeShogiGame or a UkeShogiView to draw", svg.draw, UkeShogiGame)


def test_notebooks_draw_games_and_views():
    game = middle_game()
    assert game._repr_svg_() == svg.draw(game)
    assert game.view(2)._repr_svg_() == svg.draw(game.view(2))


def test_the_environment_draws_the_whole_table_in_every_mode(capsys):
    for mode in RENDER_MODES:
        env = uke_shogi_v0.env(render_mode=mode)
        assert env.render() is None
        env.reset(seed=3)
        capsys.readouterr()
        drawn, game = env.render(), env.unwrapped._game
        if mode == "human":
            assert drawn is None
            assert capsys.readouterr().out == f"{game}\n"
        elif mode == "rgb_array":
            assert (drawn.shape, drawn.dtype) == ((600, 600, 3), np.uint8)
            assert drawn.std() > 10
        else:
            assert drawn == (svg.draw(game) if mode == "svg" else str(game))
