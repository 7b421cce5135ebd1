"""The analysis page in a browser: what a decision says, seats, learning."""

from dataclasses import replace

import pytest

from record_samples import LINE

pytest.importorskip("numba")

from goita_lab.pages import watch
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.sitting import ANALYSIS_TITLE
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.reading import of_match, read
from play_tables import GREEDY, FedBackground, any_move, play_on

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


@pytest.fixture(scope="module")
def match():
    """Three rounds of a match, the person's seat, and their analyses after each deal."""
    table, analyses = PlayTable(MatchSettings(GREEDY, 5)), []
    list(play_on(table, any_move(0), 3))
    source = of_match(table.finished, ANALYSIS_TITLE)
    few = {"worlds": 64, "types": ("greedy",)}
    whole = watch.analyse(source, "greedy", **few, partial_analysis=analyses.append)
    return source, table.seat, [*analyses, whole]


def errors(told, seat=None, *, largest_first=False) -> list[tuple[int, int]]:
    """Deal and move of the errors, in order of play or the largest first."""
    found = [
        (deal["deal"], one)
        for deal in told["deals"]
        for one in deal["decisions"]
        if one["verdict"] == "clear" and seat in (None, one["seat"])
    ]
    if largest_first:
        found.sort(key=lambda error: error[1]["loss"], reverse=True)
    return [(deal, one["move"]) for deal, one in found]


def size(decision) -> int:
    """Size of an error: 1 to 3."""
    return 1 + (decision["loss"] >= 5) + (decision["loss"] >= 12)


def at(page) -> tuple[int, int]:
    """Deal and move at which a page stands."""
    deal, move, *_ = page.evaluate("location.hash.slice(1)").split(".")
    return int(deal), int(move)


def test_a_decision_shows_its_actions_and_the_graph_leads_to_moves(analysed, open_page):
    file, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["verdict"] == "clear")
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    names = {1: "a small error", 2: "an error", 3: "a large error"}
    assert page.inner_text("#verdict") == f"Move {one['move']}: {names[size(one)]}"
    listed = page.locator(f"#moves a[data-move='{one['move']}']")
    assert listed.locator(".lost").inner_text() == "!" * size(one)
    assert listed.inner_text().endswith(f"; {names[size(one)]}")
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
        assert page.inner_text("#summaries") == ""
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
    found = errors(told, seat, largest_first=True)
    page.select_option("#seen", str(seat))
    assert page.inner_text("#learn") == f"Learn from your errors ({len(found)})"
    page.keyboard.press("l")
    assert at(page) == found[0]
    deal, move = found[0]
    one = told["deals"][deal - 1]["decisions"][move - 1]
    counted = page.inner_text("#count-errors")
    assert counted.startswith("!" * size(one))
    assert counted.endswith(f"{one['loss']:.1f} points · error 1 of {len(found)}")
    assert page.inner_text("#said").endswith("to move")
    assert not page.locator(f"#moves a[data-move='{move}']").is_visible()
    assert page.locator("#options").is_hidden()
    answer(page, min(one["options"], key=lambda one: one["points"])["action"])
    assert "Try again, or see the answer." in page.inner_text("#asked")
    answer(page, one["best"])
    assert page.inner_text("#asked").startswith("Yes: ")
    assert page.inner_text("#score") == f"1 of {len(found)} found"
    for place in found[1:]:
        page.keyboard.press("Enter")
        assert at(page) == place
        page.click("#answer")
        assert page.inner_text("#asked").startswith("The answer: ")
    page.keyboard.press("Enter")
    assert page.inner_text("#asked") == "These were all your errors."
    page.keyboard.press("l")
    assert page.locator("#learning").is_hidden()


def test_errors_come_largest_first_or_in_order_of_play(match, open_page, tmp_path):
    source, seat, (*_, whole) = match
    first, second, third = whole.deals
    later = [replace(one, loss=9 * one.loss, loss_error=9 * one.loss_error) for one in second]
    whole = replace(whole, deals=(first, tuple(later), third))
    told = watch.to_json(source, whole)
    (tmp_path / "match.html").write_text(watch.page(source, whole), encoding="utf-8")
    page = open_page((tmp_path / "match.html").as_uri())

    def listed() -> list[tuple[int, int]]:
        links = page.locator("#worst ~ .scroll tbody a").all()
        places = [link.get_attribute("href").removeprefix("#").split(".") for link in links]
        return [(int(deal), int(move)) for deal, move in places]

    assert listed() == errors(told, largest_first=True) != errors(told)
    page.click("button.order")
    assert listed() == errors(told)
    page.select_option("#seen", str(seat))
    page.keyboard.press("l")
    for place in errors(told, seat):
        assert at(page) == place
        page.click("#answer")
        page.keyboard.press("Enter")
    page.select_option("#order", "loss")
    assert listed() == errors(told, largest_first=True)


@pytest.mark.parametrize(("wide", "high"), [(1280, 800), (360, 740)])
def test_question_choices_and_board_fit_into_a_window(analysed, open_page, wide, high):
    file, told = analysed
    seat = max(range(4), key=lambda seat: len(errors(told, seat)))
    page = open_page(f"{file.as_uri()}#1.0.{seat}", wide=wide)
    page.set_viewport_size({"width": wide, "height": high})
    page.keyboard.press("l")
    page.click("#guess button >> nth=0")  # the choices of a second tile are there, too
    page.evaluate("scrollTo(0, 0)")
    question, board = (page.locator(part).bounding_box() for part in ("#learning", "#picture"))
    bottom = question["y"] + question["height"]
    assert 0 < question["y"] < bottom <= board["y"]
    assert board["height"] > 280
    assert board["y"] + board["height"] <= high


def test_summaries_codes_and_names_stand_where_a_reader_looks(open_page, tmp_path, analysed):
    file, told = analysed
    page = open_page(file.as_uri())
    for total, text in zip(told["totals"], page.locator("#summaries p").all(), strict=True):
        share = round(100 * total["likeliest"] / total["decisions"])
        shown = f"{share} % of the choices are the first choice of greedy"
        assert shown in text.inner_text()
    codes = page.locator("#moves .code").first
    assert codes.is_hidden()
    page.select_option("#codes", "codes")
    assert codes.is_visible()
    assert page.locator("#players").is_hidden()  # nobody has a name
    source = read(LINE)
    named = replace(source.deals[0], players=("Aoki", "", "のと", ""))
    text = watch.page(replace(source, deals=(named,)))
    (tmp_path / "named.html").write_text(text, encoding="utf-8")
    page = open_page((tmp_path / "named.html").as_uri())
    names = page.locator("#players li").all_inner_texts()
    assert names == ["seat 0 Aoki", "seat 1", "seat 2 のと", "seat 3"]


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
    match, serve, open_page
):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    source, seat, analyses = match
    server, whole = serve(seed=5), analyses[-1]
    list(play_on(server.table, any_move(0), 3))
    background = server.sitting._background = FedBackground()
    server.sitting.analysis()
    assert background.digest == source.digest
    background.sender.send(analyses[0])
    page = open_page(f"{server.link}analysis")
    assert page.inner_text("#progress").startswith("1 of 3 deals are analysed.")
    assert axe.run(page).response["violations"] == []
    assert at(page)[0] == 1
    page.select_option("#deal", "2")
    assert page.inner_text("#judged") == "This deal is not analysed yet."
    told = [watch.to_json(source, one) for one in (analyses[0], whole)]
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
