"""The pages of a tournament and of an exam in a browser: widths, themes, accessibility."""

from xml.etree import ElementTree

import pytest

from goita_lab.commands import evaluate, exam

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The report of a small tournament with all of its sections."""
    folder = tmp_path_factory.mktemp("report")
    page, games = folder / "report.html", folder / "games"
    command = ["--agents", "random", "greedy", "heuristic", "--deals", "8", "--cross"]
    assert evaluate.main([*command, "--save-games", str(games), "--html", str(page)]) == 0
    return page


@pytest.fixture(scope="module")
def exam_file(tmp_path_factory):
    """The page of the shipped exam, with positions on which two agents part."""
    page = tmp_path_factory.mktemp("exam") / "exam.html"
    assert exam.main(["take", "greedy", "heuristic", "--html", str(page)]) == 0
    return page


@pytest.mark.parametrize("page", ["file", "exam_file"])
@pytest.mark.parametrize(("wide", "scheme"), [(320, "light"), (1280, "dark")])
def test_nothing_overflows_and_axe_finds_nothing(request, page, open_page, wide, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(request.getfixturevalue(page).as_uri(), wide=wide, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(OVERFLOW) <= 0
    assert axe.run(page).response["violations"] == []


@pytest.mark.parametrize(
    ("kind", "begins"), [("CSV", b"heuristic,+"), ("LaTeX", b"\\begin{table}"), ("SVG", b"<svg")]
)
def test_a_figure_is_saved_as_a_file(file, open_page, tmp_path, kind, begins):
    page = open_page(file.as_uri())
    figure = page.locator("figure:has(.plot)")
    with page.expect_download() as download:
        figure.locator(f"button:text-is('{kind}')").click()
    path = tmp_path / "saved"
    download.value.save_as(path)
    content = path.read_bytes()
    assert begins in content[:200]
    assert all(agent in content for agent in (b"random", b"greedy", b"heuristic"))
    if kind == "SVG":
        assert content.count(b"<circle") == 3
        ElementTree.fromstring(content)
