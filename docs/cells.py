"""Shows a script in cells as a page of the site, each cell with what it prints.

A page says ``<!-- cells: ../../examples/NAME.py -->``. Cells begin with ``# %%``; one of words is
``# %% [markdown]`` and holds a text. They run in order, in one namespace.
"""

import ast
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

MENTION: Final = re.compile(r"<!-- cells: (\S+) -->")
CELL: Final = re.compile(r"^# %%(.*)\n", re.MULTILINE)


def cells(text: str) -> Iterator[tuple[bool, str]]:
    """Yields each cell of a script: whether it is of words, and its content."""
    parts = CELL.split(text)
    for mark, content in zip(parts[1::2], parts[2::2], strict=True):
        is_words = mark.strip() == "[markdown]"
        yield is_words, (ast.literal_eval(content.strip()) if is_words else content).strip()


def run(path: Path) -> str:
    """Runs a script cell by cell and returns the page."""
    names: dict[str, object] = {"__name__": "__main__"}
    parts = []
    for is_words, content in cells(path.read_text(encoding="utf-8")):
        if is_words:
            parts.append(content)
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(content, path, "exec"), names)
        parts.append(f"```python\n{content}\n```")
        if printed.getvalue():
            parts.append(f"```text\n{printed.getvalue()}```")
    return "\n\n".join(parts) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comments."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(app: Any, page: str, source: list[str]) -> None:
    """Replaces each comment of a page by its script."""
    folder = Path(app.srcdir, page).parent
    source[0] = MENTION.sub(lambda mention: run(folder / mention[1]), source[0])
