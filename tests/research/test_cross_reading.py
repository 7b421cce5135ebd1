"""How well agents read each other: known agents, intervals over runs, the command and its files."""

from functools import partial

import numpy as np
import pytest

from goita_agents.beliefs import LEGAL_MODEL, PolicyModel
from goita_lab.arena.statistics.intervals import over_runs
from goita_lab.signals.listening import listen
from goita_lab.signals.measures.value import play_listening
from goita_lab.signals.plan import Settings
from goita_lab.signals.playing import play
from research.signals import cross_reading as module
from research.signals.cross_reading import cross_reading, main, summarise

AGENTS = ["greedy", "random", "again=greedy"]


@pytest.fixture(scope="module", autouse=True)
def few_worlds():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "play_listening", partial(play_listening, worlds=4))
        yield


@pytest.fixture(scope="module")
def found(few_worlds):
    return cross_reading(AGENTS, 3, settings=Settings(seed=1))


def test_an_agent_of_the_same_play_reads_a_speaker_as_itself_and_another_worse(found):
    nats, points = found.table("nats"), found.table("points")
    assert nats[0, 0] == nats[0, 2] == nats[2, 0] > max(nats[0, 1], 0.1)
    assert points[0, 2] == points[2, 0] == 0
    assert not np.diagonal(points).any()
    assert nats[1, 1] > 0 > nats[1, 0], "who plays at random is misread by a sure model"


def test_nats_are_those_of_the_partners_actions_beyond_their_legality(found):
    played, greedy = play(["random"], 3, seed=1), PolicyModel("greedy")
    own = PolicyModel("random")
    models = {
        name: {"next": own, "partner": model, "previous": own}
        for name, model in (("greedy", greedy), ("legal", LEGAL_MODEL))
    }
    _, known = listen(played, models, revealed=False)
    beyond = known.log_probability[:, 0, 1] - known.log_probability[:, 1, 1]
    deals = played.deal[known.row]
    means = [beyond[deals == deal].mean() for deal in np.unique(deals)]
    assert found.table("nats")[1, 0] == pytest.approx(np.mean(means))


def test_means_of_methods_have_intervals_over_runs_and_single_agents_over_deals():
    agents = [*(f"population:selfplay-{seed}" for seed in range(3)), "greedy"]
    nats = np.zeros((4, 4, 5)) + np.arange(5) / 10 - 0.2
    nats[range(3), range(3)] += np.array([[1.0], [2.0], [3.0]])
    nats[:3, 3] += np.array([[4.0], [5.0], [9.0]])
    points = np.zeros((4, 5, 5))
    points[:, -1] = -1.5
    made = summarise(agents, nats, points)
    groups = {group.name: group for group in made.groups}
    assert made.methods == ("selfplay", "selfplay", "selfplay", "greedy")
    single = groups["selfplay as greedy"]
    assert (single.cells, single.over) == (3, "runs")
    wanted = over_runs([4.0, 5.0, 9.0])
    assert (single.nats.low, single.nats.high) == pytest.approx((wanted.low, wanted.high))
    assert groups["another run of its method"].nats.mean == pytest.approx(0)
    assert groups["another run of its method"].cells == 6
    assert groups["itself"].nats.mean == pytest.approx(1.5)
    assert made.worth.mean == 1.5
    alone = summarise(agents[2:], nats[2:, 2:], points[2:, 2:])
    assert {group.over for group in alone.groups} == {"deals"}


def test_the_script_prints_a_table_and_draws_it(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "it.svg"
    assert main(["me=random", "greedy", "--deals", "2", "--svg", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "| me " in shown
    assert "random" not in shown
    for name in ("it.svg", "it-points.svg"):
        assert b"<svg" in (tmp_path / name).read_bytes()
