"""Pages publish the figures of figures.json, and none of their own for them."""

import json
import re

import pytest

from benchmarks import roster
from benchmarks.figures import FIGURES, MENTION, RUNS, figures, filled, pages

KNOWN = figures()


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: page.name)
def test_a_page_shows_the_figures_as_they_were_measured(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text, KNOWN) == text, "run python benchmarks/figures.py"
    # A line that begins with a comment is HTML for a viewer of Markdown, which then shows the rest
    # of the paragraph raw.
    assert re.findall(r"^<!--=.*", text, re.MULTILINE) == []


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: page.name)
def test_a_page_has_no_figure_of_its_own_where_one_was_measured(page):
    text = page.read_text(encoding="utf-8")
    generated = r"<!-- (table|names|code|cells): .*?<!-- end -->"  # from stored results, too
    own = MENTION.sub("", re.sub(generated, "", text, flags=re.DOTALL))
    with_intervals = [one["text"] for one in KNOWN.values() if "[" in one["text"]]
    assert [text for text in with_intervals if text in re.sub(r"\s+", " ", own)] == []


def test_every_figure_comes_from_a_run_that_can_be_played_again():
    runs = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert list(runs) == [name for name in RUNS if name in runs]
    assert {key for run in runs.values() for key in run["figures"]} == {
        key for run in RUNS.values() for key in run.figures
    }


def test_the_page_of_agents_shows_the_stored_tournament():
    args = roster.Args()
    page = args.page.read_text(encoding="utf-8")
    result = roster.read_result(args.result)
    assert roster.refresh(page, roster.shown(result)) == page, "run roster.py --draw"
    for theme in ("light", "dark"):
        picture = args.page.parent / "pictures" / f"strength-{theme}.svg"
        drawn = re.findall("<!-- (.*?) -->", picture.read_text(encoding="utf-8"))
        assert set(result.points(roster.REFERENCE)) < set(drawn)


def test_points_against_an_opponent_are_those_of_either_side_of_a_pair():
    pair = roster.Pair("a", "b", 2.0, (1.0, None), few=False)
    result = roster.Result(
        "", (pair,), tuple(roster.Strength(name, 0.0, (0.0, 0.0), few=False) for name in "ba")
    )
    (against_b,), (against_a,) = (result.points(name).items() for name in "ba")
    assert against_b == ("a", pair.points_of("a"))
    assert against_a == ("b", pair.points_of("b"))
    assert (against_b[1].low, against_b[1].high) == (1.0, float("inf"))
    assert (against_a[1].mean, against_a[1].low, against_a[1].high) == (-2.0, -float("inf"), -1.0)
