"""The table as a page in a browser: whole matches, restarts, themes, widths, accessibility."""

import re
from itertools import chain

import pytest

pytest.importorskip("starlette", reason="no Starlette: make test-web")
pytest.importorskip("uvicorn", reason="no uvicorn: make test-web")

from play_pages import OVERFLOW, READY, begun, end_round, go, ready, welcomed


def over(page) -> bool:
    return page.inner_text("#question").startswith("The match is over: you ")


def by_key(page, buttons) -> None:
    """Presses the key of the last button of a selector."""
    button = page.locator(buttons).last
    kind, label = button.get_attribute("data-kind"), button.text_content()
    keys = {"pass": "p", "call": "c", "keep silent": "s", "redeal": "r", "continue": "o"}
    page.keyboard.press(keys.get(label[:-1], "n") if kind is None else str(int(kind) + 1))


def test_a_match_is_played_by_clicks_and_keys_over_reloads_and_restarts(serve, open_page):
    server, page = begun(serve, open_page)
    steps = 0
    while not over(page):
        if steps % 2:
            go(page, lambda buttons: by_key(page, buttons))
        else:
            go(page, lambda buttons: page.locator(buttons).last.click())
        steps += 1
        if steps % 5 == 0:
            shown = page.inner_text("main")
            if steps % 10 == 0:
                server.stop()
                server.start()
            page.reload()
            ready(page)
            assert page.inner_text("main") == shown
    assert steps > 10
    assert server.table.asks == "match"
    assert max(server.table.scores) >= 150
    assert page.locator("#rounds tbody tr").count() == len(server.table.results) + 1


def test_others_moves_come_one_by_one_and_are_told_to_screen_readers(serve, open_page):
    page = welcomed(open_page(serve(seed=1).link))
    ready(page)
    log = page.locator("[role=log] li")
    page.select_option("#speed", "1500")
    before = log.count()
    page.click("#hand button:enabled >> nth=0")
    page.click("#hand button[aria-pressed=false]:enabled >> nth=0")
    log.nth(before).wait_for()
    assert page.locator("body[aria-busy]").count() == 1
    assert page.locator("#hand button:enabled").count() == 0
    page.keyboard.press(" ")
    page.wait_for_selector(READY, timeout=1200)
    assert log.count() >= before + 2
    assert page.get_attribute("#question", "aria-live") == "polite"


@pytest.mark.parametrize(
    ("wide", "scheme", "locale"), [(1280, "light", "en-GB"), (320, "dark", "ja-JP")]
)
def test_axe_finds_nothing(serve, open_page, wide, scheme, locale):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    _, page = begun(serve, open_page, wide=wide, scheme=scheme, locale=locale)

    def check():
        page.wait_for_timeout(200)  # until what moves stands
        assert axe.run(page).response["violations"] == []
        assert page.evaluate(OVERFLOW) <= 0

    page.click("summary")
    page.click("[data-do=hint]")
    page.wait_for_selector("#advice p.best")
    page.wait_for_selector(READY)
    check()
    if page.locator("#advice .close").is_visible():  # it lies over the board
        page.click("#advice .close")
    page.click("[data-do=partner]")
    page.wait_for_selector("#advice meter")
    check()
    if page.locator("#advice .close").is_visible():
        page.click("#advice .close")
    page.locator("#hand button:enabled").first.click()
    check()
    page.keyboard.press("Escape")
    while not page.locator("button.main").count():
        go(page, lambda buttons: page.locator(buttons).last.click())
    check()
    page.keyboard.press("?")
    check()


ENGLISH = "[...document.querySelectorAll('body *')].flatMap((part) => [...part.childNodes])"
ENGLISH += ".filter((node) => node.nodeType === 3 && !node.parentElement.closest('script, style,"
ENGLISH += " [lang=en], bdi, code, kbd')).map((node) => node.textContent.trim())"
"""Texts of a page, hidden ones too."""
LABELS = "[...document.querySelectorAll('[aria-label], [title]')].flatMap((part) =>"
LABELS += " [part.getAttribute('aria-label'), part.getAttribute('title')]).filter(Boolean)"
NAMES = r"(?i)champion at|champion|Escape|dev|heuristic|people|greedy|random|conventions|off|search"
NAMES += r"|on|match-\d+|json|mini|Esc"
NAMES += r"|jga|Language|Home|End|Enter|pagat|com|nine|resume|temperature|goita|env|network|epsilon"


def english_words(page) -> list[str]:
    """Words in a page that are neither Japanese nor names."""
    texts = page.evaluate(ENGLISH) + page.evaluate(LABELS)
    found = (re.findall(r"[A-Za-z]{2,}", re.sub(NAMES, "", text)) for text in texts)
    return sorted(set(chain.from_iterable(found)))


def test_a_page_in_japanese_has_no_english_word(serve, open_page):
    server, page = begun(serve, open_page, seed=5, locale="ja-JP")
    assert page.evaluate("document.documentElement.lang") == "ja"
    seen = english_words(page)
    page.keyboard.press("h")
    page.wait_for_selector("#advice p.best")
    page.wait_for_selector(READY)
    seen += english_words(page)
    page.keyboard.press("w")
    page.wait_for_selector("#advice meter")
    seen += english_words(page)
    end_round(page)
    seen += english_words(page)
    page.evaluate("document.querySelector('[data-do=matches]').click()")
    page.wait_for_selector("#matches[open]")
    seen += english_words(page)
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_url(f"{server.link}analysis*")
    seen += english_words(page)
    page.wait_for_selector("#picture *", timeout=120_000)
    if page.locator("[data-do=leave]").is_visible():
        page.click("[data-do=leave]")
    page.keyboard.press("Home")
    for _ in page.locator("#moves a[data-move]").all():
        page.keyboard.press("ArrowRight")
        seen += english_words(page)
    page.keyboard.press("l")
    seen += english_words(page)
    assert " ".join(sorted(set(seen))) == ""


def test_a_rule_is_explained_once_where_it_first_matters(serve, open_page):
    _, page = begun(serve, open_page, seed=1)
    assert page.inner_text("#lesson")
    while page.locator("[data-do=learned]").count():
        page.click("[data-do=learned]")
    assert page.inner_text("#lesson") == ""
    page.reload()
    ready(page)
    assert page.inner_text("#lesson") == ""


def test_from_the_end_of_a_round_to_its_analysis_and_back_into_it(serve, open_page):
    pytest.importorskip("numba")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    server, page = begun(serve, open_page, seed=5)
    end_round(page)
    before = page.inner_text("#question")
    page.keyboard.press("v")
    page.wait_for_url(f"{server.link}analysis")
    assert "of 1 …" in page.inner_text("[role=status]")
    assert axe.run(page).response["violations"] == []
    page.wait_for_selector("#picture *", timeout=120_000)
    assert axe.run(page).response["violations"] == []
    server.stop()
    server.start()
    page.locator("#moves a[data-move]").first.click()
    page.keyboard.press("t")
    page.wait_for_url(server.link)
    ready(page)
    assert page.locator("#trial").is_visible()
    end_round(page)
    page.keyboard.press("b")
    page.wait_for_selector("#trial", state="hidden")
    assert page.inner_text("#question") == before
