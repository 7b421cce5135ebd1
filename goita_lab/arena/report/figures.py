"""Formats figures, and cleans text of users' programs, for all reports."""

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

    Line breaks and tabs stay.
    """
    plain = _ESCAPES.sub("", text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs")
        else character
        for character in plain
    )


ROUGH_INTERVAL_NOTE: Final = '"]?": an interval of few values, so it is a rough one'
"""Explains the sign of a rough interval."""


def line(text: str) -> str:
    """Returns text, cleaned, on one line."""
    return " ".join(clean(text).split())


def signed(value: float, decimals: int = 2, sign: str = "+") -> str:
    """Returns a number with its sign, unless it rounds to zero; ``sign``: "-" shows only minus."""
    text = f"{value:{sign},.{decimals}f}"
    is_zero = not set(text) & set("123456789")
    return text.lstrip("+-") if is_zero else text


def true_minus(numbers: str) -> str:
    """Returns one or more numbers with the minus sign of typography in place of the hyphen."""
    return numbers.replace("-", "−")


def interval(bounds: Interval, decimals: int = 2, sign: str = "+") -> str:
    """Returns ``[low, high]`` with signs; a "?" follows a rough interval, of few values."""
    ends = f"[{signed(bounds.low, decimals, sign)}, {signed(bounds.high, decimals, sign)}]"
    return f"{ends}?" if bounds.few else ends


def estimate(mean: Interval | None, decimals: int = 2, sign: str = "+") -> str:
    """Returns ``mean [low, high]``; None: an empty text."""
    if mean is None:
        return ""
    return f"{signed(mean.mean, decimals, sign)} {interval(mean, decimals, sign)}"


def percent(rate: Interval) -> str:
    """Returns a rate and its interval in percent; a "?" follows it as in ``interval``."""
    text = f"{100 * rate.mean:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"
    return f"{text}?" if rate.few else text


def brief(value: float) -> str:
    """Returns a positive number to three digits, never as a power of ten."""
    if value <= 0:
        return "0"
    return f"{value:,.{min(6, max(0, 2 - floor(log10(value))))}f}"


def duration(seconds: float) -> str:
    """Returns a duration in words: "3.2 s", "5 min 10 s", "2 h 3 min"."""
    if seconds < 60:
        return f"{brief(seconds)} s"
    minutes, full_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {full_seconds} s"


def span(values: Iterable[int]) -> str:
    """Returns the range of whole numbers: "200 to 1,000", or "200" if all are equal."""
    numbers = sorted(values)
    if not numbers:
        return ""
    low, high = f"{numbers[0]:,}", f"{numbers[-1]:,}"
    return low if low == high else f"{low} to {high}"
