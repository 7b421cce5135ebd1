"""What listening and single signals are worth in points: what must hold of every agent."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, Listener, PolicyModel
from goita_env.errors import SettingError
from goita_lab.signals import measures
from goita_lab.signals.listening import cached_model, listen, seen_by
from goita_lab.signals.measures.shuffled import VARIANTS
from goita_lab.signals.measures.value import ALL_SEATS, DEAF, SOURCES, SUBSETS, SourcePoints
from goita_lab.signals.playing import play
from goita_lab.signals.searching import SHOWN, InformationSources
from raising import refuses
from signalling_bots import CodeBot


def models(agent="greedy"):
    return {"policy": PolicyModel(agent), "uniform": UNIFORM_MODEL, "legal": LEGAL_MODEL}


@pytest.fixture(scope="module")
def values():
    return measures.play_listening("greedy", models(), 4, seed=2, worlds=4)


def test_all_sources_play_the_same_deals(values):
    assert values.points.shape == (len(SOURCES), 4)
    assert len(set(SOURCES)) == len(SUBSETS) + 3 + len(DEAF) == 14
    assert (values.points % 10 == 0).all()
    assert (values.unsearched % 10 == 0).all()


def test_parts_are_the_whole_whatever_the_parts(values):
    parts = [
        measures.play_listening(
            "greedy", models(), 2, seed=2, worlds=4, first=first, sources=[ALL_SEATS]
        )
        for first in (0, 2)
    ]
    joined = SourcePoints.join(parts)
    assert np.array_equal(joined.of(ALL_SEATS), values.of(ALL_SEATS))
    assert np.array_equal(joined.unsearched, values.unsearched)


def test_a_seat_that_never_leaves_the_policy_plays_it_whatever_its_sources():
    found = measures.play_listening(
        "greedy", models(), 3, sources=[ALL_SEATS], worlds=4, min_z=np.inf
    )
    assert np.array_equal(found.of(ALL_SEATS), found.unsearched)


def test_deaf_opponents_search_and_listen_to_nobody():
    everyone = replace(ALL_SEATS, deaf_opponents=True)
    options = {"sources": [ALL_SEATS, everyone], "worlds": 8, "seed": 2}
    found = measures.play_listening("greedy", models(), 4, min_z=0.0, **options)
    assert (found.of(everyone) != found.of(ALL_SEATS)).any(), "they leave the policy somewhere"
    silent = measures.play_listening("greedy", models(), 3, min_z=np.inf, **options)
    assert np.array_equal(silent.of(everyone), silent.of(ALL_SEATS))


def test_legality_alone_is_no_model_that_a_listener_may_hide():
    assert cached_model(LEGAL_MODEL) is LEGAL_MODEL
    told = play(["greedy"], 1, seed=1)
    _, known = listen(told, {"legal": LEGAL_MODEL}, revealed=False, listeners=[0])
    row = known.row[-1:]
    view = next(seen_by(told, 0, 0, row))
    alone = Listener(view, LEGAL_MODEL).posterior("partner").log_probability(told.hands[0, 2])
    assert known.log_probability[-1, 0, 1] == pytest.approx(alone)


def test_a_pair_that_signals_and_ignores_tells_much_and_gains_nothing_by_it():
    told = play([CodeBot(0)], 2, seed=5)
    assumed = PolicyModel(CodeBot(0))
    found = measures.shuffled_signal(told, assumed, CodeBot(0), worlds=1, min_z=np.inf)
    assert (found.information.low, found.information.high) == (0, 0)
    both = {"policy": assumed, "uniform": UNIFORM_MODEL}
    heard, _ = listen(told, both, listeners=range(4), deals=[0], knowledge=False)
    view = told.view(heard.row)
    policy, uniform = heard.content[view.leads & (view.num_plays == 0) & (heard.speaker == 2)].T
    assert (policy > uniform + 0.1).all()
    assert len(policy)


def test_a_random_players_signal_is_shuffled_into_any_and_read_alike():
    told = play(["random"], 4, seed=7)
    found = measures.shuffled_signal(told, PolicyModel("random"), "random", worlds=4)
    assert np.array_equal(found.points[0], found.points[1]), "its policy is the uniform one"
    assert len(found.points) == len(VARIANTS)
    assert found.material.mean == np.mean(found.points[0] - found.points[2])
    assert 0 < found.used <= 1
    again = measures.shuffled_signal(told, PolicyModel("random"), "random", worlds=4)
    assert np.array_equal(found.points, again.points)


def test_impossible_listeners_are_refused(values):
    shown = InformationSources(partner=SHOWN)
    for sources, deals, worlds, says in (
        ([InformationSources(partner="champion")], 2, 4, "expected a source of"),
        ([shown], 1, 4, "expected 2 deals"),
        ([shown], 2, 0, "expected 2 deals and a world"),
    ):
        options = {"sources": sources, "worlds": worlds}
        refuses(SettingError, says, measures.play_listening, "greedy", models(), deals, **options)
    refuses(SettingError, "expected sources of", measures.model_mismatch_cost, values, "tree")
