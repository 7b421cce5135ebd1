"""Draws positions, a file for each kind of drawing; ``frame`` has the environments' render modes.

| file | |
|---|---|
| scene | what is to be seen of a position, whatever it is drawn with |
| ansi | the table in characters |
| svg | the table as SVG, with panels beside it; words says the same to screen readers |
| sheet | a whole deal on a sheet: hands and plays |
| pixels, animation | SVG to arrays, PNG, animated SVG and GIF (extra ``goita-env[render]``) |
"""

from __future__ import annotations

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
        mode: "ansi" and "svg" return text, "human" prints the text and returns None, "rgb_array"
            returns uint8 [600, 600, 3]; None: None.

    Raises:
        ImportError: if "rgb_array" lacks its extra.
    """
    if mode is None:
        return None
    if mode in ("svg", "rgb_array"):
        from goita_env.render import svg

        text = svg.view(shown) if isinstance(shown, View) else svg.table(shown)
        if mode == "svg":
            return text
        from goita_env.render import pixels

        return pixels.rgb_array(text)
    from goita_env.render import ansi

    text = ansi.view(shown) if isinstance(shown, View) else ansi.table(shown)
    if mode == "ansi":
        return text
    print(text)
    return None
