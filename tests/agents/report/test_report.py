"""The report: what it shows, both triangles, escaping of anybody's text, whatever is missing."""

import json
import re
from html.parser import HTMLParser

import pytest

from agents import report
from agents.report.data import brief, clean, duration, estimate, interval, read, signed
from agents.report.marks import scale
from agents.report.style import DARK, HEAT_DARK, HEAT_LIGHT, LIGHT, step
from goita_env.errors import SettingError

HOSTILE = "<script>alert(1)</script>|`x`\"'&\x1b[31m\u202e\nnext"
VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}
PARTS = ["ratings", "pairs", "cross", "faults", "episode", "rules", "seed", "deals", "command"]
PARTS += ["versions", "seconds", "agents"]


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
    return {
        "a": a,
        "b": b,
        "deals": 1000,
        "points_per_round": points,
        "ci95": [points - 1, points + 2],
        "round_win_rate": 0.625,
        "round_win_ci95": [0.6, 0.65],
        "ms_per_decision": {a: 0.0021, b: 12.34},
        "rounds_per_second": 21345.6,
        "variance_removed": 0.47,
        "sprt": None,
        "faults": {a: 0, b: 0},
        **more,
    }


def tournament(worst="random", **more):
    sprt = {"llr": 2.97, "decision": "H1", "bounds": [-2.94, 2.94]}
    return {
        "agents": [worst, "greedy", "heuristic"],
        "pairs": [
            pair("greedy", worst, 6.25),
            pair("heuristic", worst, 15.5, sprt=sprt),
            pair("heuristic", "greedy", 0.5, faults={"greedy": 3}),
        ],
        "ratings": [
            {"agent": worst, "elo": 0.0, "ci95": [0.0, 0.0]},
            {"agent": "greedy", "elo": 131.4, "ci95": [120.2, 142.6]},
            {"agent": "heuristic", "elo": 301.9, "ci95": [288.0, 316.0]},
        ],
        "cross": {
            "opponents": worst,
            "cells": [
                {"partners": ["greedy", "greedy"], "points_per_round": 6.25, "ci95": [5, 7]},
                {
                    "partners": ["greedy", "heuristic"],
                    "points_per_round": 9.75,
                    "ci95": [8.5, 11],
                    "deals": 500,
                },
            ],
        },
        "faults": [
            {
                "agent": "greedy",
                "pair": ["heuristic", "greedy"],
                "kind": "timeout",
                "count": 3,
                "stderr": ["Traceback:", "  ValueError"],
            }
        ],
        "episode": "round",
        "rules": "jga",
        "seed": 7,
        "deals": 1000,
        "command": "python evaluate.py --agents random greedy heuristic --seed 7",
        "versions": {"goita_env": "0.1.0", "numpy": "2.4.6"},
        "seconds": 318.2,
        **more,
    }


def crowd(number):
    names = [f"heuristic:pair_lead=off,answer=off,number={n}" for n in range(number)]
    pairs = [pair(a, b, 1.0) for n, a in enumerate(names) for b in names[n + 1 :]]
    return {"agents": names, "pairs": pairs}


# ------------------------------------------------------------------------------------- contents


def test_the_matrix_shows_both_triangles_with_the_sign_turned():
    page = Page(report.html(tournament()))
    rows = {tuple(row) for row in page.rows}
    assert ("heuristic", "·", "+0.50[−0.50, +2.50]", "+15.50[+14.50, +17.50]") in rows
    assert ("random", "−15.50[−17.50, −14.50]", "−6.25[−8.25, −5.25]", "·") in rows
    assert (
        "random against greedy: −6.25 [−8.25, −5.25] points per round, 1,000 deals" in page.titles
    )
    assert (
        "| 3 | `random` | -15.50 [-17.50, -14.50] | -6.25 [-8.25, -5.25] |  |"
        in report.markdown(tournament())
    )
    assert re.search(r"3  random +-15\.5 +-6\.2", report.terminal(tournament()))


def test_ratings_come_the_strongest_first_with_dot_whisker_and_interval():
    page = Page(report.html(tournament()))
    ratings = [row for row in page.rows if row[0] in ("1", "2", "3") and len(row) == 5]
    assert [row[1] for row in ratings] == ["heuristic", "greedy", "random"]
    assert ratings[1] == ["2", "greedy", "", "+131", "[+120, +143]"]
    whiskers = [attrs for tag, attrs in page.tags if attrs.get("class", "").startswith("whisker")]
    assert len(whiskers) == 2 + 3  # random at 0 has no width; and each pair has one
    assert "| 2 | `greedy` | +131 | [+120, +143] |" in report.markdown(tournament())
    assert re.search(r"2  greedy +\+131  \[\+120, \+143\]", report.terminal(tournament()))


