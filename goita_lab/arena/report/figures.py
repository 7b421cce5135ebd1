"""Writes figures, and text that comes from anybody's program, as all reports show them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from math import floor, log10
from typing import Final

from goita_lab.arena.statistics.intervals import Interval

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def clean(text: str) -> str:
    """Returns text without terminal escapes; other control, bidi and half characters become U+FFFD.

    The line breaks and tabs that are left stand for themselves.
    """
    plain = _ESCAPES.sub("", text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in plain
    )


ROUGH: Final = '"]?": an interval of few values, so it is a rough one'
"""Explains the sign."""


def line(text: str) -> str:
    """Returns text, cleaned, on one line."""
    return " ".join(clean(text).split())


def signed(value: float, decimals: int = 2, sign: str = "+") -> str:
    """Returns a number with its sign, none if it rounds to zero; ``sign``: "-" for that alone."""
    text = f"{value:{sign},.{decimals}f}"
    return text if set(text) & set("123456789") else text.lstrip("+-")


def true_minus(number: str) -> str:
    """Returns a number, or several, with the sign that pages print in place of the hyphen."""
    return number.replace("-", "−")


def interval(found: Interval, decimals: int = 2, sign: str = "+") -> str:
    """Returns ``[low, high]`` with signs; "?" behind it: of few values, so it is a rough one."""
    ends = f"[{signed(found.low, decimals, sign)}, {signed(found.high, decimals, sign)}]"
    return f"{ends}?" if found.few else ends


def estimate(found: Interval | None, decimals: int = 2, sign: str = "+") -> str:
    """Returns ``mean [low, high]``; None: an empty text."""
    if found is None:
        return ""
    return f"{signed(found.mean, decimals, sign)} {interval(found, decimals, sign)}"


def percent(found: Interval) -> str:
    """Returns a rate and its interval in percent; "?" behind it as behind ``interval``."""
    text = f"{100 * found.mean:.1f} % [{100 * found.low:.1f}, {100 * found.high:.1f}]"
    return f"{text}?" if found.few else text


def brief(value: float) -> str:
    """Returns a positive number to three digits, never as a power of ten."""
    if value <= 0:
        return "0"
    return f"{value:,.{min(6, max(0, 2 - floor(log10(value))))}f}"


def duration(seconds: float) -> str:
    """Returns seconds in the units that one would say."""
    if seconds < 60:
        return f"{brief(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def span(values: Iterable[int]) -> str:
    """Returns whole numbers as ``200 to 1,000``, or the one that all of them are."""
    found = sorted(values)
    if not found:
        return ""
    least, most = f"{found[0]:,}", f"{found[-1]:,}"
    return least if least == most else f"{least} to {most}"
