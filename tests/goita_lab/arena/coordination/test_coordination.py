"""The benchmark's figures are those of a slow count, and a stop or bad input changes nothing."""

import json

import numpy as np
import pytest

from goita_agents.population import METHODS, VALIDATION_BOTS
from goita_env.errors import SettingError
from goita_env.rules import JGA
from goita_lab.arena.coordination import report
from goita_lab.arena.coordination.benchmark import Benchmark
from goita_lab.arena.coordination.results import Results
from goita_lab.arena.coordination.task import VALIDATION, CoordinationTask, Partner
from goita_lab.arena.statistics.intervals import mean_interval, mean_intervals, two_way_interval
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import MIXED_SEATINGS, PAIR_SEATINGS, Task
from goita_lab.commands import coordination as command

PARTNERS = (
    Partner("heuristic:reading=off", "rules", "heuristic"),
    Partner("random", "noise"),
    Partner("greedy", "other", counted=False),
)
OPPONENTS = ("greedy", "random")
SMALL = CoordinationTask(PARTNERS, OPPONENTS)
ARGUMENTS = ["--quick", "--seed", "5", "--partners", "random", "--opponents", "greedy"]


def points(one: str, other: str, opponent: str, deals: int) -> np.ndarray:
    """Returns the points of two partners in each deal, counted on its own."""
    agents = (one, other, opponent)
    seatings = MIXED_SEATINGS[:2] if one == other else MIXED_SEATINGS
    block = play_block(Task(agents, 5, 0, 0, deals, JGA, seatings=seatings))
    return block.points.mean(axis=0)


def measured(*agents: str, deals: int = 40) -> Results:
    """Returns the results of agents, each with four deals fewer than the one before."""
    fewer_deals = tuple((deals - 4 * number, agent) for number, agent in enumerate(agents))
    plan = Benchmark(agents, SMALL, seed=5, fewer_deals=fewer_deals)
    tournament = Tournament(plan)
    tournament.play(workers=1)
    return Results.of(plan, tournament.played())


def test_figures_are_those_of_a_slow_count():
    results = measured("champion", deals=8)
    (entry,) = results.entries
    own = np.mean([points("champion", "champion", one, 8) for one in OPPONENTS], axis=0)
    values = {}
    for partner in PARTNERS:
        name = partner.spec
        mine, theirs = (
            np.mean([points(one, name, against, 8) for against in OPPONENTS], axis=0)
            for one in ("champion", name)
        )
        values[name] = {"points": mine, "over_partner": mine - theirs}
        values[name]["understanding"] = mine - (own + theirs) / 2
    for row in entry.partners:
        for name, found in values[row.partner].items():
            assert row.figures[name].mean == pytest.approx(found.mean())
    counted = [values[one.spec] for one in PARTNERS if one.counted]
    for name in ("points", "understanding", "over_partner"):
        total = entry.totals[name]
        assert total.mean == pytest.approx(np.mean([one[name].mean() for one in counted]))
        assert total.partners == 2
        assert total.over_both.low < total.over_deals.mean < total.over_both.high
    beside = np.mean([points("heuristic", PARTNERS[0].spec, one, 8) for one in OPPONENTS], axis=0)
    over = entry.totals["over_normaliser"]
    assert over.mean == pytest.approx((values[PARTNERS[0].spec]["points"] - beside).mean())
    assert entry.self_play.mean == pytest.approx(own.mean())
    worst = min(
        (one for one in PARTNERS if one.counted),
        key=lambda one: values[one.spec]["understanding"][::2].mean(),
    )
    assert entry.worst.partner == worst.spec
    odd = values[worst.spec]["understanding"][1::2]
    assert entry.worst.understanding.mean == pytest.approx(odd.mean())


