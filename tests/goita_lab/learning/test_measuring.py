"""The learning curve of strength: what is measured, kept and drawn."""

from pathlib import Path

import pytest

from goita_agents.registry import load_agent
from goita_env.errors import GoitaError, SettingError
from goita_lab.learning import plot
from goita_lab.learning.measuring import MAX_SNAPSHOTS, PAST, Evaluator, History, Measured, read_csv
from goita_lab.learning.run_files import RunFiles
from raising import refuses


def row(decisions, opponent, points, won=None):
    trained = decisions * 3 // 4 if opponent == PAST else None
    low, high = points - 1.5, points + 1.25
    return Measured(decisions, opponent, trained, 8, points, low, high, 0.5, won)


def test_the_best_snapshot_has_the_highest_mean_against_the_named_opponents():
    assert History().best() is None
    history = History()
    for decisions, greedy, heuristic in ((100, 8.0, -4.0), (200, 12.0, 2.0), (300, 13.0, 0.5)):
        history.rows += [row(decisions, "greedy", greedy), row(decisions, "heuristic", heuristic)]
        history.rows.append(row(decisions, PAST, decisions))  # its own past doesn't count
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


def test_a_curve_is_read_as_it_was_written(tmp_path):
    history = History([row(0, "greedy", -16.1234), row(9, PAST, 1.5), row(9, "x", 2.0, won=0.25)])
    path = tmp_path / "strength.csv"
    path.write_bytes(history.csv())
    assert read_csv(path) == history.rows
    path.write_text("colour\nred\n")
    for wrong in (path, tmp_path / "none.csv"):
        with pytest.raises(SettingError, match="learning curve"):
            read_csv(wrong)


def test_a_measurement_is_the_same_whenever_it_is_made_and_says_how_sure_it_is():
    measuring = Evaluator(("random", "greedy"), deals=12, seed=5)
    agent, past = load_agent("heuristic"), load_agent("greedy")
    rows = measuring.measure(1000, agent, (700, past))
    assert rows == measuring.measure(1000, agent, (700, past))
    against = [(one.opponent, one.opponent_decisions) for one in rows]
    assert against == [("random", None), ("greedy", None), (PAST, 700)]
    assert all(one.low <= one.points_per_round <= one.high for one in rows)
    assert rows[1].points_per_round == rows[2].points_per_round  # the same deals and players
    assert "own snapshot at 700" in rows[2].text
    assert Evaluator((), deals=0, seed=5).measure(1000, agent, None) == []


def test_whole_matches_are_measured_in_matches_won():
    measuring = Evaluator(("random",), 32, seed=5, episode="match")
    (won,) = measuring.measure(0, load_agent("greedy"), None)
    assert won.deals == 4
    assert won.match_win_rate > 0.5
    assert "of matches v random" in won.text


@pytest.mark.parametrize("settings", [(("nobody",), 8), (("greedy",), 1)])
def test_what_cannot_be_measured_is_refused_at_the_beginning(settings):
    with pytest.raises(GoitaError):
        Evaluator(*settings, seed=5)


@pytest.mark.parametrize("made", [(9,), (0, 9)])
def test_a_curve_of_one_point_shows_it(tmp_path, made):
    pytest.importorskip("matplotlib")
    rows = [row(one, "greedy", 3.0) for one in made]
    plot.draw([plot.Curve("one", (rows,), (float,))], tmp_path / "curve.svg")
    assert ("LineCollection" in (tmp_path / "curve.svg").read_text()) != (len(made) > 1)


