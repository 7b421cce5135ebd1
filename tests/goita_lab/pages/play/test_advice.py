"""Hints and the partner's likely hand: from the view alone, and as the search and the listener."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from goita_agents import load_agent
from goita_agents.beliefs import Listener, PolicyModel
from goita_agents.beliefs.match_priors import MatchPriors
from goita_agents.beliefs.people import people
from goita_agents.search.typed_search import MIN_BRANCH_LEAD, TypedSearch
from goita_env.actions import parse
from goita_env.views import View
from goita_lab.pages.play import advice, sentences
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.analysis import AnalysisSettings, Analyst
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


def test_a_hint_says_what_every_action_is_worth(tables):
    champion = load_agent("champion:temperature=1")
    for table in tables[:2]:
        found = table.hint()
        chances = champion.probabilities(table.view, table.view.legal())[0]
        view = View(table.view.words.copy(), rules=table.view.rules)  # it hangs on nothing else
        assert found == advice.advisor().advise(view, table.seat, table.finished.deals)
        assert sorted(one.action for one in found.options) == sorted(table.legal)
        assert found.action in {found.best, int(chances.argmax())}
        assert found.best == found.options[0].action != found.comparison.rival
        points = [one.points for one in found.options if one.points is not None]
        assert points == sorted(points, reverse=True)
        for one in found.options:
            assert one.probability == pytest.approx(chances[one.action])


def test_what_was_dropped_early_shows_no_points(tables, monkeypatch):
    search = TypedSearch.value

    def value(*given):
        found = search(*given)
        options = [
            one if one.action == found.best else replace(one, worlds=1, points=99.0)
            for one in found.options
        ]
        return replace(found, options=tuple(options))

    monkeypatch.setattr(TypedSearch, "value", value)
    monkeypatch.setattr(tables[0], "_advisor", advice.advisor())  # one that keeps no hint yet
    best, *others = tables[0].hint().options
    assert best.points is not None
    assert {one.points for one in others} == {None}


def test_a_hint_is_what_an_analysis_of_the_position_says():
    """One source of beliefs, that of earlier rounds too: points differ by sampling alone."""
    table = PlayTable(MatchSettings(("", "heuristic", "heuristic", "heuristic"), 3))
    for _ in play_on(table, any_move(3), rounds=2):
        if table.asks == "move" and len(table.results) == 1 and table.view.num_plays[0] >= 4:
            break
    seat, settings = table.seat, AnalysisSettings("champion", worlds=2048)
    priors = MatchPriors(people()).after(table.finished.deals)
    assert not np.allclose(priors, MatchPriors(people()).after(()))
    hinted, analyst, game = table.hint(), Analyst(settings, priors), table.game
    analysed = analyst.decide(game, 1, seat, table.legal[0], 0)
    for one in analysed.options:
        (option,) = (other for other in hinted.options if other.action == parse(one.action))
        assert abs(one.points - option.points) < 4 * np.hypot(one.error, option.error) + 0.01


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
    assert found.likely == tuple(
        one for one in belief.most_likely(3) if one[1] >= advice.MIN_SHOWN_PROBABILITY
    )
    # Agents whose policy is not known are supposed to play as the champion.
    agents = load_agent("greedy"), load_agent("rollout"), load_agent("champion:search=on")
    found = advice.partner(tables[0].view, agents)
    kinds = Counter(name.partition(" ")[0] for name in found.models)
    assert kinds == {"greedy": 1, "network": 2}


def test_a_hint_that_was_begun_early_is_the_same_and_is_computed_once(monkeypatch):
    """The hint of a position is kept: asked for again, or begun when the turn came."""
    searched, search = [], TypedSearch.value

    def value(*arguments):
        searched.append(arguments)
        return search(*arguments)

    monkeypatch.setattr(TypedSearch, "value", value)
    settings = MatchSettings(("", "heuristic", "heuristic", "heuristic"), 3)
    early, late = PlayTable(settings), PlayTable(settings)
    early.prepares_hints = True
    for _ in (*early.advance(), *late.advance()):
        pass
    early._preparing.join()
    assert len(searched) == 1
    assert early.hint() == early.hint()
    assert len(searched) == 1
    assert early.hint() == late.hint()
    assert len(searched) == 2
    assert late.prepares_hints  # from the first hint on
    action, probability = early.glance()
    assert (action, probability) == max(
        ((option.action, option.probability) for option in early.hint().options),
        key=lambda choice: choice[1],
    )


def test_a_hint_contradicts_none_of_its_own_numbers(tables):
    """What is suggested leads clearly, or another action is named next to it."""
    for table in tables:
        hint = table.hint()
        said = sentences.hint(hint, leads=bool(table.view.leads[0]))
        assert hint.clear != ("Either" in said)
        if hint.clear:
            assert hint.action == hint.best
            assert hint.comparison.rival == hint.options[1].action
            assert hint.comparison.lead > hint.min_z * hint.comparison.lead_error
        else:
            # Nor is the action that is not suggested clearly better.
            lead, error = hint.comparison.lead, hint.comparison.lead_error
            assert hint.principle is None
            assert lead <= hint.min_z * error
        for condition in hint.comparison.deciding:
            assert condition.held * condition.missing < 0  # another action is better
            assert min(abs(condition.held), abs(condition.missing)) >= MIN_BRANCH_LEAD
