"""Pictures of results are drawn from the stored results, for light and for dark pages."""

import re
import shutil
from pathlib import Path

import pytest

from research.drawing import THEMES
from research.studies import study
from research.teamwork import regret_picture

RESULTS = Path(study.__file__).parent / "results"
STUDIES = ("codes", "equilibria", "people", "runs", "strangers", "teamwork")


def texts(svg: bytes) -> list[str]:
    """Lists the texts of a picture: matplotlib draws their outlines, and notes each."""
    return re.findall(r"<!-- (.*?) -->", svg.decode())


def test_these_studies_have_pictures():
    assert sorted(path.stem for path in RESULTS.glob("*.svg")) == [
        f"{name}-{theme}" for name in STUDIES for theme in sorted(THEMES)
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_draws_its_picture_again_from_its_stored_result(name, tmp_path):
    stored = RESULTS / f"{name}.json"
    shutil.copy(stored, tmp_path)
    assert study.run(name, ["--draw", "-o", str(tmp_path)]) == 0
    pictures = {f"{name}-{theme}.svg" for theme in THEMES}
    assert {path.name for path in tmp_path.iterdir()} == {stored.name, *pictures}
    assert (tmp_path / stored.name).read_bytes() == stored.read_bytes()
    for picture in pictures:  # bytes differ with the version of matplotlib
        shipped = texts((RESULTS / picture).read_bytes())
        assert texts((tmp_path / picture).read_bytes()) == shipped, f"run {name}.py --draw"
        assert len(shipped) > 8


def test_a_study_without_a_stored_result_draws_nothing(tmp_path, capsys):
    with pytest.raises(SystemExit):
        study.run("runs", ["--draw", "-o", str(tmp_path)])
    assert "runs.json" in capsys.readouterr().err
    (tmp_path / "runs.json").write_text("{}")
    with pytest.raises(SystemExit):
        study.run("runs", ["--draw", "-o", str(tmp_path)])
    assert "expected the result of a study" in capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) == 1


def test_the_picture_of_regret_has_each_player_in_one_kind_and_the_price():
    found = study.stored("teamwork", RESULTS).games[regret_picture.GAME].found
    for row in found["agents"]:
        assert regret_picture.kind_of(row["name"]) in regret_picture.KINDS
    for theme, colors in THEMES.items():
        shipped = texts((regret_picture.PICTURES / f"regret-{theme}.svg").read_bytes())
        assert texts(regret_picture.draw(found, colors)) == shipped
        assert f"price of not knowing the pairing: {found['agents'][0]['price']:.2f}" in shipped
        assert {"heuristic", "champion", "knows test pairings", *regret_picture.KINDS} <= {*shipped}
