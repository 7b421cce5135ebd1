"""Lists the settings of a training that are no options of its command.

A page says ``<!-- settings -->``.
"""

from dataclasses import fields
from typing import Any, Final, get_type_hints

from docstring_parser import parse_from_object

from goita_lab.learning.settings import Options, Training

TABLE: Final = "<!-- settings -->"


def table() -> str:
    """Returns the table of the settings: name, type, default and meaning."""
    shared = {field.name for field in fields(Options)}
    texts = {one.arg_name: one.description or "" for one in parse_from_object(Training).params}
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


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comment."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(_: Any, __: str, source: list[str]) -> None:
    if TABLE in source[0]:
        source[0] = source[0].replace(TABLE, table())
