"""The analysis page in a browser: what a decision says, losses by key, the graph, seats."""

import json

import pytest

from record_samples import LINE

pytest.importorskip("numba")

from goita_env.tiles import NAMES
from goita_lab.pages import watch
from goita_lab.pages.watch.reading import read

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
    """Deal and move of the agreed errors, in order."""
    return [
        (deal["deal"], one["move"])
        for deal in told["deals"]
        for one in deal["decisions"]
        if one["agreement"] == "agreed" and seat in (None, one["seat"])
    ]


def at(page) -> tuple[int, int]:
    """Deal and move at which a page stands."""
    deal, move, *_ = page.url.partition("#")[2].split(".")
    return int(deal), int(move)


def test_a_decision_shows_its_actions_and_what_the_others_could_know(analysed, open_page):
    file, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["agreement"] == "agreed")
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    assert page.inner_text("#verdict") == f"Move {one['move']}: an error"
    assert " ± " not in page.inner_text("body")
    page.check("#research")
    assert page.inner_text("body").count(" ± ") > len(told["worst"])
    assert f"{one['loss']:.1f} ± {one['loss_error']:.1f} points" in page.inner_text("#judged")
    shown = page.inner_text("#options tr.played")
    assert "played" in shown
    (option,) = (o for o in one["options"] if o["action"] == one["action"])
    assert f"{abs(option['points']):.1f} ± {option['error']:.1f}" in shown
    said = page.locator("#learned li").all_inner_texts()
    for text, place in zip(said, (1, 0, 2), strict=True):  # the partner first
        found = one["knowledge"][place]
        assert f"seat {found['seat']}" in text.partition(":")[0]
        assert f"told {found['information']:.2f} nats" in text
    rows = page.locator("#types tbody tr").all_inner_texts()
    for grade in sorted(one["types"], key=lambda grade: -grade["probability"]):
        row = rows.pop(0)
        assert grade["name"] in row
        assert (f"{grade['loss']:.1f} ± {grade['loss_error']:.1f}" in row) == (grade["loss"] > 0)
        assert ("a clear loss" in row) == (grade["verdict"] == "clear")
    assert rows == []
    assert page.locator("#belief tbody tr").count() == 8
    assert f"gave away {one['open_loss']}" in page.inner_text("#worth") or not one["open_loss"]


def test_no_action_shows_more_points_than_the_best(analysed, open_page, tmp_path):
    _, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["agreement"] == "agreed")
    found = {option["action"]: option for option in one["options"]}
    text = analysed[0].read_text(encoding="utf-8")
    shown = f'"points":{found[one["action"]]["points"]}'
    assert shown in text
    file = tmp_path / "page.html"
    file.write_text(text.replace(shown, '"points":99.0'), encoding="utf-8")
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    assert "best" in page.inner_text("#options tbody tr >> nth=0")
    assert "99" not in page.inner_text("#options")
    assert "–" in page.inner_text("#options tr.played")


def told_of(steps) -> list[str]:
    """A continuation as the page tells it: three passes as one, a share where it is a new one."""
    moves: list[tuple[str, float]] = []
    for step in steps:
        kinds = {"x": "a face-down tile"} | {str(n): name for n, name in enumerate(NAMES, 1)}
        said = "pass" if step["move"] == "p" else " then ".join(map(kinds.get, step["move"]))
        moves.append(
            (f"seat {step['seat']} {said}{' ends the deal' * step['ends']}", step["share"])
        )
        if [text.endswith("pass") for text, _ in moves[-3:]] == [True] * 3:
            moves[-3:] = [("all pass", step["share"])]
    shares = [f" {int(100 * share + 0.5)} %" for _, share in moves]
    new = [
        share if share != last else ""
        for share, last in zip(shares, ["", *shares[:-1]], strict=True)
    ]
    return [f"{text}{share}" for (text, _), share in zip(moves, new, strict=True)]


def test_what_may_follow_an_action_is_told_move_by_move(analysed, open_page):
    file, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["agreement"] == "agreed")
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    page.click("#lines summary")
    followed = {o["action"]: o["continuation"] for o in one["options"] if o["continuation"]}
    lines = page.locator("#lines li").all()
    assert len(lines) == len(followed) > 2
    for line, action in zip(lines, [one["action"], one["best"]], strict=False):
        shown = [" ".join(text.split()) for text in line.locator(".step").all_text_contents()]
        assert shown == told_of(followed[action])
    page.keyboard.press("g")
    assert page.locator("#lines").is_hidden()


