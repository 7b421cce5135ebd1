"""Turns the measurements into a table with targets, as Markdown text."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from tabulate import tabulate

from benchmarks.contests import vector_name

SPADES: Final = "OpenSpiel spades"
WORSE: Final = 1.05


@dataclass(frozen=True)
class RatioTarget:
    """A target: one contest is at least so many times as fast as another in the same run."""

    ours: str
    peer: str
    least: float
    aim: float | None = None


RATIO_TARGETS: Final = (
    RatioTarget(vector_name(4_096, True), SPADES, 15, 25),
    RatioTarget(vector_name(4_096, False), SPADES, 35, 50),
    RatioTarget(vector_name(64, True), SPADES, 3),
    RatioTarget("goita_v0.env()", "PettingZoo hanabi_v5", 2),
)

STARTUP: Final = {
    "tables": ("building the tables", "s", 0.2),
    "import": ("importing goita_env over pettingzoo and gymnasium", "s", 0.2),
    "arrays": ("memory for each game, environment and arrays handed out", "bytes", None),
    "arrays and view": ("memory for each game, the view built too", "bytes", 2_048),
    "peak": ("memory for each game, peak inside a step", "bytes", None),
}
"""What each start-up figure is, its unit and the most it may be."""


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
            "rounds": values,
        }
    return summary


def judge_targets(
    rates: dict[str, list[float]], startup: dict[str, list[float]]
) -> list[dict[str, Any]]:
    """Lists every target with what was measured (median) and a verdict."""
    targets = []
    for target in RATIO_TARGETS:
        ratios = count_ratios(rates, target.ours, target.peer)
        asked = f"≥ {target.least:g}" + (f" (aim {target.aim:g})" if target.aim else "")
        verdict = "not measured"
        if ratios:
            verdict = "pass" if median(ratios) >= target.least else "fail"
        targets.append(
            {
                "target": f"{target.ours} / {target.peer}",
                "asked": asked,
                "measured": median(ratios) if ratios else None,
                "verdict": verdict,
            }
        )
    for name, (text, unit, most) in STARTUP.items():
        if most is None:
            continue
        measured = startup[name][0] if name in startup else None
        verdict = "not measured"
        if measured is not None:
            verdict = "pass" if measured <= most else "fail"
        targets.append(
            {
                "target": text,
                "asked": f"≤ {most:,g} {unit}",
                "measured": measured,
                "verdict": verdict,
            }
        )
    return targets


def list_losses(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Lists what got worse by more than 5 % since an earlier result.

    Rates are compared over that of OpenSpiel's spades in the same run, so that the machine cancels
    out.
    """
    found = []
    for name, rate in after["rates"].items():
        was = (before["rates"].get(name) or {}).get("times_spades")
        now = rate["times_spades"]
        if was and now and now < was / WORSE:
            found.append(f"{name}: {was:.3g} -> {now:.3g} times OpenSpiel's spades")
    for name, (text, unit, _) in STARTUP.items():
        if name in before["startup"] and name in after["startup"]:
            was, now = before["startup"][name][0], after["startup"][name][0]
            if now > was * WORSE:
                found.append(f"{text}: {was:.3g} -> {now:.3g} {unit}")
    return found


def format_number(value: float | None) -> str:
    """Writes a number to three figures, thousands as k and millions as M."""
    if value is None:
        return "-"
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{float(f'{value / size:.3g}'):g} {unit}"
    return f"{value:.3g}"


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
            f"{format_number(rate['least'])} to {format_number(rate['greatest'])}",
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
        for name, (text, unit, _) in STARTUP.items():
            middle, least, greatest = startup[name]
            spread = "" if least == greatest else f"{least:.3f} to {greatest:.3f}"
            value = f"{middle:.3f}" if unit == "s" else f"{middle:,.0f}"
            rows.append([text, f"{value} {unit}", spread])
        parts.append(format_table(["paid once", "median", "least to greatest"], rows))
    rows = [
        [target["target"], target["asked"], format_number(target["measured"]), target["verdict"]]
        for target in result["targets"]
    ]
    parts.append(format_table(["target", "asked", "measured", "verdict"], rows))
    if result["missing"]:
        lines = [f"- {name}: missing ({why})" for name, why in result["missing"].items()]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