@pytest.mark.parametrize("kind", ["svg", pytest.param("png", marks=pytest.mark.slow)])
def test_the_curves_of_runs_are_drawn_together(tmp_path, monkeypatch, capsys, kind):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        rows = [row(d, o, d / 10) for d in (0, 50, 100) for o in ("greedy", PAST)]
        (tmp_path / name / "strength.csv").write_bytes(History(rows).csv())
    assert plot.main(["both=one,two", "two", "-o", f"c.{kind}"]) == 0
    together = (tmp_path / f"c.{kind}").read_bytes()
    assert plot.main(["one", "two", "-o", f"c.{kind}"]) == 0
    assert (tmp_path / f"c.{kind}").read_bytes() != together
    first = (tmp_path / f"c.{kind}").read_bytes()
    assert plot.main(["one", "two", "-o", f"c.{kind}"]) == 0
    assert (tmp_path / f"c.{kind}").read_bytes() == first
    assert first.startswith(b"\x89PNG" if kind == "png" else b"<?xml")
    for words in (["three"], ["one", "-o", "c.gif"]):
        with pytest.raises(SystemExit, match="2"):
            plot.main(words)
        assert words[-1] in capsys.readouterr().err


def test_runs_of_several_seeds_are_one_curve_where_all_of_them_were():
    one = [row(made, "greedy", points) for made, points in ((0, -9.0), (50, 1.0), (100, 3.0))]
    other = [row(made, "greedy", points) for made, points in ((10, -5.0), (90, 5.0))]
    curve = plot.Curve("both", (one, other), (float, float))
    made, points, low, high = curve.points("greedy")
    assert made.tolist() == [10, 50, 90]
    assert low.tolist() == pytest.approx([-7.0, 0.0, 2.6])
    assert high.tolist() == pytest.approx([-5.0, 1.0, 5.0])
    assert points.tolist() == pytest.approx(((low + high) / 2).tolist())
    assert [len(part) for part in curve.points("heuristic")] == [0] * 4


def _log(path, *rows):
    names = "rollout/decisions,time/total_timesteps,time/time_elapsed"
    path.write_text("\n".join([names, *(",".join(map(str, row)) for row in rows)]) + "\n")


def test_minutes_continue_where_a_run_was_resumed(tmp_path):
    # Killed at 300 decisions with a checkpoint at 200; the later 100 were made again.
    _log(tmp_path / "progress.csv", (100, 100, 60), (100, 200, 120), (100, 300, 180))
    _log(tmp_path / "progress-2.csv", (100, 300, 30), (100, 400, 90))
    _log(tmp_path / "progress-10.csv", (100, 500, 60))
    minutes = plot.clock(RunFiles(tmp_path).logs())
    assert [minutes(made) for made in (0, 50, 200, 300, 400, 500)] == [0, 0.5, 2, 2.5, 3.5, 4.5]


def test_a_curve_against_minutes_needs_the_logs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    rows = [row(made, "greedy", 1.0) for made in (0, 100)]
    (tmp_path / "one" / "strength.csv").write_bytes(History(rows).csv())
    drawn = ["one", "--minutes", "-o", "c.svg"]
    for content in (None, "a,b\n1,2\n"):
        if content is not None:
            (tmp_path / "one" / "progress.csv").write_text(content)
        with pytest.raises(SystemExit, match="2"):
            plot.main(drawn)
        assert "expected the log of a run" in capsys.readouterr().err
    _log(tmp_path / "one" / "progress.csv", (100, 100, 60))
    assert plot.main(drawn) == 0


ROW = "5,greedy,,4,1.0,0.0,2.0,0.5,\n"
HEAD = "decisions,opponent,opponent_decisions,deals,points_per_round,low,high,round_win_rate,"
HEAD += "match_win_rate\n"


def test_a_curve_that_is_damaged_is_refused_in_a_line(elsewhere):
    for text in (ROW.replace("1.0", "x"), ROW.replace("4", ""), "\0" + ROW):
        Path("curve.csv").write_text(HEAD + text)
        refuses(SettingError, r"curve\.csv", read_csv, Path("curve.csv"))


def test_a_name_in_a_curve_is_drawn_as_it_is_and_not_as_a_formula(elsewhere):
    Path("runs/one").mkdir(parents=True)
    Path("runs/one/strength.csv").write_text(HEAD + ROW.replace("greedy", r"$\frac$"))
    assert plot.main(["runs/one"]) == 0
