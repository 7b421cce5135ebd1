"""The report: what it shows, both triangles, escaping of anybody's text, whatever is missing."""

import re
import sys
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from goita_env.information import PLAIN
from goita_env.rules import JGA, Rules
from goita_lab.arena import report
from goita_lab.arena.report import tables
from goita_lab.arena.report.figures import brief, clean, duration, interval, signed
from goita_lab.arena.report.tables import strongest_first
from goita_lab.arena.report.to_html import Scale
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.statistics.ratings import Rating
from goita_lab.arena.statistics.sequential_test import Verdict
from goita_lab.arena.tournament.summary import (
    CrossCell,
    CrossPlay,
    FaultCount,
    PairResult,
    Summary,
    failed,
)

HOSTILE = "<script>alert(1)</script>|`x`\"'&\x1b[31m\u202e\nnext"
VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}


class Page(HTMLParser):
    """Reads a page, checks that its tags balance, and keeps tags, text and cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.rows = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def text(self):
        return "".join(self.texts)


def pair(a, b, points, **more):
    given = {
        "deals": 1000, "ci95": (points - 1, points + 2), "variance_removed": 0.47,
        "round_win_rate": 0.625, "round_win_ci95": (0.6, 0.65),
        "ms_per_decision": {a: 0.0021, b: 12.34}, "rounds_per_second": 21345.6,
    }  # fmt: skip
    return PairResult(a, b, points_per_round=points, **given | more)


FAULT = FaultCount(
    "greedy", ("heuristic", "greedy"), "late", 3, "expected", ("Traceback:", "  ValueError")
)


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch):
    """Removes the width of tables that the environment may set."""
    monkeypatch.delenv("COLUMNS", raising=False)


def tournament(worst="random", **more):
    sprt = Verdict(2.97, "H1", (-2.94, 2.94), (0, 1.5), 1000)
    given = {
        "agents": (worst, "greedy", "heuristic"),
        "pairs": (
            pair("greedy", worst, 6.25),
            pair("heuristic", worst, 15.5, sprt=sprt),
            pair("heuristic", "greedy", 0.5, faults={"greedy": 3}),
        ),
        "ratings": (
            Rating("heuristic", 301.9, (288.0, 316.0)),
            Rating("greedy", 131.4, (120.2, 142.6)),
            Rating(worst, 0.0, (0.0, 0.0)),
        ),
        "cross": CrossPlay(
            worst,
            (
                CrossCell(("greedy", "greedy"), 6.25, (5, 7), 1000),
                CrossCell(("greedy", "heuristic"), 9.75, (8.5, 11), 500),
            ),
        ),
        "faults": (FAULT,),
        "episode": "round",
        "rules": JGA,
        "information": PLAIN,
        "digests": {},
        "changed": [],
        "seed": 7,
        "deals": 1000,
        "block_deals": 256,
        "command": "python evaluate.py --agents random greedy heuristic --seed 7",
        "versions": {"goita_env": "0.1.0", "numpy": "2.4.6"},
        "weights": {},
        "seconds": 318.2,
    }
    return Summary(**given | more)


def of_pairs(*pairs, **more):
    """A tournament of these pairs alone."""
    agents = tuple(dict.fromkeys(name for one in pairs for name in (one.a, one.b)))
    nothing = {"ratings": (), "cross": None, "faults": ()}
    return tournament(**{"agents": agents, "pairs": pairs, **nothing, **more})


def crowd(number):
    names = [f"heuristic:pair_lead=off,answer=off,number={n}" for n in range(number)]
    return of_pairs(*(pair(a, b, 1.0) for n, a in enumerate(names) for b in names[n + 1 :]))


def texts(summary):
    """The text of a report in its two forms."""
    yield Page(report.html(summary)).text
    yield report.terminal(summary)


def table_rows(summary):
    """The rows of all tables of a report, as text."""
    matrix = tables.matrix_table(summary, bounds=True)
    return [list(row) for table in tables.tables(summary, matrix) for row in table.rows]


def test_the_tables_of_both_forms_have_every_figure():
    rows = table_rows(tournament())
    for row in (
        ["2", "greedy", "+131", "[+120, +143]", "late 3×"],
        # Both triangles, the sign turned.
        ["1", "heuristic", "", "+0.50 [-0.50, +2.50]", "+15.50 [+14.50, +17.50]"],
        ["3", "random", "-15.50 [-17.50, -14.50]", "-6.25 [-8.25, -5.25]", ""],
        # Partners count both ways with the same sign.
        ["1", "heuristic", "", "+9.75 [+8.50, +11.00]"],
        ["2", "greedy", "+9.75 [+8.50, +11.00]", "+6.25 [+5.00, +7.00]"],
        [
            *("heuristic", "random", "1,000", "+15.50", "[+14.50, +17.50]"),
            *("62.5 % [60.0, 65.0]", "0.00210 : 12.3", "H1, LLR +2.97", ""),
        ],
    ):
        assert row in rows
    page = Page(report.html(tournament())).rows
    assert all([cell.replace("-", "−") for cell in row] in page for row in rows)
    text = report.terminal(tournament())
    assert re.search(r"3  random +-15\.5 +-6\.2", text)
    assert re.search(r"2  greedy +\+131  \[\+120, \+143\]", text)
    assert ", against random" in text
    told = re.findall("^heuristic against random\n.*\n.*", text, re.MULTILINE)
    assert all(figure in told[0] for figure in ("1,000", "62.5 % [60.0, 65.0]", "H1, LLR +2.97"))


def test_columns_and_tables_without_a_figure_are_left_out():
    played = of_pairs(pair("a", "b", 1.0, match_win_rate=0.75, match_win_ci95=(0.7, 0.8)))
    for text in texts(played):
        assert "75.0 % [70.0, 80.0]" in text
    assert "matches won" not in report.terminal(tournament()).lower()
    bare = of_pairs(pair("x", "y", 1.0))
    assert not {"Ratings", "Cross-play"} & set(Page(report.html(bare)).texts)
    assert report.terminal(bare).startswith("Pairs")
    assert report.pairs(bare.pairs) in report.terminal(bare)
    assert report.pairs([]) == ""


def test_the_columns_of_names_are_the_first_one_or_those_that_are_named():
    row = {"points": "+1", "agent": "a"}
    table = tables.Table.of("T", [row], agents=("agent",))
    assert (table.columns, table.rows, table.agents) == (
        ("points", "agent"),
        (("+1", "a"),),
        ("agent",),
    )
    assert tables.Table.of("T", [row]).agents == ("points",)


def test_the_chart_has_a_dot_and_a_whisker_for_each_rating():
    tags = [(tag, attrs.get("class")) for tag, attrs in Page(report.html(tournament())).tags]
    assert tags.count(("circle", None)) == 3
    assert tags.count(("line", "whisker")) == 2  # random at 0 has no width


def test_faults_come_with_the_last_lines_of_standard_error():
    fault = replace(FAULT, stderr=tuple(f"line {number}" for number in range(100)))
    for text in texts(tournament(faults=(fault,))):
        assert all(part in text for part in ("late", "3 times", "expected\n", "line 99"))
        assert "line 79\n" not in text
    assert "None: every decision" in report.html(tournament(faults=()))


def test_a_whisker_lies_where_the_axis_says():
    on = Scale.of([Interval(50, 0, 100)])
    assert on.ticks == (0, 20, 40, 60, 80, 100)
    at = [float(on.at(value).rstrip("%")) for value in (0, 50, 100)]
    assert at[1] == 50
    assert 0 < at[0] < 5
    assert at[0] + at[2] == pytest.approx(100)


def test_what_is_needed_to_repeat_it_stands_in_every_report():
    summary = tournament()
    parts = (summary.command, "jga", "goita_env 0.1.0, numpy 2.4.6", "5 min 18 s", "256")
    for text in texts(summary):
        assert all(part in text for part in parts)
        assert re.search(r"[Ss]eed\W*7", text)


def test_hostile_names_and_standard_error_are_text_and_nothing_else():
    fault = FaultCount(HOSTILE, (HOSTILE, "a"), "late", 1, HOSTILE, (HOSTILE,))
    summary = tournament(
        HOSTILE,
        faults=(fault,),
        command=HOSTILE,
        rules=Rules(name=HOSTILE),
        versions={HOSTILE: HOSTILE},
    )
    page = Page(report.html(summary))
    harmless = {tag for tag, _ in Page(report.html(tournament())).tags} | {"wbr"}
    assert {tag for tag, _ in page.tags} <= harmless
    assert not any(key.startswith("on") for _, attrs in page.tags for key in attrs)
    assert "<script>alert(1)</script>" in page.text
    for text in (report.html(summary), report.terminal(summary)):
        assert not set("\x1b\u202e") & set(text)


def test_control_characters_become_visible_and_terminal_escapes_go():
    assert clean("\x1b[1;31mred\x1b[0m\ttab\nnext") == "red\ttab\nnext"
    assert clean("\x1b]0;title\x07a\x00b\udcff\u202e\r") == "a�b���"


@pytest.mark.parametrize("agents", [2, 20])
def test_a_page_is_well_formed_and_needs_nothing_from_outside(agents):
    text = report.html(crowd(agents))
    page = Page(text)
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "iframe", "object"})
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    links = [attrs[key] for _, attrs in page.tags for key in ("href", "src") if key in attrs]
    ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    assert all(link == "data:," or link.removeprefix("#") in ids for link in links)
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text
    assert "prefers-color-scheme:dark" in text
    assert 'name="viewport"' in text


@pytest.mark.parametrize("styled", [False, True])
@pytest.mark.parametrize("columns", ["60", "80", "118", "200"])
def test_tables_keep_every_figure_and_the_width_whatever_it_is(columns, styled, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: styled)
    text = report.terminal(tournament())
    assert ("\x1b[" in text) == styled
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    tables = text.split("\n\nfault: ")[0]
    assert max(map(len, tables.split("\n"))) <= int(columns)
    for figure in ("[+14.50, +17.50]", "62.5 % [60.0, 65.0]", "0.00210 : 12.3", "+131"):
        assert figure in text
    assert "[/red]" in report.terminal(tournament("[/red]"))


def test_figures_are_short_and_never_a_signed_zero():
    for write, values, written in (
        (signed, (-0.001, 0.0, 1234.5, -0.5), ["0.00", "0.00", "+1,234.50", "-0.50"]),
        (brief, (0, 0.00210, 12.34, 21345.6), ["0", "0.00210", "12.3", "21,346"]),
        (duration, (2.5, 318.2, 7260), ["2.50 s", "5 min 18 s", "2 h 1 min"]),
    ):
        assert [write(value) for value in values] == written
    assert interval(Interval(1, -0.001, 3)) == "[0.00, +3.00]"


def test_what_went_wrong_stands_beside_the_rating_and_with_the_fault():
    lost = replace(FAULT, kind="died", count=10, forfeited=True)
    again = replace(lost, pair=("greedy", "random"), kind="hello", count=1_200, forfeited=True)
    late = replace(FAULT, agent="random", pair=("greedy", "random", "heuristic"))
    summary = tournament(faults=(lost, again, late))
    note = "forfeited 2 pairings, crashed 10×, did not start 1,200×"
    assert ["2", "greedy", "+131", "[+120, +143]", note] in table_rows(summary)
    assert note[:22] in report.terminal(summary)
    for text in (report.terminal(summary), Page(report.html(summary)).text):
        assert "greedy against heuristic: crashed, 10 times; it forfeited the pairing" in text
        assert "random in greedy with random against heuristic: late, 3 times" in text
    assert failed(summary.faults)
    assert failed((again,))
    assert not failed(tournament().faults)


def test_who_forfeited_stands_below_the_others_without_a_rank():
    ratings = tournament().ratings
    last = replace(ratings[0], ranked=False)
    lost = replace(FAULT, agent="heuristic", kind="died", count=10, forfeited=True)
    summary = tournament(ratings=(*ratings[1:], last), faults=(lost,))
    assert strongest_first(summary) == ["greedy", "random", "heuristic"]
    assert ["-", "heuristic"] in [row[:2] for row in table_rows(summary)]
    assert re.search(r"- +heuristic", report.terminal(summary))
