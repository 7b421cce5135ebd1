"""Turns scripts in cells into notebooks and pages, each cell with what it prints and draws.

Cells begin with ``# %%``; one of words is ``# %% [markdown]`` and holds a text. They run in order,
in one namespace. Of a notebook, ``NAME.ipynb``, a page shows what is stored in it.
"""

import ast
import io
import json
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import redirect_stdout
from os.path import relpath
from pathlib import Path
from typing import Any, Final

PICTURES: Final = Path(__file__).with_name("pictures")
CELL: Final = re.compile(r"^# %%(.*)\n", re.MULTILINE)


def cells(text: str) -> Iterator[tuple[bool, str]]:
    """Yields each cell of a script: whether it is of words, and its content."""
    parts = CELL.split(text)
    for mark, content in zip(parts[1::2], parts[2::2], strict=True):
        is_words = mark.strip() == "[markdown]"
        yield is_words, (ast.literal_eval(content.strip()) if is_words else content).strip()


def outputs(path: Path) -> Iterator[tuple[bool, str, str, str | None]]:
    """Runs a script; yields of each cell if it is of words, its content, print and drawing.

    The drawing is the last figure of matplotlib as a PNG in base64, or None.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    for is_words, content in cells(path.read_text(encoding="utf-8")):
        printed = io.StringIO()
        if not is_words:
            with redirect_stdout(printed):
                exec(compile(content, path, "exec"), names)
        yield is_words, content, printed.getvalue(), None if is_words else drawn()


def drawn() -> str | None:
    """Returns the open figure of matplotlib, and closes it."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None or not plt.get_fignums():
        return None
    png = io.BytesIO()
    plt.gcf().savefig(png, format="png", dpi=120, metadata={"Software": None})
    plt.close("all")
    return b64encode(png.getvalue()).decode()


def stored(path: Path) -> Iterator[tuple[bool, str, str, str | None]]:
    """Yields the same of a notebook, as it was stored."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        cell_outputs = cell.get("outputs", [])
        printed = "".join("".join(output.get("text", ())) for output in cell_outputs)
        png = next(
            (output["data"]["image/png"] for output in cell_outputs if "data" in output), None
        )
        yield cell["cell_type"] == "markdown", "".join(cell["source"]), printed, png


def run(path: Path, folder: Path | None = None) -> str:
    """Returns the page of a script, which is run cell by cell, or of a notebook, in Markdown.

    Pictures are written to docs/pictures, to which the page in ``folder`` links; None: left out.
    """
    parts, number = [], 0
    for is_words, content, printed, png in (stored if path.suffix == ".ipynb" else outputs)(path):
        # Not python: the notebook is run as a whole, and not again as blocks of a page.
        parts.append(content if is_words else f"```py\n{content}\n```")
        if printed:
            parts.append(f"```text\n{printed}```")
        if png and folder is not None:
            number += 1
            picture = PICTURES / f"{path.stem.replace('_', '-')}-{number}.png"
            picture.write_bytes(b64decode(png))
            parts.append(f"![The figure of this cell]({relpath(picture, folder)})")
    return "\n\n".join(parts) + "\n"


def notebook(path: Path) -> dict[str, Any]:
    """Runs a script cell by cell and returns it as a Jupyter notebook, nbformat 4.5."""
    made_cells: list[dict[str, Any]] = []
    for is_words, content, printed, png in outputs(path):
        cell = {"id": f"cell-{len(made_cells)}", "metadata": {}, "source": content.splitlines(True)}
        if is_words:
            made_cells.append({"cell_type": "markdown", **cell})
            continue
        cell_outputs: list[dict[str, Any]] = []
        if printed:
            text = printed.splitlines(True)
            cell_outputs.append({"output_type": "stream", "name": "stdout", "text": text})
        if png:
            image = {"data": {"image/png": png}, "metadata": {}}
            cell_outputs.append({"output_type": "display_data", **image})
        count = 1 + sum(earlier["cell_type"] == "code" for earlier in made_cells)
        made_cells.append(
            {"cell_type": "code", **cell, "execution_count": count, "outputs": cell_outputs}
        )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made_cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
