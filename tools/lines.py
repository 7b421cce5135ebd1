"""Counts lines and statements of the project: ``python tools/lines.py [REVISION]``.

Lines are physical ones of Python files and page templates. Statements are those of Python's own
parser, docstrings left out. With a revision, the counts there stand beside those of the checkout.
"""

import argparse
import ast
import subprocess
from collections import defaultdict
from pathlib import PurePosixPath

SUFFIXES = {".py", ".html", ".css", ".js"}
SOURCE = ("goita_env", "agents", "goita_agents", "goita_lab", "train.py", "evaluate.py")
LAYERS = ("goita_env", "agents", "goita_lab")
ROWS = (*SOURCE, "tests", "examples", "benchmarks", "research", "tools", "docs")

Counts = dict[str, tuple[int, int]]
"""Lines and statements by place: a top-level name, or a package of one of the layers."""


def main() -> None:
    """Prints a table of the counts by package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", nargs="?", help="a commit to compare with")
    revision = parser.parse_args().revision
    now = count(None)
    before = count(revision) if revision else now
    print(f"{'':24}" + ("lines statements" if not revision else "   lines        statements"))
    for place in sorted({*now, *before}):
        show(place, before.get(place, (0, 0)), now.get(place, (0, 0)), revision)
    for name, places in (("source", SOURCE), ("tests", ("tests",)), ("research", ("research",))):
        show(name.upper(), total(before, places), total(now, places), revision)


def show(name: str, before: tuple[int, int], now: tuple[int, int], revision: str | None) -> None:
    cells = [f"{name:24}"]
    for was, is_ in zip(before, now, strict=True):
        change = f" {(is_ - was) / was:+6.1%}" if was else ""
        cells.append(f"{was:6} {is_:6}{change:8}" if revision else f"{is_:6}")
    print("  ".join(cells))


def total(counts: Counts, places: tuple[str, ...]) -> tuple[int, int]:
    """Sums the counts of whole trees: ``goita_env`` stands for all of its packages."""
    chosen = [n for place, n in counts.items() if place.split("/")[0] in places]
    return sum(lines for lines, _ in chosen), sum(statements for _, statements in chosen)


def count(revision: str | None) -> Counts:
    """Counts the tracked files of a revision; None: those of the checkout as they are."""
    counts: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for name in listed(revision):
        path = PurePosixPath(name)
        if path.suffix not in SUFFIXES or path.parts[0] not in ROWS:
            continue
        text = content(revision, name)
        parts = path.parts[1:] if path.parts[:2] == ("agents", "goita_agents") else path.parts
        deep = path.parts[0] in LAYERS and len(parts) > 2
        place = "/".join(parts[: 2 if deep else 1])
        lines, statements = counts[place]
        extra = statements_of(text) if path.suffix == ".py" else 0
        counts[place] = lines + len(text.splitlines()), statements + extra
    return counts


def statements_of(text: str) -> int:
    """Counts the statements of a Python file, without docstrings."""
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return sum(not is_text(node) for node in statements)


def is_text(node: ast.stmt) -> bool:
    """Tells whether a statement is a string alone: a docstring, also one of a field."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def listed(revision: str | None) -> list[str]:
    command = ["ls-tree", "-r", "--name-only", revision] if revision else ["ls-files"]
    return git(*command).splitlines()


def content(revision: str | None, name: str) -> str:
    if revision:
        return git("show", f"{revision}:{name}")
    with open(name, encoding="utf-8") as file:
        return file.read()


def git(*command: str) -> str:
    return subprocess.run(
        ["git", *command], check=True, capture_output=True, text=True, encoding="utf-8"
    ).stdout


if __name__ == "__main__":
    main()
