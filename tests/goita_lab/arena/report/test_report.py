"""The report: what it shows, both triangles, escaping of anybody's text, whatever is missing."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from drawings import contrast, luminance
from goita_env.information import PLAIN
from goita_env.rules import JGA, Rules
from goita_lab.arena import report
from goita_lab.arena.report import tables
from goita_lab.arena.report.figures import brief, clean, duration, interval, signed
from goita_lab.arena.report.tables import strongest_first
from goita_lab.arena.report.to_html import STEPS, Scale, legend, step
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.statistics.ratings import Rating
from goita_lab.arena.statistics.sequential_test import Verdict
from goita_lab.arena.tournament.summary import CrossCell, CrossPlay, FaultCount, PairResult, Summary

HOSTILE = "<script>alert(1)</script>|`x`\"'&\x1b[31m\u202e\nnext"
CSS = Path(report.__file__).with_name("templates") / "page.css"
VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}


class Page(HTMLParser):
    """Reads a page, checks that its tags balance, and keeps tags, text and cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.rows, self.titles = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.titles.append(dict(attrs).get("title"))
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
        "sources": {},
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


def test_the_matrix_shows_both_triangles_with_the_sign_turned():
    page = Page(report.html(tournament()))
    rows = {tuple(row) for row in page.rows}
    assert ("heuristic", "·", "+0.50[−0.50, +2.50]", "+15.50[+14.50, +17.50]") in rows
    assert ("random", "−15.50[−17.50, −14.50]", "−6.25[−8.25, −5.25]", "·") in rows
    of_one_agent = of_pairs(pair("a", "a", 0.0))
    assert ["a", "0.00[−1.00, +2.00]"] in Page(report.html(of_one_agent)).rows
    assert (
        "random against greedy: −6.25 [−8.25, −5.25] points per round, 1,000 deals" in page.titles
    )
    row = ["3", "random", "-15.50 [-17.50, -14.50]", "-6.25 [-8.25, -5.25]", ""]
    assert row in table_rows(tournament())
    assert re.search(r"3  random +-15\.5 +-6\.2", report.terminal(tournament()))


def test_ratings_come_the_strongest_first_with_dot_whisker_and_interval():
    page = Page(report.html(tournament()))
    ratings = [row for row in page.rows if row[0] in ("1", "2", "3") and len(row) == 5]
    assert [row[1] for row in ratings] == ["heuristic", "greedylate 3×", "random"]
    assert ratings[0] == ["1", "heuristic", "", "+302", "[+288, +316]"]
    whiskers = [attrs for tag, attrs in page.tags if attrs.get("class", "").startswith("whisker")]
    assert len(whiskers) == 2 + 3  # random at 0 has no width; and each pair has one
    row = ["2", "greedy", "+131", "[+120, +143]", "late 3×"]
    assert row in table_rows(tournament())
    assert re.search(r"2  greedy +\+131  \[\+120, \+143\]", report.terminal(tournament()))


def test_a_whisker_lies_where_the_axis_says():
    on = Scale.of([Interval(50, 0, 100)])
    assert on.ticks == (0, 20, 40, 60, 80, 100)
    at = [float(on.at(value).rstrip("%")) for value in (0, 50, 100)]
    assert at[1] == 50
    assert 0 < at[0] < 5
    assert at[0] + at[2] == pytest.approx(100)


def test_all_pairs_have_every_figure():
    page = Page(report.html(tournament()))
    row = ["heuristicagainst random", "+15.50[+14.50, +17.50]", "", "62.5 %[60.0, 65.0]", "1,000"]
    assert [*row, "0.00210 : 12.3", "H1LLR +2.97", ""] in page.rows
    told = re.findall(
        "^heuristic against random\n.*\n.*", report.terminal(tournament()), re.MULTILINE
    )
    for figure in ("1,000", "+15.50", "[+14.50, +17.50]", "62.5 % [60.0, 65.0]", "H1, LLR +2.97"):
        assert figure in told[0]


