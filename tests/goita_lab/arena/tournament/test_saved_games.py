"""Saved games: what a line tells, which deals are saved, and that none is lost or doubled."""

import json
from dataclasses import replace

import numpy as np
import pytest

import goita_env
from goita_agents.base import RandomAgent
from goita_agents.files import write_whole
from goita_agents.identity import weights
from goita_env import Game, Rules, actions, records
from goita_env.errors import SettingError
from goita_env.records.model import from_game
from goita_lab.arena.statistics.sequential_test import Sprt
from goita_lab.arena.tournament import arena
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.games_folder import GamesFolder, read_games
from goita_lab.arena.tournament.plan import TournamentPlan, tasks
from goita_lab.arena.tournament.saved_games import SavedDeal
from goita_lab.commands import evaluate
from programs import refusal
from raising import refuses
from record_samples import SIX
from research.grading.grade import play_deals

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
    saved = SavedDeal(("a", "b", "a", "b"), 0, 0, record, 0, 50)
    assert SavedDeal.from_line(saved.to_line(("a", "b"), 0), game.rules) == saved


def test_a_line_gives_back_the_deal_with_every_answer_before_play():
    (redeal,) = redealt()
    told = [SavedDeal(("a", "b", "a", "b"), 7, 1, one, 2, 40) for one in [*ROUNDS, redeal]]
    told[-1] = replace(told[-1], winner=None, points=0)
    for one in told:
        again = SavedDeal.from_line(one.to_line(("a", "b"), 0), one.record.rules)
        assert again == one
        assert again.record.number == one.record.number
        assert again.record.result() == one.record.result()
    assert any(move[1] >= actions.CALL for one in told for move in one.record.moves)


def test_long_names_of_any_script_make_names_of_files_that_can_be_written(tmp_path):
    names = [f"{'ごいた名人' * 10}{number}=random" for number in "一二三"]
    planned = TournamentPlan(tuple(names), cross=True, deals=2, seed=1)
    folder = GamesFolder(tmp_path / "games", planned)
    files = [folder.file(task) for pairing in planned.pairings() for task in pairing.tasks]
    for file in files:
        write_whole(file, "")
    assert len(set(files)) == len(files) > 3
    assert all("ごいた名人" in file.name for file in files)


def test_a_line_says_all_there_is_to_know_and_its_history_is_one_of_goita_core():
    record = replace(ROUNDS[3], scores=(50, 90))
    line = SavedDeal(("a", "b", "c", "b"), 7, 1, record, 2, 40).to_line(("a", "c", "b"), 5)
    told = json.loads(line)
    assert "\n" not in line
    wanted = {"pairing": ["a", "c", "b"], "agents": ["a", "b", "c", "b"], "rules": "jga"}
    wanted |= {"block": 5, "deal": 7, "seating": 1, "number": 4, "dealer": record.dealer}
    wanted |= {"scores": [50, 90], "winner": 2, "points": 40}
    assert {key: told[key] for key in told if key not in ("history", "before_play")} == wanted
    (deal,) = records.history.loads(told["history"]).deals
    assert (deal.hands, deal.dealer) == (record.hands, record.dealer)


@pytest.mark.parametrize("episode", ["round", "match"])
def test_what_is_saved_of_a_block_replays_to_its_result(episode):
    (task, *_) = tasks(("greedy", "random"), 40, seed=4, block_deals=24, episode=episode)
    result = play_block(task, save=True)
    plain = play_block(task)
    assert (plain.games, plain.points.tolist()) == ((), result.points.tolist())
    points, deals = np.zeros_like(result.points), 0
    for one in result.games:
        found = one.record.result()
        assert (found.winner, found.points) == (one.winner, one.points)
        deals += one.winner is None
        if one.winner is not None:
            first = one.agents[one.winner] == "greedy"
            points[one.seating, one.deal - task.first] += one.points if first else -one.points
    assert deals > 0
    assert (points == result.points).all()
    first = [one for one in result.games if (one.deal, one.seating) == (task.first, 0)]
    assert [one.record.number for one in first] == list(range(1, len(first) + 1))
    both = {(one.deal, one.record.hands) for one in result.games if one.record.number == 1}
    assert len(both) == task.deals  # both games of a deal are dealt the same tiles


def test_every_game_that_counts_is_in_the_folder_once_whatever_its_rules(tmp_path):
    games = GamesFolder(tmp_path / "games", plan(cross=True, deals=20, block_deals=8))
    tournament = Tournament(plan(cross=True, deals=20, block_deals=8))
    tournament.play(games=games)
    found = [one for one in read_games(games.path) if one.record.number == 1]
    keys = [(one.agents, one.deal, one.seating) for one in found]
    wanted = [
        (tuple(task.agents[player] for player in seating), deal, number)
        for task in tournament.tasks()
        for deal in range(task.first, task.first + task.deals)
        for number, seating in enumerate(task.seatings)
    ]
    assert sorted(keys) == sorted(wanted)
    assert not [block for one in tournament.played() for block in one.blocks if block.games]
    told = json.loads((games.path / "tournament.json").read_text())
    assert Rules(**told["rules"]).name == "jga"


def test_blocks_that_were_played_but_do_not_count_leave_no_games(tmp_path, monkeypatch):
    whole = plan(sprt=Sprt(0, 0.5), deals=180)
    games, ahead = GamesFolder(tmp_path / "games", whole), Tournament(whole)
    alone, everything = GamesFolder(tmp_path / "alone", whole), list(ahead.tasks())
    Tournament(whole).play(games=alone)
    blocks = [play_block(task, save=True) for task in everything]
    monkeypatch.setattr(arena, "play_blocks", lambda *_, **__: blocks)
    ahead.play(games=games)
    assert sum(len(one.blocks) for one in ahead.played()) < len(everything)
    assert contents(games.path) == contents(alone.path)


def test_a_folder_of_another_tournament_is_refused(tmp_path):
    path, planned = tmp_path / "games", TournamentPlan(("champion", "greedy"), deals=2)
    GamesFolder(path, planned)
    manifest = path / "tournament.json"
    told = json.loads(manifest.read_text())
    assert told["weights"] == weights(["champion"])
    assert told["versions"]["goita_env"] == goita_env.__version__
    manifest.write_text(json.dumps(told | {"versions": {"commit": "0" * 40}}))
    GamesFolder(path, planned)  # other versions go on, other networks don't
    for content, words in (
        (json.dumps(told | {"weights": {"champion": "0" * 64}}), "this tournament's games"),
        (json.dumps(told | {"arguments": {}}), r"tournament\.json"),
        ("[]", r"expected JSON in .*tournament\.json"),
    ):
        manifest.write_text(content)
        refuses(SettingError, words, GamesFolder, path, planned)
    manifest.unlink()
    (path / "diary").touch()
    refuses(SettingError, "saved games or none", GamesFolder, path, planned)


def test_results_whose_games_were_not_saved_are_not_gone_on_with(tmp_path, capsys):
    command = ["--agents", "greedy", "random", "--deals", "20"]
    command += ["--results", str(tmp_path / "results")]
    assert evaluate.main(command) == 0
    error = refusal(capsys, evaluate.main, [*command, "--save-games", str(tmp_path / "games")])
    assert "expected the games of every block" in error
