"""The value for teams whose partners draw their plans together."""

import json

import numpy as np
import pytest

from goita_lab.exact.values import reached
from raising import refuses
from research.exact import correlated

TINY = {"name": "tiny", "deck": [10, 2, 0, 0, 4, 0, 0, 0]}


def test_a_search_for_the_value_of_teams_is_proven_and_goes_on(tmp_path, monkeypatch, capsys):
    rules, plans, file = (tmp_path / name for name in ("tiny.json", "plans.npz", "value.json"))
    rules.write_text(json.dumps(TINY))
    searches = []
    approach = correlated.approach
    keep = lambda tree, args: searches.append(tree) or approach(tree, args)  # noqa: E731
    monkeypatch.setattr(correlated, "approach", keep)
    words = [str(rules), "--rounds", "1", "-o", str(plans), "--json", str(file)]
    values = []
    for _ in range(2):
        assert correlated.main(words) == 0
        assert "value for teams" in capsys.readouterr().out
        values.append(json.loads(file.read_text()))
    first, second = values
    # The second run begins with the plans of the first, and adds others.
    assert first["plans"][0] < second["plans"][0]
    assert second["proven"][0] <= second["estimated"][0] < second["mixed"]
    assert second["mixed"] < second["estimated"][1] <= second["proven"][1]
    tree = searches[0]
    mixtures = correlated.Mixtures.restore(tree, plans)
    for team in mixtures.plans:
        assert len(team) == len(np.unique(team, axis=0))
    # Histories that both mixtures reach make the value together.
    ends = tree.info < 0
    dealt = reached(tree, np.ones(len(tree.action)), 0)
    likelihood = (mixtures.reach(0) * mixtures.reach(1) / dealt)[ends]
    assert likelihood.sum() == pytest.approx(1)
    assert likelihood @ tree.points[ends] == pytest.approx(mixtures.value)


def test_a_value_is_sought_in_small_games_only(capsys):
    refuses(SystemExit, "2", correlated.main, ["jga"])
    assert "expected a small game" in capsys.readouterr().err
