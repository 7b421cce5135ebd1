"""The benchmark's figures are those of a slow count, and a stop or bad input changes nothing."""

import json

import numpy as np
import pytest

from goita_agents.population import Population
from goita_agents.population.manifest import INFORMATION, VALIDATION_BOTS
from goita_env.information import InformationStructure, MessageChannel
from goita_env.rules import JGA
from goita_lab.arena.coordination import report
from goita_lab.arena.coordination.benchmark import Benchmark
from goita_lab.arena.coordination.results import Results
from goita_lab.arena.coordination.task import VALIDATION, CoordinationTask, Partner
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import MIXED_SEATINGS, Task
from goita_lab.commands import coordination as command

PARTNERS = (Partner("heuristic:reading=off"), Partner("random"), Partner("greedy", counted=False))
OPPONENTS = ("champion", "population:offbelief-6")
SMALL = CoordinationTask(PARTNERS, OPPONENTS)
ARGUMENTS = ["--quick", "--seed", "5", "--partners", "random", "--opponents", "greedy"]
SPEAKING = Partner("population:token-private-0", INFORMATION["token-private"])


def seed_of(number: int) -> int:
    """Returns the seed of the deals of a pair of partner and opponent, the agent's own first."""
    return (5 + number * 0x9E3779B97F4A7C15) % 2**64


def points(one: str, other: str, opponent: str, deals: int, number: int) -> np.ndarray:
    """Returns the points of two partners in each deal, counted on its own."""
    agents = (one, other, opponent)
    seatings = MIXED_SEATINGS[:2] if one == other else MIXED_SEATINGS
    block = play_block(Task(agents, seed_of(number), 0, 0, deals, JGA, seatings=seatings))
    return block.points.mean(axis=0)


def beside(agent: str, deals: int) -> dict[str, np.ndarray]:
    """Returns an agent's points with each partner, mean over the opponents: [deals]."""
    number, found = len(OPPONENTS), {}
    for partner in PARTNERS:
        name, cells = partner.spec, []
        for opponent in (*OPPONENTS, name):
            cells.append(points(agent, name, opponent, deals, number))
            number += 1
        found[name] = np.mean(cells, axis=0)
    return found


def measured(*agents: str, deals: int = 40, **options) -> Results:
    """Returns the results of agents, each with four deals fewer than the one before."""
    fewer_deals = tuple((deals - 4 * number, agent) for number, agent in enumerate(agents))
    plan = Benchmark(agents, **{"task": SMALL, "seed": 5, "fewer_deals": fewer_deals} | options)
    tournament = Tournament(plan)
    tournament.play(workers=1)
    return Results.of(plan, tournament.played())


def test_figures_are_those_of_a_slow_count():
    (entry,) = measured("champion", deals=8).entries
    own = [points("champion", "champion", one, 8, n) for n, one in enumerate(OPPONENTS)]
    assert entry.self_play == mean_interval(np.mean(own, axis=0))
    values = beside("champion", 8)
    for row in entry.partners:
        assert row.points.mean == pytest.approx(values[row.partner].mean())
    counted = {one.spec: values[one.spec] for one in PARTNERS if one.counted}
    means = [one.mean() for one in counted.values()]
    assert entry.points.partners == 2
    assert entry.points.over_deals.mean == pytest.approx(np.mean(means))
    assert entry.points.over_partners.low == pytest.approx(mean_interval(means).low)
    worst = min(counted, key=lambda name: counted[name][::2].mean())
    assert entry.worst.partner == worst
    assert entry.worst.points.mean == pytest.approx(counted[worst][1::2].mean())
    cells = {(row.partner, row.opponents): row.points.mean for row in entry.cells}
    assert cells["champion", OPPONENTS[0]] == pytest.approx(own[0].mean())
    assert len(cells) == 3 * 3 + 2


def test_every_pair_of_partner_and_opponent_has_deals_of_its_own():
    tasks = [one.tasks[0] for one in Benchmark(("champion",), SMALL, seed=5).pairings()]
    assert len({task.seed for task in tasks}) == len(tasks) == len(OPPONENTS) + 3 * len(PARTNERS)
    # All agents have the same.
    both = Benchmark(("champion", "greedy"), SMALL, seed=5).pairings()
    assert {one.tasks[0].seed for one in both} == {task.seed for task in tasks}