def test_match_wins_have_a_column_where_matches_were_played():
    played = of_pairs(pair("a", "b", 1.0, match_win_rate=0.75, match_win_ci95=(0.7, 0.8)))
    assert "75.0 %[70.0, 80.0]" in Page(report.html(played)).text
    assert "matches won" in report.terminal(played)
    assert "matches won" not in report.terminal(tournament()).lower()


def test_partners_in_cross_play_count_both_ways_with_the_same_sign():
    page = Page(report.html(tournament()))
    assert ["heuristic", "·", "+9.75[+8.50, +11.00]"] in page.rows
    assert ["greedy", "+9.75[+8.50, +11.00]", "+6.25[+5.00, +7.00]"] in page.rows
    assert "heuristic with greedy: +9.75 [+8.50, +11.00] points per round, 500 deals" in page.titles
    assert ", against random" in report.terminal(tournament())


def test_a_page_says_in_words_who_is_ahead():
    page = Page(report.html(tournament()))
    points = "Against greedy, the second, it makes +0.50 [−0.50, +2.50] points per round"
    told = f"heuristic has the highest Elo: +302 [+288, +316]. {points}, so it is open which"
    assert told in page.text
    clear = (pair("heuristic", "greedy", 5.0), *tournament().pairs[:2])
    page = Page(report.html(tournament(pairs=clear)))
    assert "it makes +5.00 [+4.00, +7.00] points per round." in page.text
    unmet = Page(report.html(tournament(pairs=tournament().pairs[:2])))
    assert "has the highest Elo: +302 [+288, +316]." in unmet.text
    assert "the second" not in unmet.text
    for summary in (tournament(ratings=()), of_pairs(pair("a", "a", 0.0))):
        assert "lead" not in {attrs.get("class") for _, attrs in Page(report.html(summary)).tags}


def test_pairings_of_cross_play_are_counted_and_named():
    text = Page(report.html(tournament())).text
    assert "Pairings52 in cross-play" in text
    assert "2 pairings: points per round of row and column as partners against random" in text
    assert "For the 2 pairings of cross-play see Cross-play." in text
    without = Page(report.html(tournament(cross=None))).text
    assert "Pairings3Deals" in without
    assert "cross-play" not in without.lower()


def test_the_contents_lead_to_every_section():
    page = Page(report.html(tournament()))
    sections = [f"#{attrs['id']}" for tag, attrs in page.tags if tag == "section" and attrs]
    assert [attrs["href"] for tag, attrs in page.tags if tag == "a"][: len(sections)] == sections
    assert "#ratings" in sections


def test_faults_come_with_the_last_lines_of_standard_error():
    fault = replace(FAULT, stderr=tuple(f"line {number}" for number in range(100)))
    for text in texts(tournament(faults=(fault,))):
        assert all(part in text for part in ("late", "3 times", "expected\n", "line 99"))
        assert "line 79\n" not in text
    assert "None: every decision" in report.html(tournament(faults=()))


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


def test_a_tournament_of_which_nothing_was_rated_has_no_empty_parts():
    bare = of_pairs(pair("x", "y", 1.0))
    page = Page(report.html(bare))
    assert not {"Ratings", "Cross-play"} & set(page.texts)
    assert report.terminal(bare).startswith("Pairs")
    assert report.pairs(bare.pairs) in report.terminal(bare)
    assert report.pairs([]) == ""


@pytest.mark.parametrize("agents", [2, 5, 6, 9, 20])
def test_a_page_is_well_formed_and_needs_nothing_from_outside(agents):
    text = report.html(crowd(agents))
    page = Page(text)
    assert {tag for tag, _ in page.tags}.isdisjoint({"img", "iframe", "object"})
    assert "<script" not in text
    links = [attrs[key] for _, attrs in page.tags for key in ("href", "src") if key in attrs]
    ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    assert all(link == "data:," or link.removeprefix("#") in ids for link in links)
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in text
    assert "prefers-color-scheme:dark" in text
    assert 'name="viewport"' in text


