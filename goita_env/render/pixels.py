"""Turns SVG drawings into pixels: arrays and PNG. Needs the extra ``goita-env[render]``.

resvg draws without a font, a display or a library of the system, and the same pixels everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from types import ModuleType

import numpy as np
import numpy.typing as npt

from goita_env.errors import SettingError


def png(svg: str, width: int | None = None) -> bytes:
    """Draws SVG text as a PNG file.

    Args:
        svg: the text of a drawing.
        width: pixels; None: as the drawing says.

    Raises:
        SettingError: if the width is not above 0, or the text is no SVG.
        ImportError: if the extra is missing.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError("pixels need resvg-py: pip install 'goita-env[render]'") from error

    if width is not None and width <= 0:
        raise SettingError(f"expected a width above 0 pixels, got {width!r}")
    try:
        return resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)
    except ValueError as error:
        raise SettingError(f"expected SVG text, got {svg[:60]!r}: {error}") from error


def rgb_array(svg: str, width: int | None = None) -> npt.NDArray[np.uint8]:
    """Draws SVG text as an image, uint8 [height, width, 3]; arguments and errors as ``png``."""
    with _pillow().open(BytesIO(png(svg, width))) as image:
        return np.array(np.asarray(image)[:, :, :3])  # its pixels are all opaque


def gif(arrays: Sequence[npt.NDArray[np.uint8]], seconds: Sequence[float]) -> bytes:
    """Writes a GIF file that plays over and over.

    Args:
        arrays: uint8 [height, width, 3] each; the last one has all colours.
        seconds: how long each is shown.

    Raises:
        ImportError: if the extra is missing.
    """
    pillow = _pillow()
    # One palette for all: nothing flickers.
    colors = pillow.fromarray(arrays[-1]).quantize(128)
    images = [pillow.fromarray(array).quantize(palette=colors, dither=0) for array in arrays]
    times = [round(1000 * time) for time in seconds]
    file = BytesIO()
    images[0].save(file, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)
    return file.getvalue()


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("images need Pillow: pip install 'goita-env[render]'") from error
    return Image
