"""A class that misbehaves loses by it, and nobody else: not the tournament, not other pairings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import unruly_bots

import evaluate
from agents import AgentError, play_pair
from agents.faults import FAULTS
from agents.tournament import children
from agents.tournament.arena import Tournament
from agents.tournament.block import play_block
from agents.tournament.plan import Plan, tasks
from agents.tournament.summary import Summary
from agents.tournament.task import Isolation

HELPERS = Path(unruly_bots.__file__).parent
ROOT = HELPERS.parents[1]


def block(bot, other="greedy", deals=8, **settings):
    """Plays one block in this process."""
    (task,) = tasks((f"unruly_bots:{bot}", other), deals, seed=5)
    return play_block(task, guarded=True, **settings)


def kinds(result):
    return [(player, fault.kind) for player, fault in result.faults]


# --------------------------------------------------------------------------------- what is a fault


@pytest.mark.parametrize(
    "bot", ["Raises", "Exits", "RaisesNonsense", "RaisesInBegin", "RaisesInEnd"]
)
def test_an_exception_is_one_fault_a_call(bot):
    result = block(bot)
    assert set(kinds(result)) == {(0, "raised")}
    assert len(result.faults) >= 4  # an instance a seat
    assert (result.rounds == 1).all()  # all was played to its end


def test_a_fault_names_the_deal_the_seat_the_exception_and_its_traceback():
    result = block("Raises")
    _, fault = result.faults[0]
    assert "RuntimeError: out of ideas" in fault.text
    assert 'raise RuntimeError("out of ideas")' in fault.traceback
    assert 0 <= fault.deal < 8
    seating = result.task.seatings[fault.seating]
    assert seating[fault.seat] == 0  # it sat there


def test_what_cannot_be_shown_is_a_fault_as_well():
    _, fault = block("RaisesNonsense").faults[0]
    fault.text.encode()
    fault.traceback.encode()


@pytest.mark.parametrize(("bot", "kind"), [("OneIllegal", "illegal"), ("OneNan", "illegal")])
def test_an_illegal_action_or_no_number_is_one_fault_a_row(bot, kind):
    result = block(bot)
    assert kinds(result) == [(0, kind)] * 4  # one of each instance
    assert result.forfeited == ()


@pytest.mark.parametrize("bot", ["Short", "Words"])
def test_a_wrong_shape_or_type_is_one_fault_a_call(bot):
    result = block(bot)
    assert set(kinds(result)) == {(0, "nonsense")}
    assert result.forfeited == (0,)


def test_writing_into_the_mask_makes_nothing_legal():
    assert set(kinds(block("WritesMask"))) == {(0, "illegal")}


def test_a_class_that_cannot_be_built_is_out():
    result = block("ExitsAtBirth")
    assert kinds(result) == [(0, "raised")] * 4
    assert result.forfeited == (0,)


def test_what_goes_wrong_as_it_closes_counts():
    result = block("RaisesInClose")
    assert kinds(result) == [(0, "raised")] * 4
    assert "close" in result.faults[0][1].text


def test_a_bot_that_says_it_is_out_is_not_believed():
    result = block("Claims")
    assert result.faults == result.forfeited == ()


def test_ten_faults_of_all_instances_together_are_the_end():
    result = block("Raises:every=3", deals=16)
    assert FAULTS <= len(result.faults) < 2 * FAULTS
    assert result.forfeited == (0,)
    assert block("First").forfeited == ()


def test_the_random_actions_in_its_place_are_the_same_each_time():
    first, second = block("Raises"), block("Raises")
    assert (first.points == second.points).all()
    assert first.faults == second.faults


def test_play_pair_raises():
    with pytest.raises(RuntimeError, match="out of ideas"):
        play_pair("unruly_bots:Raises", "greedy", 4)
    with pytest.raises(AgentError, match=r"expected one of .* from .*OneIllegal"):
        play_pair("unruly_bots:OneIllegal", "greedy", 4)


# ---------------------------------------------------------------------------- an instance a seat


def test_no_instance_of_a_class_sees_two_hands_of_a_deal():
    unruly_bots.INSTANCES.clear()
    (task,) = tasks(("unruly_bots:Diary", "greedy"), 64, seed=5)
    play_block(task, guarded=True)
    assert len(unruly_bots.INSTANCES) == 4
    assert sorted(seat for one in unruly_bots.INSTANCES for seat in one.seats) == [0, 1, 2, 3]
    for one in unruly_bots.INSTANCES:
        assert len(one.seats) == 1


def test_in_cross_play_too_each_seat_of_each_seating_has_its_own():
    unruly_bots.INSTANCES.clear()
    plan = Plan(("unruly_bots:Diary", "greedy"), cross=True, deals=4)
    (mixed,) = [p for p in plan.pairings() if p.is_cross and p.agents[0] != p.agents[1]]
    play_block(mixed.tasks[0], guarded=True)
    assert len(unruly_bots.INSTANCES) == 4  # a partner in four games of each deal
    assert all(len(one.seats) == 1 and len(one.hands) >= 4 for one in unruly_bots.INSTANCES)


# ------------------------------------------------------------------------- children and their end


def found(tournament):
    summary = Summary.of(tournament.plan, tournament.played())
    return json.loads(json.dumps(summary.to_json()))


@pytest.fixture
def at_the_bots(monkeypatch):
    monkeypatch.chdir(HELPERS)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_class_that_ends_its_process_loses_its_pairing_and_no_other(workers, at_the_bots):
    agents = ("unruly_bots:Dies:after=3", "greedy", "random")
    tournament = Tournament(Plan(agents, deals=16, block_deals=8))
    tournament.play(workers=workers)
    result = found(tournament)
    pairs = {(pair["a"], pair["b"]): pair for pair in result["pairs"]}
    assert len(pairs) == 3
    assert pairs["greedy", "random"]["deals"] == 16
    for other in ("greedy", "random"):
        assert pairs[agents[0], other]["forfeited"] == [agents[0]]
    assert {(fault["agent"], fault["kind"]) for fault in result["faults"]} == {(agents[0], "died")}
    assert all(fault["seat"] in range(4) for fault in result["faults"])


def test_a_class_that_never_returns_is_ended_and_loses(monkeypatch, at_the_bots):
    monkeypatch.setattr(children, "LOOK", 0.2)
    arguments = ["unruly_bots:Hangs", "greedy"]
    (task,) = tasks(tuple(arguments), 2)
    with children.Children(1, limits=(1.0, 0.0)) as some:
        (result,) = some.play([task])
    assert kinds(result) == [(0, "died")]
    assert result.forfeited == (0,)


def test_two_that_die_are_both_out(at_the_bots):
    (task,) = tasks(("unruly_bots:Dies", "unruly_bots:Dies:after=2"), 4)
    (result,) = children.play_blocks([task])
    assert sorted(kinds(result)) == [(0, "died"), (1, "died")]


# -------------------------------------------------------------------------------- the command line


def evaluated(tmp_path, *arguments):
    """Returns the exit code and what was written as JSON."""
    file = tmp_path / "out.json"
    code = evaluate.main([*arguments, "--deals", "16", "--json", str(file)])
    return code, json.loads(file.read_text()) if file.exists() else None


@pytest.mark.parametrize(
    "bot",
    [
        *("Exits", "Raises", "Dies", "ExitsAtBirth", "ExitsAsItIsRead", "ExitsAsItIsLookedAt"),
        *("ExitsAsItIsAsked", "BreaksItsProcess", "Interrupts"),
    ],
)
def test_what_goes_wrong_in_a_class_is_told_and_is_exit_code_1(bot, tmp_path, at_the_bots, capsys):
    code, told = evaluated(tmp_path, "--agents", f"unruly_bots:{bot}", "greedy", "random")
    assert code == 1
    assert len(told["pairs"]) == 3
    assert {fault["agent"] for fault in told["faults"]} == {f"unruly_bots:{bot}"}
    assert f"fault: unruly_bots:{bot} against greedy" in capsys.readouterr().out
    if bot == "Raises":
        assert "out of ideas" in told["faults"][0]["traceback"]


def test_what_a_bot_prints_is_not_among_the_tables(at_the_bots):
    command = [sys.executable, str(ROOT / "evaluate.py"), "--agents", "unruly_bots:Prints"]
    command += ["greedy", "--deals", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "HELLO" not in done.stdout
    assert "HELLO" in done.stderr


@pytest.mark.parametrize(
    "options", [["--isolate-ms", "0"], ["--isolate-memory", "10M"], ["--isolate-memory", "much"]]
)
def test_impossible_limits_are_exit_code_2(options, tmp_path, at_the_bots, capsys):
    with pytest.raises(SystemExit) as ended:
        evaluated(tmp_path, "--agents", "unruly_bots:First", "greedy", "--isolate", *options)
    assert ended.value.code == 2
    assert "expected" in capsys.readouterr().err


def test_a_bot_that_goes_elsewhere_takes_no_file_along(tmp_path, monkeypatch, at_the_bots):
    here = os.getcwd()
    arguments = ["--agents", "unruly_bots:GoesElsewhere", "greedy", "--deals", "600"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(here)
    assert evaluate.main([*arguments, "--json", "out.json"]) == 0
    assert (tmp_path / "out.json").exists()


def test_strict_stops_at_the_first_fault(tmp_path, at_the_bots, capsys):
    code, told = evaluated(tmp_path, "--agents", "unruly_bots:Raises", "greedy", "--strict")
    assert (code, told) == (1, None)
    assert "RuntimeError: out of ideas" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "unruly_bots:Nobody",
        "no_bots:Bot",
        "unruly_bots:Raises:never=1",
        "unruly_bots:Raises:every=x",
    ],
)
def test_what_is_not_there_is_exit_code_2_before_anything_is_played(text, tmp_path, at_the_bots):
    with pytest.raises(SystemExit) as ended:
        evaluated(tmp_path, "--agents", text, "greedy")
    assert ended.value.code == 2


def test_a_module_that_exits_as_it_is_imported_is_exit_code_2(tmp_path, monkeypatch, capsys):
    (tmp_path / "leaving_bots.py").write_text("raise SystemExit(0)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        evaluated(tmp_path, "--agents", "leaving_bots:Bot", "greedy")
    assert ended.value.code == 2
    assert "SystemExit" in capsys.readouterr().err


def test_a_module_whose_import_never_ends_is_exit_code_2(tmp_path, monkeypatch, capsys):
    (tmp_path / "endless_bots.py").write_text("import time\nwhile True:\n    time.sleep(1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(children, "IMPORT_SECONDS", 3.0)
    with pytest.raises(SystemExit) as ended:
        evaluated(tmp_path, "--agents", "endless_bots:Bot", "greedy")
    assert ended.value.code == 2
    assert "in 3 s" in capsys.readouterr().err


# --------------------------------------------------------------------- in processes of their own


@pytest.mark.parametrize("bot", ["Dies", "GoesElsewhere", "Raises"])
def test_isolated_classes_lose_by_what_they_do_and_nothing_else_does(
    bot, tmp_path, at_the_bots, capsys
):
    name = f"unruly_bots:{bot}"
    options = ["--isolate", "--isolate-ms", "2000", "--isolate-memory", "1G"]
    code, told = evaluated(tmp_path, "--agents", name, "greedy", "random", *options)
    assert len(told["pairs"]) == 3
    assert code == int(bot != "GoesElsewhere")
    assert {fault["agent"] for fault in told["faults"]} <= {name}


def test_isolated_and_in_process_a_class_plays_the_same(at_the_bots):
    first, isolated = (
        Plan(("unruly_bots:First", "greedy"), deals=8, isolation=isolation)
        for isolation in (None, Isolation())
    )
    results = []
    for plan in (first, isolated):
        (result,) = children.play_blocks(plan.pairings()[0].tasks)
        results.append(result)
    assert (results[0].points == results[1].points).all()
    assert results[1].faults == ()
    assert "isolation" not in first.arguments()
    assert isolated.arguments()["isolation"] == {"ms": 1000, "memory": 2 << 30}


# ----------------------------------------------------------------------------------- a drawn seed


def test_a_random_seed_is_drawn_told_and_kept_with_the_results(tmp_path, capsys):
    results = str(tmp_path / "results.sqlite")
    arguments = ["--agents", "greedy", "random", "--seed", "random"]
    _, first = evaluated(tmp_path, *arguments, "--results", results)
    _, again = evaluated(tmp_path, *arguments, "--results", results)
    _, other = evaluated(tmp_path, *arguments)
    assert first["seed"] == again["seed"] != other["seed"]
    assert first["pairs"][0]["ci95"] == again["pairs"][0]["ci95"]
    assert 2**32 < first["seed"] < 2**64
    assert f"seed: {first['seed']}" in capsys.readouterr().out
