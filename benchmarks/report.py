"""Turns the measurements into tables, as Markdown text."""

from __future__ import annotations

from statistics import median
from typing import Any, Final

from tabulate import tabulate

SPADES: Final = "OpenSpiel spades"

STARTUP: Final = {
    "tables": ("building the tables", "s"),
    "import": ("importing goita_env over pettingzoo and gymnasium", "s"),
    "arrays": ("memory for each game, environment and arrays handed out", "bytes"),
    "arrays and view": ("memory for each game, the view built too", "bytes"),
    "peak": ("memory for each game, peak inside a step", "bytes"),
}
"""What each start-up figure is, and its unit."""


def count_ratios(rates: dict[str, list[float]], ours: str, peer: str) -> list[float]:
    """Divides the rates of two contests round by round, so that a slow minute cancels out."""
    if ours not in rates or peer not in rates:
        return []
    return [a / b for a, b in zip(rates[ours], rates[peer], strict=True)]


def summarize_rates(rates: dict[str, list[float]]) -> dict[str, dict[str, Any]]:
    """Summarizes the steps per second of every contest over the rounds."""
    summary: dict[str, dict[str, Any]] = {}
    for name, values in rates.items():
        ratios = count_ratios(rates, name, SPADES)
        summary[name] = {
            "steps_per_second": median(values),
            "least": min(values),
            "greatest": max(values),
            "times_spades": median(ratios) if ratios else None,
            "times_spades_least": min(ratios, default=None),
            "times_spades_greatest": max(ratios, default=None),
            "rounds": values,
        }
    return summary


def format_number(value: float | None) -> str:
    """Writes a number to three figures, thousands as k and millions as M."""
    if value is None:
        return "-"
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{float(f'{value / size:.3g}'):g} {unit}"
    return f"{value:.3g}"


def format_range(least: float, greatest: float) -> str:
    """Writes a range, its unit once where both ends have the same: "1.97 to 3.51 M"."""
    low, high = format_number(least), format_number(greatest)
    unit = high.partition(" ")[2]
    return f"{low.removesuffix(f' {unit}')} to {high}"


def format_table(header: list[str], rows: list[list[str]]) -> str:
    """Lays out a Markdown table that reads well on a terminal too."""
    sides = ["left", *["right"] * (len(header) - 1)]
    return tabulate(rows, header, "pipe", colalign=sides, disable_numparse=True)


def format_report(result: dict[str, Any]) -> str:
    """Writes the whole result as Markdown."""
    startup: dict[str, list[float]] = result["startup"]
    settings = result["settings"]
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    parts = [
        "# Throughput",
        f"Measured on {result['date']}: {machine}; {settings['affinity']}.",
        f"Steps per CPU second of one core; a step is one seat's decision. Random legal play: "
        f"sampling, dealing and auto-reset are inside the clock. Median (least to greatest) of "
        f"{settings['repeats']} rounds over all lines, {settings['seconds']:g} s for each line and "
        f"round; ratios are taken within a round. Start-up is CPU time of fresh processes. "
        f"Written by `benchmarks/throughput.py`.",
    ]
    rows = [
        [
            name,
            format_number(rate["steps_per_second"]),
            format_range(rate["least"], rate["greatest"]),
            format_number(rate["times_spades"]),
        ]
        for name, rate in result["rates"].items()
    ]
    if rows:
        parts.append(
            format_table(["random play", "steps/s", "least to greatest", "× spades"], rows)
        )
    if startup:
        rows = []
        for name, (text, unit) in STARTUP.items():
            middle, least, greatest = startup[name]
            spread = "" if least == greatest else f"{least:.3f} to {greatest:.3f}"
            value = f"{middle:.3f}" if unit == "s" else f"{middle:,.0f}"
            rows.append([text, f"{value} {unit}", spread])
        parts.append(format_table(["paid once", "median", "least to greatest"], rows))
    if result["missing"]:
        lines = [f"- {name}: missing ({why})" for name, why in result["missing"].items()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
