"""The study of strangers splits what they cost, and changes nothing else from cell to cell."""

import json
import re
from functools import cache, partial
from itertools import product
from math import inf

import numpy as np
import pytest

from goita_agents.population import Population
from goita_agents.registry import load_agent
from goita_agents.search.action_values import ALLOCATION, MAX_UNSEEN_TILES
from goita_agents.search.reader import MIN_Z, ReaderAgent, as_opponent, as_partner
from goita_agents.search.rollout import RolloutAgent
from goita_env.errors import SettingError
from goita_lab.signals.playing import play
from goita_lab.studies import strangers
from goita_lab.studies.strangers import CONDITIONS, SIDES, Cell, Pair, figure, report, summarise
from goita_lab.studies.study import Options
from raising import refuses

ONE, OTHER = "population:selfplay-0", "population:otherplay-0"
SMALL = {"worlds": 16, "budget": 160}


load = cache(load_agent)


def reader(read, played):
    one, read, played = (load(name) for name in (ONE, read, played))
    return ReaderAgent(one, [as_opponent(one)], [as_partner(read)], one, played, **SMALL)


@pytest.fixture(scope="module")
def asked():
    """Views with a choice, late and early in some rounds."""
    told = play([ONE], 8, seed=2)
    view, legal = told.view(), told.legal
    rows = np.flatnonzero((legal.sum(axis=1) > 1) & ~view.asked_call & ~view.asked_choice)
    return view[rows], legal[rows]


def test_one_that_takes_all_for_its_like_is_the_search_that_does(asked):
    view, legal = asked
    plain = RolloutAgent(
        load(ONE),
        belief=True,
        min_z=MIN_Z,
        max_policy_queries=inf,
        allocation=ALLOCATION,
        max_unseen_tiles=MAX_UNSEEN_TILES,
        **SMALL,
    )
    searched = reader(ONE, ONE)._searched(view, legal)
    rows = np.flatnonzero(searched)
    assert 10 < len(rows) < len(view)
    found = [
        agent.act(view[rows], legal[rows], np.random.default_rng(1))
        for agent in (plain, reader(ONE, ONE))
    ]
    assert np.array_equal(*found)


def test_what_is_searched_does_not_depend_on_the_models(asked):
    view, legal = asked
    wanted = reader(ONE, ONE)._searched(view, legal)
    for one in (reader(OTHER, ONE), reader(ONE, OTHER), reader(OTHER, OTHER)):
        assert np.array_equal(one._searched(view, legal), wanted)
    rows = np.flatnonzero(~wanted)
    acted, alone = (
        agent.act(view[rows], legal[rows], np.random.default_rng(1))
        for agent in (reader(OTHER, OTHER), load(ONE))
    )
    assert np.array_equal(acted, alone)


def test_both_models_have_an_effect(asked):
    view, legal = asked
    rows = np.flatnonzero(reader(ONE, ONE)._searched(view, legal))
    acted = {
        tuple(reader(*both).act(view[rows], legal[rows], np.random.default_rng(1)))
        for both in product((ONE, "greedy"), repeat=2)
    }
    assert len(acted) == 4


def test_misreading_and_the_wrong_response_add_up():
    pairs = [Pair(f"population:a-{n}", f"population:b-{n}") for n in range(12)]
    rng, points = np.random.default_rng(0), {}
    worth = {"own": 0.0, "true": 2.0, "mixture": 1.5}
    for pair in pairs:
        level = rng.normal(0, 5)
        for side in SIDES:
            for reading, playing in CONDITIONS:
                one = Cell(pair, side, reading, playing, (), 4)
                gained = worth[reading] + (playing == "true") * 0.5 - (playing == "network")
                points[one.key] = level + gained + rng.normal(0, 0.1)
    result = summarise(pairs, rng.normal(0.5, 0.1, 12).tolist(), points, 4)
    for split in result.splits:
        assert split.told.mean == pytest.approx(split.reading.mean + split.playing.mean)
        assert split.reading.low < 2 < split.reading.high
        assert split.playing.mean == pytest.approx(0.5, abs=0.1)
        assert split.mixture.mean == pytest.approx(1.5, abs=0.1)
        assert split.search.mean == pytest.approx(1, abs=0.1)
    assert not result.upper_bound
    assert "told who the stranger is" in report(result)
    told = {"misreading minus": 1.5, "both mended": 0, "told who .* without": 3.5}
    for what, worth in told.items():
        found = re.search(rf"\| {what}.*?\| +([-+.\d]+) \[", report(result))
        assert float(found[1]) == pytest.approx(worth, abs=0.2)
    assert figure(result).startswith(b"<?xml")
    low = summarise(pairs, [0.2] * 12, points, 4)
    assert low.upper_bound
    assert "upper bound" in report(low)


