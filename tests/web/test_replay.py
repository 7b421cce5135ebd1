"""The replay page in a browser: keys, buttons, addresses, a frame, accessibility."""

import pytest

from goita_lab.pages import watch
from goita_lab.pages.watch.reading import read
from record_samples import LINE

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

LAST = "seat 2: rook then silver; seat 2 ends the round: 30 points"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page of the same deal twice."""
    folder = tmp_path_factory.mktemp("replay")
    (folder / "record.txt").write_text(f"{LINE}\n{LINE}\n", encoding="utf-8")
    page = folder / "replay.html"
    page.write_text(watch.page(read(str(folder / "record.txt"))), encoding="utf-8")
    return page


def at(page) -> tuple[str, str]:
    """Where a page stands: its address, and what it says of the move."""
    # The page is asked, because the browser tells of a changed address a moment later.
    return page.evaluate("location.hash.slice(1)"), page.inner_text("#said")


def test_keys_buttons_and_addresses_lead_to_moves_deals_and_seats(file, open_page):
    page, seen = open_page(file.as_uri()), []
    for key in ("ArrowRight", "End", "ArrowLeft", "Home", "N", "v", "V", "h", "P"):
        page.keyboard.press(key)
        seen.append(at(page)[0])
    assert seen == ["1.1", "1.13", "1.12", "1.0", "2.0", "2.0.0", "2.0.1", "2.0", "1.0"]
    page.keyboard.press("End")
    assert at(page) == ("1.13", LAST)
    page.click("#moves a >> nth=4")
    page.wait_for_selector("#said >> text=knight")  # a link changes the address first
    assert at(page) == ("1.5", "seat 2: knight then bishop")
    page.select_option("#deal", "1")
    assert at(page)[0] == "2.0"
    page.evaluate("location.hash = '#2.1.3'")
    page.wait_for_function("document.getElementById('seen').value === '3'")
    # Seat 3 does not see which tile seat 2 laid face down.
    assert at(page) == ("2.1.3", "seat 2: face-down tile then bishop")


@pytest.mark.parametrize(("wide", "scheme"), [(320, "dark"), (1280, "light")])
def test_nothing_overflows_and_axe_finds_nothing(file, open_page, wide, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{file.as_uri()}#1.5", wide=wide, scheme=scheme)
    assert page.evaluate(OVERFLOW) <= 0
    for summary in page.locator("summary").all():
        summary.click()
    assert axe.run(page).response["violations"] == []
