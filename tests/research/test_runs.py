"""The study of runs finds the gap of teams that agree, and what codes cost."""

import numpy as np
import pytest

from research.drawing import THEMES
from research.intervals import interval_over_runs
from research.studies import runs, study
from research.studies.runs import CODES, figure, report, summarise, visible
from research.studies.study import Options


def points(gap: float, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Returns points [n, n, 400] of runs whose self-play is better than cross-play by a gap."""
    strength = rng.normal(0, 1, runs)
    mean = strength[:, None] + strength[None, :] + gap * np.eye(runs)
    noise = rng.normal(0, 1, (runs, runs, 400))
    return mean[:, :, None] + (noise + noise.transpose(1, 0, 2)) / 2


@pytest.mark.parametrize("gap", [0.0, 2.0])
def test_a_gap_and_the_cost_of_a_code_are_found_where_they_are(gap):
    rng = np.random.default_rng(3)
    found = {method: points(gap, 8, rng) for method in ("selfplay", "entropy")}
    for method in CODES:
        muted = points(gap, 5, rng)
        code = 1.5 * np.eye(5)[:, :, None] + rng.normal(0, 0.1, muted.shape)
        found |= {method: muted + code - 0.5, f"{method} muted": muted}
    result = summarise(["a"], ["greedy"], found)
    assert [one.method for one in result.within[-2:]] == ["token-public", "token-public muted"]
    for one in result.within[:2]:
        assert one.gap.low < gap < one.gap.high or abs(one.gap.mean - gap) < 0.15
        assert one.small is (gap == 0)
        assert gap == 0 or one.p_value < 0.05
        assert 0 < one.visible < 1
        assert one.needed < 20
    for control in result.controls:
        assert control.code.low < 1.5 < control.code.high
        assert control.alone.mean == pytest.approx(1.0, abs=0.05)
        assert control.crossed.mean == pytest.approx(-0.5, abs=0.05)
        assert control.beyond["entropy"].mean == pytest.approx(1.5, abs=0.3)
    assert "selfplay" in report(result)
    drawn = figure(result, THEMES["light"])
    assert drawn.startswith(b"<?xml")
    assert gap == 0 or figure(result, THEMES["light"]) == drawn


def test_what_is_called_visible_is_seen_so_often():
    rng = np.random.default_rng(0)
    runs = rng.normal(visible(1.0, 8), 1.0, (1_000, 8))
    every = [np.ones(8, bool)]
    low = [interval_over_runs(lambda kept, r=r: float(r[kept].mean()), every).low for r in runs]
    assert np.mean(np.array(low) > 0) == pytest.approx(0.8, abs=0.05)


def test_the_command_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "METHODS", ("selfplay", "entropy"))
    monkeypatch.setattr(runs, "QUICK_DEALS", 2)
    played = []

    def stop(what, done, of):
        played.append(done)
        if done == 3 and len(played) < 10:
            raise KeyboardInterrupt

    monkeypatch.setattr(study, "stderr_progress", lambda: stop)
    with pytest.raises(KeyboardInterrupt):
        runs.run(Options(tmp_path, quick=True))
    rest = []
    monkeypatch.setattr(study, "stderr_progress", lambda: lambda _, done, of: rest.append(done))
    again = runs.run(Options(tmp_path, quick=True))
    assert rest[0] == 3
    whole = runs.run(Options(tmp_path / "whole", quick=True))
    assert again == whole
    assert study.run("runs", ["--quick", "-o", str(tmp_path)]) == 0
    assert {one.name for one in tmp_path.iterdir() if one.is_file()} == {
        *("runs.json", "runs.md", "runs-light.svg", "runs-dark.svg")
    }
