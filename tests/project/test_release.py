"""A release is one push: tag, version, citation and changelog agree; actions are pinned."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\nSoon.\n\n## [0.9.0] - 2027-01-02\n\n- All.\n"
CITATION = "version: 0.9.0\ndate-released: 2027-01-02\n"


@pytest.fixture
def release(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import release

    return release


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "goita_env").mkdir()
    (tmp_path / "goita_env/__init__.py").write_text('__version__ = "0.9.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "CITATION.cff").write_text(CITATION)
    return tmp_path


def test_a_release_whose_parts_agree_has_the_notes_of_its_section(release, repository):
    release.check("v0.9.0", repository)
    with pytest.raises(ValueError, match=r"expected the tag to be v0\.9\.0, got 0\.9\.0"):
        release.check("0.9.0", repository)
    assert release.notes("0.9.0", repository) == "- All."
    assert release.notes("0.4.0") != release.notes("0.3.0")  # of this repository


@pytest.mark.parametrize(
    ("file", "before", "after", "expected"),
    [
        ("goita_env/__init__.py", "0.9.0", "0.8.0", "expected __version__ to be 0.9.0, got 0.8.0"),
        ("CITATION.cff", "0.9.0", "0.8.0", "expected version in CITATION.cff to be 0.9.0"),
        ("CITATION.cff", "01-02", "01-03", "to be 2027-01-02, got 2027-01-03"),
        ("CHANGELOG.md", " - 2027-01-02", "", "expected a dated section [0.9.0]"),
    ],
)
def test_what_does_not_agree_with_the_tag_is_named(
    release, repository, file, before, after, expected
):
    path = repository / file
    path.write_text(path.read_text().replace(before, after))
    with pytest.raises(ValueError, match=re.escape(expected)):
        release.check("v0.9.0", repository)


def test_actions_of_workflows_are_pinned_by_commit():
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    actions = [
        line for file in workflows for line in file.read_text().splitlines() if "uses:" in line
    ]
    assert len(actions) > 20
    for action in actions:
        assert re.search(r"uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d", action), action
