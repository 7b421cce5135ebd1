"""Draws positions, a file for each kind of drawing; ``frame`` knows the render modes.

Each kind takes a ``Game``, a ``View``, ``Positions`` or a ``Scene``:

| file | |
|---|---|
| scene | what is to be seen of a position, whatever it is drawn with |
| ansi | the table in characters |
| svg | the table as SVG, with panels below it; words says the same to screen readers |
| animation | one SVG that shows drawings one after another |
| pixels | SVG to arrays and PNG (extra ``goita-env[render]``) |
"""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy.typing as npt

from goita_env.errors import SettingError
from goita_env.render import ansi, pixels, svg
from goita_env.render.scene import Drawable, Scene

RenderMode = Literal["ansi", "human", "svg", "rgb_array"]
RENDER_MODES: Final[tuple[str, ...]] = ("ansi", "human", "svg", "rgb_array")
TEXT_MODES: Final[tuple[str, ...]] = ("ansi", "human")


def check_render_mode(mode: str | None, modes: tuple[str, ...] = RENDER_MODES) -> None:
    """Raises a SettingError if there is no such render mode."""
    if mode is not None and mode not in modes:
        raise SettingError(f"expected a render_mode of None, {modes}, got {mode!r}")


def frame(position: Scene | Drawable, mode: str | None) -> str | npt.NDArray[Any] | None:
    """Draws what an environment's ``render`` returns.

    Args:
        position: what is drawn.
        mode: "ansi" and "svg" return text, "human" prints the text and returns None, "rgb_array"
            returns uint8 [600, 600, 3]; None: None.

    Raises:
        ImportError: if "rgb_array" lacks its extra.
    """
    if mode == "svg":
        return svg.render(position)
    if mode == "rgb_array":
        return pixels.rgb_array(svg.render(position))
    return None if mode is None else in_characters(ansi.render(position), mode)


def in_characters(text: str, mode: str | None) -> str | None:
    """Returns a table in characters ("ansi"), or prints it ("human")."""
    if mode == "human":
        print(text)
    return text if mode == "ansi" else None
