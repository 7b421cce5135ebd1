"""Saved games: what a line tells, which deals are saved, and that none is lost or doubled."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import goita_env
from goita_agents import champion
from goita_agents.base import RandomAgent
from goita_agents.files import write_whole
from goita_agents.identity import weights
from goita_env import Game, actions, records
from goita_env.errors import RecordError, SettingError
from goita_env.records.model import from_game
from goita_lab.arena.statistics.sequential_test import Sprt
from goita_lab.arena.tournament import arena
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.games_folder import read_games
from goita_lab.arena.tournament.plan import TournamentPlan, tasks
from goita_lab.arena.tournament.saved_games import SavedDeal
from goita_lab.commands import evaluate
from programs import refusal
from raising import refuses
from record_samples import SIX
from research.grading.grade import play_deals
from tournament_plans import folder_of

SHIPPED = Path(champion.__file__).parent
ROUNDS = play_deals(RandomAgent(), 32, seed=2)


def redealt():
    """The record of a deal that ended in a redeal, and of the next one."""
    game = Game(hands=["11111238", "11122344", "11234455", "35566778"], dealer=0, seed=1)
    game.play(actions.CALL)
    while len(game.deals) == 1:
        legal = game.legal_actions()
        game.play(actions.REDEAL if actions.REDEAL in legal else legal[0])
    return from_game(game).deals[:1]


def plan(**settings):
    given = {"deals": 60, "block_deals": 16, "seed": 3}
    return TournamentPlan(("greedy", "random", "greedy"), **{**given, **settings})


def contents(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_a_round_that_six_pawns_ended_is_saved_as_it_was():
    game = Game(hands=SIX, dealer=0)
    game.play("call")
    (record,) = from_game(game).deals
    saved = SavedDeal(("a", "b", "a", "b"), 0, 0, 0, record)
    assert SavedDeal.from_line(saved.to_line()) == saved


def test_a_line_gives_back_the_deal_with_every_answer_before_play():
    (redeal,) = redealt()
    for record in [*ROUNDS, redeal]:
        saved = SavedDeal(("a", "b", "a", "b"), 3, 7, 1, record)
        read = SavedDeal.from_line(saved.to_line())
        assert read == saved
        assert read.record.number == record.number
        assert read.record.result() == record.result()
    assert any(action >= actions.CALL for record in ROUNDS for _, action in record.moves)


def test_long_names_of_any_script_make_names_of_files_that_can_be_written(tmp_path):
    names = [f"{'ごいた名人' * 10}{number}=random" for number in "一二三"]
    planned = TournamentPlan(tuple(names), cross=True, deals=2, seed=1)
    folder = folder_of(tmp_path / "games", planned)
    files = [folder.file(task) for pairing in planned.pairings() for task in pairing.tasks]
    for file in files:
        write_whole(file, "")
    assert len(set(files)) == len(files) > 3
    assert all("ごいた名人" in file.name for file in files)


def test_a_line_is_a_complete_record_that_says_who_played_and_where():
    deal = replace(ROUNDS[3], scores=(50, 90))
    line = SavedDeal(("a", "b", "c\n\u2028", "b"), 5, 7, 1, deal).to_line()
    assert "\n" not in line
    record = records.complete.loads(line)
    assert (record.deals, record.players) == ((deal,), ("a", "b", "c\n\u2028", "b"))
    content = json.loads(line)
    places = {"block": 5, "deal": 7, "seating": 1, "number": 4}
    assert {key: content[key] for key in places} == places


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"format": "goita-record-2"}, "expected a record with format 'goita-record-1'"),
        ({"players": ["a"]}, "expected four names"),
        ({"deals": []}, "expected one deal in a line, got 0"),
        ({"deals": [{"hands": 4}]}, "deal 1: expected a deal with hands"),
        ({"seating": 4}, "expected the keys of a saved deal"),
        ({"seating": True}, "expected the keys of a saved deal"),
        ({"number": 0}, "expected the keys of a saved deal"),
        ({"deal": -1}, "expected the keys of a saved deal"),
        ({"block": 1 << 40}, "expected the keys of a saved deal"),
        ({"block": 0.5}, "expected the keys of a saved deal"),
    ],
)
def test_a_line_of_somebody_else_is_refused_with_its_place(change, error, tmp_path):
    line = SavedDeal(("a", "b", "a", "b"), 0, 7, 1, ROUNDS[0]).to_line()
    file = tmp_path / "games.jsonl"
    file.write_text(f"{line}\n{json.dumps(json.loads(line) | change)}\n")
    deals = read_games(file)
    assert next(deals).deal == 7
    refuses(RecordError, f"games.jsonl, line 2: {error}", next, deals)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\n", b"{}", b'"goita-record-1"'])
def test_what_is_no_line_is_refused_with_its_place(content, tmp_path):
    file = tmp_path / "games.jsonl"
    file.write_bytes(content)
    refuses(RecordError, "games.jsonl, line 1: expected", list, read_games(file))


def test_names_that_are_no_text_are_saved_and_read_again(tmp_path, monkeypatch):
    """A path may hold bytes that are no UTF-8, which Python has as lone surrogates."""
    file = os.fsdecode(b"n\xff.safetensors")
    monkeypatch.chdir(tmp_path)
    shutil.copyfile(SHIPPED / "crowd.safetensors", file)
    planned = TournamentPlan((f"file:{file}", "greedy"), deals=2, seed=1)
    for _ in range(2):  # a folder is opened again, too
        Tournament(planned).play(games=folder_of(Path("games"), planned))
    agents = {agent for deal in read_games(Path("games")) for agent in deal.agents}
    assert agents == {"file:n\\udcff.safetensors", "greedy"}


@pytest.mark.parametrize("episode", ["round", "match"])
def test_what_is_saved_of_a_block_replays_to_its_result(episode):
    (task, *_) = tasks(("greedy", "random"), 40, seed=4, block_deals=24, episode=episode)
    result = play_block(task, save=True)
    plain = play_block(task)
    assert (plain.games, plain.points.tolist()) == ((), result.points.tolist())
    points, redeals = np.zeros_like(result.points), 0
    for saved in result.games:
        end = saved.record.result()
        assert end.finished
        redeals += end.winner is None
        if end.winner is not None:
            first = saved.agents[end.winner] == "greedy"
            points[saved.seating, saved.deal - task.first] += end.points if first else -end.points
    assert redeals > 0
    assert (points == result.points).all()
    first = [one for one in result.games if (one.deal, one.seating) == (task.first, 0)]
    assert [one.record.number for one in first] == list(range(1, len(first) + 1))
    both = {(one.deal, one.record.hands) for one in result.games if one.record.number == 1}
    assert len(both) == task.deals  # both games of a deal are dealt the same tiles


def test_every_game_that_counts_is_in_the_folder_once_whatever_its_rules(tmp_path):
    games = folder_of(tmp_path / "games", plan(cross=True, deals=20, block_deals=8))
    tournament = Tournament(plan(cross=True, deals=20, block_deals=8))
    tournament.play(games=games)
    found = [one for one in read_games(games.path) if one.record.number == 1]
    keys = [(one.agents, one.block, one.deal, one.seating) for one in found]
    wanted = [
        (tuple(task.agents[player] for player in seating), task.block, deal, number)
        for task in tournament.tasks()
        for deal in range(task.first, task.first + task.deals)
        for number, seating in enumerate(task.seatings)
    ]
    assert sorted(keys) == sorted(wanted)
    assert not [block for one in tournament.played() for block in one.blocks if block.games]


def test_blocks_that_were_played_but_do_not_count_leave_no_games(tmp_path, monkeypatch):
    whole = plan(sprt=Sprt(0, 0.5), deals=180)
    games, ahead = folder_of(tmp_path / "games", whole), Tournament(whole)
    alone, everything = folder_of(tmp_path / "alone", whole), list(ahead.tasks())
    Tournament(whole).play(games=alone)
    blocks = [play_block(task, save=True) for task in everything]
    monkeypatch.setattr(arena, "play_blocks", lambda *_, **__: blocks)
    ahead.play(games=games)
    assert sum(len(one.blocks) for one in ahead.played()) < len(everything)
    assert contents(games.path) == contents(alone.path)


def test_a_folder_of_another_tournament_is_refused(tmp_path):
    path, planned = tmp_path / "games", TournamentPlan(("champion", "greedy"), deals=2)
    folder_of(path, planned)
    manifest = path / "tournament.json"
    told = json.loads(manifest.read_text())
    assert told["weights"] == weights(["champion"])
    assert told["versions"]["goita_env"] == goita_env.__version__
    manifest.write_text(json.dumps(told | {"versions": {"commit": "0" * 40}}))
    folder_of(path, planned)  # another commit goes on
    other = {**told["arguments"], "versions": {"goita_env": "0.1"}, "seed": 7}
    for content, words in (
        (json.dumps(told | {"arguments": other}), "seed 7, now 0.*versions.goita_env '0.1'"),
        (json.dumps(told | {"arguments": {}}), "was begun with.*another file, or.*--anew"),
        ("[", r"expected JSON in .*tournament\.json"),
        ("[]", "format 'goita-games-2' in .*tournament.json', got "),
        (json.dumps(told | {"format": 2}), "format 'goita-games-2' in .*, got 2$"),
        ('{"format": "goita-games-1"}', "got 'goita-games-1'; goita-env 0.3.0 reads it"),
    ):
        manifest.write_text(content)
        refuses(SettingError, words, folder_of, path, planned)
    refuses(SettingError, "goita-env 0.3.0 reads it", list, read_games(path))
    file = path / "001-champion-greedy-00000.jsonl"
    refuses(SettingError, "goita-env 0.3.0 reads it", next, read_games(file))
    manifest.unlink()
    (path / "diary").touch()
    refuses(SettingError, "saved games or none", folder_of, path, planned)


def test_games_of_an_agent_that_changed_are_removed_and_all_if_the_folder_begins_anew(tmp_path):
    path = tmp_path / "games"
    planned = TournamentPlan(("champion", "greedy", "random"), deals=2, seed=4)
    games = folder_of(path, planned)
    Tournament(planned).play(games=games)
    files = contents(path).keys()
    manifest = path / "tournament.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(told | {"digests": {"champion": "0" * 64}}))
    folder_of(path, planned)
    assert contents(path).keys() == {name for name in files if "champion" not in name}
    assert json.loads(manifest.read_text()) == told
    other = replace(planned, seed=5)
    refuses(SettingError, "seed 4, now 5", folder_of, path, other)
    folder_of(path, other, anew=True)
    assert contents(path).keys() == {"tournament.json"}


def test_results_whose_games_were_not_saved_are_not_gone_on_with(tmp_path, capsys):
    command = ["--agents", "greedy", "random", "--deals", "20"]
    command += ["--results", str(tmp_path / "results")]
    assert evaluate.main(command) == 0
    error = refusal(capsys, evaluate.main, [*command, "--save-games", str(tmp_path / "games")])
    assert "expected the games of every block" in error
