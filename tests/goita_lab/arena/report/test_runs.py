"""Runs that differ by their seed are put together, in every command that scores agents."""

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

from goita_lab.arena.report.runs import group_runs, opponents_runs_tables, runs_tables
from goita_lab.arena.statistics.intervals import over_runs, runs_difference
from goita_lab.commands import coordination, evaluate, exact

SPECS = ("population:selfplay-0", "population:selfplay-1", "population:selfplay-2")


def test_runs_are_named_by_a_final_number():
    names = ["runs/a-1", "runs/a-2/", "runs/b-1", "greedy", "c-1-1", "c-1-2", "a-3"]
    assert group_runs(names) == {"runs/a": ["runs/a-1", "runs/a-2/"], "c-1": ["c-1-1", "c-1-2"]}
    assert runs_tables("points", {"a-1": 1.0, "greedy": 2.0}) == []


@pytest.mark.parametrize("sizes", [(2, 3), (5, 3), (4, 4)])
def test_intervals_over_runs_are_students_and_welchs(sizes):
    rng = np.random.default_rng(7)
    first, second = (rng.normal(size=size) for size in sizes)
    mean, difference = over_runs(first), runs_difference(first, second)
    expected = t.interval(0.95, len(first) - 1, first.mean(), first.std(ddof=1) / len(first) ** 0.5)
    assert (mean.low, mean.high) == pytest.approx(expected)
    welch = ttest_ind(first, second, equal_var=False).confidence_interval()
    assert (difference.low, difference.high) == pytest.approx(tuple(welch))
    assert mean.few == (sizes[0] == 2)
    assert difference.few == (2 in sizes)


def test_runs_that_are_all_equal_have_no_width():
    difference = runs_difference([1.0, 1.0, 1.0], [0.5, 0.5, 0.5])
    assert (difference.mean, difference.low, difference.high) == (0.5, 0.5, 0.5)


def test_a_tournament_shows_means_over_runs_against_everybody_else(capsys):
    args = evaluate.Args(agents=(*SPECS, "greedy", "random"), deals=8)
    code, summary = evaluate.run(args, "goita evaluate")
    assert code == 0
    tables = opponents_runs_tables(summary)
    assert {table.against for table in tables} == {"greedy", "random"}
    table = next(table for table in tables if table.against == "greedy")
    points = [pair.points_per_round for pair in summary.pairs if pair.b == "greedy"][:3]
    assert table.rows[0][:2] == ("population:selfplay", "3")
    assert table.rows[0][2].startswith(f"{np.mean(points):+.2f} [")
    assert capsys.readouterr().out.count("Means over runs") == 2


@pytest.mark.slow
def test_the_other_commands_show_them_too(capsys):
    assert exact.main(["mini_3", "--agents", *SPECS[:2], "greedy"]) == 0
    assert coordination.main([*SPECS[:2], "--rules", "mini_3"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Means over runs") == 2
    assert shown.count("population:selfplay  ") >= 2
