"""Tournaments: who meets whom, any number of workers, stopping and going on, faults, cross-play."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import evaluate
from agents import AgentError, load_agent, registry
from agents.faults import FAULTS, Fault
from agents.registry import Entry
from agents.statistics.sequential_test import Sprt
from agents.tournament import arena, children, workers
from agents.tournament.arena import Tournament
from agents.tournament.block import play_block
from agents.tournament.plan import Plan, parse_cap, tasks
from agents.tournament.results import ResultsFile
from agents.tournament.summary import Summary
from goita_env.errors import SettingError

ROOT = Path(__file__).resolve().parents[3]
CLOCKED = ("ms_per_decision", "rounds_per_second")


def plan(agents=("random", "greedy", "random"), **settings):
    return Plan(agents, **{"deals": 100, "block_deals": 16, "seed": 3, **settings})


def found(tournament):
    """All that a tournament found but what a clock measured."""
    return unclocked(Summary.of(tournament.plan, tournament.played()).to_json())


def unclocked(result):
    for pair in result["pairs"]:
        for key in CLOCKED:
            del pair[key]
    return json.loads(json.dumps({k: v for k, v in result.items() if k not in ("seconds",)}))


def played(plan, **how):
    tournament = Tournament(plan)
    tournament.play(**how)
    return found(tournament)


def pairings(*agents, **settings):
    return [pairing.agents for pairing in Plan(agents, **settings).pairings()]


# ----------------------------------------------------------------------------------- who meets whom


def test_every_pair_meets_once_and_an_agent_named_twice_itself():
    assert pairings("a", "b", "c") == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairings("a", "a") == [("a", "a")]
    assert pairings("a", "b", "a") == [("a", "a"), ("a", "b")]


def test_one_plays_each_of_the_field():
    assert pairings("a", "b", one="c") == [("c", "a"), ("c", "b")]
    assert pairings("a", one="a") == [("a", "a")]
    assert Plan(("a", "b"), one="c").names == ["c", "a", "b"]


def test_in_cross_play_every_two_are_partners_against_two_of_the_last_or_of_one_chosen():
    mixed = [("a", "a", "b"), ("a", "b", "b"), ("b", "b", "b")]
    assert pairings("a", "b", cross=True) == [("a", "b"), *mixed]
    against = pairings("a", "b", cross=True, cross_opponent="c")
    assert against[1:] == [("a", "a", "c"), ("a", "b", "c"), ("b", "b", "c")]
    assert Plan(("a", "b"), cross=True, cross_opponent="c").names == ["a", "b", "c"]


def test_slow_agents_play_fewer_of_the_same_deals():
    capped = plan(("greedy", "random", "heuristic"), caps=((40, "random"), (60, "heuristic")))
    assert [pairing.deals for pairing in capped.pairings()] == [40, 60, 40]
    whole = plan(("greedy", "random")).pairings()[0]
    assert capped.pairings()[0].tasks[:2] == whole.tasks[:2]


def test_mixed_partners_sit_at_all_four_seatings_of_a_deal():
    (mixed,) = (p for p in plan(("a", "b"), cross=True).pairings() if p.agents == ("a", "b", "b"))
    seatings = mixed.tasks[0].seatings
    assert len(set(seatings)) == 4
    for number, seating in enumerate(seatings):
        ours = [seat for seat, player in enumerate(seating) if player in (0, 1)]
        assert ours == ([0, 2] if number % 2 == 0 else [1, 3])
    assert {seating.index(0) for seating in seatings} == {0, 1, 2, 3}


# ------------------------------------------------------------------- the same, whoever plays it


@pytest.mark.parametrize("settings", [{"cross": True}, {"episode": "match"}, {"one": "greedy"}])
def test_one_worker_and_two_find_the_same_to_the_last_digit(settings):
    assert played(plan(**settings), workers=2) == played(plan(**settings))


def test_blocks_taken_in_any_order_come_to_the_same_table():
    whole = plan(sprt=Sprt(0, 1.5), deals=600)
    forward, backward = Tournament(whole), Tournament(whole)
    blocks = [play_block(task) for task in forward.tasks()]
    forward.add(blocks)
    backward.add(blocks[::-1])
    assert found(forward) == found(backward) == played(whole)


# ------------------------------------------------------------------------------ what is measured


def test_an_agent_without_chance_scores_zero_against_itself_in_matches_and_cross_play():
    result = played(plan(("greedy", "greedy"), cross=True, episode="match", deals=20))
    (pair,), (cell,) = result["pairs"], result["cross"]["cells"]
    assert pair["points_per_round"] == cell["points_per_round"] == 0
    assert (pair["match_win_rate"], pair["match_win_ci95"]) == (0.5, [0.5, 0.5])
    assert pair["variance_removed"] == 1


def test_a_match_counts_its_rounds_and_its_winner():
    tournament = Tournament(plan(("greedy", "random"), episode="match", deals=60))
    tournament.play()
    (one,), (pair,) = tournament.played(), found(tournament)["pairs"]
    points, rounds = one.games("points"), one.games("rounds")
    assert pair["points_per_round"] == pytest.approx(points.sum() / rounds.sum())
    assert pair["round_win_rate"] == pytest.approx(one.games("rounds_won").sum() / rounds.sum())
    assert pair["match_win_rate"] == pytest.approx(one.games("won").mean())
    assert 0.5 < pair["round_win_rate"] < pair["match_win_rate"] <= 1
    assert (one.games("won") == (points > 0)).mean() > 0.9
    low, high = pair["ci95"]
    assert low < pair["points_per_round"] < high


def test_pairing_removes_variance_where_bots_play_alike():
    pairs = played(plan(("greedy", "random", "random"), deals=3000, block_deals=256))["pairs"]
    removed = {(pair["a"], pair["b"]): pair["variance_removed"] for pair in pairs}
    assert 0.05 < removed["greedy", "random"] < 0.4
    assert -0.06 < removed["random", "random"] < 0.2


def test_the_summary_says_what_it_takes_to_repeat_it():
    result = Summary.of(plan(), [], command="python evaluate.py", seconds=1.5).to_json()
    assert result["agents"] == ("random", "greedy")
    assert (result["seed"], result["deals"], result["rules"]) == (3, 100, "jga")
    assert (result["episode"], result["block_deals"]) == ("round", 16)
    assert result["command"] == "python evaluate.py"
    assert result["cross"] is None
    assert result["ratings"] == result["faults"] == ()


def test_ratings_of_a_tournament_hold_random_at_zero_and_greedy_above():
    ratings = played(plan(deals=400))["ratings"]
    assert [rating["agent"] for rating in ratings] == ["greedy", "random"]
    assert ratings[0]["ci95"][0] > 100
    assert ratings[1]["elo"] == 0


# ------------------------------------------------------------------------ bots that make faults


class Faulty:
    """Plays the first legal action and makes a fault now and then, as a program may."""

    name = "faulty"

    def __init__(self, every: int = 40):
        self.faults, self.forfeited, self.asked, self.every = [], False, 0, every
        OPEN.append(self)

    def act(self, view, legal, rng):
        for game in view.game.tolist():
            self.asked += 1
            if self.asked % self.every == 0 and not self.forfeited:
                self.faults.append(Fault("late", game % 4, game, "expected an answer", ("oh",)))
                self.forfeited = len(self.faults) >= FAULTS
        return legal.argmax(axis=1)

    def close(self):
        OPEN.remove(self)

    def forfeit(self):
        self.forfeited = True


OPEN = []


@pytest.fixture
def faulty(monkeypatch):
    entry = Entry(__name__, "Faulty")
    monkeypatch.setattr(registry, "AGENTS", {**registry.AGENTS, "faulty": entry})


def test_faults_are_told_by_agent_pair_and_kind_and_bots_are_closed(faulty):
    tournament = Tournament(plan(("faulty:every=60", "greedy"), deals=32, block_deals=16))
    tournament.play()
    result = found(tournament)
    (entry,), (pair,) = result["faults"], result["pairs"]
    assert entry["pair"] == ["faulty:every=60", "greedy"]
    assert (entry["agent"], entry["kind"], entry["stderr"]) == (entry["pair"][0], "late", ["oh"])
    assert 0 < entry["count"] == pair["faults"][entry["agent"]] < FAULTS
    assert pair["forfeited"] == []
    assert not OPEN


def test_a_bot_that_forfeits_ends_its_pairing_and_no_other(faulty):
    tournament = Tournament(plan(("faulty", "greedy", "random"), deals=64))
    tournament.play()
    pairs = {(pair["a"], pair["b"]): pair for pair in found(tournament)["pairs"]}
    for other in ("greedy", "random"):
        assert pairs["faulty", other]["forfeited"] == ["faulty"]
        assert pairs["faulty", other]["deals"] < 64
        assert pairs["faulty", other]["faults"]["faulty"] >= FAULTS
    assert pairs["greedy", "random"]["deals"] == 64
    assert not OPEN


def test_faults_of_several_blocks_are_counted_together(faulty):
    tournament = Tournament(plan(("faulty:every=100", "greedy"), deals=640))
    tournament.play()
    (pair,) = found(tournament)["pairs"]
    assert 16 < pair["deals"] < 640
    assert pair["forfeited"] == ["faulty:every=100"]


def test_bots_are_closed_when_a_block_is_interrupted(faulty, monkeypatch):
    monkeypatch.setattr(Faulty, "act", lambda *_: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        Tournament(plan(("faulty", "greedy"))).play()
    with pytest.raises(KeyboardInterrupt):
        arena.play_pair("faulty", "greedy", 4)
    assert not OPEN


# --------------------------------------------------------------------------- stopping and going on


def keep(path, plan, **how):
    tournament = Tournament(plan)
    with ResultsFile(path, plan.arguments(), tournament.tasks(), plan.contents()) as file:
        tournament.add(file.blocks)
        tournament.play(file=file, **how)
    return tournament, file


def names_of_blocks(text):
    return sorted(line.split('"points"')[0] for line in text.splitlines())


def test_a_file_of_results_goes_on_where_it_stopped_and_ends_with_the_same_table(tmp_path):
    path, whole = tmp_path / "results.jsonl", plan(cross=True)
    wanted = played(whole)
    tournament, _ = keep(path, whole)
    assert found(tournament) == wanted
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + len(tournament.tasks())
    path.write_text("".join(lines[:5]))
    again, file = keep(path, whole, workers=2)
    assert len(file.blocks) == 4
    assert found(again) == wanted
    assert names_of_blocks(path.read_text()) == names_of_blocks("".join(lines))


def test_a_finished_file_is_read_and_nothing_is_played(tmp_path, monkeypatch):
    path, whole = tmp_path / "results.jsonl", plan(sprt=Sprt(0, 1.5), deals=400)
    first, _ = keep(path, whole)
    monkeypatch.setattr(children, "play_block", lambda *_, **__: pytest.fail("played"))
    second, _ = keep(path, whole)
    assert found(first) == found(second)
    # Even times come from the file.
    assert Summary.of(whole, first.played()).pairs == Summary.of(whole, second.played()).pairs


def test_a_last_line_cut_off_is_dropped_with_a_note_and_its_block_played_again(tmp_path):
    path, whole = tmp_path / "results.jsonl", plan()
    tournament, file = keep(path, whole)
    assert file.note == ""
    text = path.read_bytes()
    for cut in (1, 50, 200):
        path.write_bytes(text[:-cut])
        again, file = keep(path, whole)
        assert "cut off" in file.note
        assert found(again) == found(tournament)
        assert path.read_bytes().count(b"\n") == text.count(b"\n")


def test_faults_and_forfeits_survive_in_the_file(tmp_path, faulty):
    path, whole = tmp_path / "results.jsonl", plan(("faulty", "greedy"), deals=64)
    tournament, _ = keep(path, whole)
    again, file = keep(path, whole)
    assert file.blocks[0].faults == tournament.played()[0].blocks[0].faults
    assert found(again) == found(tournament)


def damage(text, line, change):
    lines = text.splitlines(keepends=True)
    lines[line] = change(lines[line])
    return "".join(lines)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: damage(t, 2, lambda line: line.replace("10", "20", 1)), "damaged one: line 3"),
        (lambda t: damage(t, 2, lambda line: line[:-40] + "\n"), "damaged one: line 3"),
        (lambda t: damage(t, 2, lambda line: "\n"), "damaged one: line 3"),
        (lambda t: damage(t, 0, lambda line: line.replace("seed", "send")), "damaged one: line 1"),
        (lambda t: t + t.splitlines(keepends=True)[1], "each once"),
        (lambda t: "{}\n", "damaged one: line 1"),
        (lambda t: "my diary\nis private\n", "damaged one: line 1"),
        (lambda t: "my diary", "no whole line"),
        (lambda t: "\x00\xff", "no whole line"),
    ],
)
def test_a_damaged_or_foreign_file_is_an_error_and_is_left_as_it_is(tmp_path, change, words):
    path, whole = tmp_path / "results.jsonl", plan()
    keep(path, whole)
    path.write_text(change(path.read_text()))
    before = path.read_bytes()
    with pytest.raises(SettingError, match=words):
        keep(path, whole)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seed": 4}, "seed 3, now 4"),
        ({"deals": 101}, "deals 100, now 101"),
        ({"episode": "match"}, "episode 'round', now 'match'"),
        ({"sprt": Sprt(0, 1)}, r"sprt None, now \[0, 1\]"),
        ({"agents": ("random", "greedy")}, "agents"),
        ({"cross": True}, "cross None, now 'random'"),
        ({"caps": ((50, "greedy"),)}, "fewer_deals"),
    ],
)
def test_a_file_of_other_arguments_is_an_error_that_says_which(tmp_path, settings, words):
    path = tmp_path / "results.jsonl"
    keep(path, plan())
    before = path.read_bytes()
    with pytest.raises(SettingError, match=words):
        keep(path, plan(**settings))
    assert path.read_bytes() == before


def test_a_file_killed_before_its_first_line_was_whole_is_begun_anew(tmp_path):
    path, whole = tmp_path / "results.jsonl", plan()
    keep(path, whole)
    text = path.read_bytes()
    for length in (0, 1, 30):
        path.write_bytes(text[:length])
        keep(path, whole)
        assert path.read_bytes().count(b"\n") == text.count(b"\n")


def test_two_programs_cannot_write_one_file(tmp_path):
    path, whole = tmp_path / "results.jsonl", plan()
    todo = Tournament(whole).tasks()
    with (
        ResultsFile(path, whole.arguments(), todo, whole.contents()),
        pytest.raises(SettingError, match="nobody is writing"),
    ):
        ResultsFile(path, whole.arguments(), todo, whole.contents())


def test_killed_with_signal_9_the_command_goes_on_and_ends_with_the_same_table(tmp_path):
    command = [sys.executable, "evaluate.py", "--agents", "random", "greedy", "random"]
    command += ["--deals", "3000", "--block-deals", "50"]
    command += ["--save-share", "0.1"]
    wanted, file, out = (tmp_path / name for name in ("wanted", "file", "out"))
    games, whole = tmp_path / "games", tmp_path / "whole"
    assert evaluate.main([*command[2:], "--json", str(wanted), "--save-games", str(whole)]) == 0

    kept = [*command, "--results", file, "--json", out, "--save-games", games]
    counts = []
    for goal, processes in ((10, "2"), (50, "1")):  # the number may change on the way
        with subprocess.Popen(
            [*kept, "--workers", processes],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            deadline = time.monotonic() + 30
            while not file.exists() or file.read_bytes().count(b"\n") < goal:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.005)
            os.killpg(process.pid, signal.SIGKILL)
        counts.append(file.read_bytes().count(b"\n"))
    assert 10 <= counts[0] < counts[1] < 121
    assert not out.exists()

    done = subprocess.run(kept, cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stderr.count("\n") <= 1  # a note, if a line was cut off
    assert file.read_bytes().count(b"\n") == 121
    saved = [{f.name: f.read_text() for f in path.glob("[!.]*")} for path in (games, whole)]
    assert saved[0] == saved[1]
    assert len(saved[0]) == 121
    found = [unclocked(json.loads(path.read_text())) for path in (wanted, out)]
    for result in found:
        del result["command"]
    assert found[0] == found[1]


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"agents": ("greedy",)}, "two agents or more"),
        ({"agents": (), "one": "greedy"}, "an agent or more"),
        ({"one": "greedy", "cross": True}, "one of --one and --cross"),
        ({"cross_opponent": "greedy"}, "expected --cross for .*, got 'greedy' without"),
        ({"deals": 1}, "number of deals"),
        ({"seed": -1}, "seed"),
        ({"rules": "chess"}, "jga"),
        ({"episode": "game"}, "episode"),
        ({"block_deals": 1}, "deals in a block"),
        ({"caps": ((50, "gredy"),)}, "to play fewer deals, got 'gredy'"),
        ({"caps": ((1, "greedy"),)}, "number of deals"),
    ],
)
def test_an_impossible_plan_is_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        plan(**settings)


@pytest.mark.parametrize("text", ["greedy", "greedy:200", "200", "200:", "-5:greedy", "1:greedy"])
def test_a_cap_is_a_number_and_an_agent(text):
    with pytest.raises(SettingError, match="expected"):
        parse_cap(text)
    assert parse_cap("200:file:a:b") == (200, "file:a:b")


def test_a_worker_that_dies_is_an_error_and_what_was_played_is_kept(tmp_path, monkeypatch):
    path, whole = tmp_path / "results.jsonl", plan(deals=400)

    def die(task, **settings):
        if task.block == 9:
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        return play_block(task)

    monkeypatch.setattr(children, "_play", die)
    with pytest.raises(workers.WorkerError, match="stay alive"):
        keep(path, whole, workers=2)
    monkeypatch.undo()
    again, file = keep(path, whole)
    assert file.blocks
    assert found(again) == played(whole)


def test_load_agent_and_the_arena_agree_about_names():
    plan(("greedy", "random")).check_agents()
    with pytest.raises(AgentError, match="gredy"):
        plan(("greedy", "gredy")).check_agents()
    assert load_agent("greedy").name == "greedy"
    assert np.all([task.agents == ("greedy", "random") for task in tasks(("greedy", "random"), 9)])
