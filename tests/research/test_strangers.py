"""The study of strangers splits what they cost, and changes nothing else from cell to cell."""

import re
from collections import defaultdict
from functools import cache
from itertools import product
from math import inf

import numpy as np
import pytest

from goita_agents.registry import load_agent
from goita_agents.search.action_values import SearchOptions
from goita_agents.search.rollout import RolloutAgent
from goita_lab.signals.playing import play
from research.drawing import THEMES
from research.studies.reader import MIN_Z, ReaderAgent, as_opponent, as_partner
from research.studies.strangers import (
    FOUR,
    MIXTURE,
    SIDES,
    SISTERS,
    SOME,
    STRANGERS,
    Cell,
    figure,
    over_pairs,
    report,
    summarise,
)

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
        SearchOptions(**SMALL, min_z=MIN_Z, max_policy_queries=inf),
        belief=True,
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


def test_misreading_and_the_wrong_response_add_up_net_of_sisters():
    rng, points = np.random.default_rng(0), {}
    for pairs, told in ((STRANGERS, 2.0), (SISTERS, 0.5)):
        for pair, side in product((*pairs, *(one.sampling for one in SOME)), SIDES):
            level = rng.normal(0, 5)
            for reading, playing in (*FOUR, MIXTURE):
                gained = {"own": 0.0, "true": told, "mixture": 0.7}[reading]
                gained += (playing == "true") * 0.4 + rng.normal(0, 0.1)
                points[Cell(pair, side, reading, playing, 4).key] = level + gained
    result = summarise(STRANGERS, SISTERS, SOME, points, 4)
    for side in SIDES:
        told, read, played = [one for one in result.nets if one.side == side][:3]
        assert told.pairs == (24, 15)
        assert told.net.mean == pytest.approx(read.net.mean + played.net.mean)
        assert read.net.low < 1.5 < read.net.high
        assert played.net.mean == pytest.approx(0, abs=0.1)
        assert told.sisters.mean == pytest.approx(0.9, abs=0.1)
        mixture, plain, drawn = (
            one.gain for one in result.gains if (one.side, one.stratum) == (side, "all")
        )
        assert mixture.mean == pytest.approx(0.7, abs=0.2)
        assert plain.mean == pytest.approx(2.4, abs=0.2)
        assert drawn.mean == pytest.approx(0.9, abs=0.2)
    told = report(result)
    assert re.search(r"\| partner +\| +all +\| +told who it is +\| +\+2\.4", told)
    assert figure(result, THEMES["light"]).startswith(b"<?xml")


@pytest.mark.parametrize("samples", [(SISTERS,), (SOME,), (STRANGERS, SISTERS)])
def test_intervals_over_pairs_cover_what_pairs_that_share_runs_have(samples):
    rng, covered = np.random.default_rng(0), 0
    for _ in range(300):
        run = defaultdict(lambda: rng.normal(0, 0.5))
        drawn = [
            (some, np.array([run[p.player] + run[p.stranger] + rng.normal(0, 0.5) for p in some]))
            for some in samples
        ]
        found = over_pairs(*drawn)
        covered += found.low < 0 < found.high
    assert 0.91 < covered / 300 < 0.99
