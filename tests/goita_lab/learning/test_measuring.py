"""The learning curve of strength: what is measured, kept and drawn."""

import numpy as np
import pytest

from goita_agents.registry import load_agent
from goita_lab.arena.statistics.intervals import over_runs
from goita_lab.commands import plot
from goita_lab.learning.measuring import MAX_SNAPSHOTS, PAST_SNAPSHOT, Evaluator, History, Measured


def row(decisions, opponent, points, won=None):
    trained = decisions * 3 // 4 if opponent == PAST_SNAPSHOT else None
    low, high = points - 1.5, points + 1.25
    return Measured(decisions, opponent, trained, 8, points, low, high, 0.5, won)


def test_the_best_snapshot_has_the_highest_mean_against_the_named_opponents():
    assert History().best() is None
    history = History()
    for decisions, greedy, heuristic in ((100, 8.0, -4.0), (200, 12.0, 2.0), (300, 13.0, 0.5)):
        history.rows += [row(decisions, "greedy", greedy), row(decisions, "heuristic", heuristic)]
        history.rows.append(row(decisions, PAST_SNAPSHOT, decisions))  # its own past doesn't count
    assert history.best() == 200
    history.rows += [row(400, "greedy", 14.0), row(400, "heuristic", 0.0)]
    assert history.best() == 400  # of equals the later one
    # Where matches are learnt, the best wins most of them.
    history = History([row(100, "greedy", 9.0, won=0.6), row(200, "greedy", 8.0, won=0.7)])
    assert history.best() == 200


def test_the_past_is_the_earlier_snapshot_nearest_to_three_quarters():
    history = History(snapshots=[0, 100, 200, 300, 400])
    assert [history.past(n) for n in (0, 100, 350, 400, 500)] == [None, 0, 300, 300, 400]


def test_the_number_of_snapshots_is_bounded_and_the_best_and_latest_stay():
    history = History([row(300, "greedy", 50.0)])
    for decisions in range(0, 100 * 300, 100):
        history.add_snapshot(decisions)
        kept = history.snapshots
        assert len(kept) <= MAX_SNAPSHOTS
        assert kept == sorted(set(kept))
        assert kept[-1] == decisions
        assert decisions < 300 or 300 in kept
        past = history.past(decisions)
        assert past is None or abs(past - 0.75 * decisions) <= max(100, decisions / 8)


def test_a_measurement_is_the_same_whenever_it_is_made_and_says_how_sure_it_is():
    measuring = Evaluator(("random", "greedy"), deals=12, seed=5)
    agent, past = load_agent("heuristic"), load_agent("greedy")
    rows = measuring.measure(1000, agent, (700, past))
    assert rows == measuring.measure(1000, agent, (700, past))
    against = [(one.opponent, one.opponent_decisions) for one in rows]
    assert against == [("random", None), ("greedy", None), (PAST_SNAPSHOT, 700)]
    assert all(one.low <= one.points_per_round <= one.high for one in rows)
    assert rows[1].points_per_round == rows[2].points_per_round  # the same deals and players
    assert "own snapshot at 700" in rows[2].text
    assert Evaluator((), deals=0, seed=5).measure(1000, agent, None) == []


def test_the_curves_of_runs_are_drawn_together(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "empty"):
        (tmp_path / name).mkdir()
        rows = [row(d, o, d / 10) for d in (0, 50, 100) for o in (r"$\frac$", PAST_SNAPSHOT)]
        history = History(rows if name != "empty" else [])
        (tmp_path / name / "strength.csv").write_bytes(history.csv())
    drawn = []
    for runs in (["one", "two"], ["one"], ["one", "two"]):
        assert plot.main([*runs, "-o", "c.svg"]) == 0
        drawn.append((tmp_path / "c.svg").read_bytes())
    assert drawn[0] == drawn[2] != drawn[1]
    assert drawn[0].startswith(b"<?xml")
    for wrong in ("three", "empty"):
        with pytest.raises(SystemExit, match="2"):
            plot.main([wrong])
        assert wrong in capsys.readouterr().err


def test_runs_of_several_seeds_are_one_curve_with_an_interval_over_runs():
    runs = {
        f"runs/a-{seed}": {"greedy": np.array([[0, 100 + seed], [0, seed], [0, 0], [9, 9]], float)}
        for seed in (1, 2, 3)
    }
    ((name, curves),) = plot.averaged(runs).items()
    assert name == "a, mean of 3 runs"
    decisions, mean, low, high = curves["greedy"]
    assert decisions.tolist() == [0, 101]
    ends = [1, 2 * 101 / 102, 3 * 101 / 103]  # at 101 decisions, the end of the shortest run
    interval = over_runs(ends)
    assert [mean[1], low[1], high[1]] == pytest.approx([interval.mean, interval.low, interval.high])
    two = plot.averaged({run: runs[run] for run in ("runs/a-1", "runs/a-2")} | {"runs/b": {}})
    assert list(two) == ["a-1", "a-2", "b"]
