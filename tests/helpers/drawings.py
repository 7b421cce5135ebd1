"""Shares positions, and what can be read of their drawings, between the tests of drawings."""

import re
from collections import Counter
from xml.etree import ElementTree

from goita_env import Game
from playing import played

HANDS = ["11235578", "11112333", "11444567", "11224569"]
MOVES = ("11", "14", "87", "p", "75", "52", "p")

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "desc", "defs", "g", "use", "path", "rect"}
ATTRIBUTES = {
    *("id", "d", "x", "y", "width", "height", "rx", "viewBox", "transform", "href", "opacity"),
    *(
        "fill",
        "stroke",
        "stroke-width",
        "stroke-dasharray",
        "stroke-linejoin",
        "role",
        "aria-labelledby",
    ),
}


def middle_game() -> Game:
    """A position with a king's block, a tile face down and a pass."""
    return played(Game(hands=HANDS, dealer=2, scores=[40, 20]), *MOVES)


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, "contrast ratio"."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def counted(text: str) -> dict[str, int]:
    """The tiles that a drawing shows: "3" a silver, "3d" one that lies face down, "b" a back."""
    body = text.split("</defs>")[1]
    found = re.findall(r'<use href="#g[0-9a-f]{4}(?:t(\d+d?)|(b))', body)
    return dict(Counter(face or back for face, back in found))


def check_dialect(text: str) -> None:
    """Fails where a drawing has something that one of the programs does not understand."""
    root = ElementTree.fromstring(text)
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    for one in root.iter():
        assert one.tag.removeprefix(SVG) in ELEMENTS
        assert set(one.attrib) <= ATTRIBUTES
        if one.get("href"):
            assert one.get("href")[1:] in ids
        for paint in (one.get("fill"), one.get("stroke")):
            assert paint in (None, "none") or re.fullmatch("#[0-9a-f]{6}", paint)
        for value in one.attrib.values():
            assert not re.search("nan|inf|e-|--", value)
