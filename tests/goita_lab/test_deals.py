"""Figures deal by deal: each interval of a summary can be computed again, or another one."""

import json

import numpy as np
import pytest

from goita_lab.arena.statistics.intervals import Interval, mean_interval, ratio_interval
from goita_lab.commands import evaluate
from goita_lab.deals import by_deal, write_summary
from goita_lab.pieces import Runner


def test_each_interval_over_deals_stands_under_its_place():
    some = mean_interval([1.0, 2.0, 4.0])
    item = type("Item", (), {"agent": "a"})()
    found = {"list": [some, item], "cells": {("a", "b"): some}, "other": Interval(0, 0, 0), "x": 1}
    told = by_deal(found)
    assert told.keys() == {"list/0", "cells/a | b"}
    assert np.array_equal(told["list/0"], [[1, 2, 4], [1, 1, 1]])


def test_a_tournament_writes_what_its_intervals_are_computed_from(tmp_path):
    file, words = tmp_path / "it.json", ["--episode", "match", "--deals", "3"]
    assert evaluate.main(["--agents", "greedy", "random", *words, "--json", str(file)]) == 0
    (pair,) = json.loads(file.read_bytes())["pairs"]
    with np.load(tmp_path / "it.npz") as deals:
        totals, counts = deals["greedy against random/points_per_round"]
        won, games = deals["greedy against random/match_win_rate"]
    again = ratio_interval(totals, counts)
    assert again.mean == pair["points_per_round"]
    assert [again.low, again.high] == pair["ci95"]
    assert won.sum() / games.sum() == pytest.approx(pair["match_win_rate"])


def _measured(number):
    return mean_interval(np.arange(3.0) ** number)


@pytest.mark.parametrize("workers", [1, 2])
def test_figures_by_deal_outlive_processes_and_stored_pieces(tmp_path, workers):
    runner = Runner(workers, tmp_path / "kept.db")
    for _ in range(2):  # the second time all is read from the file
        found = runner.run(_measured, {"a": 1, "b": 2}, lambda _: Interval, {})
        told = by_deal(found)
        assert np.array_equal(told["b"], [[0, 1, 4], [1, 1, 1]])
        assert found["a"] == _measured(1)


def test_nothing_is_written_beside_a_pipe_or_for_no_deals(tmp_path):
    write_summary(tmp_path / "it.json", "{}", {})
    assert [file.name for file in tmp_path.iterdir()] == ["it.json"]
