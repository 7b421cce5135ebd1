"""Drawings as pixels, animations, and the render modes of the environments."""

import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from drawings import HANDS, MOVES, SVG, middle_game
from goita_env import Game
from goita_env.render import animation, pixels, svg
from goita_env.render.pen import write_document
from goita_env.render.themes import THEMES
from playing import played


def test_pixels_show_the_drawing():
    image = pixels.rgb_array(svg.render(middle_game()))
    colors = THEMES["light"]
    assert image.shape == (600, 600, 3)
    assert image.dtype == np.uint8
    for (x, y), color in (((2, 2), colors.ground), ((80, 130), colors.board)):
        assert image[y, x].tolist() == [int(color[n : n + 2], 16) for n in (1, 3, 5)]
    wood = [int(colors.wood[n : n + 2], 16) for n in (1, 3, 5)]
    assert (image == wood).all(axis=2).sum() > 20_000
    assert np.array_equal(image, pixels.rgb_array(svg.render(middle_game())))
    assert pixels.rgb_array(svg.render(middle_game().view(0)), 321).shape == (321, 321, 3)


@pytest.mark.parametrize("missing", ["resvg_py", "PIL"])
def test_without_the_extra_the_error_names_it(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[render\]'"):
        pixels.rgb_array(svg.render(middle_game().view(0)))


def short_round() -> list:
    game = Game(hands=HANDS, dealer=2)
    return [svg.draw(game), *(svg.draw(played(game, move)) for move in MOVES)]


def test_an_animation_is_one_svg_whose_last_position_stands_where_nothing_moves():
    drawings = short_round()
    text = animation.animated(drawings, 0.5)
    root = ElementTree.fromstring(text)
    assert len(root.findall(f"{SVG}g[@class]")) == len(drawings)
    assert "prefers-reduced-motion" in text
    assert len(text.encode()) < 25_000 + 8_000 * len(drawings)
    still = pixels.rgb_array(write_document(drawings[-1]))
    assert np.array_equal(pixels.rgb_array(text), still)
