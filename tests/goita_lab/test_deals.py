"""Figures deal by deal: each interval of a summary can be computed again, or another one."""

import json

import numpy as np
import pytest

from goita_lab.arena.statistics.intervals import ratio_interval
from goita_lab.commands import evaluate
from goita_lab.deals import write_summary


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


def test_nothing_is_written_beside_a_pipe_or_for_no_deals(tmp_path):
    write_summary(tmp_path / "it.json", "{}", {})
    assert [file.name for file in tmp_path.iterdir()] == ["it.json"]
