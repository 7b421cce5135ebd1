"""The data set of the population: its parts, its card, and how it loads."""

import re

import numpy as np
import pytest
import yaml

from goita_agents.registry import expand
from goita_env.errors import SettingError
from goita_lab.imitate.reading import read_examples
from goita_lab.signals import log
from goita_lab.signals.playing import play
from raising import refuses
from research.signals import dataset

pa = pytest.importorskip("pyarrow")
ROUNDS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    assert list(dataset.make(path, ROUNDS)) == [48, ROUNDS]
    return path


def test_each_part_is_a_log_of_its_players_and_shares_no_deal_with_the_other(folder):
    train, validation = (log.read(folder / split) for split in ("train", "validation"))
    assert set(train.agents) == {*expand(["population:train"])}
    assert set(validation.agents) == {*expand(["population:validation"])}
    assert (train.rounds, validation.rounds) == (48, 12)
    games = read_examples([folder / "train"]).examples.game
    assert len(np.unique(games)) == 48
    deals = [{hands.tobytes() for hands in part.hands} for part in (train, validation)]
    assert not deals[0] & deals[1]


def test_a_team_is_one_agent_twice_or_two_half_of_the_time_each():
    told = play(["random", "greedy", "one=random", "other=greedy"], 2_000, drawn=True, seed=3)
    first = told.seating[told.redeal == 0]
    assert len(first) == 2_000
    alike = first[:, :2] == first[:, 2:]
    assert alike.mean() == pytest.approx(1 / 2, abs=0.04)
    assert (alike[:, 0] & alike[:, 1]).mean() == pytest.approx(1 / 4, abs=0.04)
    for seat in range(4):
        share = np.bincount(first[:, seat], minlength=len(told.agents)) / len(first)
        assert share == pytest.approx(1 / len(told.agents), abs=0.03)
    refuses(SettingError, "2 to 127 agents to draw from, got 1", play, ["random"], 4, drawn=True)
    refuses(SettingError, "1, 2 or 4 agents, got 3", play, ["random"] * 3, 4)


def test_the_card_names_files_players_and_columns_that_are_there(folder):
    card = (folder / "README.md").read_text(encoding="utf-8")
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["size_categories"] == ["1K<n<10K"]
    for config in head["configs"]:
        for files in config["data_files"]:
            (file,) = folder.glob(files["path"])
            for name in pa.parquet.read_schema(file).names:
                assert f"| `{name}` |" in card
    agents = {*log.read(folder / "train").agents, *log.read(folder / "validation").agents}
    assert set(re.findall(r"`((?:population|heuristic):[^`]*)`", card)) == agents
    decisions = len(log.read(folder / "train").deal)
    assert f"| train | 48 | {decisions:,} |" in card