def test_everything_is_ordered_by_points_beside_unknown_partners(tmp_path):
    """By compatibility, which compares an agent with itself, a weak one can be ahead."""
    results = measured("random", "heuristic", "greedy", deals=20)
    totals = {entry.agent: entry.totals for entry in results.entries}
    ranked = sorted(totals, key=lambda name: -totals[name]["points"].mean)
    assert ranked != sorted(totals, key=lambda name: -totals[name]["understanding"].mean)
    assert ranked != list(totals)
    assert [entry.agent for entry in report.best_first(results)] == ranked
    assert [row[0] for row in report.agents_table(results).rows] == ranked
    told = report.terminal(results)
    assert ranked == sorted(ranked, key=lambda name: told.index(f"{name} with each partner"))
    page = report.html(results)
    assert ranked == sorted(ranked, key=lambda name: page.index(f"<h2><bdi>{name}</bdi>"))
    best, partner = totals[ranked[0]]["points"].mean, results.entries[0].partners[0]
    assert f"<b><bdi>{ranked[0]}</bdi></b> makes the most of these agents" in page
    first = page[page.index("<tbody>") : page.index('<circle class="dot')]
    assert f"<b>{report.signed(best)}</b>" in first.replace("−", "-")
    matrix = page[page.index("by partner and agent") :].replace("−", "-")
    assert f"<b>{report.signed(partner.figures['points'].mean)}</b>" in matrix


def test_agents_are_compared_deal_by_deal_on_the_deals_of_both():
    results = measured("champion", "random", deals=12)
    (found,) = results.differences
    assert (found.agent, found.minus, found.deals) == ("random", "champion", 8)
    own = [
        np.mean([points("random", one.spec, against, 8) for against in OPPONENTS], axis=0)
        - np.mean([points("champion", one.spec, against, 8) for against in OPPONENTS], axis=0)
        for one in PARTNERS
        if one.counted
    ]
    assert found.totals["points"].mean == pytest.approx(np.mean(own))
    # What the partners make among themselves and with trained partners cancels.
    for name in ("over_partner", "points"):
        assert found.totals[name].over_deals.low == pytest.approx(
            mean_interval(np.mean(own, axis=0)).low
        )
    assert found.totals["points"].over_both == two_way_interval(np.array(own))
    assert found.totals["over_normaliser"].mean == pytest.approx(own[0].mean())


def test_the_figures_follow_the_agent_not_its_seat():
    """Two of one agent are the same team as a tournament's."""
    pair = play_block(Task(("heuristic", "greedy"), 5, 0, 0, 40, JGA, seatings=PAIR_SEATINGS))
    assert np.array_equal(points("heuristic", "heuristic", "greedy", 40), pair.points.mean(axis=0))


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
    assert found[0]["format"] == "goita-coordination-1"
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
        "champion:search=on,types=(greedy;heuristic:reading=off)": ("names heuristic:reading=off",),
    }.items():
        assert Benchmark((agent,), seed_given=False).marks(agent) == marks


def test_pages_are_written_and_escape_names(tmp_path, capsys):
    page, tables = tmp_path / "page.html", tmp_path / "tables.md"
    words = ["<b>me</b>=greedy", *ARGUMENTS, "--fewer-deals", "8:random"]
    with pytest.raises(SystemExit):
        command.main([*words, "--html", str(page)])
    capsys.readouterr()
    words[:1] = ["me=greedy", "you=random"]
    assert command.main([*words, "--html", str(page), "--markdown", str(tables)]) == 0
    told = capsys.readouterr().out
    assert "compatibility" in told
    assert "Minus me" in told
    text = page.read_text(encoding="utf-8")
    assert "<h2>" in text
    assert "With itself" in text
    assert "<h2>Minus me" in text
    assert "| `me`" in tables.read_text(encoding="utf-8")
    assert "## Minus me" in tables.read_text(encoding="utf-8")


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
            method, _, seed = name.removeprefix("population:").rpartition("-")
            assert METHODS[method].split == "validation"
            assert int(seed) < METHODS[method].seeds
    for one in VALIDATION.partners:
        if one.trained_partner is not None:
            method = METHODS[one.trained_partner.removeprefix("population:").rpartition("-")[0]]
            assert method.split == "trained_partner"
            assert method.options[:2] == ("--partner", one.spec)


def test_intervals_of_rows_are_the_bootstraps():
    values = np.random.default_rng(0).normal(2, 3, (3, 200))
    for row, found in zip(values, mean_intervals(values), strict=True):
        one = mean_interval(row)
        assert found.mean == pytest.approx(one.mean)
        assert (found.low, found.high) == pytest.approx((one.low, one.high), abs=0.05)
    both = two_way_interval(values + np.array([[-5], [0], [5]]))
    assert both.high - both.low > 3 * (mean_interval(values.mean(axis=0)).high - 2)
    with pytest.raises(SettingError):
        two_way_interval(values[:1])
