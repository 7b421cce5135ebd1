"""Animates drawings: one SVG that plays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from goita_env.render.pen import Drawing, document


def animated(drawings: Sequence[Drawing], seconds: float = 1.0, width: float | None = None) -> str:
    """Writes an SVG text that shows one drawing after another, over and over.

    Where nothing moves (other programs, people who asked for less motion) the last one stands.

    Args:
        drawings: one or more, of one size.
        seconds: how long each is shown; the last one three times as long.
        width: pixels; None: as the drawings say.
    """
    first, last = drawings[0], drawings[-1]
    definitions = dict.fromkeys(line for one in drawings for line in one.definitions)
    # What all begin with, such as the ground, is drawn once.
    rows = zip(*(one.lines for one in drawings), strict=False)
    same = sum(1 for _ in takewhile(lambda row: len(set(row)) == 1, rows))
    total = len(drawings) + 2
    style = [
        f".f{{animation:s {total * seconds:g}s infinite step-end}}",
        f"@keyframes s{{0%{{visibility:visible}}{100 / total:.4f}%{{visibility:hidden}}}}",
        f".l{{animation-name:t}}@keyframes t{{0%{{visibility:visible}}"
        f"{300 / total:.4f}%{{visibility:hidden}}}}",
    ]
    frames = []
    for number, one in enumerate(drawings):
        is_last = number == len(drawings) - 1
        # A delay below zero: each frame is in the midst of its turns from the start.
        frames.append(
            f'<g class="f{" l" * is_last}" visibility="{"visible" if is_last else "hidden"}" '
            f'style="animation-delay:{(number - total) * seconds:g}s">'
            f"{''.join(one.lines[same:])}</g>"
        )
    moving = (
        f"<style>@media (prefers-reduced-motion:no-preference){{{''.join(style)}}}</style>",
        *first.lines[:same],
        *frames,
    )
    told = f"{len(drawings)} positions one after another. The last: {last.description}"
    return document(
        Drawing(first.size, last.title, told, first.color, tuple(definitions), moving), width
    )
