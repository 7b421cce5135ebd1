"""Verdicts that hold for more than one opponent: by type, over types, after earlier rounds."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

pytest.importorskip("numba")


from goita_agents.beliefs.hindsight import log_likelihood
from goita_agents.beliefs.people import people
from goita_agents.search.carrying import LEAKAGE
from goita_agents.search.match_priors import MatchPriors
from goita_agents.search.typed_values import COUNTS
from goita_env import Game, actions, records
from goita_env.records import DealRecord
from goita_lab.pages import watch
from goita_lab.pages.watch import verdicts
from goita_lab.pages.watch.analysis import AnalysisSettings, analyse_deal, key_of
from goita_lab.pages.watch.reading import Source, Watched, read

OTHERS = ("passing_bots:Passing", "passing_bots:Receiving")
SETTINGS = AnalysisSettings("greedy", worlds=128, types=OTHERS)
HAND, BROAD = "11345589", f"{OTHERS[1]}, epsilon 0.5"
"""Two pawns, a knight, a silver, two golds and both kings."""


def led(action: str) -> DealRecord:
    """A deal of which the dealer's first lead is known: nobody else has done anything."""
    game = Game(hands=[HAND, "11122346", "11123467", "11234557"], dealer=0, seed=0)
    game.play(actions.parse(action))
    return records.from_game(game).deals[0]


@cache
def two():
    """A page of two deals, and their analysis."""
    source = Source("two", (Watched(led("13")), Watched(led("85"))), 2)
    return source, watch.analyse(source, "greedy", worlds=SETTINGS.worlds, types=OTHERS)


def first(action: str):
    return {one.action: one for (one,) in two()[1].deals}[action]


def played(agent: str, hands_of: int, scores=(0, 0)) -> DealRecord:
    """A round that one agent plays at all seats."""
    from goita_agents import load_agent

    game, bot = Game(seed=hands_of, scores=scores), load_agent(agent)
    while not game.done:
        view = game.view(game.seat)
        game.play(int(bot.act(view, view.legal(), np.random.default_rng(0))[0]))
    return records.from_game(game).deals[0]


def test_a_move_may_be_an_error_against_one_type_and_best_against_another():
    # Who is never received keeps two kings to the end, and small tiles go first. Who is received
    # loses the lead at once, unless the attack is a king, which few can receive.
    one = first("13")
    said = {grade.name: verdicts.verdict(one, grade) for grade in one.types}
    assert said == {OTHERS[0]: "best", OTHERS[1]: "clear", BROAD: "clear"}
    by = {grade.name: grade for grade in one.types}
    assert by[OTHERS[0]].loss == 0
    assert by[OTHERS[1]].loss > 20
    assert verdicts.agreement(one) == "depends"
    assert one.loss_range == (0, max(grade.loss for grade in one.types))
    # Nobody has played, so the prior holds (silence tells next to nothing): a clear loss on
    # average, since it is one under two types of three.
    assert [grade.probability for grade in one.types] == pytest.approx([0.45, 0.45, 0.1], abs=0.002)
    assert verdicts.verdict(one) == "clear"


def test_a_move_that_is_worse_under_every_type_is_an_error():
    one = first("85")
    assert {verdicts.verdict(one, grade) for grade in one.types} == {"clear"}
    assert len({grade.best for grade in one.types}) > 1  # what would be better depends on them
    assert verdicts.agreement(one) == "agreed"
    assert 0 < one.loss_range[0] < one.loss_range[1]


@pytest.mark.slow
def test_figures_over_types_are_those_of_a_stratified_sample():
    one = first("13")
    share = np.array([grade.probability for grade in one.types])
    assert share.sum() == pytest.approx(1)
    for number, option in enumerate(one.options):
        typed = [grade.options[number] for grade in one.types]
        assert {each.action for each in typed} == {option.action}
        assert option.points == pytest.approx(share @ [each.points for each in typed])
        error = np.sqrt((share**2) @ [each.error**2 for each in typed])
        assert option.error == pytest.approx(error)
        assert option.worlds == sum(each.worlds for each in typed)
        points = [each.points for each in typed]
        assert option.range == (min(points), max(points))
    at = {option.action: option for option in one.options}
    assert one.best != one.action
    assert one.loss == pytest.approx(at[one.best].points - at[one.action].points, abs=3)
    for grade in one.types:
        worlds = {each.action: each.worlds for each in grade.options}
        assert worlds[one.action] == worlds[grade.best] == SETTINGS.worlds


def graded(*types, probability=0.1):
    """A decision of three actions with (probability, loss, error) of each type."""
    one = first("13")
    grades = tuple(
        replace(one.types[0], name=str(n), probability=p, loss=loss, loss_error=error)
        for n, (p, loss, error) in enumerate(types)
    )
    options = tuple(replace(option, probability=probability) for option in one.options)
    return replace(one, types=grades, options=options)


