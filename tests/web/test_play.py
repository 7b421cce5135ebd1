"""The table as a page in a browser: whole matches, restarts, themes, widths, accessibility."""

import re
from contextlib import ExitStack
from functools import partial
from itertools import chain

import pytest

pytest.importorskip("starlette", reason="no Starlette: make test-web")
pytest.importorskip("uvicorn", reason="no uvicorn: make test-web")

from goita_lab.pages.play import savegame
from goita_lab.pages.play.matches import Matches
from play_pages import AT_ONCE, OVERFLOW, READY, begun, end_round, go, ready, welcomed


def over(page) -> bool:
    return page.inner_text("#question").startswith("The match is over: you ")


def finish(page, press, server, check=lambda: None) -> int:
    """Plays to the end of the match, and returns how many things were done."""
    for steps in range(200):
        if over(page):
            assert server.table.asks == "match"
            assert max(server.table.scores) >= 150
            return steps
        go(page, press)
        check()
    raise AssertionError("expected the end of the match")


def test_a_match_is_played_by_clicks_over_reloads_and_restarts(serve, open_page):
    server, page = begun(serve, open_page)
    steps = 0
    while not over(page):
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
    assert page.locator("#rounds tbody tr").count() == len(server.table.results) + 1


def test_a_match_is_played_by_keys_alone(serve, open_page):
    server, page = begun(serve, open_page, seed=2)

    def press(buttons):
        button = page.locator(buttons).last
        kind, label = button.get_attribute("data-kind"), button.text_content()
        keys = {"pass": "p", "call": "c", "keep silent": "s", "redeal": "r", "continue": "o"}
        name = label[:-1] if label[:-1] in keys else "n"
        page.keyboard.press(keys.get(name, "n") if kind is None else str(int(kind) + 1))

    assert finish(page, press, server) > 10


def test_a_match_is_played_by_taps_on_a_phone_and_nothing_overflows(serve, open_page):
    server, page = begun(serve, open_page, seed=3, wide=320, has_touch=True, is_mobile=True)

    def check():
        assert page.evaluate(OVERFLOW) <= 0

    steps = finish(page, lambda buttons: page.locator(buttons).last.tap(), server, check)
    assert steps > 10
    ready(page)
    box = page.locator("#picture svg").bounding_box()
    assert box["width"] >= 290


def test_a_match_is_played_with_tab_and_enter_and_the_focus_stays(serve, open_page):
    _, page = begun(serve, open_page, seed=4)

    def press(buttons):
        page.locator(buttons).last.focus()
        page.keyboard.press("Enter")

    for _ in range(6):
        go(page, press)
        inside = "document.activeElement.closest('#hand, #answers') !== null"
        assert over(page) or page.evaluate(inside)


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


def under_way(serve, moves=3):
    """A server of a round of which much has been seen, and how much."""
    server = serve(seed=1)
    for _ in range(moves):
        list(server.table.advance())
        server.table.decide(server.table.legal[0])
    list(server.table.advance())
    assert server.table.asks == "move"
    return server, len(server.table.log)


def test_a_page_that_is_opened_later_shows_what_came_before_and_can_skip_it(serve, open_page):
    server, told = under_way(serve)
    for way in ("Enter", " ", "click", ""):
        page = welcomed(open_page(server.link))
        log, skip = page.locator("[role=log] li"), page.locator("[data-do=skip]")
        skip.wait_for()
        assert log.count() < told
        assert page.locator("#hand button:enabled").count() == 0
        if way == "Enter":
            skip.focus()
        if way == "click":
            skip.click()
        elif way:
            page.keyboard.press(way)
        page.wait_for_selector(READY, timeout=1000 if way else 10_000)
        assert log.count() == told
        assert skip.count() == 0
        assert page.locator("#hand button:enabled, #answers button").count() > 0
    assert page.inner_text("#question") == open_and_ask(open_page, server)


