"""The Python of the pages runs, their commands exist, and their links lead somewhere."""

import importlib
import importlib.util
import inspect
import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from goita_env import Game
from goita_lab.__main__ import COMMANDS as SUBCOMMANDS
from goita_lab.__main__ import help_text
from pages import FENCED, blocks, is_part, outputs, run_page

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PAGES = [page for page in PAGES if "_build" not in page.parts]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
OTHERS = [*ROOT.glob("*.md"), *(ROOT / ".github").glob("*.md")]
for folder in ("agents", "benchmarks", "examples", "goita_env", "goita_lab", "research"):
    OTHERS += (ROOT / folder).rglob("*.md")
LINKED = sorted({*NAMES, *(page.relative_to(ROOT).as_posix() for page in OTHERS)})
"""All Markdown of the repository: the pages, and what the site does not have."""

OPTIONAL = {"torch", "stable_baselines3", "sb3_contrib", "torchrl", "ray"}
OPTIONAL |= {"yaml", "pyarrow", "pandas"}
"""Optional packages: where one is missing, the page that needs it is skipped."""


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def slow(name: str) -> object:
    """Marks what takes long, which ``make docs`` runs."""
    return pytest.param(name, marks=pytest.mark.pages)


WITH_PROGRAMS = [
    slow(name) for name in NAMES if "```python" in text_of(name) or outputs(text_of(name))
]
SCRIPTS = ["look_at_a_game", slow("compare_two_bots")]
NOTEBOOKS = ["environment", "own_bot", "exact_belief"]
NOTEBOOKS += [slow("training"), slow("my_first_paper")]


@pytest.mark.parametrize("name", WITH_PROGRAMS)
def test_a_page_runs_and_its_commands_print_what_it_shows(name, tmp_path):
    """In a process of its own, in an empty folder: nobody reads the pages in order."""
    command = [sys.executable, ROOT / "tests/helpers/pages.py", ROOT / name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    missing = re.search(r"ModuleNotFoundError: No module named '(\w+)", done.stderr)
    if missing and missing[1] in OPTIONAL:
        pytest.skip(f"without {missing[1]}")
    assert done.returncode == 0, done.stderr


NOT_AN_OUTPUT = {
    "docs/play.md": "a hint on the page",
    "CONTRIBUTING.md": "subjects of commits",
    "docs/protocol.md": "a conversation",
    "docs/reference/training.md": "a tree of files",
    "docs/strength.md": "a command of an earlier commit",
    "docs/tutorials/beat_a_program.md": "a training on another program's games",
}
"""Pages with a text block that no command of the page prints, and what it is."""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_AN_OUTPUT])
def test_a_block_of_text_is_what_something_prints(name):
    """It follows Python without a word between, or a comment that names a command."""
    listed = blocks(text_of(name))
    by_command = [block for _, block in outputs(text_of(name))]
    for (language, *_), (following, content, _) in pairwise([("", "", ""), *listed]):
        by_python = language in ("python", "py")  # words between may say more about the program
        assert following != "text" or by_python or content in by_command, content


