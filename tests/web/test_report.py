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


def test_a_heading_sorts_its_table_and_names_the_order(exam_file, open_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(exam_file.as_uri())
    table = page.locator("table.grid").first
    head = table.locator("th", has_text="points lost").first

    def lost():
        cells = table.locator("tbody tr").all()
        return [float(row.locator("td").nth(1).inner_text().split()[0]) for row in cells]

    before = lost()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert lost() == sorted(before, reverse=True) != before
    head.locator("button").click()
    assert (head.get_attribute("aria-sort"), lost()) == ("ascending", sorted(before))
    names = table.locator("th").first
    names.locator("button").click()
    assert head.get_attribute("aria-sort") is None
    assert axe.run(page).response["violations"] == []


def test_the_exam_begins_with_what_to_fix_and_prints_whole_tables(exam_file, open_page):
    page = open_page(exam_file.as_uri(), wide=1280)
    first = page.locator("main section").first
    assert "greedy loses" in first.locator("h2").inner_text()
    assert first.locator("ol.fix > li").count() == 3
    assert first.locator("ol.fix > li").first.locator(".board svg").count() > 0
    page.emulate_media(media="print")
    for scroll in page.locator(".scroll").all():
        assert scroll.evaluate("box => getComputedStyle(box).overflow") == "visible"
