"""What passes are worth: a listener that ignores them, on the same deals."""

import json

import numpy as np
import pytest

from goita_agents.beliefs import Listener, PolicyModel
from goita_env import Game
from goita_env.actions import PASS
from goita_env.errors import SettingError
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.signals.measures.value import ALL_SEATS, NOT_PARTNER
from goita_lab.signals.plan import Settings
from raising import refuses
from research.signals import passes
from research.signals.passes import PassesIgnored, main, passes_value
from samples import slow

HANDS = ["11122335", "11256678", "11334457", "11124459"]


def after(*moves, dealer=0):
    game = Game(hands=HANDS, dealer=dealer)
    for move in moves:
        game.play(move)
    return game


def believed(game, models, seat="partner"):
    return Listener(game.view(0), models).posterior(seat).probability


def test_passes_alone_are_ignored_and_plays_tell_what_they_told():
    policy = PolicyModel("heuristic")
    view = after("13", "p").view(2)
    known = policy.probabilities(view, view.legal())
    found = PassesIgnored(policy).probabilities(view, view.legal())
    assert found[0, PASS] == 1
    assert np.array_equal(found[0, PASS + 1 :], known[0, PASS + 1 :])
    assert known[0, PASS] < 1  # the model's answer is not changed in place
    game = after("13", "p", "p")  # the partner has only passed
    before = believed(after("13", "p"), {"partner": policy})
    heard, ignored = (
        believed(game, {"partner": model}) for model in (policy, PassesIgnored(policy))
    )
    assert np.allclose(ignored, before)
    assert not np.allclose(heard, before)


@pytest.mark.parametrize(
    ("moves", "dealer", "on", "ignored"),
    [
        (("13", "p", "p"), 0, "partner", True),
        slow(("13", "p", "p"), 0, "opponents", False),
        (("15", "p"), 1, "partner", False),
        slow(("15", "p"), 1, "opponents", True),
    ],
)
def test_passes_on_the_partners_attacks_and_on_opponents_are_told_apart(moves, dealer, on, ignored):
    game, policy = after(*moves, dealer=dealer), PolicyModel("heuristic")
    found = believed(game, {"partner": PassesIgnored(policy, on)})
    told = after(*moves[:-1], dealer=dealer) if ignored else game
    assert np.allclose(found, believed(told, {"partner": policy}))


def test_the_worth_is_the_mean_of_the_differences_deal_by_deal(monkeypatch):
    monkeypatch.setattr(passes, "PIECE_DEALS", 1)
    kept = []
    join = passes.SourcePoints.join
    keep = lambda parts: kept.append(join(parts)) or kept[0]  # noqa: E731
    monkeypatch.setattr(passes.SourcePoints, "join", keep)
    value = passes_value("greedy", 2, settings=Settings(seed=2))
    points = kept[0]
    assert points.points.shape == (len(passes.SOURCES), 2)
    one = value.differences[0]
    wanted = points.of(ALL_SEATS) - points.of(passes.LISTENERS[passes.NO_PASSES])
    assert one.points == mean_interval(wanted)
    assert one.sd == pytest.approx(wanted.std(ddof=1))
    whole = value.differences[3].points.mean
    assert whole == pytest.approx((points.of(ALL_SEATS) - points.of(NOT_PARTNER)).mean())
    assert value.deals == 2
    refuses(SettingError, "expected 2 deals", passes_value, "greedy", 1)


def test_the_command_prints_a_table_and_writes_json(tmp_path, capsys):
    file = tmp_path / "passes.json"
    words = ["greedy", "--deals", "2", "--precision", "1", "--json", str(file)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "deals for ± 1 points" in shown
    assert "| all of the partner's passes  " in shown
    found = json.loads(file.read_bytes())
    assert len(found["differences"]) == len(found["deals_needed"]) == 5
    assert found["agent"] == "greedy"
    refuses(SystemExit, "2", main, ["greedy", "--precision", "0"])
