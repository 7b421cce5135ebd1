"""Writes SVG that resvg, cairosvg, browsers and an ``<img>`` all understand: shapes, words, tiles.

Only presentation attributes, opaque ``#rrggbb`` colours, ``transform`` attributes and ``<use>``
with ``href``; words are outlines, so no font is needed, except for names in other scripts, which
fonts of the reader's program draw. Numbers are pixels of a drawing 600 wide. Ids begin with a hash
of the drawing: two drawings in one page don't mix, and the same position gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from html import escape
from itertools import product
from math import ceil
from pathlib import Path
from typing import Final, Literal, cast
from unicodedata import east_asian_width

from goita_env.errors import SettingError
from goita_env.render.themes import THEMES, Theme
from goita_env.render.translation import ENGLISH
from goita_env.tiles import CHARACTERS, DIGITS, FACE_DOWN, LETTERS, NUM_KINDS

Faces = Literal["characters", "letters", "digits"]
Anchor = Literal["start", "middle", "end"]

FACES: Final[dict[Faces, str]] = {"characters": CHARACTERS, "letters": LETTERS, "digits": DIGITS}
PREFIX: Final = "\u00a7"
"""Is replaced in all ids by their prefix, once the drawing is finished and can be hashed."""

_TILE_OUTLINE: Final = "M0-26 17.5-19 22 26H-22L-17.5-19Z"
_TILE_TOP: Final = "M0-24.3 16.2-17.8 19.8 21H-19.8L-16.2-17.8Z"
_LETTER_SCALE, _CHARACTER_SCALE = 0.36, 0.34
"""Pixels for a hundredth of an em, of a letter or digit and of a character on a tile."""
_LETTER_DROP, _LETTER_DROP_AT_SIDES, _CHARACTER_DROP = 12, 13, 11.5
"""Pixels from the middle of a tile down to the base line. A letter stays upright: at the sides of
the table it stands across its tile."""
_TILE_INNER: Final = "M0-18 11.5-13.5 14 15H-14L-11.5-13.5Z"


@cache
def glyphs() -> dict[str, tuple[int, str]]:
    """Returns advance (hundredths of an em) and outline of every character there is."""
    text = Path(__file__).with_name("glyphs.json").read_text(encoding="utf-8")
    return cast(dict[str, tuple[int, str]], json.loads(text)["glyphs"])


def text_width(text: str, size: float) -> float:
    return sum(map(_advance, text)) * size / 100


def _advance(character: str) -> int:
    characters = glyphs()
    if character in characters:
        return characters[character][0]
    return 100 if east_asian_width(character) in "WF" else characters["?"][0]


def wrap_text(text: str, size: float, limit: float) -> list[str]:
    """Returns a text in lines about equally wide, at most ``limit`` if its words allow it."""
    whole = text_width(text, size)
    if whole > limit:  # the equal share of each line, and a quarter, which words need not fill
        limit = min(limit, 1.25 * whole / ceil(whole / limit))
    words = text.split()
    if len(words) == 1 and whole > limit:  # a script that has no spaces
        length = ceil(len(text) / ceil(whole / limit))
        return [text[start : start + length] for start in range(0, len(text), length)]
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > limit:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def tenths(value: float) -> str:
    """Returns a number as short as it can be, to a tenth."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.", "-.").removeprefix("0") or "0"


@dataclass(frozen=True)
class Drawing:
    """A drawing, line by line."""

    size: tuple[float, float]
    title: str
    description: str
    color: str
    """Of each element that names no other."""
    definitions: tuple[str, ...]
    """The elements in ``<defs>``."""
    lines: tuple[str, ...]
    """The elements that are drawn, one a line."""


