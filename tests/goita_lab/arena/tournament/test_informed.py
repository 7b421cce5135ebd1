"""Tournaments at tables with shown tiles and messages."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from goita_agents import AgentError
from goita_agents.base import RandomAgent
from goita_agents.bots.wrapped import PlainAgent
from goita_env import InformationStructure, MessageChannel, actions
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_lab.arena.tournament import arena
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.games_folder import read_games
from goita_lab.arena.tournament.plan import TournamentPlan, tasks
from goita_lab.arena.tournament.results import read_arguments
from goita_lab.arena.tournament.saved_games import SavedDeal
from goita_lab.commands import evaluate
from informed_bots import Loud, Telling
from informed_oracle import OPTIONS
from network_files import encoded
from programs import refusal
from raising import refuses
from samples import slow
from tournament_plans import folder_of, found, keep, plan, played

TOLD = InformationStructure("partner", MessageChannel(2, "all", cost=7))
FIELD = ("random", "informed_bots:Telling", "plain:base=greedy")


def told(information=TOLD, **settings):
    return plan(FIELD, **{"information": information, "deals": 40, **settings})


@pytest.mark.parametrize("cost", [0, 9])
def test_points_are_after_what_messages_cost_and_scores_before(cost):
    """Both of one team send a message in every deal, and the others none."""
    free, dear = (
        InformationStructure("all", MessageChannel(2, "partner", price)) for price in (0, cost)
    )
    results = []
    for information in (free, dear):
        (task,) = tasks(("loud", "silent"), 60, seed=3, rules="pagat", information=information)
        players = Loud(), PlainAgent(RandomAgent())
        results.append(play_block(task, players, save=True))
    one, other = results
    deals, points = np.zeros_like(one.points), np.zeros_like(one.points)
    for saved in other.games:
        deals[saved.seating, saved.deal] += 1
        assert saved.record.scores == (0, 0)
        result = saved.record.result()
        assert result.finished
        if result.winner is not None:
            sign = 1 if saved.agents[result.winner] == "loud" else -1
            points[saved.seating, saved.deal] = sign * result.points
            assert result.scores[result.winner % 2] == result.points
    assert (deals > 1).any()  # a deal that is dealt again is paid, too
    assert np.array_equal(one.points, points)
    assert np.array_equal(other.points, points - 2 * cost * deals)
    assert np.array_equal(other.rounds_won, points > 0)
    assert np.array_equal(other.won, points > 0)


def test_costs_need_rounds():
    words = "expected episode='round' where messages cost, got 'match'"
    refuses(SettingError, words, told, episode="match")
    refuses(SettingError, words, tasks, FIELD, 2, episode="match", information=TOLD)
    free = replace(TOLD, channel=MessageChannel(1))
    assert told(free, episode="match").pairings()[0].tasks[0].information == free
    refuses(SettingError, "expected an InformationStructure value", told, {"shown": "all"})


@pytest.mark.parametrize("information", OPTIONS, ids=str)
def test_a_line_gives_back_the_deal_with_its_messages(information):
    (task,) = tasks(("random", "telling"), 12, seed=2, information=information)
    games = play_block(task, (RandomAgent(), Telling()), save=True).games
    sent = 0
    for one in games:
        assert SavedDeal.from_line(one.to_line()) == one
        messages = [move for move in one.record.moves if move[1] >= actions.MESSAGE]
        assert len(messages) == (0 if information.channel is None else 4)
        sent += sum(action > actions.MESSAGE for _, action in messages)
    assert bool(sent) == (information.channel is not None)


def _matches(information):
    field = ("plain:base=greedy", "muted:base=random")
    return plan(field, information=information, deals=4, block_deals=2, episode="match", cross=True)


@pytest.mark.parametrize("episode", ["round", slow("match")])
def test_stopped_and_gone_on_with_and_by_two_workers_nothing_differs(tmp_path, episode, request):
    free = InformationStructure("partner", MessageChannel(3, "partner"))
    wanted = told(deals=16) if episode == "round" else _matches(free)
    by_two = played(wanted, workers=2)
    request.getfixturevalue("no_children")
    whole = played(wanted)
    assert whole["information"] == wanted.information.to_keys()["information"]
    assert by_two == whole

    def stop(_):
        raise KeyboardInterrupt

    for folder in (tmp_path / "once", tmp_path / "twice"):
        folder.mkdir()
        path, games = folder / "results.db", folder_of(folder / "games", wanted)
        if folder.name == "twice":
            with pytest.raises(KeyboardInterrupt):
                keep(path, wanted, games=games, progress=stop)
        tournament, _ = keep(path, wanted, games=games)
        assert found(tournament) == whole
    one, other = (
        {f.name: f.read_text() for f in (tmp_path / n / "games").iterdir()}
        for n in ("once", "twice")
    )
    assert one == other
    saved = list(read_games(tmp_path / "once" / "games"))
    assert {deal.record.information for deal in saved} == {wanted.information}
    for deal in saved:
        deal.record.result()


def test_other_options_are_another_tournament(tmp_path, no_children):
    path, folder = tmp_path / "results.db", tmp_path / "games"
    short = partial(told, deals=4)
    keep(path, short(), games=folder_of(folder, short()))
    assert InformationStructure.from_keys(read_arguments(path)) == TOLD
    for other in (PLAIN, replace(TOLD, shown=None), replace(TOLD, channel=None)):
        refuses(SettingError, "begun with: information", keep, path, short(other))
        refuses(SettingError, "was begun with", folder_of, folder, short(other))
    keep(path, short())


def test_who_does_not_play_there_is_refused_with_another_way(
    tmp_path, no_children, capsys, monkeypatch
):
    monkeypatch.setattr(arena, "play_blocks", lambda *_, **__: pytest.fail("played"))
    monkeypatch.setattr(arena, "play_block", lambda *_, **__: pytest.fail("played"))
    file = tmp_path / "told.json"
    file.write_text(json.dumps(TOLD.to_keys()))
    for spec, instead in {
        "greedy": "plain:base=greedy",
        "rollout:worlds=4": "plain:base=(rollout:worlds=4)",
        "mine=muted:base=greedy": "mine=plain:base=(muted:base=greedy)",
        "informed_bots:Plainly": "plain:base=(informed_bots:Plainly)",
    }.items():
        command = ["--agents", "random", spec, "--information", str(file)]
        error = refusal(capsys, evaluate.main, command)
        assert f"got {spec!r}: {instead} plays there" in error
        assert "muted:base=AGENT" in error
        assert repr(TOLD) in error
        assert error.count("\n") == 1
        words = "expected agents that play a game with InformationStructure"
        refuses(AgentError, words, arena.play_pair, spec, "random", 2, information=TOLD)
        TournamentPlan(("random", instead), information=TOLD).check_agents()
    refuses(AgentError, "got 'random'", arena.play_pair, _Deaf(), "random", 2, information=TOLD)


class _Deaf(RandomAgent):
    def plays(self, information):
        return information.channel is None


def test_trained_networks_meet_their_plain_twins_muted_ones_and_masked_ones(tmp_path):
    for name, information in (("told", TOLD), ("plain", PLAIN)):
        (tmp_path / f"{name}.safetensors").write_bytes(encoded(information=information))
    ours = f"file:{tmp_path / 'told.safetensors'},temperature=1"
    twin = f"file:{tmp_path / 'plain.safetensors'}"
    field = (
        f"ours={ours}",
        f"muted=muted:base=({ours})",
        f"blind=masked:base=({ours}),hide=events",
        f"twin=plain:base=({twin})",
    )
    settings = TournamentPlan(field, information=TOLD, deals=16, seed=2)
    settings.check_agents()
    tournament = Tournament(settings)
    tournament.play()
    assert len(tournament.played()) == 6
    for spec in (ours, f"muted:base=({ours})", f"plain:base=({ours})"):
        refuses(AgentError, "play the base game", TournamentPlan((spec, "random")).check_agents)
    refuses(
        AgentError, "plain:base=", TournamentPlan((twin, "random"), information=TOLD).check_agents
    )


@pytest.mark.parametrize("ours", ["informed_bots:Telling", Telling()], ids=["text", "object"])
def test_two_agents_meet_in_this_process(ours):
    one, other = (
        arena.play_pair(ours, PlainAgent(Telling()), 40, seed=1, information=information)
        for information in (TOLD, replace(TOLD, channel=replace(TOLD.channel, cost=0)))
    )
    assert one.b == "telling"
    assert one.round_win_rate == other.round_win_rate
    # Of 40 deals some are dealt again; the plain team sends nothing, ours where it holds a king.
    assert -7 * 2 * 1.5 < one.points_per_round - other.points_per_round < -7 * 0.5


def test_the_command_reads_a_file_of_options(tmp_path, capsys):
    options, out = tmp_path / "told.json", tmp_path / "out.json"
    options.write_text(json.dumps(TOLD.to_keys()))
    command = ["--agents", "random", "plain:base=greedy", "--deals", "20", "--json", str(out)]
    assert evaluate.main([*command, "--information", str(options)]) == 0
    assert str(TOLD) in capsys.readouterr().out.replace("\n", "")
    assert InformationStructure.from_keys(json.loads(out.read_text())) == TOLD
    options.write_text("{}")
    assert evaluate.main([*command, "--information", str(options)]) == 0
    assert "information" not in json.loads(out.read_text())
    assert evaluate.main([*command, "--information", str(options), "--episode", "match"]) == 0
    for content, words in {
        '{"shown": "partner"}': 'expected {"information": {...}}',
        "[]": 'expected {"information": {...}}',
        '{"information": {"shown": "none"}}': "expected shown of",
        '{"information": {"token": {"bits": 4}}}': "expected a whole number from 1 to 3 as bits",
        '{"information": ': "expected a JSON file of information options",
    }.items():
        options.write_text(content)
        capsys.readouterr()
        with pytest.raises(SystemExit, match="2"):
            evaluate.main([*command, "--information", str(options)])
        error = "".join(capsys.readouterr().err.replace("│", "").split())
        assert "".join(words.split()) in error
        assert "told.json" in error
