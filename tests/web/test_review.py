"""The review of a match in a browser: from play to it and back, keys alone, accessibility."""

import pytest

pytest.importorskip("numba")
pytest.importorskip("starlette", reason="no Starlette: make test-web")
pytest.importorskip("uvicorn", reason="no uvicorn: make test-web")

from play_pages import AT_ONCE, OVERFLOW, begun, end_round, ready, welcomed


def test_from_the_end_of_a_round_to_its_review_and_back_into_it(serve, open_page):
    server, page = begun(serve, open_page, seed=5)
    end_round(page)
    before = page.inner_text("#question")
    page.keyboard.press("v")
    page.wait_for_url(f"{server.link}review*", timeout=120_000)
    page.wait_for_selector("#picture *")
    assert "Points lost per decision" in page.inner_text("[data-review]")
    page.locator("#moves a[data-move]").first.click()
    page.keyboard.press("x")
    for number in (1, 2):
        page.locator("#vary-options button").first.click()
        page.wait_for_selector(f"#line li:nth-child({number})")
    page.keyboard.press("Escape")
    assert page.locator("#variation").is_hidden()
    assert page.locator("#picture").is_visible()
    page.keyboard.press("t")
    page.wait_for_url(server.link)
    ready(page)
    assert page.locator("#trial").is_visible()
    end_round(page)
    assert "; in the match: " in page.inner_text("#question")
    page.keyboard.press("b")
    ready(page)
    page.wait_for_selector("#trial", state="hidden")
    assert page.inner_text("#question") == before
    page.keyboard.press("d")
    page.wait_for_selector("#trial")
    assert server.table.asks == "round"


def after_a_round(folder, seed, choice):
    """Serves a match whose first round is over: which legal action was played each time."""
    from play_pages import Server

    server = Server(folder, seed=seed)
    table = server.table
    while table.asks != "round":
        list(table.advance())
        if table.asks == "move":
            table.decide(table.legal[choice])
    yield server
    server.stop()


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A server whose first round is over and reviewed."""
    yield from after_a_round(tmp_path_factory.mktemp("review"), 5, 0)


def opened(open_page, server, **options):
    """The review of a server whose round is over; its match's page waits for it."""
    page = welcomed(open_page(server.link, **AT_ONCE, **options))
    ready(page)
    page.keyboard.press("v")
    page.wait_for_url(f"{server.link}review*", timeout=120_000)
    page.wait_for_selector("#picture *")
    page.wait_for_selector(
        "#refining:empty", state="attached", timeout=120_000
    )  # it is loaded anew
    return page


@pytest.mark.parametrize("wide", [320, 1280])
@pytest.mark.parametrize(("scheme", "locale"), [("light", "ja-JP"), ("dark", "en-GB")])
def test_nothing_overflows_and_axe_finds_nothing(reviewed, open_page, wide, scheme, locale):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened(open_page, reviewed, wide=wide, scheme=scheme, locale=locale)

    def check():
        assert axe.run(page).response["violations"] == []
        assert page.evaluate(OVERFLOW) <= 0

    check()
    page.keyboard.press("Home")
    for _ in page.locator("a[data-move]").all():
        page.keyboard.press("ArrowRight")
        assert page.evaluate(OVERFLOW) <= 0
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.check("#research")
    page.keyboard.press(".")
    check()
    page.keyboard.press("x")
    page.wait_for_selector("#vary-options button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#line li")
    check()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    check()


def focused(page) -> str:
    """Where the focus lies: the id of the part, or an empty text."""
    parts = "#vary-options, #guess, #guessing, [data-do=vary], #variation"
    return page.evaluate(f"document.activeElement.closest('{parts}')?.id ?? ''")