def open_and_ask(open_page, server) -> str:
    """What a page asks that moves nothing, because its reader wants nothing to move."""
    page, asked = welcomed(open_page(server.link, **AT_ONCE)), []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    ready(page)
    assert page.locator("[data-do=skip]").count() == 0
    assert not any("past" in one for one in asked)
    return page.inner_text("#question")


def test_hints_and_the_partners_tiles_are_shown(serve, open_page):
    _, page = begun(serve, open_page)
    page.keyboard.press("H")  # as with Caps Lock
    page.wait_for_selector("#advice .number")
    page.wait_for_selector("#advice p.best")
    assert page.inner_text("#advice").startswith("The champion suggests ")
    page.wait_for_selector(READY)
    page.click("[data-do=partner]")
    page.wait_for_selector("#advice meter")
    assert page.locator("#advice meter").count() == 8


def test_a_move_is_taken_back(serve, open_page):
    server, page = begun(serve, open_page)
    words = page.text_content("#words")
    go(page, lambda buttons: page.locator(buttons).last.click())
    assert page.text_content("#words") != words
    page.keyboard.press("u")
    page.wait_for_selector(READY)
    assert page.text_content("#words") == words
    assert server.table.taken_back == 1
    assert page.locator("[data-do=back]").is_disabled()


def test_a_block_can_be_chosen_again(serve, open_page):
    _, page = begun(serve, open_page)
    enabled = page.locator("#hand button:enabled").count()
    for undo in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.click("[data-do=clear]"),
        lambda: page.click("#hand [aria-pressed=true]"),
    ):
        page.locator("#hand button:enabled").first.click()
        assert page.locator("#hand [aria-pressed=true]").count() == 1
        assert "Now the attack" in page.inner_text("#question")
        undo()
        assert page.locator("#hand [aria-pressed=true]").count() == 0
        assert page.locator("#hand button:enabled").count() == enabled


def test_settings_stay_and_python_draws_in_them(serve, open_page):
    _, page = begun(serve, open_page)
    page.select_option("#theme", "dark")
    page.select_option("#faces", "letters")
    ready(page)
    page.reload()
    ready(page)
    fill = "getComputedStyle(document.querySelector('#picture rect')).fill"
    assert page.evaluate(fill) == "rgb(21, 24, 28)"
    assert page.input_value("#faces") == "letters"


def test_names_are_shown_as_they_are(serve, open_page):
    name = '<b onmouseover=alert(1)>Ann & "Bo"</b>'
    page = welcomed(open_page(serve(seed=1, name=name).link, **AT_ONCE))
    ready(page)
    assert name in page.inner_text("#seats")
    assert page.locator("#seats b").count() == 0


@pytest.fixture
def alone(browser):
    """Opens a server's page where complaints are no failure: Chromium complains of each try."""
    context = browser.new_context(**AT_ONCE)

    def opened(server):
        page = context.new_page()
        page.goto(server.link)
        welcomed(page)
        ready(page)
        return page

    yield opened
    context.close()


def test_a_page_goes_on_by_itself_when_the_server_has_been_away(serve, alone):
    server = serve(seed=1)
    page = alone(server)

    def move():
        page.locator("#hand button:enabled").last.click()
        page.locator("#hand button[aria-pressed=false]:enabled").last.click()

    settings = partial(page.select_option, "#faces", "letters")
    for act in (move, partial(page.keyboard.press, "h"), settings):
        while not page.locator("#hand button:enabled").count():
            go(page, lambda buttons: page.locator(buttons).last.click())
        made = len(server.table.game.moves)
        server.stop()
        act()
        page.wait_for_selector("#problem:not(:empty)")
        assert page.inner_text("#problem").startswith("The server doesn't answer.")
        assert page.locator("body[aria-busy]").count() == 1
        server.start()
        page.wait_for_selector(READY, timeout=10_000)
        assert page.inner_text("#problem") == ""
        assert len(server.table.game.moves) == made  # what did not arrive was not done
        assert page.locator("#hand button:enabled").count() > 0
        go(page, lambda buttons: page.locator(buttons).last.click())
        assert page.inner_text("#problem") == ""
    assert page.input_value("#faces") == "letters"