def schemes():
    """The colours of the style sheet by name, for light and for dark."""
    roots = re.findall(r":root\{(.*?)\}", CSS.read_text(), re.DOTALL)
    return [dict(re.findall(r"--(\w+):(#\w{6})", root)) for root in roots]


def test_all_text_has_the_contrast_that_wcag_asks_for():
    light, dark = schemes()
    assert light.keys() == dark.keys()
    for scheme in (light, dark):
        for name, _ in legend():
            assert contrast(scheme[name], scheme[f"{name}i"]) >= 4.5, name
        for ink in ("ink", "soft", "blue", "orange"):
            for ground in ("page", "card"):
                assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)


def test_a_cell_takes_stronger_colours_with_more_points_on_both_sides_of_zero():
    points = (0, 0.49, 0.5, 1, 2, 5, 10, 20, 90)
    wanted = ["p0", "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p6"]
    assert [step(value) for value in points] == wanted
    assert [step(-value) for value in (0.49, 0.5, 20)] == ["p0", "m1", "m6"]
    light, dark = schemes()
    for side in "pm":
        names = ["p0", *(f"{side}{number}" for number in range(1, len(STEPS) + 1))]
        for scheme, sign in ((light, -1), (dark, 1)):
            brightness = [sign * luminance(scheme[name]) for name in names]
            assert brightness == sorted(brightness)


@pytest.mark.parametrize("styled", [False, True])
@pytest.mark.parametrize("columns", ["60", "80", "118", "200"])
def test_tables_keep_every_figure_and_the_width_whatever_it_is(columns, styled, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    text = report.terminal(tournament(), styled=styled)
    assert ("\x1b[" in text) == styled
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    tables = text.split("\n\nfault: ")[0]
    assert max(map(len, tables.split("\n"))) <= int(columns)
    for figure in ("[+14.50, +17.50]", "62.5 % [60.0, 65.0]", "0.00210 : 12.3", "+131"):
        assert figure in text
    assert "[/red]" in report.terminal(tournament("[/red]"), styled=styled)


def test_six_agents_with_long_names_fit_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ["file:runs/measure/policy.safetensors", "rollout:base=heuristic,worlds=64", *"abcd"]
    pairs = [pair(a, b, 19.5) for n, a in enumerate(names) for b in names[n + 1 :]]
    elo = tuple(Rating(name, 1000.0, (900.0, 1100.0)) for name in names)
    text = report.terminal(of_pairs(*pairs, ratings=elo))
    assert max(map(len, text.split("\n\npython")[0].split("\n"))) <= 80
    assert f"{names[0]} against {names[1]}\n    deals: 1,000   points per round: +19.50" in text


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
    assert any(row[:2] == ["2", f"greedy{note}"] for row in Page(report.html(summary)).rows)
    for text in (report.terminal(summary), Page(report.html(summary)).text):
        assert "greedy against heuristic: crashed, 10 times; it forfeited the pairing" in text
        assert "random in greedy with random against heuristic: late, 3 times" in text
    assert summary.failed()
    assert tournament(faults=(again,)).failed()
    assert not tournament().failed()


def test_who_forfeited_stands_below_the_others_without_a_rank():
    ratings = tournament().ratings
    last = replace(ratings[0], ranked=False)
    lost = replace(FAULT, agent="heuristic", kind="died", count=10, forfeited=True)
    summary = tournament(ratings=(*ratings[1:], last), faults=(lost,))
    assert strongest_first(summary) == ["greedy", "random", "heuristic"]
    assert ["-", "heuristic"] in [row[:2] for row in table_rows(summary)]
    assert re.search(r"- +heuristic", report.terminal(summary))
    ranks = [row[0] for row in Page(report.html(summary)).rows if len(row) == 5]
    assert ranks[1:4] == ["1", "2", "-"]
