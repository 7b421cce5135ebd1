"""Checks that a tag, the version, the citation and the changelog agree; prints the notes.

python tools/release.py v0.4.0    of a release: all four name it
python tools/release.py           between releases: the notes so far
"""

import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
UNRELEASED: Final = "Unreleased"


def version_in_code(root: Path = ROOT) -> str:
    """Returns ``__version__``, without an import of the package."""
    text = (root / "goita_env/__init__.py").read_text(encoding="utf-8")
    return _first(r'^__version__ = "(.*)"$', text, "__version__ in goita_env/__init__.py")


def notes(version: str, root: Path = ROOT) -> str:
    """Returns the changelog's section of a version without its heading.

    Raises:
        ValueError: if there is no such section, or nothing in it.
    """
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    pattern = rf"^## \[{re.escape(version)}\].*\n((?:(?!## \[).*\n?)*)"
    section = _first(pattern, text, f"a section [{version}] in CHANGELOG.md").strip()
    if not section:
        raise ValueError(f"expected notes in the section [{version}] of CHANGELOG.md, got none")
    return section


def check(tag: str, root: Path = ROOT) -> None:
    """Raises a ValueError unless tag, version, citation and changelog name the same release."""
    version = tag.removeprefix("v")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## \[{re.escape(version)}\] - (\S+)$"
    dated = _first(heading, changelog, f"a dated section [{version}] in CHANGELOG.md")
    named = {
        "the tag": (tag, f"v{version}"),
        "__version__": (version_in_code(root), version),
        "version in CITATION.cff": (_first(r"^version: (\S+)$", citation, "a version"), version),
        "date-released in CITATION.cff": (
            _first(r"^date-released: (\S+)$", citation, "a date"),
            dated,
        ),
    }
    for place, (found, expected) in named.items():
        if found != expected:
            raise ValueError(f"expected {place} to be {expected}, got {found}")


def _first(pattern: str, text: str, what: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise ValueError(f"expected {what}")
    return match[1]


def main() -> int:
    """Prints the notes, or what does not agree; returns the exit code."""
    tag = sys.argv[1] if len(sys.argv) > 1 else None
    try:
        if tag is not None:
            check(tag)
        version = version_in_code()
        print(notes(UNRELEASED if tag is None and version.endswith(".dev0") else version))
    except ValueError as error:
        sys.stderr.write(f"release: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
