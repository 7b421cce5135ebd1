"""Lists the names of modules, each with the first sentence of its docstring.

A page says ``<!-- names: MODULE -->``.
"""

import importlib
import inspect
import re
from types import ModuleType
from typing import Any, Final

MENTION: Final = re.compile(r"<!-- names: (\S+) (\S+) -->")
"""A module, and the page of the reference that describes it."""


def rows(module: ModuleType) -> list[tuple[str, str]]:
    """Returns the public classes and functions of a module with what they are in a sentence."""
    names = []
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        text = inspect.getdoc(value) if inspect.isclass(value) or inspect.isroutine(value) else None
        if text:
            names.append((name, re.sub(r"\s+", " ", text.split("\n\n")[0]).replace("``", "`")))
    return names


def table(name: str, page: str) -> str:
    """Returns the table of a module's names."""
    lines = "\n".join(
        f"| `{public_name}` | {text.replace('|', '/')} |"
        for public_name, text in rows(importlib.import_module(name))
    )
    return f"**[`{name}`]({page}.md)**\n\n| | |\n|---|---|\n{lines}\n"


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comments."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(_: Any, __: str, source: list[str]) -> None:
    source[0] = MENTION.sub(lambda mention: table(mention[1], mention[2]), source[0])
