"""Fills in the figures of a page, ``<!--=KEY-->...<!--/-->``, from figures.json."""

from typing import Any

from benchmarks.figures import figures, filled


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comments."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(_: Any, __: str, source: list[str]) -> None:
    source[0] = filled(source[0], figures(), marked=False)