class Pen:
    """A drawing under way; ``say`` translates the texts that it writes."""

    def __init__(self, theme: Theme, faces: Faces, say: Callable[[str], str] = ENGLISH) -> None:
        if theme not in THEMES:
            raise SettingError(f"expected a theme of {tuple(THEMES)}, got {theme!r}")
        if faces not in FACES:
            raise SettingError(f"expected faces of {tuple(FACES)}, got {faces!r}")
        self.colors = THEMES[theme]
        self.lines: list[str] = []
        self.say = say
        self._faces = FACES[faces]
        self._turn: float = 0
        self._upright = faces != "characters"
        """Letters and digits are upright on all sides; characters turn with their seat's side."""
        self._definitions: dict[str, str] = {}

    def path(self, d: str, fill: str = "none", stroke: str = "", weight: float = 1.5) -> None:
        line = f' stroke="{stroke}" stroke-width="{tenths(weight)}"' if stroke else ""
        self.lines.append(f'<path d="{d}" fill="{fill}"{line}/>')

    def box(
        self, x: float, y: float, wide: float, high: float, fill: str, radius: float = 0
    ) -> None:
        place = f'x="{tenths(x)}" y="{tenths(y)}" width="{tenths(wide)}" height="{tenths(high)}"'
        round_ = f' rx="{tenths(radius)}"' if radius else ""
        self.lines.append(f'<rect {place}{round_} fill="{fill}"/>')

    def text(
        self, x: float, y: float, text: str, size: float, color: str = "", anchor: Anchor = "start"
    ) -> None:
        self.texts([(x, y, text)], size, color, anchor)

    def texts(
        self,
        texts: Iterable[tuple[float, float, str]],
        size: float,
        color: str = "",
        anchor: Anchor = "start",
    ) -> None:
        """Writes texts, each with its place, that look alike."""
        outlines, uses, outlined = glyphs(), "", []
        for x, y, text in ((x, y, self.say(text)) for x, y, text in texts):
            if set(text) <= outlines.keys() | {" "}:
                outlined.append((x, y, text))
            else:
                content = escape(text).replace(PREFIX, f"&#{ord(PREFIX)};")
                look = f'font-family="sans-serif" font-size="{size:g}" text-anchor="{anchor}"'
                look += f' fill="{color or self.colors.text}"'
                self.lines.append(f'<text x="{tenths(x)}" y="{tenths(y)}" {look}>{content}</text>')
        if not outlined:
            return
        fill, scale = f' fill="{color}"' if color else "", f"scale({size / 100:g})"
        # The group of a single text is moved to its place; of several texts, each character has
        # coordinates of its own, in hundredths of an em, which is shorter than a group for each.
        is_single = len(outlined) == 1
        for x, y, text in outlined:
            start = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * text_width(text, size)
            advance = 0 if is_single else round(start * 100 / size)
            line = "" if is_single else f' y="{y * 100 / size:.0f}"'
            scale = f"translate({tenths(start)} {tenths(y)}){scale}" if is_single else scale
            for character in text:
                if character != " ":
                    place = f' x="{advance}"' if advance else ""
                    uses += f'<use href="#{self._glyph(character)}"{place}{line}/>'
                advance += outlines[character][0]
        self.lines.append(f'<g{fill} transform="{scale}">{uses}</g>')

    @contextmanager
    def side(self, turn: float) -> Iterator[None]:
        """Turns all drawn within it around the middle, in quarters counter-clockwise."""
        self._turn = turn
        if turn:
            self.lines.append(f'<g transform="rotate({-90 * turn:g} 300 300)">')
        yield
        if turn:
            self.lines.append("</g>")
        self._turn = 0

    def tile(self, x: float, y: float, kind: int, *, down: bool = False) -> None:
        """Draws a tile (FACE_DOWN: a back) at its middle; ``down``: face down, its kind known."""
        self.tiles([(x, y, kind, down)])

    def tiles(self, tiles: Iterable[tuple[float, float, int, bool]], scale: float = 1) -> None:
        """Draws tiles, each with its middle, kind and ``down``; scale 1: as on the table."""
        short = tenths if scale == 1 else "{:.0f}".format
        uses = [
            f'<use href="#{self._tile(kind, down)}" x="{short(x / scale)}" y="{short(y / scale)}"/>'
            for x, y, kind, down in tiles
        ]
        if scale != 1 and uses:
            self.lines.append(f'<g transform="scale({scale:g})">{"".join(uses)}</g>')
        else:
            self.lines += uses

    def outline(
        self,
        x: float,
        y: float,
        color: str,
        weight: float,
        scale: float = 1,
        *,
        dashed: bool = False,
    ) -> None:
        """Draws the outline of a tile with its middle at (x, y), such as to mark the tile."""
        grown = f" scale({scale:g})" if scale != 1 else ""
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.lines.append(
            f'<path d="{_TILE_OUTLINE}" transform="translate({tenths(x)} {tenths(y)}){grown}" '
            f'fill="none" stroke="{color}" stroke-width="{tenths(weight)}"{dashes} '
            'stroke-linejoin="round"/>'
        )

    def drawing(self, wide: float, high: float, title: str, description: str) -> Drawing:
        definitions = tuple(self._definitions.values())
        return Drawing(
            size=(wide, high),
            title=title,
            description=description,
            color=self.colors.text,
            definitions=definitions,
            lines=tuple(self.lines),
        )

    def _glyph(self, character: str) -> str:
        symbol = f"{PREFIX}{ord(character):x}"
        if symbol not in self._definitions:
            self._definitions[symbol] = f'<path id="{symbol}" d="{glyphs()[character][1]}"/>'
        return symbol

    def _tile(self, kind: int, down: bool) -> str:
        """Returns the id of a tile's drawing, which is defined at its first use.

        FACE_DOWN as kind is a back without a face; ``down``: a back with the face of its kind.
        """
        turn = self._turn if self._upright else 0
        if kind == FACE_DOWN:
            return self._wood(True)
        symbol = _symbol(kind, down, turn)
        if symbol not in self._definitions:
            advance, outline = glyphs()[self._faces[kind]]
            scale, drop = _CHARACTER_SCALE, _CHARACTER_DROP
            if self._upright:
                scale, drop = _LETTER_SCALE, _LETTER_DROP_AT_SIDES if turn % 2 else _LETTER_DROP
            place = f"translate({tenths(-advance * scale / 2)} {tenths(drop)}) scale({scale})"
            if turn:  # against the turn of the side (``side``)
                place = f"rotate({90 * turn:g}) {place}"
            look = ' opacity=".7"' if down else ""
            self._definitions[symbol] = (
                f'<g id="{symbol}"><use href="#{self._wood(down)}"/><path d="{outline}" '
                f'fill="{self.colors.ink}"{look} transform="{place}"/></g>'
            )
        return symbol

    def _wood(self, back: bool) -> str:
        """Returns the id of a tile without a face: its front, or its back."""
        symbol = f"{PREFIX}{'b' if back else 'w'}"
        if symbol not in self._definitions:
            c = self.colors
            wood, edge = (c.back, c.back_edge) if back else (c.wood, c.edge)
            inner = f'<path d="{_TILE_INNER}" fill="{c.back_line}"/>' if back else ""
            self._definitions[symbol] = (
                f'<g id="{symbol}"><path d="{_TILE_OUTLINE}" fill="{edge}"/>'
                f'<path d="{_TILE_TOP}" fill="{wood}"/>{inner}</g>'
            )
        return symbol


