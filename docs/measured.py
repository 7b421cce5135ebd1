"""Fills in the figures of a page from figures.json, and lists what made them.

A page says ``<!--=KEY-->...<!--/-->`` for a figure (benchmarks/figures.py), and ``<!-- runs -->``
for the table of the runs.
"""

import json
from typing import Any, Final

from benchmarks.figures import FIGURES, figures, filled

TABLE: Final = "<!-- runs -->"
MOST: Final = 4
"""Weights that a row names."""


def table() -> str:
    """Returns the table of the runs: what each measured, by what command, of which weights."""
    rows = ["| figures | command | CPU minutes | weights, version |", "|---|---|--:|---|"]
    for run in json.loads(FIGURES.read_text(encoding="utf-8")).values():
        shown = "<br>".join(f"`{key}` {one['text']}" for key, one in run["figures"].items())
        weights = [f"{text} `{digest[:8]}`" for text, digest in run.get("weights", {}).items()]
        if len(weights) > MOST:
            weights[MOST:] = [f"{len(weights) - MOST} more"]
        version = run.get("version") or run.get("versions", {}).get("goita_env", "")
        command = run["command"].format(json="FILE", folder="FOLDER")
        of = ", ".join([*weights, version])
        rows.append(f"| {shown} | `{command}` | {run['minutes']:g} | {of} |")
    return "\n".join(rows)


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comments."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(_: Any, __: str, source: list[str]) -> None:
    source[0] = filled(source[0], figures(), marked=False).replace(TABLE, table())