def test_a_page_whose_server_comes_back_further_on_shows_it_as_it_stands(serve, alone):
    server = serve(seed=1)
    page = alone(server)
    server.stop()
    page.keyboard.press("h")
    page.wait_for_selector("#problem:not(:empty)")
    elsewhere = savegame.resume(server.file)
    list(elsewhere.advance())
    elsewhere.decide(elsewhere.legal[0])
    list(elsewhere.advance())
    server.start()
    page.wait_for_selector(READY, timeout=10_000)
    assert page.locator("[role=log] li").count() == len(server.table.log) == len(elsewhere.log)


@pytest.mark.parametrize("wide", [320, 1280])
@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "ja-JP")])
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
    page.wait_for_url(f"{server.link}review*", timeout=120_000)
    page.wait_for_selector("#picture *")
    page.check("#research")
    page.check("#others")
    if page.locator("[data-do=endguess]").is_visible():
        page.click("[data-do=endguess]")
    page.keyboard.press("Home")
    for _ in page.locator("#moves a[data-move]").all():
        page.keyboard.press("ArrowRight")
        seen += english_words(page)
    page.keyboard.press("x")
    page.wait_for_selector("#vary-options button")
    seen += english_words(page)
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    seen += english_words(page)
    page.goto(f"{server.link}rules")
    seen += english_words(page)
    assert " ".join(sorted(set(seen))) == ""


def test_the_language_is_switched_and_kept(serve, open_page):
    server, page = begun(serve, open_page, seed=5)
    assert page.inner_text("[data-do=hint]") == "Hint"
    page.select_option("#language", "ja")
    page.wait_for_selector("html[lang=ja]")
    ready(page)
    page.goto(server.link)
    ready(page)
    assert page.inner_text("[data-do=hint]") == "ヒント"
    page.select_option("#language", "en")
    page.wait_for_selector("html[lang=en]")


def test_a_rule_is_explained_once_where_it_first_matters(serve, open_page):
    _, page = begun(serve, open_page, seed=1)
    names = page.evaluate("fetch('state').then((told) => told.json())")["lessons"]
    assert page.inner_text("#lesson")
    assert names
    while page.locator("[data-do=learned]").count():
        page.click("[data-do=learned]")
    assert page.inner_text("#lesson") == ""
    page.reload()
    ready(page)
    assert page.inner_text("#lesson") == ""
    page.evaluate("localStorage.removeItem('goita-lessons')")
    page.uncheck("#explain")
    page.reload()
    ready(page)
    assert page.inner_text("#lesson") == ""


def test_who_moves_has_read_the_lessons_that_were_shown(serve, open_page):
    _, page = begun(serve, open_page)
    shown = page.get_attribute("[data-do=learned]", "data-lesson")
    go(page, lambda buttons: page.locator(buttons).last.click())
    ready(page)
    assert page.evaluate("localStorage.getItem('goita-lessons')").split() == shown.split()


def test_another_match_is_begun_from_the_page(serve, open_page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server, page = begun(serve, open_page, seed=1)
    with ExitStack() as stack:
        server.sitting.matches = Matches(server.file, stack)
        end_round(page)
        page.click("[data-do=matches]")
        page.select_option("[name=partner]", "random")
        page.click("#begin button")
        page.wait_for_selector("#matches", state="hidden")
        page.wait_for_selector(READY)
        assert server.sitting.match.settings.others[1] == "random"
        assert page.inner_text("#facts").startswith("You and partner 0, the others 0")
        page.wait_for_function("!document.querySelector('[data-do=matches]').disabled")
        go(page, lambda buttons: page.locator(buttons).last.click())
        page.click("[data-do=matches]")
        page.wait_for_selector("#kept button")
        assert page.locator("#kept button").all_inner_texts() == ["match-1.json"]
        assert page.locator("#kept button").is_disabled()