def test_a_whisker_lies_where_the_axis_says():
    on = scale([estimate(50, [0, 100])])
    assert on.ticks == (0, 20, 40, 60, 80, 100)
    at = [float(on.at(value).rstrip("%")) for value in (0, 50, 100)]
    assert at[1] == 50
    assert 0 < at[0] < 5
    assert at[0] + at[2] == pytest.approx(100)


def test_all_pairs_have_every_figure():
    page = Page(report.html(tournament()))
    assert [
        "heuristicagainst random",
        "+15.50[+14.50, +17.50]",
        "",
        "62.5 %[60.0, 65.0]",
        "1,000",
        "0.00210 : 12.3",
        "47 %",
        "H1LLR +2.97",
        "21,346",
        "",
    ] in page.rows
    line = next(
        line
        for line in report.terminal(tournament()).split("\n")
        if re.match("heuristic +random", line)
    )
    for figure in ("1,000", "+15.50", "[+14.50, +17.50]", "62.5 % [60.0, 65.0]", "47 %", "21,346"):
        assert figure in line
    assert line.replace("  ", "").endswith("H1, LLR +2.9721,346")


def test_match_wins_have_a_column_where_matches_were_played():
    played = [pair("a", "b", 1.0, match_win_rate=0.75, match_win_ci95=[0.7, 0.8])]
    assert "75.0 %[70.0, 80.0]" in Page(report.html({"pairs": played})).text
    assert "matches won" in report.markdown({"pairs": played})
    assert "matches won" not in report.markdown(tournament()).lower()


def test_partners_in_cross_play_count_both_ways_with_the_same_sign():
    page = Page(report.html(tournament()))
    assert ["heuristic", "·", "+9.75[+8.50, +11.00]"] in page.rows
    assert ["greedy", "+9.75[+8.50, +11.00]", "+6.25[+5.00, +7.00]"] in page.rows
    assert "heuristic with greedy: +9.75 [+8.50, +11.00] points per round, 500 deals" in page.titles
    assert "Against `random`." in report.markdown(tournament())


def test_faults_come_with_the_last_lines_of_standard_error():
    said = [f"line {number}" for number in range(100)]
    fault = {**tournament()["faults"][0], "stderr": said}
    for text in (
        Page(report.html(tournament(faults=[fault]))).text,
        report.markdown(tournament(faults=[fault])),
        report.terminal(tournament(faults=[fault])),
    ):
        assert "timeout" in text
        assert "3 times" in text
        assert "line 99" in text
        assert "line 79\n" not in text
    assert "None: every decision" in report.html(tournament(faults=[], pairs=[]))


def test_what_is_needed_to_repeat_it_stands_in_every_report():
    summary = tournament(block_deals=256)
    for text in (
        Page(report.html(summary)).text,
        report.markdown(summary),
        report.terminal(summary),
    ):
        for part in (
            summary["command"],
            "jga",
            "goita_env 0.1.0, numpy 2.4.6",
            "5 min 18 s",
            "256",
        ):
            assert part in text
        assert re.search(r"[Ss]eed\W*7", text)


def test_the_first_sentence_says_when_the_lead_is_open():
    open_lead = "which leaves open who is the stronger"
    assert open_lead in report.html(tournament())
    assert open_lead not in report.html({"pairs": [pair("a", "b", 6.0)]})


def test_a_pair_of_one_agent_stands_on_the_diagonal():
    same = {"agents": ["a", "a"], "pairs": [pair("a", "a", 0.0)]}
    assert read(same).agents == ("a",)
    assert ["a", "0.00[−1.00, +2.00]"] in Page(report.html(same)).rows


# ------------------------------------------------------------------------- hostile and missing


