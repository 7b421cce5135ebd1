"""The replay page in a browser: keys, buttons, addresses, frames, themes, widths, accessibility."""

import html

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
    return page.url.partition("#")[2], page.inner_text("#said")


def test_keys_step_through_moves_deals_and_seats(file, open_page):
    page, seen = open_page(file.as_uri()), []
    for key in ("ArrowRight", "]", "End", "ArrowLeft", "Home", "N", "v", "V", "h", "P"):
        page.keyboard.press(key)
        seen.append(at(page)[0])
    assert seen == ["1.1", "1.5", "1.13", "1.12", "1.0", "2.0", "2.0.0", "2.0.1", "2.0", "1.0"]
    page.keyboard.press("End")
    assert at(page) == ("1.13", LAST)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()


def test_buttons_list_and_slider_step_too(file, open_page):
    page = open_page(file.as_uri())
    page.click("[data-do=on]")
    assert at(page)[0] == "1.1"
    page.click("#moves a >> nth=4")
    page.wait_for_selector("#said >> text=knight")  # a link changes the address first
    assert at(page) == ("1.5", "seat 2: knight then bishop")
    assert page.get_attribute("#moves a >> nth=4", "aria-current") == "step"
    page.focus("#seek")
    page.keyboard.press("ArrowRight")
    assert at(page)[0] == "1.6"
    page.select_option("#deal", "1")
    assert at(page)[0] == "2.0"


def test_the_address_leads_to_deal_move_and_seat(file, open_page):
    page = open_page(f"{file.as_uri()}#2.1.3")
    # Seat 3 does not see which tile seat 2 laid face down.
    assert at(page) == ("2.1.3", "seat 2: face-down tile then bishop")
    assert page.input_value("#seen") == "3"
    assert not page.locator("#whole").is_visible()
    page.evaluate("location.hash = '#1.1'")
    page.wait_for_function("document.getElementById('deal').value === '0'")
    assert at(page) == ("1.1", "seat 2: face-down silver then bishop")


def test_a_page_plays_by_itself_to_the_end(file, open_page):
    page = open_page(f"{file.as_uri()}#2.11")
    page.select_option("#speed", "300")
    page.click("#play")
    assert page.inner_text("#play") == "stop"
    page.wait_for_function("document.getElementById('play').textContent === 'play'")
    assert at(page) == ("2.13", LAST)


@pytest.mark.parametrize("wide", [320, 390, 1280])
def test_the_choice_of_the_deal_has_room_for_its_text(file, open_page, wide):
    page = open_page(file.as_uri(), wide=wide)
    page.locator("#deal option").first.evaluate("option => option.text = '50: seat 2, 100 points'")
    needed = """box => {
        const pen = document.createElement("canvas").getContext("2d");
        const style = getComputedStyle(box);
        pen.font = style.font;
        const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
        return pen.measureText(box.options[0].text).width + padding + 24;  // 24: the arrow
    }"""
    box = page.locator("#deal")
    assert box.evaluate(needed) <= box.evaluate("box => box.clientWidth")


def test_a_page_counts_its_own_deals_and_names_the_source_once(file, open_page):
    page = file.with_name("second.html")
    found = read(str(file.with_name("record.txt")), deals="2")
    page.write_text(watch.page(found), encoding="utf-8")
    page = open_page(page.as_uri())
    assert page.inner_text("#facts").startswith("Deal 1, rules of the Japan Goita Association.")
    assert page.inner_text("#facts").endswith(" In the record: deal 2.")
    assert page.inner_text("#deal option") == "Deal 1: seat 2 ends the round: 30 points"
    assert page.inner_text("#result") == "Result: seat 2 ends the round: 30 points."


def test_settings_stay(file, open_page):
    page = open_page(file.as_uri())
    page.select_option("#theme", "dark")
    page.select_option("#faces", "digits")
    page.reload()
    assert page.input_value("#theme") == "dark"
    assert page.input_value("#faces") == "digits"
    assert "dark" in page.get_attribute("html", "class")


def test_a_page_works_in_a_frame_that_may_do_nothing_but_scripts(file, open_page):
    outside = file.with_name("outside.html")
    text = html.escape(file.read_text(encoding="utf-8"))
    outside.write_text(f'<iframe sandbox="allow-scripts" srcdoc="{text}"></iframe>')
    frame = open_page(outside.as_uri()).frames[1]
    frame.click("[data-do=end]")
    assert frame.inner_text("#said") == LAST


@pytest.mark.parametrize("wide", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_and_axe_finds_nothing(file, open_page, wide, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(f"{file.as_uri()}#1.5", wide=wide, scheme=scheme)
    assert page.evaluate(OVERFLOW) <= 0
    page.click("summary")
    assert axe.run(page).response["violations"] == []
    page.keyboard.press("?")
    assert axe.run(page).response["violations"] == []


def test_the_picture_is_drawn_in_the_colours_of_the_theme(file, open_page):
    for scheme, ground in (("light", "rgb(247, 243, 234)"), ("dark", "rgb(21, 24, 28)")):
        page = open_page(file.as_uri(), scheme=scheme)
        fill = "getComputedStyle(document.querySelector('#picture rect')).fill"
        assert page.evaluate(fill) == ground
