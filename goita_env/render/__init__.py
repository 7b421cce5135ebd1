"""Draws positions, a file for each kind of drawing; ``rendered`` knows the render modes.

| file | |
|---|---|
| scene | what is to be seen of a position, whatever it is drawn with |
| ansi | the table in characters |
| svg | the table as SVG, with panels beside it; words says the same to screen readers |
| sheet | a whole deal on a sheet: hands and plays |
| pixels, animation | SVG to arrays, PNG, animated SVG and GIF (extra ``goita-env[render]``) |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

from goita_env.errors import SettingError
from goita_env.views import View

if TYPE_CHECKING:
    import numpy.typing as npt

    from goita_env.engine.state import State

RenderMode = Literal["ansi", "human", "svg", "rgb_array"]
RENDER_MODES: Final[tuple[str, ...]] = ("ansi", "human", "svg", "rgb_array")


def check_render_mode(mode: str | None) -> None:
    """Checks a render mode.

    Raises:
        SettingError: if there is no such mode.
    """
    if mode is not None and mode not in RENDER_MODES:
        raise SettingError(f"expected a render_mode of None, {RENDER_MODES}, got {mode!r}")


def frame(shown: View | State, mode: str | None) -> str | npt.NDArray[Any] | None:
    """Returns what an environment's ``render`` returns.

    Args:
        shown: what one seat may know, or the whole table of one game.
        mode: as ``rendered`` takes it; "rgb_array" is uint8 [600, 600, 3].

    Raises:
        ImportError: if "rgb_array" lacks its extra.
    """

    def text() -> str:
        from goita_env.render import ansi

        return ansi.view(shown) if isinstance(shown, View) else ansi.table(shown)

    def picture() -> str:
        from goita_env.render import svg

        return svg.view(shown) if isinstance(shown, View) else svg.table(shown)

    return rendered(mode, text, picture)


def rendered(
    mode: str | None, text: Callable[[], str], picture: Callable[[], str]
) -> str | npt.NDArray[Any] | None:
    """Returns a drawing as a render mode wants it.

    Args:
        mode: "ansi" and "svg" return text, "human" prints the text and returns None, "rgb_array"
            returns uint8 [height, width, 3]; None: None.
        text: draws in characters.
        picture: draws SVG.

    Raises:
        ImportError: if "rgb_array" lacks its extra.
    """
    if mode is None:
        return None
    if mode == "svg":
        return picture()
    if mode == "rgb_array":
        from goita_env.render import pixels

        return pixels.rgb_array(picture())
    if mode == "ansi":
        return text()
    print(text())
    return None