@pytest.mark.parametrize(
    ("types", "agreement"),
    [
        ([(0.5, 9, 1), (0.5, 9, 1)], "agreed"),
        ([(0.5, 9, 1), (0.5, 2, 1)], "depends"),
        ([(0.5, 2, 1), (0.5, 0, 0)], "fine"),
        ([(0.95, 9, 1), (COUNTS, 0, 0)], "agreed"),
        ([(0.94, 9, 1), (COUNTS + 0.01, 0, 0)], "depends"),
        ([(0.95, 0, 0), (COUNTS, 9, 1)], "fine"),
        ([(0.04, 9, 1), *[(0.03, 0, 0)] * 32], "agreed"),  # none above: the likeliest counts
    ],
)
def test_types_above_five_percent_make_the_verdict(types, agreement):
    assert verdicts.agreement(graded(*types)) == agreement
    judged = verdicts.judge([Watched(led("13"))], [[graded(*types)]])
    (row,) = verdicts.totals(judged)["phase"]
    assert (row.agreed, row.depends, row.fine) == tuple(
        agreement == name for name in ("agreed", "depends", "fine")
    )
    assert row.lost == (judged[0].decision.loss if agreement == "agreed" else 0)
    assert bool(verdicts.worst(judged)) == (agreement == "agreed")
    assert bool(verdicts.worst(judged, "depends")) == (agreement == "depends")


def test_a_type_below_one_percent_is_not_searched():
    """Three receivers reveal themselves; what each seat thinks follows from what it has seen."""
    found = analyse_deal(played("passing_bots:Receiving", 3), replace(SETTINGS, worlds=16))
    last = [one for one in found if one.options][-1]
    assert OTHERS[0] not in {grade.name for grade in last.types}
    assert min(grade.probability for grade in last.types) > 0.01


@pytest.fixture
def match() -> list[DealRecord]:
    """Three rounds of one match, of receivers, and a round of another."""
    first = played("passing_bots:Receiving", 3)
    second = played("passing_bots:Receiving", 4, first.result().scores)
    third = played("greedy", 5, second.result().scores)
    return [first, second, third, played("greedy", 6)]


def test_earlier_rounds_of_the_match_are_read_as_far_as_the_record_has_them(match, tmp_path):
    kifu = tmp_path / "match.json"
    kifu.write_text(records.complete.dumps(records.Record(tuple(match))), encoding="utf-8")
    found = read(str(kifu))
    assert [one.earlier for one in found.deals] == [(), (match[0],), tuple(match[:2]), ()]
    (alone,) = read(str(kifu), deals="3").deals
    assert alone == replace(found.deals[2], place="In the record: deal 3")
    odd = replace(match[1], scores=(10, 20))
    kifu.write_text(records.complete.dumps(records.Record((match[0], odd))), encoding="utf-8")
    assert [one.earlier for one in read(str(kifu)).deals] == [(), ()]


def test_a_round_begins_with_what_the_last_ones_showed(match):
    types = people(OTHERS)
    known = MatchPriors(types)
    first = types.prior()
    np.testing.assert_array_equal(known.after(()), [first] * 4)
    *_, game = match[0].replay()
    found = known.after(match[:1])
    for seat in range(4):
        hands = np.roll(game.dealt, -seat, axis=0).astype(np.int64)
        likely = first * np.exp(log_likelihood(game.view(seat), types, hands))
        expected = (1 - LEAKAGE) * likely / likely.sum() + LEAKAGE * first
        np.testing.assert_allclose(found[seat], expected)
        assert found[seat].sum(axis=1)[0] < 0.1  # nobody has passed by choice
    assert (known.after(match[:2])[:, 0] <= found[:, 0] + 0.05).all()
    broken = replace(match[0], moves=match[0].moves[:3])
    np.testing.assert_array_equal(known.after([broken]), known.after(()))


def test_verdicts_take_earlier_rounds_into_account(match):
    next_deal = replace(led("13"), scores=match[0].result().scores)
    alone = Source("", (Watched(next_deal),), 1)
    after = Source("", (Watched(next_deal, earlier=(match[0],)),), 1)
    options = {"worlds": 32, "types": OTHERS}
    ((before,),) = watch.analyse(alone, "greedy", **options).deals
    ((now,),) = watch.analyse(after, "greedy", **options).deals
    chances = {grade.name: grade.probability for grade in now.types}
    prior = MatchPriors(people(OTHERS)).after(match[:1])[0].sum(axis=1)
    assert list(chances.values()) == pytest.approx(prior.tolist(), abs=0.002)
    assert verdicts.agreement(before) == "depends"
    assert chances[OTHERS[0]] < COUNTS
    assert verdicts.agreement(now) == "agreed"  # those for whom it is best are not here
    assert key_of(next_deal, match[:1]) != key_of(next_deal)
