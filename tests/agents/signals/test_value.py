"""What listening and single signals are worth in points: what must hold whoever plays."""

import numpy as np
import pytest
from signalling_bots import CodeBot

from agents.beliefs import FACTS, GROUNDED, Assumed
from agents.signals import measures
from agents.signals.deciding import SHOWN, Ear
from agents.signals.listening import listen
from agents.signals.measures.shuffled import VARIANTS
from agents.signals.measures.value import (
    BLUEPRINT,
    CEILINGS,
    DEAF_BY_FACTS,
    HARD_FACTS,
    LATTICE,
    SOURCES,
    Values,
)
from agents.signals.playing import play
from goita_env.errors import SettingError


def standard(agent="greedy"):
    return {"policy": Assumed(agent), "rules": GROUNDED}


@pytest.fixture(scope="module")
def values():
    return measures.play_listening("greedy", standard(), 4, seed=2, worlds=8)


def test_every_ear_plays_the_same_deals(values):
    assert set(values.points) == {ear.name for ear in (*LATTICE, *CEILINGS)} | {BLUEPRINT}
    assert {len(points) for points in values.points.values()} == {4}
    assert all((points % 10 == 0).all() for points in values.points.values())


def test_shapleys_shares_sum_to_the_value_of_listening(values):
    found = measures.value_of_listening(values)
    shares = sum(found[f"shapley {source}"].mean for source in SOURCES)
    assert shares == pytest.approx(found["listening"].mean)


def test_parts_are_the_whole_whatever_the_parts(values):
    parts = [
        measures.play_listening(
            "greedy", standard(), 2, seed=2, worlds=8, first=first, ears=LATTICE[-1:]
        )
        for first in (0, 2)
    ]
    joined = Values.join(parts)
    for ear in (LATTICE[-1].name, BLUEPRINT):
        assert np.array_equal(joined.of(ear), values.of(ear))


def test_points_by_shapley_of_a_game_worked_by_hand():
    added = {"next": 1.0, "partner": 4.0, "previous": 2.0}
    points = {
        ear.name: np.full(3, sum(added[s] for s in ear.name.split("+") if s in added))
        for ear in LATTICE
    }
    points["partner"] += 3  # the partner alone is worth more than beside others
    found = measures.value_of_listening(Values("", {}, 1, points))
    assert found["partner"].mean == 4
    assert found["shapley partner"].mean == pytest.approx(4 + 3 / 3)
    assert found["shapley next"].mean == pytest.approx(1 - 3 / 6)
    assert found["listening"].mean == 7


def test_levels_are_differences_of_the_policy_of_deaf_searches_and_of_one_that_listens():
    points = {
        name: np.arange(4.0) + more
        for name, more in {
            BLUEPRINT: 0,
            "none": -1,
            DEAF_BY_FACTS.name: 1,
            LATTICE[-1].name: 6,
        }.items()
    }
    found = {name: value.mean for name, value in measures.levels(Values("", {}, 1, points)).items()}
    assert found == {
        "policy alone": 1.5,
        "deaf, uniform player": -1,
        "deaf, hard facts": 1,
        "listening": 6,
        "listening over uniform player": 7,
        "listening over hard facts": 5,
    }


def test_a_search_by_hard_facts_is_played_beside_the_others():
    decoders = {**standard(), HARD_FACTS: FACTS}
    ears = (LATTICE[0], DEAF_BY_FACTS, LATTICE[-1])
    values = measures.play_listening("greedy", decoders, 3, ears=ears, seed=2, worlds=8)
    assert measures.levels(values)["listening"].low <= measures.levels(values)["listening"].high
    plain = measures.play_listening("greedy", standard(), 2, ears=ears[:1], seed=2, worlds=8)
    with pytest.raises(SettingError, match="expected an ear of"):
        measures.levels(plain)


def test_ceilings_and_costs_are_differences_of_ears():
    names = [ear.name for ear in (*LATTICE, *CEILINGS)] + ["misread"]
    points = {name: np.arange(4.0) for name in names}
    points["next+previous"] = np.arange(4.0) - [4, 6, 4, 6]
    points["partner shown"] = np.arange(4.0) + 5
    points["partner"] = np.arange(4.0) - 2
    points["misread"] = points["next+previous"] - 1
    made = Values("", {}, 1, points)
    found = measures.ceilings(made)
    assert found["partner shown"].mean == 5
    assert found["all shown"].mean == 0
    assert found["efficiency"].mean == pytest.approx(5 / 10)
    assert measures.eavesdropping_cost(made).mean == -2
    assert measures.misreading_cost(made, "misread").mean == -1


def test_a_seat_that_never_leaves_the_policy_plays_it_whatever_it_hears():
    found = measures.play_listening(
        "greedy", standard(), 3, ears=LATTICE[-1:], worlds=4, caution=np.inf
    )
    assert np.array_equal(found.of(LATTICE[-1].name), found.of(BLUEPRINT))


def test_a_pair_that_signals_and_ignores_tells_much_and_gains_nothing_by_it():
    told = play([CodeBot(0)], 2, seed=5)
    assumed = Assumed(CodeBot(0))
    found = measures.shuffled_signal(told, assumed, CodeBot(0), worlds=4, caution=np.inf)
    assert (found.information.low, found.information.high) == (0, 0)
    decoders = {"policy": assumed, "rules": GROUNDED}
    heard, _ = listen(told, decoders, listeners=range(4), deals=range(2))
    view = told.view(heard.row)
    policy, rules = heard.content[view.leads & (view.num_plays == 0) & (heard.speaker == 2)].T
    assert (policy > rules + 0.1).all()
    assert len(policy)


def test_signals_are_read_in_five_ways_and_differ_where_they_may():
    told = play(["greedy"], 4, seed=6)
    found = measures.shuffled_signal(told, Assumed("greedy"), "greedy", worlds=8)
    assert tuple(found.points) == VARIANTS
    assert found.information.mean == np.mean(found.points["V0"] - found.points["V1"])
    assert found.material.mean == np.mean(found.points["V0"] - found.points["V2"])
    assert found.misinformation.mean == np.mean(found.points["V4"] - found.points["V3"])
    assert 0 < found.used <= 1
    again = measures.shuffled_signal(told, Assumed("greedy"), "greedy", worlds=8)
    assert all(np.array_equal(found.points[v], again.points[v]) for v in VARIANTS)


def test_a_random_players_signal_is_shuffled_into_any_and_read_alike():
    told = play(["random"], 4, seed=7)
    found = measures.shuffled_signal(told, Assumed("random"), "random", worlds=4)
    assert np.array_equal(found.points["V0"], found.points["V1"]), "its policy is the grounded one"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ears": [Ear("x", partner="champion")]}, "expected a source of"),
        ({"deals": 1}, "expected 2 deals"),
        ({"worlds": 0}, "expected 2 deals and a world"),
    ],
)
def test_impossible_listeners_are_refused(options, says):
    given = {"deals": 2, "ears": [Ear("x", partner=SHOWN)], **options}
    with pytest.raises(SettingError, match=says):
        measures.play_listening("greedy", standard(), **given)


def test_an_ear_that_was_not_played_is_refused(values):
    with pytest.raises(SettingError, match="expected an ear of"):
        values.of("misread")