def test_a_decision_that_depends_on_the_others_says_on_whom(analysed, open_page):
    file, told = analysed
    page, found = open_page(file.as_uri()), told["depends"]
    assert found
    page.evaluate("document.getElementById('settings').open = true")
    page.check("#research")
    for place in found:
        decisions = told["deals"][place["deal"] - 1]["decisions"]
        (one,) = (each for each in decisions if each["move"] == place["move"])
        page.evaluate(f"location.hash = '#{place['deal']}.{place['move']}'")
        heading = f"Move {one['move']}: depends on who you play with"
        page.wait_for_selector(f"#verdict:text-is('{heading}')")
        said = page.inner_text("#judged").partition("That holds if they play like ")[2]
        lost, fine = (part.strip(".").split("; ") for part in said.split("; not if like "))
        for grade in one["types"]:
            if grade["probability"] > 0.051:
                assert grade["name"] in (lost if grade["verdict"] == "clear" else fine)
    assert page.locator("#depending + p + .scroll tbody tr").count() == len(found)


def test_a_loss_that_the_policy_would_have_made_too_is_said_to_be_no_clear_one(analysed, open_page):
    file, told = analysed
    shared = [
        (deal["deal"], one)
        for deal in told["deals"]
        for one in deal["decisions"]
        if (one["verdict"], one["agreement"]) == ("shared", "fine")
    ]
    assert shared
    page = open_page(file.as_uri())
    for deal, one in shared:
        page.evaluate(f"location.hash = '#{deal}.{one['move']}'")
        heading = f"Move {one['move']}: greedy would have played this, too"
        page.wait_for_selector(f"#verdict:text-is('{heading}')")
        assert "more than sampling explains; but greedy" in page.inner_text("#judged")
        assert "How the others play is the larger uncertainty" in page.inner_text("#sure")


def test_keys_and_buttons_go_from_loss_to_loss(analysed, open_page):
    file, told = analysed
    page, found = open_page(file.as_uri()), errors(told)
    for place in found:
        page.keyboard.press(".")
        assert at(page) == place
    page.keyboard.press(".")
    assert at(page) == found[-1]
    assert page.inner_text("#tour") == "No error after this move."
    page.click("[data-do=before]")
    assert at(page) == found[-2]


def test_the_graph_the_list_and_its_links_lead_to_moves(analysed, open_page):
    file, told = analysed
    page = open_page(file.as_uri())
    box = page.locator("#graph").bounding_box()
    page.click("#graph", position={"x": box["width"] * 0.97, "y": box["height"] / 2})
    assert at(page) == (1, 13)
    page.click("a[href^='#1.']:text('move') >> nth=0")
    place = min((w for w in told["worst"] if w["deal"] == 1), key=told["worst"].index)
    assert at(page) == (1, place["move"])
    marked = page.locator("#moves .lost.agreed").count()
    assert marked == sum(deal == 1 for deal, _ in errors(told)) > 0


def test_no_error_is_denied_in_a_round_that_is_not_analysed(analysed, open_page, tmp_path):
    text = analysed[0].read_text(encoding="utf-8")
    begin, found, rest = text.partition('<script type="application/json" id="data">')
    data, end, rest = rest.partition("</script>")
    data = json.loads(data)
    data["analysis"]["deals"][1] = {}
    file = tmp_path / "page.html"
    file.write_text(f"{begin}{found}{json.dumps(data)}{end}{rest}", encoding="utf-8")
    last = len(data["deals"][0]["moves"])
    page = open_page(f"{file.as_uri()}#1.{last}")
    page.keyboard.press(".")
    assert page.inner_text("#tour") == "No further error is known: not every round is analysed."
    page = open_page(f"{file.as_uri()}#1.0")
    page.keyboard.press(",")
    assert page.inner_text("#tour") == "No error before this move."


