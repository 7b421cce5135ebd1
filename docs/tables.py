"""Writes tables that the code knows, when the site is built.

A page says ``<!-- table: NAME -->`` with a name of ``TABLES``.
"""

import re
from dataclasses import fields
from typing import Any, Final, get_type_hints

from docstring_parser import parse_from_object

from goita_agents.principles import PRINCIPLES, Figure, evidence
from goita_env.views.observation import OBSERVATION_SIZE, OBSERVATION_VERSION, SLICES
from goita_lab.__main__ import GROUPS
from goita_lab.learning.settings import PRESETS, Options, Training

MENTION: Final = re.compile(r"<!-- table: (\w+) -->")


def settings() -> str:
    """Returns the settings of a training that are no options: name, type, default, meaning."""
    shared = {field.name for field in fields(Options)}
    texts = {
        param.arg_name: param.description or "" for param in parse_from_object(Training).params
    }
    hints = get_type_hints(Training)
    rows = ["| setting | type | default | |", "|---|---|---|---|"]
    for field in fields(Training):
        if field.name not in shared:
            hint = hints[field.name]
            kind = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
            kind = kind.replace("|", "or")
            value = "none" if field.name == "information" else field.default
            text = " ".join(texts[field.name].split())
            rows.append(f"| `{field.name}` | `{kind}` | `{value}` | {text} |")
    return "\n".join(rows)


def presets() -> str:
    """Returns the settings in which the presets of a training differ."""
    rows = ["| setting | " + " | ".join(f"`{name}`" for name in PRESETS) + " |"]
    rows.append("|---" * (len(PRESETS) + 1) + "|")
    for field in fields(Training):
        values = [getattr(preset, field.name) for preset in PRESETS.values()]
        if field.name != "preset" and any(value != values[0] for value in values):
            rows.append(f"| `{field.name}` | " + " | ".join(map(_written, values)) + " |")
    return "\n".join(rows)


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(map(_written, value))
    return f"{value:,}" if isinstance(value, int) and value > 9999 else f"{value}"


def slices() -> str:
    """Returns the slices of the observation: name, bits, meaning."""
    rows = [
        f"Layout version {OBSERVATION_VERSION}: {OBSERVATION_SIZE} bits as uint8, seats relative "
        "to the viewer (0 own, 1 next, 2 partner, 3 previous).",
        "",
        "| slice | bits | meaning |",
        "|---|---|---|",
    ]
    return "\n".join(
        [*rows, *(f"| `{s.name}` | {s.start}:{s.stop} | {s.meaning} |" for s in SLICES)]
    )


def commands() -> str:
    """Returns the commands with what they do."""
    rows = ["| command | does |", "|---|---|"]
    rows += [
        f"| `goita {name}` | {does} |"
        for group in GROUPS.values()
        for name, (_, does) in group.items()
    ]
    return "\n".join(rows)


def principles() -> str:
    """Returns the principles of play with their evidence."""
    heads = (
        "best action decides | points | beyond random | "
        "champion | people | population | partner | opponents"
    )
    rows = [f"| principle | {heads} |", "|---" + "|--:" * 8 + "|"]
    for principle in PRINCIPLES:
        measured = evidence()[principle.key]
        rates = [_figure(rate, 2) for rate in measured.followed.values()]
        information = [_figure(nats, 2) for nats in (measured.partner, measured.opponents)]
        points = [_figure(points, 1) for points in (measured.worth, measured.beyond)]
        cells = [f"{measured.positions}", *points, *rates, *information]
        name = f"**{principle.name}**" if measured.pays else principle.name
        rows.append(f"| {name}: {principle.sentence} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _figure(figure: Figure | None, decimals: int) -> str:
    if figure is None:
        return "too few"
    mean, low, high = (f"{value:.{decimals}f}" for value in figure)
    return f"{mean} [{low}, {high}]"


TABLES: Final = {
    "settings": settings,
    "presets": presets,
    "slices": slices,
    "commands": commands,
    "principles": principles,
}


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comments."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(_: Any, __: str, source: list[str]) -> None:
    source[0] = MENTION.sub(lambda mention: TABLES[mention[1]](), source[0])
