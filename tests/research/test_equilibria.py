"""The study of self-play and equilibria of small games finds what is there."""

import re
import shutil

import pytest

from goita_agents.population import Population
from research.drawing import THEMES
from research.studies import equilibria
from research.studies.equilibria import ARMS, TODAY, Found, Point, Run, figure, report, summarise


def found(game: str, runs: int) -> dict[str, Found]:
    """Returns runs of which `held` is nearer than today's by one seat and farther by a team."""
    alone = dict.fromkeys(ARMS, 2.0) | {"held": 1.0}
    made = {}
    for arm in ARMS:
        for seed in range(1, runs + 1):
            last = alone[arm] + 0.01 * seed
            points = Point(0, 5.0, 6.0, 20.0), Point(1_000_000, last, last + 1, last + 9)
            made[f"{game} {arm} {seed}"] = Found(points, 8 - last, "0" * 64)
    return made


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(equilibria, "ROUNDS", 2)
    monkeypatch.setattr(equilibria, "_team", lambda *_: 7.0)


@pytest.mark.usefixtures("quick")
def test_methods_are_compared_by_what_a_seat_and_what_a_team_gains():
    result = summarise(found("mini_3", 3), ("mini_3",), 3)
    rows = {one.arm: one for one in result.rows}
    assert list(rows) == list(ARMS)
    held = rows["held"]
    assert held.less.mean == pytest.approx(1.0)
    assert held.less.low > 0
    assert rows[TODAY].less is None
    assert rows["average"].less.mean == pytest.approx(0)
    assert result.agreement["mini_3"] == pytest.approx(-1)
    assert 0 < result.equilibrium[0] < result.equilibrium[1]
    told = report(result)
    assert re.search(r"\| +`held` +\| +1\.02 \[1\.00, 1\.04\] +\| +\+1\.00 \[", told)
    assert "-1.00 in mini_3" in told
    assert figure(result, THEMES["light"]).startswith(b"<?xml")


def test_a_run_is_measured_along_its_snapshots(tmp_path):
    population, files = Population(), []
    for decisions, name in enumerate(("selfplay-0", "entropy-0")):
        files.append(tmp_path / f"{decisions:012}.safetensors")
        shutil.copy(population.weights(name), files[-1])
    one = equilibria.measure(Run("mini_3", "held", 1, tuple(map(str, files))))
    assert [point.decisions for point in one.points] == [0, 1]
    last = one.points[-1]
    assert 0 < last.alone < one.team < last.open
    assert one.points[0].alone != last.alone != last.likeliest
