"""Tells how all pages look: the colours of both themes, and the base of their style sheets."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from goita_env.render.themes import THEMES


@cache
def base() -> str:
    """Returns what stands before a page's own style sheet."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{color};" for name, color in vars(palette).items())
        for palette in (THEMES["light"], THEMES["dark"])
    )
    colors = (
        f":root{{{light}color-scheme:light}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}color-scheme:dark}}}}\n"
    )
    return colors + files(__package__).joinpath("base.css").read_text(encoding="utf-8")
