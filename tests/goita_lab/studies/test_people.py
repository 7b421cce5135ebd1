"""The study of people finds conventions where they are played, and goes on where it stopped."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents import load_agent
from goita_env import Game
from goita_env.errors import SettingError
from goita_env.records import DealRecord, from_game
from goita_lab.commands import studies as command
from goita_lab.studies.people import ALL, NONE, Scored, compare, find_records, join, score_deal
from goita_lab.studies.study import Options
from raising import refuses
from samples import slow


def played(agent: str, seed: int) -> DealRecord:
    """Returns a round that an agent plays at all seats, as records hold it."""
    game, player, rng = Game(seed=seed), load_agent(agent), np.random.default_rng(0)
    while not game.done:
        view = game.view(game.seat)
        game.play(int(player.act(view, view.legal(), rng)[0]))
    return from_game(game).deals[-1]


@pytest.mark.parametrize(
    ("models", "agent", "sign"),
    [
        (("greedy", "random"), "greedy", 1),
        slow((ALL, NONE), ALL, 1),
        slow((ALL, NONE), NONE, -1),
    ],
)
def test_the_model_of_who_played_gives_the_true_hands_more_probability(models, agent, sign):
    scored = score_deal(models, played(agent, 1))
    assert len(scored.nats) == len(scored.phase) > 7
    assert sign * (scored.nats[:, 0] - scored.nats[:, 1]).mean() > 0.2


def test_a_broken_record_counts_up_to_its_illegal_move():
    deal, model = played("greedy", 1), ("greedy",)
    whole, half = (score_deal(model, one) for one in (deal, replace(deal, moves=deal.moves[:9])))
    wrong = score_deal(model, replace(deal, moves=(*deal.moves[:9], (0, 0), (0, 0))))
    assert 0 < len(half.nats) < len(whole.nats)
    assert np.array_equal(half.nats, wrong.nats)


def test_contrasts_are_over_records():
    rng = np.random.default_rng(0)
    records = [
        Scored(np.zeros(n, np.int64), rng.normal([[1.0, 0.5]], 0.3, (n, 2))) for n in range(5, 25)
    ]
    found = compare(records, ("a", "b"), "a", "b")
    every = join(records).nats
    assert found.difference.mean == pytest.approx((every[:, 0] - every[:, 1]).mean())
    assert found.difference.low > 0.3
    assert found.p_value < 0.001
    nothing = [
        Scored(one.phase, one.nats[:, ::-1].copy() if n % 2 else one.nats)
        for n, one in enumerate(records)
    ]
    assert compare(nothing, ("a", "b"), "a", "b").p_value > 0.05


def test_finished_pieces_are_not_done_again(tmp_path):
    told: list[tuple[str, int, int]] = []
    options = Options(tmp_path, progress=lambda *args: told.append(args))
    double = (2).__mul__
    first = options.pieces("x", int, {"a": 1}, {"1": 1, "2": 2}, double)
    assert first == {"1": 2, "2": 4}
    told.clear()
    assert options.pieces("x", int, {"a": 1}, {"1": 1, "2": 2, "3": 3}, double)["3"] == 6
    assert told == [("x", 2, 3), ("x", 3, 3)]
    told.clear()
    options.pieces("x", int, {"a": 2}, {"1": 1}, double)
    assert told[0] == ("x", 0, 1)


def test_wrong_arguments_are_told(tmp_path, capsys, monkeypatch):
    refuses(SettingError, r"expected recorded deals in .* got none", find_records, tmp_path)
    monkeypatch.delenv("GOITA_KIFU", raising=False)
    for wrong, said in (
        (["nobody"], "expected a study of people"),
        (["people", "-o", str(tmp_path)], "expected a folder of human records"),
    ):
        refuses(SystemExit, "[12]", command.main, wrong)
        assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
