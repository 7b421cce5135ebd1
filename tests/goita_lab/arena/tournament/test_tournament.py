"""Tournaments: who meets whom, any number of workers, stopping and going on, faults, cross-play."""

import os
import signal
import time
from importlib.metadata import EntryPoint

import pytest

from goita_agents.bots.greedy import GreedyAgent
from goita_agents.faults import FAULTS, Fault
from goita_agents.registry import GROUP, Entry, entry_points_by_name
from goita_env.errors import SettingError
from goita_lab.arena.tournament import arena, block
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import TournamentPlan, parse_fewer_deals, tasks
from goita_lab.work import WorkerError
from raising import refuses
from tournament_plans import found, keep, plan, played


def pairings(*agents, **settings):
    return [pairing.agents for pairing in TournamentPlan(agents, **settings).pairings()]


def test_every_pair_meets_once_and_an_agent_named_twice_itself():
    assert pairings("a", "b", "c") == [("a", "b"), ("a", "c"), ("b", "c")]
    assert pairings("a", "a") == [("a", "a")]
    assert pairings("a", "b", "a") == [("a", "a"), ("a", "b")]


def test_one_plays_each_of_the_field():
    assert pairings("a", "b", one="c") == [("c", "a"), ("c", "b")]
    assert pairings("a", one="a") == [("a", "a")]
    assert TournamentPlan(("a", "b"), one="c").names == ["c", "a", "b"]


def test_in_cross_play_every_two_are_partners_against_two_of_the_last():
    mixed = [("a", "a", "b"), ("a", "b", "b"), ("b", "b", "b")]
    assert pairings("a", "b", cross=True) == [("a", "b"), *mixed]


def test_slow_agents_play_fewer_of_the_same_deals():
    fewer = plan(("greedy", "random", "heuristic"), fewer_deals=((40, "random"), (60, "heuristic")))
    assert [pairing.deals for pairing in fewer.pairings()] == [40, 60, 40]
    whole = plan(("greedy", "random")).pairings()[0]
    assert fewer.pairings()[0].tasks[:2] == whole.tasks[:2]


def test_mixed_partners_sit_at_all_four_seatings_of_a_deal():
    (mixed,) = (p for p in plan(("a", "b"), cross=True).pairings() if p.agents == ("a", "b", "b"))
    seatings = mixed.tasks[0].seatings
    assert len(set(seatings)) == 4
    for number, seating in enumerate(seatings):
        ours = [seat for seat, player in enumerate(seating) if player in (0, 1)]
        assert ours == ([0, 2] if number % 2 == 0 else [1, 3])
    assert {seating.index(0) for seating in seatings} == {0, 1, 2, 3}


def test_pairing_removes_variance_where_bots_play_alike():
    pairs = played(plan(("greedy", "random", "random"), deals=3000, block_deals=256))["pairs"]
    removed = {(pair["a"], pair["b"]): pair["variance_removed"] for pair in pairs}
    assert 0.05 < removed["greedy", "random"] < 0.4
    assert -0.06 < removed["random", "random"] < 0.2


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

FAULTY = Entry(Faulty)


@pytest.fixture
def faulty(monkeypatch):
    point = EntryPoint("faulty", f"{__name__}:FAULTY", GROUP)
    # One of ours plays in this process, where the test sees what is open.
    points = entry_points_by_name()
    monkeypatch.setitem(points, "faulty", point._for(points["greedy"].dist))


def test_faults_are_told_by_agent_pair_and_kind_and_bots_are_closed(faulty):
    result = played(plan(("faulty:every=60", "greedy"), deals=32, block_deals=16))
    (entry,), (pair,) = result["faults"], result["pairs"]
    assert entry["pair"] == ["faulty:every=60", "greedy"]
    assert (entry["agent"], entry["kind"], entry["stderr"]) == (entry["pair"][0], "late", ["oh"])
    assert 0 < entry["count"] == pair["faults"][entry["agent"]] < FAULTS
    assert pair["forfeited"] == []
    assert not OPEN


def test_a_bot_that_forfeits_ends_its_pairing_and_no_other(faulty):
    result = played(plan(("faulty", "greedy", "random"), deals=64))
    pairs = {(pair["a"], pair["b"]): pair for pair in result["pairs"]}
    for other in ("greedy", "random"):
        assert pairs["faulty", other]["forfeited"] == ["faulty"]
        assert pairs["faulty", other]["deals"] < 64
        assert pairs["faulty", other]["faults"]["faulty"] >= FAULTS
    assert pairs["greedy", "random"]["deals"] == 64
    assert not OPEN


def test_faults_of_several_blocks_are_counted_together(faulty):
    (pair,) = played(plan(("faulty:every=100", "greedy"), deals=640))["pairs"]
    assert 16 < pair["deals"] < 640
    assert pair["forfeited"] == ["faulty:every=100"]


def test_bots_are_closed_when_a_block_is_interrupted(faulty, monkeypatch):
    monkeypatch.setattr(Faulty, "act", lambda *_: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        Tournament(plan(("faulty", "greedy"))).play()
    with pytest.raises(KeyboardInterrupt):
        arena.play_pair("faulty", "greedy", 4)
    assert not OPEN


@pytest.mark.parametrize("text", ["greedy", "greedy:200", "200", "200:", "-5:greedy", "1:greedy"])
def test_a_cap_is_a_number_and_an_agent(text):
    refuses(SettingError, "expected", parse_fewer_deals, text)
    assert parse_fewer_deals("200:file:a:b") == (200, "file:a:b")


def test_what_an_agent_loads_at_its_first_decision_is_not_on_its_clock(monkeypatch):
    class Heavy(GreedyAgent):
        loaded = False

        def act(self, view, legal, rng):
            if not Heavy.loaded:
                time.sleep(0.5)
                Heavy.loaded = True
            return super().act(view, legal, rng)

    (task,) = tasks(("greedy", "greedy"), 8)
    before = play_block(task)
    monkeypatch.setattr(block, "build_agent", lambda spec: Heavy())
    block.warm_up.cache_clear()
    after = play_block(task)
    assert Heavy.loaded
    assert after.thinking.max() < 0.25
    assert (after.points == before.points).all()


def test_a_worker_that_dies_is_an_error_and_what_was_played_is_kept(tmp_path, monkeypatch):
    path, whole = tmp_path / "results.db", plan(deals=176)

    def die(task, **settings):
        if task.block == 9:
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        return play_block(task)

    monkeypatch.setattr(arena, "play_block", die)
    refuses(WorkerError, "stay alive", keep, path, whole, workers=2)
    monkeypatch.undo()
    again, file = keep(path, whole)
    assert file.blocks
    assert found(again) == played(whole)
