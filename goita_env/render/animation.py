"""Animates drawings: one SVG that plays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from goita_env.render.pen import Drawing, write_document


def animated(drawings: Sequence[Drawing], seconds: float = 1.0, width: float | None = None) -> str:
    """Writes an SVG text that shows one drawing after another, over and over.

    Where nothing moves (in other programs, or for people who want less motion) it shows the last.

    Args:
        drawings: one or more, of one size.
        seconds: how long each is shown; the last one three times as long.
        width: pixels; None: as the drawings say.
    """
    first, last = drawings[0], drawings[-1]
    definitions = dict.fromkeys(line for drawing in drawings for line in drawing.definitions)
    # The lines with which all drawings begin, such as the ground, are drawn once.
    rows = zip(*(drawing.lines for drawing in drawings), strict=False)
    num_shared = sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, rows))
    total = len(drawings) + 2  # turns: the last drawing has three
    # Class f: a frame, shown for one turn; class l, the last one: for three.
    style = [
        f".f{{animation:s {total * seconds:g}s infinite step-end}}",
        f"@keyframes s{{0%{{visibility:visible}}{100 / total:.4f}%{{visibility:hidden}}}}",
        f".l{{animation-name:t}}@keyframes t{{0%{{visibility:visible}}"
        f"{300 / total:.4f}%{{visibility:hidden}}}}",
    ]
    frames = []
    for index, drawing in enumerate(drawings):
        is_last = index == len(drawings) - 1
        # A delay below zero: all frames run from the start, each at another point of the cycle.
        frames.append(
            f'<g class="{"f l" if is_last else "f"}" '
            f'visibility="{"visible" if is_last else "hidden"}" '
            f'style="animation-delay:{(index - total) * seconds:g}s">'
            f"{''.join(drawing.lines[num_shared:])}</g>"
        )
    moving = (
        f"<style>@media (prefers-reduced-motion:no-preference){{{''.join(style)}}}</style>",
        *first.lines[:num_shared],
        *frames,
    )
    description = f"{len(drawings)} positions one after another. The last: {last.description}"
    drawing = Drawing(
        size=first.size,
        title=last.title,
        description=description,
        color=first.color,
        definitions=tuple(definitions),
        lines=moving,
    )
    return write_document(drawing, width)
