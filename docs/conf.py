"""Says how the documentation site is built: ``make docs``. No network, and no torch."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The site describes the checkout that it lies in; beside this file lies an extension.
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from docutils.nodes import document, reference  # noqa: E402  (after the path)
from pygments.lexers import TextLexer  # noqa: E402
from sphinx.addnodes import download_reference  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402
from sphinx.ext.napoleon.docstring import GoogleDocstring  # noqa: E402
from sphinx.pycode import ModuleAnalyzer  # noqa: E402

from goita_env import __version__  # noqa: E402

project = "goita-env"
author = "The goita-env authors"
version = release = __version__
copyright = author  # noqa: A001  (Sphinx's name for it)
language = "en"

extensions = [
    "contents",
    "embedded",
    "measured",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

viewcode_follow_imported_members = False  # pages print names where they are exported
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give shapes, which annotations don't
autodoc_preserve_defaults = True
toc_object_entries = False  # a build takes three times as long with them
# The learners' docstrings need no learner: the site is built without torch.
autodoc_mock_imports = ["torch", "stable_baselines3", "sb3_contrib"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"goita-env {version}"
html_theme_options = {"navigation_with_keys": True}
# The first page's cards are HTML, so Sphinx does not see which pictures it needs.
CARDS = [
    f"pictures/{card}-{theme}.svg"
    for card in ("train", "analyse", "play")
    for theme in ("light", "dark")
]
html_static_path = ["static", *CARDS]
html_search_scorer = str(ROOT / "docs/static/search_scorer.js")
html_favicon = "pictures/favicon.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.highlight-text) > div.highlight pre"  # outputs are not for copying
pygments_style = "xcode"  # of Pygments itself, and every colour can be read
pygments_dark_style = "github-dark"


def setup(app: Sphinx) -> None:
    """Registers what the pages need beyond the extensions."""
    # The names that pages give to notations of ours are no languages: plain text.
    for language in ("history", "conversation"):
        app.add_lexer(language, TextLexer)
    app.connect("source-read", _offer_files)
    app.connect("doctree-read", _open_pages)
    app.connect("autodoc-process-docstring", _of_the_constant, priority=200)
    app.connect("autodoc-process-docstring", _formulas, priority=300)
    # Napoleon takes a property's first line for "TYPE: words". Ours are read as a method's are.
    app.connect("autodoc-process-docstring", _keep, priority=400)
    app.connect("autodoc-process-docstring", _as_of_a_method, priority=600)


def _offer_files(app: Sphinx, page: str, source: list[str]) -> None:
    """Has links to Markdown beside the site offer the file, as links to other files do."""
    folder = Path(app.srcdir, page).parent

    def offer(link: re.Match[str]) -> str:
        outside = not (folder / link[1]).resolve().is_relative_to(app.srcdir)
        return f"](path:{link[1]})" if outside else link[0]

    source[0] = re.sub(r"\]\((\.\./[^)#\s]*\.md)(?:#[^)]*)?\)", offer, source[0])


def _open_pages(_app: Sphinx, tree: document) -> None:
    """Has links to whole pages of ours open them, where Sphinx would offer a download."""
    for link in list(tree.findall(download_reference)):
        if link["reftarget"].startswith("static/"):
            opened = reference(refuri=f"_{link['reftarget']}", internal=True)
            opened += link.children
            link.replace_self(opened)


def _of_the_constant(
    _app: Sphinx, what: str, name: str, described: object, _p: object, lines: list[str]
) -> None:
    """Gives an imported constant its own docstring, where Sphinx found that of its class."""
    home = type(described).__module__
    if what == "data" and home.startswith("goita_"):
        docstrings = ModuleAnalyzer.for_module(home).find_attr_docs()
        lines[:] = docstrings.get(("", name.rpartition(".")[2]), lines)


def _formulas(_app: Sphinx, _w: str, _n: str, _o: object, _p: object, lines: list[str]) -> None:
    """Prints an indented paragraph, a formula, as it stands."""
    for i in range(len(lines) - 1, 1, -1):
        before, blank, line = lines[i - 2 : i + 1]
        indented = line.startswith("    ") and not before.startswith("    ")
        if indented and not blank and not before.endswith("::"):
            lines[i:i] = ["::", ""]


_kept: dict[str, list[str]] = {}


def _keep(_app: Sphinx, what: str, name: str, _o: object, _p: object, lines: list[str]) -> None:
    """Keeps a property's docstring before Napoleon sees it."""
    if what in ("property", "attribute", "data"):
        _kept[name] = list(lines)


def _as_of_a_method(
    app: Sphinx, _what: str, name: str, described: object, _p: object, lines: list[str]
) -> None:
    """Puts it in place again, its sections read."""
    if name in _kept:
        lines[:] = GoogleDocstring(
            _kept.pop(name), app.config, app, "method", name, described
        ).lines()
