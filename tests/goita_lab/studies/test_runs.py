"""The study of runs finds the gap of teams that agree, and none where there is none."""

import numpy as np
import pytest

from goita_lab.studies import runs
from goita_lab.studies.runs import figure, over_runs, report, summarise
from goita_lab.studies.study import Options


def points(gap: float, names: list[str], rng: np.random.Generator) -> np.ndarray:
    """Returns points [n, n, 400] of runs whose self-play is better than cross-play by a gap."""
    strength = rng.normal(0, 1, len(names))
    mean = strength[:, None] + strength[None, :] + gap * np.eye(len(names))
    noise = rng.normal(0, 1, (len(names), len(names), 400))
    return mean[:, :, None] + (noise + noise.transpose(1, 0, 2)) / 2


@pytest.mark.parametrize("gap", [0.0, 2.0])
def test_a_gap_is_found_where_there_is_one(gap):
    rng = np.random.default_rng(3)
    names = [f"population:{m}-{s}" for m in ("selfplay", "entropy") for s in range(4)]
    method_of = np.array([name[11:].rpartition("-")[0] for name in names])
    result = summarise(
        names, ["greedy"], points(gap, names, rng), method_of, {"between methods": 0.1}
    )
    for one in result.within:
        assert one.gap.low < gap < one.gap.high or abs(one.gap.mean - gap) < 0.15
        assert one.equivalent is (gap == 0)
        assert gap == 0 or one.p_value < 0.05
    assert result.all_between.mean == pytest.approx(-gap, abs=0.15)
    assert abs(result.closed["entropy"].mean) < 0.2
    assert "selfplay" in report(result)
    drawn = figure(result)
    assert drawn.startswith(b"<?xml")
    assert gap == 0 or figure(result) == drawn


def test_runs_left_out_method_by_method_are_the_jackknife():
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    groups = {"a": np.arange(5) < 5}
    found = over_runs(lambda kept: float(values[kept].mean()), groups, "a")
    error = values.std(ddof=1) / 5**0.5
    assert found.mean == pytest.approx(6.2)
    assert found.high - found.mean == pytest.approx(2.7764 * error, rel=1e-3)


def test_the_command_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "METHODS", ("selfplay", "entropy"))
    monkeypatch.setattr(runs, "QUICK_DEALS", 2)
    played = []

    def stop(what, done, of):
        played.append(done)
        if done == 3 and len(played) < 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runs.run(Options(tmp_path, quick=True, progress=stop))
    rest = []
    again = runs.run(Options(tmp_path, quick=True, progress=lambda _, done, of: rest.append(done)))
    assert rest[0] == 3
    whole = runs.run(Options(tmp_path / "whole", quick=True))
    assert again == whole
    assert not list(tmp_path.glob("*.parts"))