def test_hostile_names_and_standard_error_are_text_and_nothing_else():
    fault = {"agent": HOSTILE, "pair": [HOSTILE, "a"], "kind": HOSTILE, "stderr": [HOSTILE]}
    summary = tournament(
        HOSTILE,
        faults=[fault],
        command=HOSTILE,
        rules=HOSTILE,
        versions={HOSTILE: HOSTILE},
        **{HOSTILE: HOSTILE},
    )
    page = Page(report.html(summary))
    harmless = {tag for tag, _ in Page(report.html(tournament())).tags} | {"wbr"}
    assert {tag for tag, _ in page.tags} <= harmless
    assert not any(key.startswith("on") for _, attrs in page.tags for key in attrs)
    assert "<script>alert(1)</script>" in page.text
    for text in (report.html(summary), report.markdown(summary), report.terminal(summary)):
        assert not set("\x1b\u202e") & set(text)
    ruler = "|--:|---|--:|--:|--:|"
    matrix = report.markdown(summary).split(ruler)[1].split("\n\n")[0].strip().split("\n")
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in matrix] == [6, 6, 6]
    assert "| 3 | `` <script>alert(1)</script>\\|`x`\"'&� next `` |" in matrix[2]


def test_nothing_in_standard_error_ends_its_block_of_markdown():
    fault = {"agent": "a", "stderr": ["```", "````", "# heading"]}
    text = report.markdown({"faults": [fault]})
    assert "`````text\n```\n````\n# heading\n`````" in text


def test_control_characters_become_visible_and_terminal_escapes_go():
    assert clean("\x1b[1;31mred\x1b[0m\ttab\nnext") == "red\ttab\nnext"
    assert clean("\x1b]0;title\x07a\x00b\udcff\u202e\r") == "a�b���"


@pytest.mark.parametrize("part", PARTS)
def test_any_part_may_be_missing_or_null(part):
    whole = tournament()
    without = {key: value for key, value in whole.items() if key != part}
    for summary in (without, {**whole, part: None}):
        Page(report.html(summary))
        assert report.terminal(summary)
        assert report.markdown(summary)


def test_any_figure_of_a_pair_may_be_missing_or_not_finite():
    whole = tournament()["pairs"][0]
    broken = [{**whole, key: None} for key in whole]
    broken += [{**whole, key: float("nan")} for key in whole if isinstance(whole[key], int | float)]
    broken += [{k: value for k, value in whole.items() if k != key} for key in whole]
    for entry in broken:
        summary = tournament(pairs=[entry])
        Page(report.html(summary))
        for text in (report.terminal(summary), report.markdown(summary)):
            assert "nan" not in text
    bare = {"pairs": [{"a": "x", "b": "y"}]}
    Page(report.html(bare))
    assert "| `x` | `y` |" in report.markdown(bare)


def test_an_empty_summary_gives_empty_reports():
    assert report.terminal({}) == ""
    assert "Goita tournament" in report.markdown({})
    Page(report.html({}))


# ------------------------------------------------------------------------------- the HTML page


@pytest.mark.parametrize("agents", [2, 5, 6, 9, 20])
def test_a_page_is_well_formed_and_needs_nothing_from_outside(agents):
    text = report.html(crowd(agents))
    page = Page(text)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "img", "iframe", "object"})
    links = [attrs[key] for _, attrs in page.tags for key in ("href", "src") if key in attrs]
    ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    assert all(link == "data:," or link.removeprefix("#") in ids for link in links)
    assert "http" not in text.replace("http-equiv", "")
    assert "url(" not in text
    assert "prefers-color-scheme:dark" in text
    assert 'name="viewport"' in text


