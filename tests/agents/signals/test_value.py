"""What listening and single signals are worth in points: what must hold of every agent."""

import numpy as np
import pytest
from signalling_bots import CodeBot

from agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, PolicyModel
from agents.signals import measures
from agents.signals.listening import listen
from agents.signals.measures.shuffled import VARIANTS
from agents.signals.measures.value import (
    ALL,
    SOURCES,
    SUBSETS,
    SourcePoints,
)
from agents.signals.playing import play
from agents.signals.searching import SHOWN, InformationSources
from goita_env.errors import SettingError


def models(agent="greedy"):
    return {"policy": PolicyModel(agent), "uniform": UNIFORM_MODEL, "legal": LEGAL_MODEL}


@pytest.fixture(scope="module")
def values():
    return measures.play_listening("greedy", models(), 4, seed=2, worlds=8)


def made(points, unsearched=(0.0, 0.0, 0.0, 0.0)):
    """Returns points by sources, the rest being 0, of four deals."""
    table = np.array([np.broadcast_to(points.get(one, 0.0), 4) for one in SOURCES], float)
    return SourcePoints("", {}, 1, SOURCES, table, np.array(unsearched))


def test_all_sources_play_the_same_deals(values):
    assert values.points.shape == (len(SOURCES), 4)
    assert len(set(SOURCES)) == len(SUBSETS) + 3 == 11
    assert (values.points % 10 == 0).all()
    assert (values.unsearched % 10 == 0).all()


def test_parts_are_the_whole_whatever_the_parts(values):
    parts = [
        measures.play_listening("greedy", models(), 2, seed=2, worlds=8, first=first, sources=[ALL])
        for first in (0, 2)
    ]
    joined = SourcePoints.join(parts)
    assert np.array_equal(joined.of(ALL), values.of(ALL))
    assert np.array_equal(joined.unsearched, values.unsearched)


def test_a_seat_that_never_leaves_the_policy_plays_it_whatever_its_sources():
    found = measures.play_listening("greedy", models(), 3, sources=[ALL], worlds=4, min_z=np.inf)
    assert np.array_equal(found.of(ALL), found.unsearched)


def test_a_pair_that_signals_and_ignores_tells_much_and_gains_nothing_by_it():
    told = play([CodeBot(0)], 2, seed=5)
    assumed = PolicyModel(CodeBot(0))
    found = measures.shuffled_signal(told, assumed, CodeBot(0), worlds=4, min_z=np.inf)
    assert (found.information.low, found.information.high) == (0, 0)
    heard, _ = listen(told, models(CodeBot(0)), listeners=range(4), deals=range(2))
    view = told.view(heard.row)
    policy, uniform, _ = heard.content[view.leads & (view.num_plays == 0) & (heard.speaker == 2)].T
    assert (policy > uniform + 0.1).all()
    assert len(policy)


def test_signals_are_read_in_five_ways_and_differ_where_they_may():
    told = play(["greedy"], 4, seed=6)
    found = measures.shuffled_signal(told, PolicyModel("greedy"), "greedy", worlds=8)
    assert len(found.points) == len(VARIANTS)
    assert found.information.mean == np.mean(found.points[0] - found.points[1])
    assert found.material.mean == np.mean(found.points[0] - found.points[2])
    assert found.misinformation.mean == np.mean(found.points[4] - found.points[3])
    assert 0 < found.used <= 1
    again = measures.shuffled_signal(told, PolicyModel("greedy"), "greedy", worlds=8)
    assert np.array_equal(found.points, again.points)


def test_a_random_players_signal_is_shuffled_into_any_and_read_alike():
    told = play(["random"], 4, seed=7)
    found = measures.shuffled_signal(told, PolicyModel("random"), "random", worlds=4)
    assert np.array_equal(found.points[0], found.points[1]), "its policy is the uniform one"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sources": [InformationSources(partner="champion")]}, "expected a source of"),
        ({"deals": 1}, "expected 2 deals"),
        ({"worlds": 0}, "expected 2 deals and a world"),
    ],
)
def test_impossible_listeners_are_refused(options, says):
    given = {"deals": 2, "sources": [InformationSources(partner=SHOWN)], **options}
    with pytest.raises(SettingError, match=says):
        measures.play_listening("greedy", models(), **given)


def test_sources_that_were_not_played_are_refused(values):
    with pytest.raises(SettingError, match="expected sources of"):
        measures.model_mismatch_cost(values, "tree")
