"""Adds to the pages what only the site needs: its tables of contents, and files from the root.

A page of the site stands in ``CONTENTS`` once. In the repository every page is plain Markdown.
"""

import re
from pathlib import Path
from typing import Any, Final

CONTENTS: Final[dict[str, dict[str, str]]] = {
    "index": {
        "Start": "start play rules how_to_win how_to_win_ja tutorials/index ja",
        "Environments and training": "environments/index observation training",
        "Bots and tournaments": "tournaments exam strength analysis notation drawings",
        "Research": "coordination leaderboards ad_hoc_teamwork beliefs search_agents signalling "
        "exact studies/index data",
        "Reference": "reference/index faq about architecture",
    },
    "tutorials/index": {
        "": "first_game one_seat_sb3 batched_ppo frameworks own_bot beat_a_program partners_pass "
        "my_first_paper"
    },
    "environments/index": {"": "aec vector information ../one_seat card"},
    "reference/index": {
        "": "goita_env environments views agents beliefs tournaments exam signals training "
        "analysis ../glossary"
    },
    "tournaments": {"": "protocol"},
    "strength": {"": "population"},
    "beliefs": {"": "types"},
    "architecture": {"": "contributing"},
    "about": {"": "changelog"},
}
"""The pages below each page, by the caption of their part."""

PICTURE: Final = re.compile(
    r'<picture><source [^>]*srcset="pictures/([^"]*)">'
    r'<img src="pictures/([^"]*)"([^>]*)></picture>'
)
"""A picture in HTML: in the dark, in the light, and its other attributes."""

TWO_PICTURES: Final = re.compile(
    r'^<picture>\n<source [^>]*srcset="([^"]*)">\n'
    r'<img src="([^"]*)" width="(\d+)" alt="([^"]*)">\n</picture>$',
    re.MULTILINE,
)
"""A picture that is a paragraph: in the dark, in the light, its width, and its text."""

FROM_ROOT: Final = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
"""Pages of the site whose text is a file in the root of the repository."""


def site_text(page: str, text: str, root: Path) -> str:
    """Returns the text of a page as the site needs it.

    Args:
        page: its name, without the ending.
        text: its text in the repository.
        root: the root of the repository.
    """
    if page in FROM_ROOT:
        text = (root / FROM_ROOT[page]).read_text(encoding="utf-8")
        # Its links begin in the root, those of a page in docs/.
        text = re.sub(r"\]\((?!https?:|#|docs/)", "](../", text).replace("](docs/", "](")
    # Sphinx leaves HTML as it is: its links lead to pages of the site, its pictures are static.
    text = re.sub(r'href="(\w+)\.md"', r'href="\1.html"', text)
    # The reader chooses light or dark on the site itself.
    text = PICTURE.sub(
        r'<img class="only-light" src="_static/\2"\3><img class="only-dark" src="_static/\1"\3>',
        text,
    )
    # Sphinx copies only pictures in Markdown, from any folder of the repository.
    text = TWO_PICTURES.sub(
        r"![\4](\2){.only-light width=\3}" "\n" r"![\4](\1){.only-dark width=\3}", text
    )
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}" if caption else "", ""])
        + "\n".join([*pages.split(), "```"])
        for caption, pages in CONTENTS.get(page, {}).items()
    ]
    return "\n\n".join([text, *trees]) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Lets Sphinx read the pages so."""
    app.connect("source-read", _fill)
    # What these pages become depends on more than their files.
    app.connect("env-get-outdated", lambda *_: [*CONTENTS, *FROM_ROOT])
    return {"parallel_read_safe": True}


def _fill(app: Any, page: str, source: list[str]) -> None:
    source[0] = site_text(page, source[0], Path(app.srcdir).parent)