def test_what_a_seat_saw_shows_nothing_that_needs_other_hands(analysed, open_page):
    file, told = analysed
    for seat in range(4):
        page = open_page(f"{file.as_uri()}#1.0.{seat}")
        for hidden in (".graph", "#worst", "#sums"):
            assert not page.locator(hidden).is_visible()
        assert page.inner_html("#graph") == ""
        for one in told["deals"][0]["decisions"]:
            page.keyboard.press("ArrowRight")
            assert not page.locator("#knowledge").is_visible()
            assert "hands open makes" not in page.inner_text("#worth")
            if one["seat"] != seat:
                assert page.inner_text("#verdict") == f"Move {one['move']}"
                assert page.inner_text("#options") == page.inner_text("#worth") == ""
            elif one["options"]:
                assert page.locator("#options thead th").count() == 3
                assert "played" in page.inner_text("#options")
        page.keyboard.press("Home")
        for place in errors(told, seat):
            page.keyboard.press(".")
            assert at(page) == place


@pytest.mark.parametrize("wide", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_and_axe_finds_nothing(analysed, open_page, wide, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    file, told = analysed
    page = open_page(file.as_uri(), wide=wide, scheme=scheme)
    for _ in told["deals"][0]["decisions"]:
        page.keyboard.press("ArrowRight")
        assert page.evaluate(OVERFLOW) <= 0
    page.keyboard.press("Home")
    page.keyboard.press(".")
    assert axe.run(page).response["violations"] == []
    page.keyboard.press("v")
    assert axe.run(page).response["violations"] == []


def test_the_board_shows_the_decision_with_what_was_played_and_what_is_best(analysed, open_page):
    file, told = analysed
    one = next(d for d in told["deals"][0]["decisions"] if d["best"] not in (d["action"], "p"))
    page = open_page(f"{file.as_uri()}#1.{one['move']}")
    before = page.inner_html("#picture")
    assert page.inner_text("#said").startswith("before the move: ")
    assert before.count("stroke-dasharray") == 2  # the two tiles of the best
    assert "to move" in page.text_content("#words")
    page.keyboard.press("a")
    assert page.get_attribute("#turn", "aria-pressed") == "true"
    after = page.inner_html("#picture")
    assert "stroke-dasharray" not in after
    assert not page.inner_text("#said").startswith("before the move")
    page.click("#turn")
    assert page.inner_html("#picture") == before
    other = (one["seat"] + 1) % 4  # who does not see the hand
    page.select_option("#seen", str(other))
    assert "stroke-dasharray" not in page.inner_html("#picture")
    page.select_option("#seen", str(one["seat"]))
    assert page.inner_html("#picture").count("stroke-dasharray") == 2


@pytest.mark.parametrize("wide", [360, 1280])
def test_the_verdict_stands_beside_the_board_and_on_a_phone_below_it(analysed, open_page, wide):
    file, _ = analysed
    page = open_page(f"{file.as_uri()}#1.4", wide=wide)
    board, verdict = (page.locator(one).bounding_box() for one in ("#picture", "#verdict"))
    if wide == 360:
        assert 0 < verdict["y"] - (board["y"] + board["height"]) < 260
        assert not page.locator("#seen").is_visible()
        page.click("#settings summary")
    else:
        assert verdict["x"] > board["x"] + board["width"]
    assert page.locator("#seen").is_visible()


def test_a_move_to_be_guessed_is_nowhere_on_the_page(analysed, open_page):
    page = open_page(analysed[0].as_uri())
    page.keyboard.press("g")
    shown = page.inner_text("body")
    number = page.evaluate("Number(location.hash.split('.')[1])")
    assert "to guess" in page.inner_text("#verdict")
    assert page.inner_text("#said").endswith("to move")
    assert not page.locator(f"#moves a[data-move='{number}']").is_visible()
    assert "points lost" not in shown
    assert page.locator("#guess button").count() > 1
    page.locator("#guess button").last.click()
    if page.locator("#guess button").count():
        page.locator("#guess button[data-guess]:not([data-guess^=first])").last.click()
    assert page.inner_text("#score").startswith("1 guessed")
    assert "Played: " in page.inner_text("#asked")
    page.keyboard.press("Enter")
    assert "to guess" in page.inner_text("#verdict")
    page.keyboard.press("h")
    assert page.locator("#guessing").is_hidden()
