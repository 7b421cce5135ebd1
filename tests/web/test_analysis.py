"""The analysis page in a browser: what a decision says, seats, learning."""

import pytest

from record_samples import LINE

pytest.importorskip("numba")

from goita_lab.pages import watch
from goita_lab.pages.play.sitting import ANALYSIS_TITLE
from goita_lab.pages.watch.reading import of_match, read
from play_tables import FedBackground, any_move, play_on

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    """A page of a deal twice, the second time broken off, its data and its file."""
    folder = tmp_path_factory.mktemp("analysis")
    (folder / "record.txt").write_text(f"{LINE}\n{LINE[:70]}\n", encoding="utf-8")
    source = read(str(folder / "record.txt"))
    analysis = watch.analyse(source, "greedy", worlds=64, types=("greedy", "random"))
    page = folder / "analysis.html"
    page.write_text(watch.page(source, analysis), encoding="utf-8")
    return page, watch.to_json(source, analysis)


def errors(told, seat=None) -> list[tuple[int, int]]:
    """Deal and move of the errors, in order."""
    return [
        (deal["deal"], one["move"])
        for deal in told["deals"]
        for one in deal["decisions"]
        if one["verdict"] == "clear" and seat in (None, one["seat"])
    ]


def at(page) -> tuple[int, int]:
    """Deal and move at which a page stands."""
    deal, move, *_ = page.evaluate("location.hash.slice(1)").split(".")
    return int(deal), int(move)


def test_a_decision_shows_its_actions_and_the_graph_leads_to_moves(analysed, open_page):
    file, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["verdict"] == "clear")
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    assert page.inner_text("#verdict") == f"Move {one['move']}: an error"
    assert f"{one['loss']:.1f} ± {one['loss_error']:.1f} points" in page.inner_text("#judged")
    shown = page.inner_text("#options tr.played")
    (option,) = (o for o in one["options"] if o["action"] == one["action"])
    assert f"{abs(option['points']):.1f} ± {option['error']:.1f}" in shown
    box = page.locator("#graph").bounding_box()
    page.click("#graph", position={"x": box["width"] * 0.97, "y": box["height"] / 2})
    assert at(page) == (1, 13)
    page.click("a[href^='#1.']:text('move') >> nth=0")
    assert at(page) in errors(told)


def test_no_action_shows_more_points_than_the_best(analysed, open_page, tmp_path):
    _, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["verdict"] == "clear")
    found = {option["action"]: option for option in one["options"]}
    text = analysed[0].read_text(encoding="utf-8")
    shown = f'"points":{found[one["action"]]["points"]}'
    assert shown in text
    file = tmp_path / "page.html"
    file.write_text(text.replace(shown, '"points":99.0'), encoding="utf-8")
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    assert "best" in page.inner_text("#options tbody tr >> nth=0")
    assert "99" not in page.inner_text("#options")


def test_what_a_seat_saw_shows_nothing_that_needs_other_hands(analysed, open_page):
    file, told = analysed
    for seat in range(4):
        page = open_page(f"{file.as_uri()}#1.0.{seat}")
        for hidden in (".graph", "#worst", "#sums"):
            assert not page.locator(hidden).is_visible()
        assert page.inner_html("#graph") == ""
        for one in told["deals"][0]["decisions"]:
            page.keyboard.press("ArrowRight")
            assert "hands open makes" not in page.inner_text("#worth")
            if one["seat"] != seat:
                assert page.inner_text("#verdict") == f"Move {one['move']}"
                assert page.inner_text("#options") == page.inner_text("#worth") == ""
            elif one["options"]:
                assert page.locator("#options thead th").count() == 3


def answer(page, action):
    """Chooses an action by its tiles, or by its word."""
    chosen = f"#guess [data-guess='first {action[0]}']"
    if action.isdigit() and page.locator(chosen).get_attribute("aria-pressed") == "false":
        page.click(chosen)
    page.click(f"#guess [data-guess='{action}']")


