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


def outputs(path: Path) -> Iterator[tuple[bool, str, str]]:
    """Runs a script; yields of each cell whether it is of words, its content, what it prints."""
    names: dict[str, object] = {"__name__": "__main__"}
    for is_words, content in cells(path.read_text(encoding="utf-8")):
        printed = io.StringIO()
        if not is_words:
            with redirect_stdout(printed):
                exec(compile(content, path, "exec"), names)
        yield is_words, content, printed.getvalue()


def run(path: Path) -> str:
    """Runs a script cell by cell and returns the page."""
    parts = []
    for is_words, content, printed in outputs(path):
        parts.append(content if is_words else f"```python\n{content}\n```")
        if printed:
            parts.append(f"```text\n{printed}```")
    return "\n\n".join(parts) + "\n"


def notebook(path: Path) -> dict[str, Any]:
    """Runs a script cell by cell and returns it as a Jupyter notebook, nbformat 4.5."""
    found: list[dict[str, Any]] = []
    for is_words, content, printed in outputs(path):
        cell = {"id": f"cell-{len(found)}", "metadata": {}, "source": content.splitlines(True)}
        if is_words:
            found.append({"cell_type": "markdown", **cell})
            continue
        told = {"output_type": "stream", "name": "stdout", "text": printed.splitlines(True)}
        number = 1 + sum(one["cell_type"] == "code" for one in found)
        found.append(
            {
                "cell_type": "code",
                **cell,
                "execution_count": number,
                "outputs": [told] if printed else [],
            }
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": found, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx replace the comments."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True}


def _fill(app: Any, page: str, source: list[str]) -> None:
    """Replaces each comment of a page by its script."""
    folder = Path(app.srcdir, page).parent
    source[0] = MENTION.sub(lambda mention: run(folder / mention[1]), source[0])
