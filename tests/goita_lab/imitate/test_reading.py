"""Recorded games of every kind become decisions; what is none is refused."""

import json
import shutil

import numpy as np
import pytest

from goita_agents.bots.greedy import GreedyAgent
from goita_agents.registry import load_agent
from goita_env import Game, actions, records
from goita_env.errors import GoitaError, RecordError, SettingError
from goita_env.information import InformationStructure
from goita_env.records import Record
from goita_env.rules import JGA
from goita_lab.commands import evaluate
from goita_lab.imitate import read_examples
from goita_lab.imitate.reading import replay
from goita_lab.signals import log
from raising import refuses
from record_samples import LINE, YAML
from research.grading.grade import play_deals


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games") / "games"
    options = ["--deals", "12", "--seed", "3", "--save-games", str(folder)]
    assert evaluate.main(["--agents", "greedy", "mine=heuristic", *options]) == 0
    return folder


def read_as_decided(source, agents):
    """Reads a source whose players' decisions must be those that their agents make."""
    both = read_examples([source])
    assert set(both.players) == agents.keys()
    for player, agent in agents.items():
        one = read_examples([source], player).examples
        assert len(one) == both.players[player] > 20
        chosen = load_agent(agent).act(one.view(), one.legal, np.random.default_rng(0))
        assert chosen.tolist() == one.action.tolist()
    assert len(both.examples) == both.players.total()
    return both


def test_saved_games_are_the_decisions_that_their_agents_made(games):
    both = read_as_decided(games, {"greedy": "greedy", "mine": "heuristic"})
    assert both.examples.games <= 12
    assert (both.examples.legal.sum(axis=1) > 1).all()
    assert (both.examples.view().legal() == both.examples.legal).all()
    (file,) = games.glob("*.jsonl")
    assert len(read_examples([file]).examples) == len(both.examples)


def test_a_deal_is_one_game_in_all_pairings(tmp_path):
    options = ["--deals", "6", "--save-games", str(tmp_path / "games")]
    assert evaluate.main(["--agents", "greedy", "random", "heuristic", *options]) == 0
    assert read_examples([tmp_path / "games"], "heuristic").examples.games == 6


def test_logs_of_the_same_deals_share_their_games(tmp_path):
    pytest.importorskip("pyarrow")
    for agent in ("greedy", "random"):
        for _ in log.write(tmp_path / agent, [agent], 8, workers=1):
            pass
    assert read_examples([tmp_path / "greedy", tmp_path / "random"]).examples.games == 8


def test_a_replay_is_that_of_a_single_game():
    (deal,) = records.history.loads(LINE).deals
    found = replay([deal], JGA)
    game, expected = Game(hands=deal.hands, dealer=deal.dealer), []
    for seat, action in deal.moves:
        while game.legal_actions()[0] >= actions.CALL:
            game.play(actions.SILENT)
        if len(game.legal_actions()) > 1:
            expected.append((seat, action, game.view(seat).words[0].tolist()))
        game.play(action)
    rows = zip(found.seat.tolist(), found.action.tolist(), found.words.tolist(), strict=True)
    assert list(rows) == expected


def test_records_of_people_are_read_and_what_is_unsound_is_left_out(tmp_path):
    (tmp_path / "a.yaml").write_text(YAML, encoding="utf-8")
    (other,) = play_deals(GreedyAgent(), 1, seed=1)
    lines = [records.history.dumps(Record((other,))), LINE.replace("374", "377")]
    (tmp_path / "b.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "LICENSE").write_text("no record", encoding="utf-8")
    found = read_examples([tmp_path])
    assert found.examples.games == 2
    (line,) = found.unsound
    assert line.startswith("b.txt: deal 2, move")
    decided = replay(records.kifu.loads(YAML).deals, JGA)
    for seat, name in enumerate(("north", "east", "south", "west")):
        one = read_examples([tmp_path], name)
        assert len(one.examples) == found.players[name]
        assert one.examples.action.tolist() == decided.action[decided.seat == seat].tolist()
    refuses(
        SettingError, "a player of the games, .*got 'nobody'", read_examples, [tmp_path], "nobody"
    )


def test_a_log_gives_the_decisions_with_a_choice_that_its_agents_made(tmp_path):
    pytest.importorskip("pyarrow")
    for _ in log.write(tmp_path / "log", ["greedy", "heuristic"], 8, workers=1):
        pass
    found = read_as_decided(tmp_path / "log", {"greedy": "greedy", "heuristic": "heuristic"})
    play = log.read(tmp_path / "log")
    assert found.examples.action.tolist() == play.action[play.choice].tolist()
    assert found.examples.games == 4  # each deal is played twice


def test_logs_of_other_games_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    shown = InformationStructure(shown="all")
    for _ in log.write(tmp_path / "log", ["random"], 8, workers=1, information=shown):
        pass
    with pytest.raises(log.LogError, match="expected a log of the base game in"):
        read_examples([tmp_path / "log"])


def test_answers_before_play_that_no_notation_stores_are_no_decisions():
    (deal,) = records.history.loads("11111238,11112337,12344456,24555679,s1,").deals
    calls = [(0, actions.CALL)]
    for moves in ((), calls):
        found = replay([records.DealRecord(deal.hands, 0, tuple(moves))], JGA)
        assert found.illegal == {}
        assert len(found.action) == len(moves)


def test_saved_games_that_somebody_changed_are_refused(games, tmp_path):
    folder = shutil.copytree(games, tmp_path / "games")
    (file,) = folder.glob("*.jsonl")
    lines = file.read_text().splitlines()
    line = json.loads(lines[1])
    (deal,) = line["deals"]
    two_kings = f"{deal['dealer']}:88"  # which the dealer does not hold
    for moves, error in (
        ([two_kings], r"deal \d+, seating \d, number 1: move 1: expected"),
        ([*deal["moves"], "1:p"], "no move after the end"),
        ("words", r"jsonl, line 2: .*expected moves, a list"),
        (["9:p"], r"line 2: .*expected a seat"),
    ):
        changed = line | {"deals": [deal | {"moves": moves}]}
        file.write_text("\n".join([lines[0], json.dumps(changed), *lines[2:]]))
        refuses(RecordError, error, read_examples, [folder])


def test_what_is_no_recorded_game_and_games_of_two_rule_sets_are_refused(games, tmp_path):
    refuses(SettingError, r"saved games .tournament.json., a log .*none", read_examples, [tmp_path])
    for name, content, error, says in (
        ("x.jsonl", b"{}", RecordError, r"x.jsonl, line 1: expected a record with format"),
        ("x", b"\x80\x04pickle", GoitaError, "expected text in UTF-8"),
    ):
        (tmp_path / name).write_bytes(content)
        refuses(error, says, read_examples, [tmp_path / name])
    (tmp_path / "a.txt").write_text(LINE, encoding="utf-8")
    both = [games, tmp_path / "a.txt"]
    refuses(SettingError, "one rule set, got those of", read_examples, both, rules="pagat")