def every_tile(theme: Theme, faces: Faces) -> list[str]:
    """Returns the definitions of all tiles, on all sides, face up and down, and of a back.

    They fit the lines of any drawing, whichever faces it was drawn with.
    """
    pen, aliases = Pen(theme, faces), []
    for kind, down, turn in product(range(NUM_KINDS), (False, True), range(4)):
        pen._turn = turn
        # Faces that turn with their side have one symbol; drawings with upright ones get aliases.
        symbol, turned = pen._tile(kind, down), _symbol(kind, down, turn)
        if symbol != turned:
            aliases.append(f'<g id="{turned}"><use href="#{symbol}"/></g>')
    pen._tile(FACE_DOWN, True)
    return [*pen._definitions.values(), *aliases]


def is_letter(definition: str) -> bool:
    return definition.startswith("<path")


def _symbol(kind: int, down: bool, turn: float) -> str:
    """Returns the id of a tile's drawing; ``turn``: the side, 0 for faces that turn with it."""
    return f"{PREFIX}t{kind}{'d' if down else ''}{f'{turn:g}' if turn else ''}"


def write_document(drawing: Drawing, size: float | None = None) -> str:
    """Writes a drawing as SVG text; ``size``: its width in pixels, None: in its own units."""
    wide, high = drawing.size
    if size is not None and not 0 < size < 1e5:
        raise SettingError(f"expected a width in pixels above 0, got {size!r}")
    zoom = 1 if size is None else size / wide
    body = f"<defs>{''.join(drawing.definitions)}</defs>\n" + "\n".join(drawing.lines)
    prefix = "g" + blake2b(body.encode(), digest_size=2).hexdigest()
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {tenths(wide)} {tenths(high)}" width="{tenths(wide * zoom)}" '
        f'height="{tenths(high * zoom)}" fill="{drawing.color}" role="img" '
        f'aria-labelledby="{prefix}T {prefix}D">\n'
        f'<title id="{prefix}T">{escape(drawing.title, quote=False)}</title>\n'
        f'<desc id="{prefix}D">{escape(drawing.description, quote=False)}</desc>\n'
        f"{body.replace(PREFIX, prefix)}\n</svg>\n"
    )
