"""What actions tell in nats: agents of which it is known, and bad input."""

import numpy as np
import pytest

from goita_agents.beliefs import UNIFORM_MODEL, PolicyModel
from goita_env.actions import CALL
from goita_env.errors import SettingError
from goita_env.tiles import COUNTS
from goita_lab.signals.listening import listen, public_action, seen_by, standard_models
from goita_lab.signals.log.files import belief_columns
from goita_lab.signals.measures import (
    information_gain,
    information_gain_split,
    model_mismatch,
    partner_opponent_gap,
)
from goita_lab.signals.measures.information_gain import over_deals
from goita_lab.signals.playing import play
from raising import refuses
from signalling_bots import CodeBot, LengthBot, MixedCodeBot, dealt


def first_leads(told, heard):
    return heard.where((told.move[heard.row] == 0) & (heard.speaker == 2))


@pytest.fixture(scope="module")
def at_random():
    told = play(["random"], 4, seed=1)
    return told, *listen(told, standard_models("random"))


def test_a_random_player_has_no_policy_information(at_random):
    told, heard, known = at_random
    split = information_gain_split(told, known)
    assert split.policy.mean == pytest.approx(0, abs=1e-9)
    assert split.uniform.low > 0.5
    assert split.share.mean == pytest.approx(0, abs=1e-9)
    (every,) = information_gain(told, heard)
    assert every.expected.mean > 0.3
    for what in (heard.revealed, heard.gain):  # on average both are what was expected
        rest = over_deals(told, heard.row, (what - heard.content)[:, 0])
        assert rest.low < 0 < rest.high


def test_an_opening_lead_of_a_random_player_tells_about_0_4_nats_under_the_uniform_model():
    told = play(["random"], 30, seed=2)
    opening = [d for d in range(30) if told.dealer[d] % 4 == (d + 2) % 4][:3]
    heard, _ = listen(told, {"uniform": UNIFORM_MODEL}, deals=opening, knowledge=False)
    found = first_leads(told, heard).content[:, 0]
    assert 0.3 < found.mean() < 0.45


def test_a_lead_from_length_tells_the_entropy_of_what_is_led():
    told, bot = play([LengthBot()], 8, seed=3), LengthBot()
    quiet = [d for d in range(8) if not (told.action[told.deal == d] == CALL).any()]
    models = {"policy": PolicyModel(bot, epsilon=0.0)}
    some = first_leads(told, listen(told, models, listeners=range(4), deals=quiet[:2])[0])
    assert len(some.row) == 2
    for place, row in enumerate(some.row.tolist()):
        unseen = np.array(COUNTS) - told.hands[told.deal[row], some.listener[place]]
        tiles = np.repeat(np.arange(8), unseen)
        drawn = np.random.default_rng(0).permuted(np.tile(tiles, (20_000, 1)), axis=1)
        hands = (drawn.reshape(-1, 3, 8)[..., None] == np.arange(8)).sum(axis=2)
        # Who was dealt five pawns or more has kept silent with probability 1/2.
        weight = 0.5 ** (hands[:, :, 0] >= 5).sum(axis=1)
        king = (np.arange(8) == 7) & (hands[:, 0, 7:] < 2)
        lead = np.where(king, -1, hands[:, 0]).argmax(axis=1)
        share = np.bincount(lead, weight, 8) / weight.sum()
        entropy = -(share[share > 0] * np.log(share[share > 0])).sum()
        assert some.content[place, 0] == pytest.approx(entropy, abs=0.02)
        assert some.revealed[place, 0] > 0


def test_a_code_that_the_opponents_do_not_know_tells_the_partner_alone():
    told = play([CodeBot(0)], 3, seed=5)
    models = {
        "policy": {
            "partner": PolicyModel(CodeBot(0)),
            "next": PolicyModel(MixedCodeBot()),
            "previous": PolicyModel(MixedCodeBot()),
        }
    }
    heard, _ = listen(told, models, listeners=range(4), knowledge=False)
    leads = heard.where(told.move[heard.row] == 0)
    assert partner_opponent_gap(told, leads).gap.low > 0.1
    both = {"policy": PolicyModel(CodeBot(0))}
    known_to_all, _ = listen(told, both, listeners=range(4), knowledge=False)
    public = known_to_all.where(told.move[known_to_all.row] == 0)
    one, other = (partner_opponent_gap(told, some).opponent.mean for some in (public, leads))
    assert one > other + 0.3


def test_a_wrong_model_loses():
    told = play([CodeBot(0)], 10, seed=6)
    policy, other = (PolicyModel(CodeBot(code)) for code in (0, 1))
    _, known = listen(
        told, {"policy": policy, "uniform": UNIFORM_MODEL, "other": other}, revealed=False
    )
    right, wrong = model_mismatch(told, known)
    assert (right.model, wrong.model) == ("policy", "other")
    assert right.lost.mean == 0
    assert wrong.lost.low > 0
    assert wrong.understood.high < right.understood.low


def test_content_is_told_by_phase_context_attack_and_action(at_random):
    told, heard, _ = at_random
    for by in ("phase", "context", "attack", "action", "attacks with"):
        groups = information_gain(told, heard, by=by)
        assert sum(group.actions for group in groups) <= information_gain(told, heard)[0].actions
        assert all(sorted(group.quantiles) == list(group.quantiles) for group in groups)


def test_the_columns_of_a_log_are_what_the_deciding_seat_knows():
    told = play(["random"], 1, seed=7)
    found = belief_columns(told, "random")
    _, known = listen(told, {"random": PolicyModel("random")}, listeners=range(4))
    partner = found["log_probability_partner"][known.row]
    assert partner == pytest.approx(known.log_probability[:, 0, 1], abs=1e-9)
    assert (found["entropy_next"][known.row] >= 0).all()


def test_what_a_seat_saw_is_its_view_of_that_moment():
    told = play(["greedy"], 3, seed=8)
    rows = np.flatnonzero((told.deal == 1) & (told.seat == 2))
    for row, view in zip(rows.tolist(), seen_by(told, 1, 2, rows), strict=True):
        assert np.array_equal(view.words, told.words[[row]])
        assert (dealt(view) == told.hands[1, 2]).all()
        assert public_action(view, 0) == 0


def test_impossible_questions_are_refused(at_random):
    told, heard, known = at_random
    models = standard_models("random")
    for says, ask in (
        ("expected at least one model", lambda: listen(told, {})),
        ("expected seats 0 to 3", lambda: listen(told, models, listeners=[4])),
        ("expected deals 0 to", lambda: listen(told, models, deals=[99])),
        (r"a model of \['policy', 'uniform'\]", lambda: information_gain(told, heard, "champion")),
        ("expected a grouping by", lambda: information_gain(told, heard, by="colour")),
        ("expected a model", lambda: information_gain_split(told, known, "facts")),
    ):
        refuses(SettingError, says, ask)
