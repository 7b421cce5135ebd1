"""Pages publish the figures of figures.json, and none of their own for them."""

import json
import re

import pytest

from benchmarks.figures import FIGURES, MENTION, RUNS, figures, filled, pages

KNOWN = figures()


@pytest.mark.parametrize("page", list(pages()), ids=lambda page: page.name)
def test_a_page_shows_the_figures_as_they_were_measured(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text, KNOWN) == text, "run python benchmarks/figures.py"


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
