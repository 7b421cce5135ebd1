"""Filters of decisions, what measures make of them, and what the decisions are worth."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents.base import AgentError
from goita_agents.beliefs import PolicyModel
from goita_env.actions import CALL, PASS
from goita_env.errors import SettingError
from goita_lab.arena.report.to_terminal import draw
from goita_lab.commands.signals import main
from goita_lab.signals import measures
from goita_lab.signals.filters import CONTEXTS, context, select
from goita_lab.signals.listening import LEGAL, POLICY, UNIFORM, listen, standard_models
from goita_lab.signals.plan import Settings, Work, in_pieces
from goita_lab.signals.playing import one_choice_a_deal, play
from goita_lab.signals.worth import table, worth
from goita_lab.work import HERE
from programs import refusal
from raising import refuses


@pytest.fixture(scope="module")
def told():
    return play(["greedy"], 12, seed=4)


@pytest.fixture(scope="module")
def heard(told):
    return listen(told, standard_models("greedy"), deals=range(3))


def test_the_first_pass_of_each_seat_is_its_first_one(told):
    found = np.flatnonzero(select(told, "first_pass"))
    expected, seen = [], set()
    for row, (deal, seat, action) in enumerate(zip(told.deal, told.seat, told.action, strict=True)):
        if action == PASS and (deal, seat) not in seen:
            seen.add((deal, seat))
            expected.append(row)
    assert found.tolist() == expected
    assert 2 * 12 < len(expected) <= 4 * 12


def test_every_play_and_pass_is_a_lead_or_an_answer_to_one_attack(told):
    parts = ("first_lead", "later_lead", "partner_attack", "opponent_attack")
    found = sum(select(told, name).astype(int) for name in parts)
    assert (found == (told.action < CALL)).all()
    answers = select(told, "partner_attack")
    assert (context(told.view(answers)) == CONTEXTS.index("partner's attack")).all()
    leads = np.bincount(told.deal[select(told, "first_lead")], minlength=len(told.round))
    assert (leads <= 1).all()
    assert select(told, None).all()


def test_content_of_a_filter_is_that_of_its_group(told, heard):
    groups = {one.group: one for one in measures.information_gain(told, heard[0], by="context")}
    actions = heard[0].where(select(told, "partner_attack")[heard[0].row])
    (found,) = measures.information_gain(told, actions)
    whole = groups["partner's attack"]
    assert (found.actions, found.revealed) == (whole.actions, whole.revealed)
    with pytest.raises(SettingError, match="heard in at least two deals"):
        measures.information_gain(told, actions.where(actions.row < 0))


def test_listeners_hear_the_same_where_they_are_asked_for_less(told, heard):
    actions, known = heard
    fewer = {"deals": range(3), "where": "first_pass"}
    some, none = listen(told, standard_models("greedy"), knowledge=False, **fewer)
    kept = actions.where(select(told, "first_pass")[actions.row])
    assert len(none.row) == 0
    assert some.row.tolist() == kept.row.tolist()
    for name in ("content", "revealed", "gain"):
        assert getattr(some, name) == pytest.approx(getattr(kept, name))
    one, both = listen(told, standard_models("greedy"), deals=range(3), revealed=[UNIFORM])
    assert one.models == (UNIFORM,)
    assert one.revealed[:, 0] == pytest.approx(actions.revealed[:, actions.of(UNIFORM)])
    assert both.models == (POLICY, UNIFORM)
    assert both.log_probability == pytest.approx(known.log_probability)
    models = standard_models("greedy")
    refuses(SettingError, "expected models of", listen, told, models, revealed=[LEGAL])


def test_a_signal_is_drawn_of_the_decisions_that_a_filter_selects(told):
    rng = np.random.default_rng
    some = select(told, "partner_attack")
    chosen = one_choice_a_deal(told, rng(0), some)
    assert some[chosen].all()
    assert told.choice[chosen].all()
    assert np.array_equal(one_choice_a_deal(told, rng(0)), one_choice_a_deal(told, rng(0), True))
    model = PolicyModel("greedy")

    leads = select(told, "first_lead") & (told.deal < 4)
    first = measures.shuffled_signal(told, model, "greedy", where=lambda _: leads, worlds=4)
    assert first.points.shape == (5, 4)
    with pytest.raises(SettingError, match="two deals with a choice"):
        measures.shuffled_signal(told, model, "greedy", where=lambda one: one.deal < 1)


def test_what_a_filter_is_worth_is_the_measures_of_its_decisions():
    random, greedy = worth(
        ["random"], "first_pass", 2, controls=["random", "greedy"], settings=Settings(seed=4)
    )
    assert [one.agent for one in (random, greedy)] == ["random", "greedy"]
    assert (random.control, greedy.control) == (False, True)
    assert random.content.revealed == random.uniform.revealed, "the uniform model is the right one"
    assert random.signal.information.mean == 0
    assert greedy.content.revealed.mean > 0
    played = play(["greedy"], 2, seed=4)
    again = measures.shuffled_signal(
        played, PolicyModel("greedy"), "greedy", where="first_pass", seed=0
    )
    drawn = again.points.shape[1]
    assert np.array_equal(greedy.signal.points[:, :drawn], again.points)
    text = draw(table([random, greedy]))
    assert "control: greedy" in text
    assert "control: tame" in draw(table([random, replace(greedy, agent="tame=greedy")]))
    assert "-0.00" not in text


def test_the_last_piece_of_work_is_no_single_deal():
    work = Work(
        "it", lambda agent, first, deals: (first, deals), tuple[int, int], ["greedy"], 25, step=12
    )
    for deals, pieces in ((25, [(0, 12), (12, 13)]), (24, [(0, 12), (12, 12)]), (1, [(0, 1)])):
        assert in_pieces([work._replace(deals=deals)], {}, HERE)["it"]["greedy"] == pieces


def test_what_is_worth_nothing_to_measure_is_refused(capsys):
    refuses(AgentError, "a known policy", worth, ["rollout"], None, 4, controls=())
    nothing = {"where": lambda one: one.deal < 0, "deals": 4, "controls": ()}
    with pytest.raises(SettingError, match="expected decisions of 'random' to measure"):
        worth(["random"], **nothing)
    assert "expected a filter of" in refusal(capsys, main, ["worth", "greedy", "--where", "lead"])
