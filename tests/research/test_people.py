"""The study of people finds whom records resemble, in any folder, and goes on where it stopped."""

import numpy as np
import pytest

from goita_agents import load_agent
from goita_env import Game, records
from goita_env.records import DealRecord
from raising import refuses
from research.drawing import THEMES
from research.studies import people, study
from research.studies.people import (
    ALL,
    NONE,
    UNIFORM,
    Result,
    figure,
    fit,
    report,
    score_deal,
    summarise,
)
from research.studies.study import corrected
from samples import slow


def finished(seed: int, agent: str = "greedy") -> Game:
    """Returns a round that an agent has played at all seats."""
    game, player, rng = Game(seed=seed), load_agent(agent), np.random.default_rng(0)
    while not game.done:
        view = game.view(game.seat)
        game.play(int(player.act(view, view.legal(), rng)[0]))
    return game


def played(agent: str, seed: int) -> DealRecord:
    """Returns such a round as records hold it."""
    return records.from_game(finished(seed, agent)).deals[-1]


@pytest.mark.parametrize(
    ("models", "agent", "sign"),
    [(("greedy", "random"), "greedy", 1), slow((ALL, NONE), ALL, 1), slow((ALL, NONE), NONE, -1)],
)
def test_the_model_of_who_played_gives_the_true_hands_more_probability(models, agent, sign):
    nats = score_deal([(model, 0.2) for model in models], played(agent, 1))
    assert len(nats) > 7
    assert sign * (nats[:, 0] - nats[:, 1]).mean() > 0.2


def test_a_model_is_fitted_to_other_units():
    good, bad = [[1.0, 0.0]] * 5, [[0.0, 9.0]] * 2
    scored = [np.array(rows) for rows in (good, good, good, bad)]
    assert fit(scored, [0, 1]) == [1, 1, 1, 0]
    assert fit(scored, [0]) == [0] * 4


def test_models_are_compared_as_they_fit_and_at_equal_points():
    rng = np.random.default_rng(0)
    truth = {(ALL, 0.5): 0.6, (ALL, 0.7): 0.5, (NONE, 0.5): -1.0, UNIFORM: 0.1}
    candidates = list(truth)
    scored = [
        rng.normal(list(truth.values()), 0.3, (n, 4)) + rng.normal(0, 0.1) for n in range(5, 25)
    ]
    fitted = {ALL: [*candidates[:2], UNIFORM], NONE: [candidates[2], UNIFORM]}
    rows, contrasts = summarise(
        scored, candidates, fitted, {ALL: candidates[1], NONE: candidates[2]}
    )
    found = {(one.model, one.how): (one.policy, one.epsilon) for one in rows}
    assert found == {
        (ALL, "fitted"): (ALL, 0.5),
        (ALL, "equal points"): (ALL, 0.7),
        (NONE, "fitted"): UNIFORM,
        (NONE, "equal points"): (NONE, 0.5),
    }
    for one, worth in zip(contrasts, (0.5, 1.5), strict=True):
        assert (one.first, one.second) == (ALL, NONE)
        assert one.difference.low < worth < one.difference.high
        assert one.difference.low > worth / 2
        assert one.p_value <= one.corrected < 0.001
    assert rows[0].beyond_uniform.mean == pytest.approx(0.5, abs=0.1)
    result = Result(2, 20, 20, 400, {ALL: -9.0, NONE: -9.0}, rows, contrasts)
    assert "| +0.5" in report(result)
    assert figure(result, THEMES["light"]).startswith(b"<?xml")


KIFU = """version: 1.0
log:
  - hand:
      p0: "12345678"
"""


def test_any_folder_of_records_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(people, "QUICK_DEALS", 4)
    monkeypatch.setattr(people, "MODELS", {name: ((name, 0.5),) for name in (ALL, NONE)})
    monkeypatch.setattr(people, "HALVINGS", 2)
    folder = tmp_path / "records"
    folder.mkdir()
    texts = [records.history.dumps(records.from_game(game)) for game in (finished(1), finished(2))]
    for name, text in (
        ("a.txt", texts[0]),
        ("b.txt", texts[1]),
        ("copy.txt", texts[0]),
        ("broken.yaml", KIFU),
        ("torn.yaml", "version: ["),
        ("other.yaml", "shopping: list"),
        ("empty.txt", ""),
    ):
        (folder / name).write_text(text)
    assert study.run("people", ["--quick", "--records", str(folder), "-o", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert "2 units, 2 deals" in told.out
    assert "]?" in told.out
    assert "copy.txt" in told.err
    (folder / "b.txt").unlink()
    wrong = ["--quick", "--records", str(folder), "-o", str(tmp_path)]
    refuses(SystemExit, "[12]", study.run, "people", wrong)
    assert "expected two units" in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_p_values_are_corrected_by_holm():
    assert corrected([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert corrected([]) == []