def test_a_review_is_used_by_keys_alone(reviewed, open_page):
    page = opened(open_page, reviewed)
    while not page.evaluate("document.activeElement.matches('#moves a[data-move]')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "step"
    page.keyboard.press("x")
    page.wait_for_selector("#vary-options button")
    for number in (1, 2):
        assert focused(page) == "vary-options"
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#line li:nth-child({number})")
    page.keyboard.press("Escape")
    assert page.locator("#variation").is_hidden()
    assert page.evaluate("document.activeElement.dataset.do") == "vary"
    page.keyboard.press("g")
    for _ in range(2):
        assert focused(page) == "guess"
        while page.locator("#guess button").count():
            page.keyboard.press("Enter")
            if page.locator("#guess button[aria-pressed=true]").count():
                page.locator("#guess button[data-guess]:not([data-guess^=first])").first.focus()
        assert page.evaluate("document.activeElement.dataset.do") == "next-guess"
        page.keyboard.press("Enter")
    assert page.inner_text("#score").startswith("2 guessed")
    page.keyboard.press("h")
    page.keyboard.press("t")
    page.wait_for_url(reviewed.link)
    ready(page)
    assert page.locator("#trial").is_visible()
    page.keyboard.press("b")
    page.wait_for_selector("#trial", state="hidden")


def dealer(server) -> int:
    return server.table.finished.deals[-1].dealer


def test_an_action_of_a_line_can_be_tried_in_the_real_deal(reviewed, open_page):
    page = opened(open_page, reviewed)
    page.keyboard.press("Escape")
    page.click("[data-do=endguess]") if page.locator("#guessing").is_visible() else None
    mine = page.locator(f"#moves td:nth-child({1 + (4 - dealer(reviewed)) % 4}) a[data-move]")
    for link in mine.all():
        link.click()
        if page.locator("#lines [data-do=try]").count():
            break
    button = page.locator("#lines [data-do=try]").first
    name = button.get_attribute("data-name")
    button.click()
    page.wait_for_selector("#line li")
    assert name in page.inner_text("#line")
    assert page.locator("#varied svg").count() == 1


def test_a_review_goes_on_when_its_server_was_killed_and_is_back(serve, browser):
    server = serve(seed=5)
    page = browser.new_context(**AT_ONCE).new_page()  # Chromium complains of each try
    page.goto(server.link)
    ready(welcomed(page))
    end_round(page)
    server.stop()
    page.keyboard.press("v")
    page.wait_for_selector("#problem:not(:empty)")
    server.start()
    page.wait_for_url(f"{server.link}review*", timeout=120_000)
    page.wait_for_selector("#picture *")
    server.stop()
    page.keyboard.press("t")
    page.wait_for_selector("#problem:not(:empty)")
    assert "The server doesn't answer" in page.inner_text("#problem")
    server.start()
    page.keyboard.press("x")
    page.wait_for_selector("#vary-options button")
    assert page.inner_text("#problem") == ""
    page.goto(f"{server.link}review")  # whose analysis went with the server
    page.click("a:text-is('Back to the match')")
    page.wait_for_url(server.link)
    ready(page)
    page.keyboard.press("v")
    page.wait_for_url(f"{server.link}review*", timeout=120_000)
    page.context.close()


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory):
    """A server whose first round is over and reviewed, with errors of the player."""
    yield from after_a_round(tmp_path_factory.mktemp("errors"), 37, -1)


def test_a_review_asks_for_something_better_than_each_error(mistaken, open_page):
    page = opened(open_page, mistaken)
    page.wait_for_selector("#count-errors:not(:empty)", timeout=120_000)  # all is refined
    told = page.evaluate("JSON.parse(document.getElementById('data').textContent)")["analysis"]
    errors = [
        one
        for moves in told["deals"]
        for one in moves.values()
        if one["seat"] == mistaken.table.seat and one["agreement"] == "agreed"
    ]
    assert errors
    assert page.inner_text("#count-errors") == f"Error 1 of {len(errors)}"
    assert "which lost" in page.inner_text("#asked")
    first = errors[0]
    worse = min(first["options"], key=lambda one: one["points"])["action"]
    answer(page, worse)
    assert "Try again, or see the answer." in page.inner_text("#asked")
    answer(page, first["best"])
    assert page.inner_text("#asked").startswith("Yes: ")
    assert page.inner_text("#score") == f"1 of {len(errors)} found"
    if len(errors) > 1:
        page.click("[data-do=next-guess]")
        page.click("#answer")
        assert page.inner_text("#asked").startswith("The answer: ")
    page.click("[data-do=endguess]")
    assert page.locator("#guessing").is_hidden()


def answer(page, action):
    """Chooses an action by its tiles, or by its word."""
    chosen = f"#guess [data-guess='first {action[0]}']"
    if action.isdigit() and page.locator(chosen).get_attribute("aria-pressed") == "false":
        page.click(chosen)
    page.click(f"#guess [data-guess='{action}']")


def test_only_the_own_moves_are_judged_until_the_others_are_switched_on(reviewed, open_page):
    page = opened(open_page, reviewed)
    told = page.evaluate("JSON.parse(document.getElementById('data').textContent)")["analysis"]
    other = next(
        one
        for one in told["deals"][-1].values()
        if one["seat"] != 0 and one["options"] and one["phase"] != "before play"
    )
    page.click(f"#moves a[data-move='{other['move']}']")
    assert "if you switch them on" in page.inner_text("#judged")
    page.evaluate("document.getElementById('settings').open = true")
    page.check("#others")
    assert "if you switch them on" not in page.inner_text("#judged")


def test_on_a_phone_the_board_comes_first_and_the_verdict_under_it(reviewed, open_page):
    page = opened(open_page, reviewed, wide=360)
    board, verdict = (page.locator(one).bounding_box() for one in ("#picture", "#verdict"))
    assert board["y"] < 150
    assert verdict["y"] < 620


def test_a_review_is_kept_as_a_file(reviewed, open_page, tmp_path):
    page = opened(open_page, reviewed)
    with page.expect_download() as download:
        page.click("text=Save as a file")
    file = tmp_path / "review.html"
    download.value.save_as(file)
    kept = open_page(file.as_uri())
    kept.wait_for_selector("#picture *")
    assert kept.locator("[data-do=vary], [data-do=again]").count() == 0
    assert "Points lost per decision" in kept.inner_text("[data-review]")
