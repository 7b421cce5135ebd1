"""A class that misbehaves loses by it, and nobody else: not the tournament, not other pairings."""

import json
from pathlib import Path

import pytest

import hosted_bots
from goita_agents.faults import FAULTS
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import TournamentPlan, tasks
from goita_lab.commands import evaluate
from hosted_bots import DIARIES
from programs import refusal
from sqlite_files import table

HELPERS = Path(hosted_bots.__file__).parent
OWN = "hosted_bots:Hostile:behaviour="


def block(behaviour, deals=8):
    """Plays one block in this process."""
    (task,) = tasks((OWN + behaviour, "greedy"), deals, seed=5)
    return play_block(task, guarded=True)


def kinds(result):
    return [(player, fault.kind) for player, fault in result.faults]


# An instance sits at each of four seats.
ONE_CALL_EACH = [("raises in close", "raised", False), ("exits in init", "raised", True)]
ONE_ROW_EACH = [("answers one pass", "illegal", False), ("answers one nan", "illegal", False)]
EVERY_CALL = [("raises", "raised", True), ("exits", "raised", True)]
EVERY_CALL += [("raises in begin", "raised", False), ("raises in end", "raised", True)]
EVERY_CALL += [("raises what cannot be printed", "raised", True)]
EVERY_CALL += [("answers two", "nonsense", True), ("answers nothing", "nonsense", True)]
EVERY_ROW = [("writes into the mask", "illegal", True)]


@pytest.mark.parametrize(
    ("behaviour", "kind", "forfeits"), ONE_CALL_EACH + ONE_ROW_EACH + EVERY_CALL + EVERY_ROW
)
def test_what_is_a_fault_and_how_often(behaviour, kind, forfeits):
    result = block(behaviour)
    found = kinds(result)
    assert set(found) == {(0, kind)}
    once = (behaviour, kind, forfeits) in ONE_CALL_EACH + ONE_ROW_EACH
    assert len(found) == 4 if once else len(found) > 4
    assert result.forfeited == (0,) * forfeits
    assert (result.rounds == 1).all()
    for _, fault in result.faults:
        fault.text.encode()
        fault.traceback.encode()


def test_a_fault_names_the_deal_the_seat_the_exception_and_its_traceback():
    result = block("raises")
    _, fault = result.faults[0]
    assert "ValueError: boom" in fault.text
    assert 'raise ValueError("boom")' in fault.traceback
    assert 0 <= fault.deal < 8
    seating = result.task.seatings[fault.seating]
    assert seating[fault.seat] == 0  # it sat there
    assert "close" in block("raises in close").faults[0][1].text


def test_a_bot_that_says_it_is_out_is_not_believed():
    result = block("fine")
    assert result.faults == result.forfeited == ()


def test_ten_faults_of_all_instances_together_are_the_end():
    result = block("raises,every=3", deals=16)
    assert FAULTS <= len(result.faults) < 2 * FAULTS
    assert result.forfeited == (0,)


def test_the_random_actions_in_its_place_are_the_same_each_time():
    first, second = block("raises"), block("raises")
    assert (first.points == second.points).all()
    assert first.faults == second.faults


@pytest.mark.parametrize("cross", [False, True])
def test_no_instance_of_a_class_sees_two_hands_of_a_deal(cross):
    DIARIES.clear()
    pairings = TournamentPlan(("hosted_bots:Diary", "greedy"), cross=cross, deals=64).pairings()
    (pairing,) = [p for p in pairings if p.is_cross == cross and p.agents[0] != p.agents[1]]
    play_block(pairing.tasks[0], guarded=True)
    # With mixed partners it is a partner in four games of each deal.
    assert len(DIARIES) == 4
    assert all(len(one.seats) == 1 and one.deals >= 64 for one in DIARIES)
    assert cross or sorted(seat for one in DIARIES for seat in one.seats) == [0, 1, 2, 3]


@pytest.fixture
def at_the_bots(monkeypatch):
    monkeypatch.chdir(HELPERS)


def test_where_a_class_ends_its_process_the_rest_stays_and_the_pairing_is_named(
    tmp_path, at_the_bots, capsys
):
    results = ["--workers", "2", "--results", str(tmp_path / "results.db")]
    agents = ["--agents", "greedy", "random", f"bad={OWN}exits two seconds later"]
    code, told = evaluated(tmp_path, *agents, *results)
    assert (code, told) == (1, None)
    error = capsys.readouterr().err
    assert "greedy against bad" in error
    assert "exec:goita bot MODULE:CLASS" in error
    assert "the same command continues" in error
    assert table(tmp_path / "results.db", "SELECT count(*) FROM parts") == [(1,)]


def evaluated(tmp_path, *arguments):
    """Returns the exit code and what was written as JSON."""
    file = tmp_path / "out.json"
    code = evaluate.main([*arguments, "--deals", "16", "--json", str(file)])
    return code, json.loads(file.read_text()) if file.exists() else None


@pytest.mark.parametrize(
    "bot", ["Hostile:behaviour=raises", "Hostile:behaviour=answers what exits"]
)
def test_what_goes_wrong_in_a_class_is_told_and_is_exit_code_1(
    bot, tmp_path, at_the_bots, no_children, capsys
):
    code, told = evaluated(tmp_path, "--agents", f"bad=hosted_bots:{bot}", "greedy")
    assert code == 1
    assert len(told["pairs"]) == 1
    assert {fault["agent"] for fault in told["faults"]} == {"bad"}
    assert "fault: bad against greedy" in capsys.readouterr().out
    if bot.endswith("raises"):
        assert "boom" in told["faults"][0]["traceback"]


def test_what_a_bot_prints_is_not_among_the_tables(at_the_bots, capfd):
    assert evaluate.main(["--agents", OWN + "prints", "greedy", "--deals", "4"]) == 0
    shown = capfd.readouterr()
    assert "points per round" in shown.out
    assert '"game":17' not in shown.out
    assert '"game":17' in shown.err


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        *(("hosted_bots:Nobody", "Nobody"), ("no_bots:Bot", "no_bots")),
        *((OWN + "raises,never=1", "never=1"), (OWN + "raises,every=x", "every=int")),
        ("leaving_bots:Bot", "SystemExit"),
        ("hosted_bots:ExitsAsItIsLookedAt", "it raised SystemExit: 0"),
    ],
)
def test_what_is_not_there_or_cannot_be_imported_is_exit_code_2(
    spec, words, tmp_path, monkeypatch, capsys
):
    (tmp_path / "leaving_bots.py").write_text("raise SystemExit(0)\n")
    monkeypatch.chdir(tmp_path)
    assert words in refusal(capsys, evaluated, tmp_path, "--agents", spec, "greedy")


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