def test_everything_is_ordered_by_points():
    results = measured("random", "heuristic", "champion", "greedy", deals=24)
    totals = {entry.agent: entry.points.mean for entry in results.entries}
    ranked = sorted(totals, key=lambda name: -totals[name])
    assert ranked != list(totals)
    assert [row[0] for row in report.agents_table(results).rows] == ranked
    told = report.terminal(results)
    assert ranked == sorted(ranked, key=lambda name: told.index(f"{name}: by partner"))
    # Ranks of points and of self-play, by hand.
    own = {entry.agent: entry.self_play.mean for entry in results.entries}
    strength = sorted(own, key=lambda name: -own[name])
    squares = sum((ranked.index(name) - strength.index(name)) ** 2 for name in ranked)
    assert results.rank_correlation == pytest.approx(1 - 6 * squares / (4 * 15))


def test_agents_are_compared_deal_by_deal_on_the_deals_of_both():
    other = "population:selfplay-0"
    (found,) = measured("champion", other, deals=12).differences
    assert (found.agent, found.minus, found.deals) == (other, "champion", 8)
    first, second = beside("champion", 12), beside(other, 8)
    own = np.array([second[one.spec] - first[one.spec][:8] for one in PARTNERS if one.counted])
    assert found.points.over_deals == mean_interval(own.mean(axis=0))


def test_an_agent_is_deaf_and_silent_at_a_table_with_messages_unless_it_speaks():
    mute = "plain:base=(population:token-private-1)"
    for speak, seated in ((False, mute), (True, "population:token-private-1")):
        task = CoordinationTask((SPEAKING,), ("greedy",))
        plan = Benchmark(("population:token-private-1",), task, speak=speak)
        assert plan.cell(plan.agents[0], SPEAKING, "greedy") == (
            seated,
            SPEAKING.spec,
            "plain:base=greedy",
        )
    channel = MessageChannel(bits=2, audience="partner")
    assert InformationStructure(channel=channel) == SPEAKING.information


def test_a_stopped_benchmark_ends_as_one_that_was_not(tmp_path, capsys):
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    results = tmp_path / "part.db"
    words = ["greedy", *ARGUMENTS, "--fewer-deals", "12:greedy"]
    assert command.main([*words, "--json", str(whole)]) == 0
    stopped = Tournament.play

    def stop(self, **options):
        stopped(self, **options)
        raise KeyboardInterrupt

    Tournament.play = stop
    try:
        assert command.main([*words, "--results", str(results), "--json", str(part)]) == 130
    finally:
        Tournament.play = stopped
    assert command.main([*words, "--results", str(results), "--json", str(part)]) == 0
    capsys.readouterr()
    found = [json.loads(file.read_bytes()) for file in (whole, part)]
    for one in found:
        one.pop("seconds"), one.pop("command")
        for entry in one["entries"]:
            entry.pop("ms_per_decision")
    assert found[0] == found[1]
    assert found[0]["format"] == "goita-coordination-3"
    assert set(found[0]["entries"][0]["marks"]) == {
        "quick",
        "12 deals",
        "seed given",
        "other players",
    }


def test_an_agent_that_names_a_player_of_the_task_is_no_entry():
    for agent, marks in {
        "champion": (),
        "population:offbelief-0": ("names population:offbelief-0",),
        "population:offbelief-10": (),  # another member, whose name begins so
        "mine=population:offbelief-1,temperature=1": ("names population:offbelief-1",),
        "my_bots:Mixed:base=population:offbelief-1": ("names population:offbelief-1",),
        "offbelief=champion": (),
        "champion:search=on,types=(greedy;heuristic:reading=off)": ("names heuristic:reading=off",),
    }.items():
        assert Benchmark((agent,), seed_given=False).marks(agent) == marks


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "expected an agent of"),
        (["greedy", "greedy"], "expected each agent once"),
        (["greedy", "--partners", "random", "random"], "expected each partner and opponent once"),
        (["greedy", "--fewer-deals", "2:greedy"], "expected deals of a cell from 4 to"),
        (["greedy", "--fewer-deals", "9:champion"], "expected one of"),
        (["greedy", "--workers", "0"], "expected 1 to"),
    ],
)
def test_wrong_arguments_are_told(words, said, capsys):
    extra = [] if "--partners" in words else ["--partners", "random"]
    with pytest.raises(SystemExit) as stopped:
        command.main([*words, *extra, "--opponents", "heuristic"])
    assert stopped.value.code == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_the_task_names_members_of_the_population_that_are_held_out():
    names = [one.spec for one in VALIDATION.partners if one.counted]
    assert len(names) == 15
    assert not {*names} & {*VALIDATION.opponents}
    assert {*VALIDATION_BOTS.values()} < {*names}
    for name in (*names, *VALIDATION.opponents):
        if name not in VALIDATION_BOTS.values():
            assert Population().members[name.removeprefix("population:")].split == "validation"
