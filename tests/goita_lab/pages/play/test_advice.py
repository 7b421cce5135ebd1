"""Hints and the partner's likely hand: from the view alone, and as the search and the listener."""

from collections import Counter

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.beliefs import Listener, PolicyModel
from goita_env.actions import decode
from goita_env.tiles import POINTS
from goita_env.views import View
from goita_lab.pages.play import advice
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from play_tables import any_move, play_on


@pytest.fixture(scope="module")
def tables():
    """Tables that wait for the person, in the middle of rounds."""
    found = []
    for seed in range(4):
        table = PlayTable(MatchSettings(("", "heuristic", "champion", "heuristic"), seed))
        for _ in play_on(table, any_move(seed), rounds=1):
            if table.asks == "move" and table.view.num_plays[0] >= 3:
                found.append(table)
                break
    assert len(found) >= 3
    return found


def test_a_hint_follows_from_the_view_alone(tables):
    view = tables[0].view
    assert advice.hint(view) == advice.hint(View(view.words.copy(), rules=view.rules))


def test_a_hint_names_the_likeliest_actions_by_points(tables):
    champion = load_agent("champion:temperature=1")
    for table in tables[:2]:
        found = advice.hint(table.view)
        chances = champion.probabilities(table.view, table.view.legal())[0]
        likely = np.argsort(-chances, kind="stable")[: min(len(table.legal), advice.ACTIONS)]
        assert {one.action for one in found.options} == set(likely.tolist()) <= set(table.legal)
        assert found.action in {one.action for one in found.options}
        points = [one.points for one in found.options]
        assert points == sorted(points, reverse=True)
        assert all(abs(one.points) <= 100 and one.error >= 0 for one in found.options)
        for one in found.options:
            assert one.probability == pytest.approx(chances[one.action])


def last_lead() -> PlayTable:
    """A table at which the person leads its last two tiles, of different kinds."""
    for seed in range(100):
        table = PlayTable(MatchSettings(("", "random", "random", "random"), seed))
        for _ in play_on(table, lambda table: table.legal[-1]):
            view = table.view
            if table.asks == "move" and view.leads[0] and view.hand[0].sum() == 2:
                return table
    raise AssertionError("expected a last lead")


def test_points_are_those_of_the_last_tile_where_an_action_ends_the_round():
    table = last_lead()
    found = advice.hint(table.view)
    assert {one.action for one in found.options} == set(table.legal)
    for one in found.options:
        assert (one.points, one.error) == (pytest.approx(POINTS[decode(one.action)[1]]), 0)
    assert found.action == found.options[0].action


def test_the_partners_tiles_are_what_the_exact_listener_believes(tables):
    table = tables[0]
    found = advice.partner(table.view, table.others)
    assumed = {
        seat: PolicyModel(agent)
        for seat, agent in zip(("next", "partner", "previous"), table.others, strict=True)
    }
    belief = Listener(table.view, assumed).posterior("partner")
    shown = table.view.face_up[0, 2]
    assert np.allclose(found.expected, belief.probability @ (belief.hands - shown))
    assert np.allclose(
        found.at_least_one, (belief.probability[:, None] * (belief.hands > shown)).sum(axis=0)
    )
    assert found.likely == tuple(belief.most_likely(3))
    truth = table.game.dealt[(table.seat + 2) % 4]
    assert belief.log_probability(truth) > -np.inf


def test_agents_whose_policy_is_not_known_are_supposed_to_play_as_the_champion(tables):
    agents = load_agent("greedy"), load_agent("rollout"), load_agent("champion:search=on")
    found = advice.partner(tables[0].view, agents)
    kinds = Counter(name.partition(" ")[0] for name in found.models)
    assert kinds == {"greedy": 1, "network": 2}