def test_a_mixture_knows_the_stranger_s_method_and_not_the_stranger():
    known = strangers.mixture_of(Pair(ONE, OTHER))
    assert known[:2] == (ONE, "population:selfplay-1")
    assert OTHER not in known
    methods = [name.partition(":")[2].rpartition("-")[0] for name in known[1:]]
    assert sorted(methods) == sorted(strangers.METHODS)
    assert set(known) <= set(Population().names())


def test_pairs_that_share_runs_count_for_less_than_pairs_that_do_not():
    values = np.random.default_rng(1).normal(0, 1, 12)
    apart = [Pair(f"a{n}", f"b{n}") for n in range(12)]
    shared = [Pair(f"a{n % 3}", f"b{n // 3}") for n in range(12)]
    wide, narrow = (strangers.over_runs(pairs, values) for pairs in (shared, apart))
    assert narrow.mean == wide.mean == pytest.approx(values.mean())
    assert wide.high - wide.low > narrow.high - narrow.low > 2 * 1.5 * values.std() / 12**0.5


def test_pairs_have_the_largest_gaps_of_all_methods(tmp_path):
    agents = [f"population:{method}-{seed}" for method in strangers.METHODS for seed in range(6)]
    rng = np.random.default_rng(2)
    points = rng.normal(0, 1, (30, 30))
    points = points + points.T
    told = {"quick": False, "agents": agents, "points": points.tolist()}
    file, options = tmp_path / "runs.json", Options(tmp_path)
    refuses(SettingError, "run it first", strangers.chosen_pairs, options)
    file.write_text(json.dumps(told | {"quick": True}))
    refuses(SettingError, "whole study of runs", strangers.chosen_pairs, options)
    file.write_text(json.dumps(told))
    pairs = strangers.chosen_pairs(options)
    assert len(set(pairs)) == strangers.PAIRS
    method = {name: name.partition(":")[2].rpartition("-")[0] for name in agents}
    both = [tuple(sorted((method[one.player], method[one.stranger]))) for one in pairs]
    assert max(map(both.count, both)) <= strangers.MOST_BY_METHODS
    assert all(one != other for one, other in both)
    for names in ([one.player for one in pairs], [one.stranger for one in pairs]):
        assert max(map(names.count, names)) <= strangers.MOST_BY_RUN
    own = np.diagonal(points)
    gap = (own[:, None] + own[None, :]) / 2 - points
    at = [(agents.index(one.player), agents.index(one.stranger)) for one in pairs]
    apart = np.array([[method[a] != method[b] for a in agents] for b in agents])
    assert gap[at[0]] == pytest.approx((gap * apart).max())
    assert np.mean([gap[place] for place in at]) > np.quantile(gap, 0.9)


@pytest.mark.slow
def test_the_study_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(strangers, "QUICK_DEALS", 2)
    monkeypatch.setattr(strangers, "QUICK_GAP_DEALS", 2)
    monkeypatch.setattr(strangers, "QUICK_PAIRS", strangers.QUICK_PAIRS[:1])
    monkeypatch.setattr(strangers, "ReaderAgent", partial(ReaderAgent, worlds=4, budget=20))

    def stop(what, done, of):
        if what == "strangers" and done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        strangers.run(Options(tmp_path, quick=True, progress=stop))
    rest = []
    told = Options(tmp_path, quick=True, progress=lambda what, done, of: rest.append((what, done)))
    again = strangers.run(told)
    assert ("strangers", 4) in rest
    assert ("strangers", 3) not in rest
    assert again == strangers.run(Options(tmp_path / "whole", quick=True))
    assert not list(tmp_path.glob("*.parts"))
