"""Turns SVG drawings into pixels: arrays and PNG. Needs the extra ``goita-env[render]``.

resvg draws without a font, a display or a library of the system, and the same pixels everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from types import ModuleType

import numpy as np
import numpy.typing as npt

from goita_env.errors import SettingError, install


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
        raise ImportError(f"pixels need resvg-py: {install('render')}") from error

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


def gif(drawings: Sequence[str], seconds: Sequence[float], width: int | None = None) -> bytes:
    """Writes a GIF file that plays over and over; no more than two of its images are held.

    Args:
        drawings: SVG texts of one size; the last one has all colours.
        seconds: how long each is shown.
        width: as in ``png``.

    Raises:
        SettingError, ImportError: as ``png``.
    """
    pillow = _pillow()
    from PIL import ImageChops
    from PIL.GifImagePlugin import getdata, getheader

    # One palette for all: nothing flickers. One number more shows what was there before.
    same = 127
    colors = pillow.fromarray(rgb_array(drawings[-1], width)).quantize(same)
    file, before = BytesIO(), None
    for text, time in zip(drawings, seconds, strict=True):
        image = pillow.fromarray(rgb_array(text, width)).quantize(palette=colors, dither=0)
        shown, box, told = image.copy(), (0, 0, *image.size), {"duration": round(1000 * time)}
        if before is None:
            file.writelines(getheader(image.copy(), info={"loop": 0})[0])
        else:
            changed = ImageChops.difference(before, image)
            box = changed.getbbox() or (0, 0, 1, 1)
            shown.paste(same, mask=changed.point(lambda value: 0 if value else 255, "1"))
            told["transparency"] = same
        file.writelines(getdata(shown.crop(box), box[:2], **told))
        before = image
    file.write(b";")
    return file.getvalue()


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(f"images need Pillow: {install('render')}") from error
    return Image