def test_a_part_of_an_output_is_recognised():
    printed = "one\n\ntwo 0.2 ms\nthree\n"
    assert is_part("one\n\ntwo 9.9 ms\n", printed)
    assert is_part("one\n...\nthree\n", printed)
    assert not is_part("one\ntwo 0.2 ms\n", printed)
    assert not is_part("three\n...\none\n", printed)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_in_cells_runs_and_its_page_shows_what_it_prints(script, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.syspath_prepend(ROOT / "docs")
    import cells

    page = cells.run(ROOT / "examples" / f"{script}.py")
    assert page.startswith("# ")
    printed = [content for language, content, _ in blocks(page) if language == "text"]
    assert printed
    assert all(text.strip() for text in printed)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_its_script_and_what_it_prints(name, monkeypatch):
    trains = name in {"training", "my_first_paper"}
    for needed in ("torch", "sb3_contrib") if trains else ():
        pytest.importorskip(needed)
    monkeypatch.syspath_prepend(ROOT / "docs")
    import cells

    script = ROOT / "examples" / "notebooks" / f"{name}.py"
    shipped = json.loads(script.with_suffix(".ipynb").read_bytes())
    made = cells.notebook(script)
    if trains:  # other versions of torch learn something else
        for cell in (*shipped["cells"], *made["cells"]):
            assert cell["cell_type"] == "markdown" or cell.pop("outputs")
    for cell in (*shipped["cells"], *made["cells"]):  # a drawing differs with matplotlib's version
        for output in cell.get("outputs", ()):
            assert output.get("data", {"image/png": "some"}).pop("image/png")
    assert made == shipped


@pytest.fixture
def docs(monkeypatch):
    """Lets a test import the scripts of docs/."""
    monkeypatch.syspath_prepend(ROOT / "docs")


def test_generated_parts_of_the_pages_are_what_the_code_knows(docs):
    import generated

    kinds = set()
    for page in generated.pages():
        text = page.read_text(encoding="utf-8")
        assert generated.filled(text, page) == text, f"{page}: run python docs/generated.py"
        assert text.count("<!-- end -->") == len(generated.BLOCK.findall(text))
        kinds |= {kind for _, kind, *_ in generated.BLOCK.findall(text)}
    assert kinds == generated.WRITERS.keys()
    with pytest.raises(ValueError, match="expected a line that begins with 'def nothing'"):
        generated.excerpt("generated.py | def nothing", ROOT / "docs")


def test_pages_outside_the_reference_are_plain_markdown():
    for name in LINKED:
        if not name.startswith("docs/reference/"):
            assert not re.search(r"^(```|:::)\{", text_of(name), re.MULTILINE), name


def test_every_page_stands_in_one_table_of_contents(docs):
    import contents

    listed = [
        Path("docs", page).parent.joinpath(below).resolve().relative_to(ROOT / "docs").as_posix()
        for page, parts in contents.CONTENTS.items()
        for pages in parts.values()
        for below in pages.split()
    ]
    pages = {name[5:-3] for name in NAMES if name.startswith("docs/")} - {"index"}
    assert sorted(listed) == sorted(pages)


def test_pictures_for_light_and_dark_pages_are_two_pictures_on_the_site(docs):
    import contents

    shown = 0
    for name in NAMES:
        if name.startswith("docs/"):
            text = text_of(name)
            assert "{.only-" not in text, f"{name}: a forge shows this as it is"
            on_site = contents.site_text(name[5:-3], text, ROOT)
            assert "<picture>" not in on_site, name
            for light, dark in re.findall(
                r"^!\[[^\]]+\]\((\S+)\){\.only-light.*\n!\[[^\]]+\]\((\S+)\){\.only-dark",
                on_site,
                re.M,
            ):
                assert dark == light.replace("-light", "-dark")
                assert (ROOT / name).parent.joinpath(dark).is_file()
                shown += 1
    assert shown >= 4


def test_files_of_the_root_are_pages_of_the_site_with_links_that_lead_somewhere(docs):
    import contents

    for page in contents.FROM_ROOT:
        text = FENCED.sub("", contents.site_text(page, "", ROOT))
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
        assert len(links) > 3
        for link in links:
            assert "://" in link or (ROOT / "docs" / link).exists(), link


def test_wrong_output_and_failing_code_are_caught():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
    assert run_page(page.format(2), "page") == 1
    with pytest.raises(AssertionError):
        run_page(page.format(3), "page")
    with pytest.raises(AssertionError):
        run_page("```python\n>>> 1 + 1\n3\n```\n", "page")
    with pytest.raises(ZeroDivisionError):
        run_page("Words.\n\n```python\n1 / 0\n```\n", "page")


PYTHON = re.compile(r"^(?:\S+=\S* )*(?:\S*/)?python3? (.*)$", re.MULTILINE)
GOITA = re.compile(r"^(?:\S+=\S* )*(?:\S*/)?(goita .*)$", re.MULTILINE)


def commands(text: str, kind: re.Pattern[str]) -> list[list[str]]:
    """Lists the command lines of a kind on a page as words, without trailing remarks."""
    shells = [code for language, code, _ in blocks(text) if language in ("", "bash")]
    lines = [re.sub(r"\\\n *", "", code) for code in shells]
    found = [line for code in lines for line in kind.findall(code)]
    return [shlex.split(re.split(r" {3,}| +# | [|>]", line)[0]) for line in found]


COMMANDS = [(name, words) for name in NAMES for words in commands(text_of(name), PYTHON)]
OURS = [(name, words) for name in NAMES for words in commands(text_of(name), GOITA)]


@pytest.mark.parametrize(("name", "words"), COMMANDS, ids=lambda value: str(value)[:60])
def test_a_command_of_a_page_exists(name, words):
    if words[0] == "-m":
        assert importlib.util.find_spec(words[1]), f"{name}: {words}"
    elif words[0] != "-c":
        assert (ROOT / words[0]).is_file(), f"{name}: {words}"


@cache
def help_of(*names: str) -> str:
    """Returns the help of a subcommand of ``goita``."""
    with redirect_stdout(io.StringIO()) as printed, suppress(SystemExit):
        import_module(f"goita_lab.{SUBCOMMANDS[names[0]]}").main([*names[1:], "--help"])
    return printed.getvalue()


@pytest.mark.parametrize(("name", "words"), OURS, ids=lambda value: str(value)[:60])
def test_a_subcommand_of_a_page_has_these_options(name, words):
    if words[1] == "train":
        pytest.importorskip("sb3_contrib")
    deep = words[1] in ("signals", "population", "exam")
    told = help_of(*words[1 : 3 if deep else 2]) if words[1] in SUBCOMMANDS else help_text()
    options = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert [option for option in options if option not in told] == [], name


DIRECTIVE = re.compile(r"^\.\. auto(\w+):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)

PUBLIC = [
    *("goita_env", "goita_env.goita_v0", "goita_env.records", "goita_env.rounds"),
    *("goita_env.uke_shogi", "goita_env.uke_shogi_v0", "goita_env.views", "goita_env.worlds"),
    *(
        "goita_agents",
        "goita_agents.base",
        "goita_agents.beliefs",
        "goita_lab.exploit",
    ),
    *("goita_lab.arena", "goita_lab.imitate"),
    *(
        "goita_lab.learning",
        "goita_agents.models",
        "goita_agents.population",
        "goita_lab.arena.report",
        "goita_agents.search.action_values",
    ),
    *("goita_agents.search.sampling", "goita_lab.signals.log", "goita_lab.signals.measures"),
    *("goita_agents.solver", "goita_lab.pages.watch"),
]
"""Modules with public names; the reference documents all of them."""

UNDOCUMENTED = {"__version__", "Episode", "Seat"}


def documented() -> tuple[set[str], set[str]]:
    """Lists the names in autodoc directives, and the modules that are documented whole."""
    names: set[str] = set()
    whole: set[str] = set()
    for page in NAMES:
        for kind, target, options in DIRECTIVE.findall(text_of(page)):
            names.update(target.split("."))
            members = re.search(r":members:(.*)", options)
            if kind == "module" and members:
                chosen = members[1].split(",") if members[1].strip() else []
                names.update(name.strip() for name in chosen)
                whole.update([] if chosen else [target])
    return names, whole


def exported(module: ModuleType) -> set[str]:
    """Lists what a module exports: all that it defines, where it does not say."""
    if hasattr(module, "__all__"):
        return set(module.__all__)
    defined = {
        name
        for name, thing in vars(module).items()
        if getattr(thing, "__module__", None) == module.__name__
    }
    annotated = inspect.get_annotations(module)
    return {name for name in defined | annotated.keys() if not name.startswith("_")}


@pytest.mark.parametrize("module", PUBLIC)
def test_the_reference_has_every_public_name(module):
    if module == "goita_lab.learning":
        pytest.importorskip("sb3_contrib")
    names, whole = documented()
    found = importlib.import_module(module)
    for part in whole:
        if f"{part}.".startswith(f"{module}."):  # a measure is documented in its own module
            things = importlib.import_module(part)
            # Sphinx finds no docstring of data imported from elsewhere; it has its own directive.
            names.update(name for name in dir(things) if callable(getattr(things, name)))
    assert exported(found) - names <= UNDOCUMENTED


def test_the_fields_of_a_view_in_the_tutorial_have_these_shapes():
    view = Game().view(0)
    table = text_of("docs/tutorials/own_bot.md").split("| field | shape | content |")[1]
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|", table, re.MULTILINE)
    assert len(rows) > 6
    for fields, shown in rows:
        names, shapes = re.findall(r"`(\w+)`", fields), shown.split("], ")
        for number, name in enumerate(names):
            shape = shapes[number % len(shapes)].removesuffix("]")  # one, or one for each name
            assert str([*getattr(view, name).shape]) == f"{shape}]".replace("N", "1"), name


def prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> set[str]:
    """Lists the anchors of a page's headings, as MyST and GitHub make them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("name", LINKED)
def test_links_lead_to_files_of_the_project(name):
    page = ROOT / name
    markdown, html = r"\]\(([^)\s]+)\)", r'(?:<img [^>]*src|srcset)="([^"]+)"'
    for link in [*re.findall(markdown, prose(page)), *re.findall(html, prose(page))]:
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), link
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


PICTURE = re.compile(r'(?:src|srcset)="([^":]+)"|!\[[^\]]*\]\(([^):]+)\)')
"""A picture of a page, in HTML or in Markdown."""
OUTSIDE_PAGES = {"favicon.svg"}
"""Pictures that only the site's configuration names."""


def pictures(name: str) -> set[Path]:
    paths = {Path(html or plain) for html, plain in PICTURE.findall(prose(ROOT / name))}
    return {(ROOT / name).parent / path for path in paths if path.parts[0] != "_static"}


@pytest.mark.parametrize("name", [name for name in LINKED if pictures(name)])
def test_the_pictures_of_a_page_exist_in_both_themes(name):
    shown = pictures(name)
    for picture in shown:
        assert picture.exists(), picture
        for theme, other in (("-light.", "-dark."), ("-dark.", "-light.")):
            twin = picture.with_name(picture.name.replace(theme, other))
            assert not twin.exists() or twin in shown, twin


def test_every_picture_is_on_a_page():
    shown = {picture.resolve() for name in LINKED for picture in pictures(name)}
    for picture in (ROOT / "docs/pictures").iterdir():
        assert picture in shown or picture.name in OUTSIDE_PAGES, picture


FILE = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|json|md|svg|js|sh|npz))`(?!\s+of\s+commit\s)")


@pytest.mark.parametrize("name", [name for name in LINKED if name.startswith("research/")])
def test_a_page_of_research_names_files_that_exist_or_their_commit(name):
    page = ROOT / name
    places = (
        ROOT,
        page.parent,
        ROOT / "research",
        ROOT / "goita_env",
        ROOT / "agents/goita_agents",
    )
    named = {path for path in FILE.findall(prose(page)) if not path.startswith("runs/")}
    missing = [path for path in named if not any((place / path).exists() for place in places)]
    assert sorted(missing) == []
