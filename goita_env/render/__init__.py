"""Draws positions, a file for each kind of drawing; ``frame`` knows the render modes.

Each kind takes a ``Game``, a ``View``, ``Positions`` or a ``Scene``:

| file | |
|---|---|
| scene | what is to be seen of a position, whatever it is drawn with |
| ansi | the table in characters |
| svg | the table as SVG, with panels beside it; words says the same to screen readers |
| animation | one SVG that shows drawings one after another |
| pixels | SVG to arrays and PNG (extra ``goita-env[render]``) |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

import numpy.typing as npt

from goita_env.errors import SettingError
from goita_env.render import ansi, pixels, svg
from goita_env.render.scene import Drawable, Scene

RenderMode = Literal["ansi", "human", "svg", "rgb_array"]
RENDER_MODES: Final[tuple[str, ...]] = ("ansi", "human", "svg", "rgb_array")


def check_render_mode(mode: str | None) -> None:
    """Checks a render mode.

    Raises:
        SettingError: if there is no such mode.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise SettingError(f"expected a render_mode of None, {RENDER_MODES}, got {mode!r}")


def frame(shown: Scene | Drawable, mode: str | None) -> str | npt.NDArray[Any] | None:
    """Draws what an environment's ``render`` returns.

    Args:
        shown: what is drawn.
        mode: as ``rendered`` takes it; "rgb_array" is uint8 [600, 600, 3].

    Raises:
        ImportError: if "rgb_array" lacks its extra.
    """
    return rendered(mode, lambda: ansi.render(shown), lambda: svg.render(shown))


def rendered(
    mode: str | None, text: Callable[[], str], picture: Callable[[], str]
) -> str | npt.NDArray[Any] | None:
    """Draws as a render mode wants it.

    Args:
        mode: "ansi" and "svg" return text, "human" prints the text and returns None, "rgb_array"
            returns uint8 [height, width, 3]; None: None.
        text: draws in characters.
        picture: draws SVG.

    Raises:
        ImportError: if "rgb_array" lacks its extra.
    """
    if mode == "svg":
        return picture()
    if mode == "rgb_array":
        return pixels.rgb_array(picture())
    if mode == "ansi":
        return text()
    if mode == "human":
        print(text())
    return None