def test_every_class_of_the_page_has_a_style():
    text = report.html(tournament()) + report.html(crowd(9))
    sheet = text.split("<style>")[1].split("</style>")[0]
    used = {name for _, attrs in Page(text).tags for name in attrs.get("class", "").split()}
    unstyled = {"dot"}  # named for the reader of the source
    assert {name for name in used if f".{name}" not in sheet} <= unstyled


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """WCAG 2.2, "contrast ratio"."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_all_text_has_the_contrast_that_wcag_asks_for():
    for ground, ink in [*HEAT_LIGHT.values(), *HEAT_DARK.values()]:
        assert contrast(ground, ink) >= 4.5, (ground, ink)
    for scheme in (LIGHT, DARK):
        for ink in ("ink", "soft", "blue", "orange"):
            for ground in ("page", "card"):
                assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground)


def test_a_cell_takes_darker_colours_with_more_points_on_both_sides_of_zero():
    assert [step(points) for points in (0, 0.49, 0.5, 1, 2, 5, 10, 20, 90)] == [
        0,
        0,
        *range(1, 7),
        6,
    ]
    assert [step(-points) for points in (0.49, 0.5, 20)] == [0, -1, -6]
    for half in (range(7), range(0, -7, -1)):
        light = [luminance(HEAT_LIGHT[number][0]) for number in half]
        dark = [luminance(HEAT_DARK[number][0]) for number in half]
        assert light == sorted(light, reverse=True)
        assert dark == sorted(dark)


# ------------------------------------------------------------------------------ text and files


def test_columns_of_the_terminal_are_aligned_wide_characters_included():
    lines = report.terminal({"pairs": [pair("ごいた", "b", 1.0), pair("abcdef", "c", 2.0)]}).split(
        "\n"
    )
    first = next(line for line in lines if line.startswith("ごいた"))
    second = next(line for line in lines if line.startswith("abcdef"))
    assert first.index("1,000") + 3 == second.index("1,000")


@pytest.mark.parametrize("columns", ["60", "118", "200"])
def test_rich_tables_keep_every_figure_whatever_the_width(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    text = re.sub(r"\x1b\[[0-9;]*m", "", report.terminal(tournament(), styled=True))
    for figure in ("[+14.50, +17.50]", "62.5 % [60.0, 65.0]", "0.00210 : 12.3", "21,346", "+131"):
        assert figure in text
    assert "[/red]" in report.terminal(tournament("[/red]"), styled=True)


def test_figures_are_short_and_never_a_signed_zero():
    assert [signed(value) for value in (-0.001, 0.0, 1234.5, -0.5)] == [
        "0.00",
        "0.00",
        "+1,234.50",
        "-0.50",
    ]
    assert [brief(value) for value in (0, 0.00210, 12.34, 21345.6, None)] == [
        "0", "0.00210", "12.3", "21,346", "",
    ]  # fmt: skip
    assert [duration(value) for value in (2.5, 318.2, 7260)] == [
        "2.50 s",
        "5 min 18 s",
        "2 h 1 min",
    ]
    assert interval(estimate(1, None)) == ""
    assert estimate(1, [0, 3], 5).turned() == estimate(-1, [-3, 0], 5)


@pytest.mark.parametrize("suffix", [".md", ".html", ".json", ".HTML"])
def test_a_report_is_written_as_its_suffix_says(suffix, tmp_path):
    path = tmp_path / f"report{suffix}"
    report.write(tournament(HOSTILE + "\udcff", seconds=float("inf")), path)
    text = path.read_text(encoding="utf-8")
    if suffix == ".json":
        assert json.loads(text)["seconds"] is None
        assert json.loads(text)["agents"][1:] == ["greedy", "heuristic"]
    else:
        assert text.startswith("# Goita" if suffix == ".md" else "<!DOCTYPE html>")


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(SettingError, match=r"\.md, \.html, \.json, got .*report\.pdf"):
        report.write(tournament(), tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_the_readme_gets_a_new_table_and_keeps_everything_else():
    readme = "# Title\n<!-- benchmark:start -->\nold\n<!-- benchmark:end -->\nrest\n"
    once = report.refresh(readme, report.benchmark(tournament()))
    assert once.startswith("# Title\n<!-- benchmark:start -->\n\n|  | agent | Elo |")
    assert once.endswith("|\n\n<!-- benchmark:end -->\nrest\n")
    assert report.refresh(once, report.benchmark(tournament())) == once
    other = readme.replace("benchmark:", "switches:")
    assert report.refresh(other, "new", "switches").split("\n")[1:6] == [
        "<!-- switches:start -->", "", "new", "", "<!-- switches:end -->",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "readme",
    [
        "nothing",
        "<!-- benchmark:start -->",
        "<!-- benchmark:end --> <!-- benchmark:start -->",
        "<!-- benchmark:start --> <!-- benchmark:end --> <!-- benchmark:end -->",
    ],
)
def test_a_readme_without_both_comments_once_is_refused(readme):
    with pytest.raises(SettingError, match="benchmark:start"):
        report.refresh(readme, "table")
    with pytest.raises(SettingError, match="without"):
        report.refresh("<!-- benchmark:start --><!-- benchmark:end -->", "<!-- benchmark:end -->")


def test_a_forfeit_is_told_with_its_fault():
    pair = {"a": "one", "b": "two", "deals": 60, "points_per_round": -3.0, "ci95": [-4, -2]}
    told = {"agent": "two", "pair": ["one", "two"], "kind": "late", "count": 10, "stderr": []}
    found = {"agents": ["one", "two"], "pairs": [pair], "faults": [told]}
    for write in (report.terminal, report.markdown, report.html):
        assert "forfeited" not in write(found)
        lost = found | {"pairs": [pair | {"forfeited": ["two"]}]}
        assert "10 times; it forfeited the pairing" in write(lost)