def test_something_better_is_asked_for_than_each_error_of_a_seat(analysed, open_page):
    file, told = analysed
    page = open_page(file.as_uri())
    assert not page.locator("#learn").is_visible()
    seat = max(range(4), key=lambda seat: len(errors(told, seat)))
    found = errors(told, seat)
    page.select_option("#seen", str(seat))
    assert page.inner_text("#learn") == f"Learn from your errors ({len(found)})"
    page.keyboard.press("l")
    assert page.inner_text("#count-errors") == f"Error 1 of {len(found)}"
    assert at(page) == found[0]
    deal, move = found[0]
    one = told["deals"][deal - 1]["decisions"][move - 1]
    assert page.inner_text("#said").endswith("to move")
    assert not page.locator(f"#moves a[data-move='{move}']").is_visible()
    assert page.locator("#options").is_hidden()
    answer(page, min(one["options"], key=lambda one: one["points"])["action"])
    assert "Try again, or see the answer." in page.inner_text("#asked")
    answer(page, one["best"])
    assert page.inner_text("#asked").startswith("Yes: ")
    assert page.inner_text("#score") == f"1 of {len(found)} found"
    for _ in found[1:]:
        page.keyboard.press("Enter")
        page.click("#answer")
        assert page.inner_text("#asked").startswith("The answer: ")
    page.keyboard.press("Enter")
    assert page.inner_text("#asked") == "These were all your errors."
    page.keyboard.press("l")
    assert page.locator("#learning").is_hidden()


@pytest.mark.parametrize(("wide", "scheme"), [(320, "light"), (1280, "dark")])
def test_nothing_overflows_and_axe_finds_nothing(analysed, open_page, wide, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    file, told = analysed
    page = open_page(file.as_uri(), wide=wide, scheme=scheme)
    for _ in told["deals"][0]["decisions"]:
        page.keyboard.press("ArrowRight")
        assert page.evaluate(OVERFLOW) <= 0
    page.click("summary:text('How it was made')")
    assert axe.run(page).response["violations"] == []
    page.keyboard.press("v")
    page.keyboard.press("l")
    assert axe.run(page).response["violations"] == []


def test_deals_that_are_analysed_later_appear_and_the_reader_keeps_place_and_answers(
    serve, open_page
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    server, analyses = serve(seed=5), []
    list(play_on(server.table, any_move(0), 3))
    background = server.sitting._background = FedBackground()
    source = of_match(server.table.finished, ANALYSIS_TITLE)
    whole = watch.analyse(
        source, "greedy", worlds=64, types=("greedy",), partial_analysis=analyses.append
    )
    server.sitting.analysis()
    background.sender.send(analyses[0])
    page = open_page(f"{server.link}analysis")
    assert page.inner_text("#progress").startswith("1 of 3 deals are analysed.")
    assert axe.run(page).response["violations"] == []
    assert at(page)[0] == 1
    page.select_option("#deal", "2")
    assert page.inner_text("#judged") == "This deal is not analysed yet."
    seat, told = server.table.seat, [watch.to_json(source, one) for one in (analyses[0], whole)]
    first, every = (errors(one, seat) for one in told)
    assert 0 < len(first) < len(every)
    page.click("#learning [data-do=next]")
    page.click("#answer")
    place, answer = at(page), page.inner_text("#asked")
    background.sender.send(analyses[1])
    page.wait_for_selector("#progress >> text=2 of 3 deals are analysed.")
    background.sender.send(whole)
    page.wait_for_selector("#progress >> text=All deals are analysed.")
    assert (at(page), page.inner_text("#asked")) == (place, answer)
    assert page.inner_text("#score") == f"0 of {len(every)} found"
    page.keyboard.press("l")
    page.select_option("#deal", "2")
    assert page.inner_text("#judged") == "Each move is judged as it is made."
    assert page.locator("#worst ~ .scroll tbody tr").count() == len(errors(told[1]))
