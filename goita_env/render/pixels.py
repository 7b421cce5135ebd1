"""Turns SVG drawings into pixels: arrays and PNG. Needs the extra ``goita-env[render]``.

resvg draws without a font, a display or a library of the system, and the same pixels everywhere.
"""

from __future__ import annotations

from io import BytesIO

import numpy as np
import numpy.typing as npt

from goita_env.errors import naming_extras


def png(svg: str, width: int | None = None) -> bytes:
    """Draws SVG text as a PNG file.

    Args:
        svg: the text of a drawing.
        width: pixels; None: as the drawing says.

    Raises:
        ImportError: if the extra is missing.
    """
    with naming_extras():
        import resvg_py
    return resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)


def rgb_array(svg: str, width: int | None = None) -> npt.NDArray[np.uint8]:
    """Draws SVG text as an image, uint8 [height, width, 3]; arguments and errors as ``png``."""
    with naming_extras():
        from PIL import Image
    with Image.open(BytesIO(png(svg, width))) as image:
        return np.array(np.asarray(image)[:, :, :3])  # its pixels are all opaque
