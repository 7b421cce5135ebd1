"""Runs the Python of Markdown pages: ``python tests/helpers/pages.py [PAGE ...]``, in this folder.

Without a page it runs those for the wheel's users. A page's blocks run in order, in one namespace,
after the commands of its comments ``<!-- before: goita ... -->``. One with prompts is a doctest.
One that begins with the comment of a file's name is also written to that file. Where a text block
follows without a word between, it is what the Python prints. A text block after the comment
``<!-- output: goita ... -->`` (or ``python examples/...``) is a part of what this command prints.
Nothing is imported but the standard library, so that pages can be run on an installed wheel.
"""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path

OUTPUT = re.compile(r"<!-- output: (.*) -->")
TIMES = (r"\b\d[\d.,]* (us|ms|s)\b", r"\b\d[\d.e-]* : \d[\d.e-]*", r"(?<=[\]?]) \d+ \d+$")
"""Times, which differ from run to run: with a unit, of a decision of two agents, and as the last
column of a table of attacks, after a number of deals."""
WIDTH = 100
"""Columns of the terminal whose outputs the pages show."""
OMISSION = "..."
"""A line of a page that stands for any number of lines of an output."""

FENCED = re.compile(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1\n", re.DOTALL | re.MULTILINE)

DOCS = Path(__file__).resolve().parents[2] / "docs"
WHEEL = ["start", "rules", "observation", "notation", "tutorials/first_game"]
WHEEL += [f"environments/{page}" for page in ("aec", "vector")]
"""Pages of docs/ that need the wheel alone, with its extra for YAML."""


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Lists the fenced blocks of a page: language, content, and what stands before the next one."""
    found = list(FENCED.finditer(text))
    ends = [one.start() for one in found][1:] + [len(text)] * bool(found)
    return [(one[2], one[3], text[one.end() : end]) for one, end in zip(found, ends, strict=True)]


def run_page(text: str, name: str) -> int:
    """Runs a page's Python and returns how many blocks that were.

    Raises:
        AssertionError: if something else is printed than stands there. What a block raises, too.
    """
    for command in re.findall(r"<!-- before: goita (.*) -->", text):
        words = [sys.executable, "-m", "goita_lab", *shlex.split(command)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    names: dict[str, object] = {"__name__": "page"}
    listed, count = blocks(text), 0
    for number, (language, code, after) in enumerate(listed):
        if language != "python":
            continue
        count += 1
        place = f"{name}, block {count}"
        if ">>> " in code:
            run_prompts(code, names, place)
            continue
        if file := re.match(r"# (\w+\.py)\n", code):
            Path(file[1]).write_text(code, encoding="utf-8")
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, place, "exec"), names)
        if not after.strip() and number + 1 < len(listed) and listed[number + 1][0] == "text":
            expected, came = listed[number + 1][1], printed.getvalue()
            assert came == expected, f"{place}: expected\n{expected}got\n{came}"
    return count


def outputs(text: str) -> list[tuple[str, str]]:
    """Lists the commands whose output a page shows, each with a text block of it."""
    listed = blocks(text)
    shown = [(OUTPUT.search(after), following[1]) for (*_, after), following in pairwise(listed)]
    return [(mark[1], block) for mark, block in shown if mark]


def run_outputs(text: str, name: str) -> int:
    """Runs the commands whose output a page shows, each once; returns how many blocks that were.

    Raises:
        AssertionError: if a block is not a part of what its command prints.
    """
    shown = outputs(text)
    printed = {command: run_command(command) for command in dict.fromkeys(c for c, _ in shown)}
    for command, block in shown:
        message = f"{name}: expected of {command}\n{block}got\n{printed[command]}"
        assert is_part(block, printed[command]), message
    return len(shown)


def run_command(command: str) -> str:
    """Runs a command of a page, whose examples are those of the checkout; returns its output."""
    examples = f"{DOCS.parent / 'examples'}/"
    program, *words = shlex.split(command.replace("examples/", examples))
    start = [sys.executable, *(["-m", "goita_lab"] if program == "goita" else [])]
    done = subprocess.run(
        [*start, *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": str(WIDTH)},
    )
    return (done.stdout + done.stderr).replace(examples, "examples/")


def is_part(block: str, printed: str) -> bool:
    """Tells whether the lines of a block follow each other in an output, apart from times."""
    rest = _without_times(printed)
    for piece in re.split(rf"^{re.escape(OMISSION)}\n", block, flags=re.MULTILINE):
        wanted = _without_times(piece.strip("\n"))
        starts = range(len(rest) - len(wanted) + 1)
        start = next((i for i in starts if rest[i : i + len(wanted)] == wanted), None)
        if start is None:
            return False
        rest = rest[start + len(wanted) :]
    return True


def _without_times(text: str) -> list[str]:
    """Lists lines with a word for each time and single blanks, since times have other widths."""
    lines = [re.sub("─+", "─", " ".join(line.split())) for line in text.splitlines()]
    return [re.sub("|".join(TIMES), " TIME", line) for line in lines]


def run_prompts(code: str, names: dict[str, object], place: str) -> None:
    """Runs a block of prompts and keeps the names that it defines."""
    example = doctest.DocTestParser().get_doctest(code, names, place, place, 0)
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=told.append, clear_globs=False)
    assert result.failed == 0, "".join(told)
    names |= example.globs


if __name__ == "__main__":
    sys.path.insert(0, "")  # a page's own files can be imported
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else (DOCS / f"{one}.md" for one in WHEEL):
        text = page.read_text(encoding="utf-8")
        count = run_page(text, page.name)
        count += run_outputs(text, page.name)
        assert count, f"{page}: expected a block of Python or an output, got none"
        print(f"{page.name}: {count} blocks")
