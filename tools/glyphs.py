"""Extracts the outlines that the drawings are written with: goita_env/render/glyphs.json.

Characters of the tiles come from Klee One SemiBold (Debian: fonts-klee), letters and digits from
Inter SemiBold (fonts-inter), both under the SIL Open Font License. Needs freetype-py.
"""

import json
from collections.abc import Callable
from ctypes import byref
from math import hypot
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

import freetype

from goita_env.tiles import CHARACTERS

FILE = Path(__file__).resolve().parents[1] / "goita_env" / "render" / "glyphs.json"
LETTERS = " +-%.,:()/?…" + ascii_letters + digits
FONTS = {
    "/usr/share/fonts/truetype/klee/KleeOne-SemiBold.ttf": (CHARACTERS, 2.5),
    "/usr/share/fonts/opentype/inter/Inter-SemiBold.otf": (LETTERS, 0),
}
"""Of each font the characters, and by how many units they become bolder."""

GRID, FINE = 100, 64
"""Units of an em: coordinates are whole numbers of them. And parts of a unit."""


FLAT = 0.9
"""Distance from its chord up to which a curve becomes a line."""

Point = tuple[float, float]


def outline(face: freetype.Face, character: str, bolder: float) -> tuple[int, str]:
    """Returns a character's advance and its outline as an SVG path of relative whole numbers."""
    face.load_char(character, freetype.FT_LOAD_NO_HINTING | freetype.FT_LOAD_NO_BITMAP)
    drawn = face.glyph.outline
    advance = face.glyph.advance.x / FINE
    weight, handle = round(bolder * FINE), byref(drawn._FT_Outline)
    freetype.FT_Outline_EmboldenXY(handle, weight, weight)
    freetype.FT_Outline_Translate(handle, -weight // 2, -weight // 2)
    path, pen, start, before = "", (0, 0), (0, 0), ""
    for letter, points in commands(drawn):
        ends = [(round(x / FINE), round(-y / FINE)) for x, y in points]
        if letter == "z":
            path, pen, before = path + "z", start, ""
            continue
        flat = letter == "q" and all(off_chord(pen, end, ends[-1]) <= FLAT for end in ends[:-1])
        word, ends = ("l", ends[-1:]) if flat else (letter, ends)
        if word == "l" and ends[-1] == pen:
            continue
        numbers = "".join(f" {b - a}" for end in ends for a, b in zip(pen, end, strict=True))
        path += numbers if word == before else word + numbers[1:]
        pen, before = ends[-1], word
        start = pen if letter == "m" else start
    return round(advance), path.replace(" -", "-")


def commands(drawn: freetype.Outline) -> list[tuple[str, list[Point]]]:
    """Lists the parts of an outline: letters of SVG paths with their points."""
    parts: list[tuple[str, list[Point]]] = []

    def note(letter: str) -> Callable[..., None]:
        def noted(*given: Any) -> None:
            points = [(point.x, point.y) for point in given if hasattr(point, "x")]
            parts.extend([("z", [])] if letter == "m" and parts else [])
            parts.append((letter, points))

        return noted

    def simpler(first: Any, second: Any, end: Any, _: object) -> None:
        x, y = parts[-1][1][-1]
        between = [
            (3 * (a + b) - c - d) / 4
            for a, b, c, d in ((first.x, second.x, x, end.x), (first.y, second.y, y, end.y))
        ]
        parts.append(("q", [(between[0], between[1]), (end.x, end.y)]))

    drawn.decompose(None, note("m"), note("l"), note("q"), simpler)
    return [*parts, ("z", [])] if parts else []


def off_chord(start: Point, point: Point, end: Point) -> float:
    (a, b), (x, y), (c, d) = start, point, end
    length = hypot(c - a, d - b)
    if not length:
        return hypot(x - a, y - b)
    along = ((x - a) * (c - a) + (y - b) * (d - b)) / length**2
    if not 0 <= along <= 1:
        return min(hypot(x - a, y - b), hypot(x - c, y - d))
    return abs((c - a) * (y - b) - (d - b) * (x - a)) / length


def main() -> None:
    fonts, glyphs = [], dict[str, tuple[int, str]]()
    for path, (characters, bolder) in FONTS.items():
        face = freetype.Face(path)
        face.set_char_size(GRID * FINE)
        names = {
            name.name_id: name.string.decode("utf-16-be")
            for name in map(face.get_sfnt_name, range(face.sfnt_name_count))
            if name.platform_id == 3
        }
        fonts.append(f"{names[4]}: {names[0]}")
        glyphs |= {character: outline(face, character, bolder) for character in characters}
    rows = ",\n".join(
        f"{json.dumps(character, ensure_ascii=False)}:{json.dumps(glyph, separators=(',', ':'))}"
        for character, glyph in glyphs.items()
    )
    head = json.dumps(
        {
            "about": "Outlines extracted by tools/glyphs.py, on a grid of 100 units an em; each "
            "character has its advance and an SVG path. SIL Open Font License 1.1, see OFL.txt.",
            "fonts": fonts,
        },
        indent=1,
    )
    FILE.write_text(f'{head[:-2]},\n "glyphs": {{\n{rows}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
