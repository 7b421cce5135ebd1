"""What listening and single signals are worth in points: what must hold of every agent."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents import AgentError
from goita_agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, Listener, PolicyModel
from goita_agents.registry import load_agent
from goita_env.errors import SettingError
from goita_lab.signals import measures
from goita_lab.signals.listening import cached_model, listen, seen_by
from goita_lab.signals.measures.shuffled import VARIANTS
from goita_lab.signals.measures.value import ALL, DEAF, SOURCES, SUBSETS, SourcePoints
from goita_lab.signals.playing import play
from goita_lab.signals.searching import SHOWN, InformationSources, cached_policy
from raising import refuses
from signalling_bots import CodeBot


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
    assert len(set(SOURCES)) == len(SUBSETS) + 3 + len(DEAF) == 14
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


def test_a_searcher_plays_the_same_deals_in_the_listeners_place():
    def play_beside(searcher):
        options = {"sources": [ALL], "worlds": 4, "min_z": np.inf, "searcher": searcher, "seed": 2}
        return measures.play_listening("greedy", models(), 4, **options)

    itself, random = play_beside("greedy"), play_beside("random")
    assert np.array_equal(itself.searched, itself.unsearched)
    assert itself.searcher_gain().mean == 0
    assert np.array_equal(random.of(ALL), itself.of(ALL))
    assert random.searcher_gain().mean == (random.searched - random.unsearched).mean() < 0
    assert np.array_equal(random.searched, play_beside("random").searched)
    assert play_beside(None).searcher_gain() is None
    refuses(AgentError, "carry=off", play_beside, "champion:search=on")


def test_deaf_opponents_search_and_listen_to_nobody():
    everyone = replace(ALL, deaf_opponents=True)
    options = {"sources": [ALL, everyone], "worlds": 8, "seed": 2}
    found = measures.play_listening("greedy", models(), 4, min_z=0.0, **options)
    assert (found.of(everyone) != found.of(ALL)).any(), "they leave the policy somewhere"
    silent = measures.play_listening("greedy", models(), 3, min_z=np.inf, **options)
    assert np.array_equal(silent.of(everyone), silent.of(ALL))
    gains = made({DEAF[0]: 5.0, DEAF[1]: 2.0, DEAF[2]: -1.0})
    value = measures.value_of_listening(gains)
    assert (value.total_deaf.mean, value.partner_deaf.mean) == (6, 3)
    assert (value.total.mean, value.partner.mean) == (0, 0)


def test_a_policy_is_asked_about_a_view_once_and_answers_the_same():
    class Counting:
        name, deterministic, asked = "counting", True, 0

        def act(self, view, legal, rng):
            self.asked += len(view)
            return load_agent("greedy").act(view, legal, rng)

        def probabilities(self, view, legal):
            return load_agent("greedy").probabilities(view, legal)

    bot, told = Counting(), play(["greedy"], 3, seed=1)
    rows = np.flatnonzero(told.choice)
    view, legal, rng = told.view(rows), told.legal[rows], np.random.default_rng(0)
    quick = cached_policy(bot)
    first = quick.act(view, legal, rng)
    assert np.array_equal(first, load_agent("greedy").act(view, legal, rng))
    twice = np.tile(np.arange(len(rows)), 2)
    assert np.array_equal(quick.act(view[twice], legal[twice], rng), first[twice])
    assert bot.asked == len(np.unique(view.digest())) <= len(rows)
    assert np.array_equal(quick.probabilities(view, legal), bot.probabilities(view, legal))
    unsure = load_agent("random")
    assert cached_policy(unsure) is unsure


def test_legality_alone_is_no_model_that_a_listener_may_hide():
    assert cached_model(LEGAL_MODEL) is LEGAL_MODEL
    told = play(["greedy"], 1, seed=1)
    _, known = listen(told, {"legal": LEGAL_MODEL}, told=False, listeners=[0])
    row = known.row[-1:]
    view = next(seen_by(told, 0, 0, row))
    alone = Listener(view, LEGAL_MODEL).posterior("partner").log_probability(told.hands[0, 2])
    assert known.log_probability[-1, 0, 1] == pytest.approx(alone)


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
