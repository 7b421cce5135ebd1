"""Every measure on a case worked by hand, and on controls that must give zero.

The arithmetic stands beside each number. One small channel serves several measures: a hand A that
always does x, a hand B that does x or y alike, each hand as likely. P(x) = 3/4, so the information
is H(Y) - H(Y|H) = -(3/4 ln 3/4 + 1/4 ln 1/4) - 1/2 ln 2 = 0.562335 - 0.346574 = 0.215762 nats.
"""

from collections import Counter
from math import log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t

from goita_agents.beliefs import LEGAL_MODEL, UNIFORM_MODEL, Listener, PolicyModel
from goita_agents.registry import load_agent
from goita_env.actions import CALL, PASS
from goita_env.errors import SettingError
from goita_lab.arena.statistics.intervals import jackknife_error
from goita_lab.signals import listening, measures, messages
from goita_lab.signals.measures import emergent_communication
from goita_lab.signals.measures import value as sources
from goita_lab.signals.measures.crossplay import divergence
from goita_lab.signals.measures.explain import cross_entropy, duplicate_points, tree_text
from goita_lab.signals.measures.information_gain import attack, context, over_deals
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.playing import play
from goita_lab.signals.searching import SHOWN, InformationSources, mixed, reweighted

CHANNEL = np.array([[1.0, 0.0], [0.5, 0.5]])
NATS = 0.215762


def near(value):
    return pytest.approx(value, abs=1e-6)


@pytest.fixture(scope="module")
def told():
    return play(["random"], 4, seed=1)


def heard(told, rows, speaker, content, told_nats, gain):
    columns = (np.array(values, float)[:, None] for values in (content, told_nats, gain))
    listener = np.zeros(len(rows), np.int64)
    seats = listener, np.array(speaker)
    return listening.ActionInformation(("policy",), np.array(rows), *seats, *columns)


def known(rows, prior, **log_probabilities):
    """Returns knowledge of the partner's hand, by model."""
    n, k = len(rows), len(log_probabilities)
    table = np.zeros((n, k, 3))
    table[:, :, 1] = np.transpose(list(log_probabilities.values()))
    before = np.zeros((n, 3))
    before[:, 1] = prior
    holds = np.zeros((n, k, 3, 8)), np.zeros((n, 3, 8))
    models = tuple(log_probabilities)
    entropy = np.zeros((n, k, 3))
    return listening.ListenerKnowledge(
        models, np.array(rows), np.zeros(n, np.int64), table, entropy, before, *holds
    )


# ------------------------------------------------------------------------------------- information


class TwoHands:
    """Listens to a seat with two hands, A and B, which act by a channel."""

    def __init__(self, channel, probability=(0.5, 0.5)):
        self.channel, self.probability = np.array(channel), np.array(probability)

    def posterior(self, name):
        return SimpleNamespace(probability=self.probability, index=int)

    def action_probabilities(self, name):
        return self.channel


def test_an_action_tells_its_mutual_information_on_average():
    a, b, x, y = 0, 1, 0, 1
    content, of_x, gain = listening.information_revealed(TwoHands(CHANNEL), "partner", a, x)
    assert content == near(NATS)
    # After x the belief is (2/3, 1/3): KL = 2/3 ln 4/3 + 1/3 ln 2/3 = 0.191788 - 0.135155.
    assert of_x == near(0.056633)
    assert gain == near(log(1 / 0.75))
    _, of_y, gain = listening.information_revealed(TwoHands(CHANNEL), "partner", b, y)
    assert of_y == gain == near(log(2))  # after y it is B for sure
    assert 0.75 * of_x + 0.25 * of_y == near(content)
    # x misleads about B: P(x | B) / P(x) = 1/2 / 3/4.
    assert listening.information_revealed(TwoHands(CHANNEL), "partner", b, x)[2] == near(log(2 / 3))


@pytest.mark.parametrize(
    "silent",
    [
        TwoHands([[0.3, 0.7], [0.3, 0.7]]),  # both hands act alike
        TwoHands(CHANNEL, probability=(1.0, 0.0)),  # the hand is known
        TwoHands([[1.0, 0.0], [1.0, 0.0]]),  # the action is forced
    ],
)
def test_an_action_that_depends_on_nothing_unknown_tells_nothing(silent):
    assert listening.information_revealed(silent, "partner", 0, 0) == near((0.0, 0.0, 0.0))


def test_content_is_a_mean_over_the_partners_actions(told):
    first, second = told.starts[:2].tolist()
    rows = [first, first + 1, second, second + 1]
    some = heard(told, rows, [2, 2, 2, 1], [0.2, 0.4, 0.9, 5], [0, 0.5, 2.5, 5], [0.1, -0.5, 1, 5])
    (found,) = measures.information_gain(told, some)
    assert (found.actions, found.deals) == (3, 2)
    assert found.expected.mean == near(1.5 / 3)
    assert found.revealed.mean == near(3.0 / 3)
    assert found.gained.mean == near(0.6 / 3)
    assert found.informative == near(1 / 3)  # 2.5 alone is a nat or more
    assert found.quantiles[1] == near(0.5)
    assert found.expected.low <= found.expected.mean <= found.expected.high


def test_intervals_keep_the_decisions_of_a_deal_together(told):
    first, second = told.starts[:2].tolist()
    rows = np.array([first, first + 1, second])
    # Three decisions: (1 + 2 + 6) / 3, not the mean (1.5 + 6) / 2 of the deals.
    found = over_deals(told, rows, [1, 2, 6])
    assert found.mean == near(3)
    # Two deals, each 2 from the ratio once linearised: Student's t with one degree of freedom.
    half = 2 * t.ppf(0.975, 1)
    assert (found.low, found.high) == near((3 - half, 3 + half))
    assert found.few
    same = over_deals(told, rows, [4, 4, 4])
    assert (same.mean, same.low, same.high) == (4, 4, 4)
    with pytest.raises(SettingError, match="at least two deals"):
        over_deals(told, rows[:2], [1, 2])


# --------------------------------------------------------------------------------------- knowledge


def test_knowledge_splits_into_the_uniform_models_and_the_policys(told):
    rows = told.starts[:2]
    some = known(rows, [-3, -3], policy=[-1.5, -1.5], uniform=[-2, -2.5])
    split = measures.information_gain_split(told, some)
    assert split.uniform.mean == near((1 + 0.5) / 2)
    assert split.policy.mean == near((1 + 0.5) / 2)
    assert split.total.mean == near(1.5)
    assert split.share.mean == near(1.5 / 3)


def test_a_policy_like_the_uniform_one_has_no_policy_information(told):
    rows = told.starts[:2]
    split = measures.information_gain_split(
        told, known(rows, [-3, -3], policy=[-2, -2], uniform=[-2, -2])
    )
    assert (split.policy.mean, split.policy.low, split.policy.high) == (0, 0, 0)
    assert split.share.mean == 0
    nothing = measures.information_gain_split(
        told, known(rows, [-2, -1], policy=[-2, -1], uniform=[-2, -1])
    )
    assert nothing.total.mean == 0
    assert nothing.share is None


def test_the_gap_is_the_partners_content_minus_the_mean_of_the_opponents(told):
    first, second = told.starts[:2].tolist()
    rows = [first] * 3 + [second] * 3 + [second + 1] * 2
    content = [0.9, 0.3, 0.5, 0.1, 0.1, 0.1, 9, 9]
    some = heard(told, rows, [2, 1, 3, 2, 1, 3, 2, 1], content, content, content)
    found = measures.partner_opponent_gap(told, some)
    assert found.decisions == 2  # two listeners do not make a comparison
    assert found.partner.mean == near((0.9 + 0.1) / 2)
    assert found.opponent.mean == near((0.4 + 0.1) / 2)
    assert found.gap.mean == near((0.5 + 0.0) / 2)
    public = heard(told, rows[:6], [2, 1, 3] * 2, [0.7] * 6, [0.7] * 6, [0.7] * 6)
    assert measures.partner_opponent_gap(told, public).gap.mean == 0


def test_a_wrong_model_loses_its_cross_entropy(told):
    rows = told.starts[:2]
    some = known(rows, [-3, -3], policy=[-1, -2], uniform=[-2, -2.5], other=[-3, -2])
    right, wrong = measures.model_mismatch(told, some)
    assert (right.model, wrong.model) == ("policy", "other")
    assert right.lost.mean == 0
    assert right.understood.mean == near((1 + 0.5) / 2)
    assert wrong.understood.mean == near((-1 + 0.5) / 2)
    assert wrong.lost.mean == near((2 + 0) / 2)


# ------------------------------------------------------------------------------------------ points


def made(points, unsearched=0.0):
    """Returns points by sources, the rest being 0, of four deals."""
    table = np.array([np.broadcast_to(points.get(one, 0.0), 4) for one in points], float)
    return sources.SourcePoints("", {}, 1, tuple(points), table, np.broadcast_to(unsearched, 4))


def test_levels_are_differences_of_searches_and_of_the_policy():
    luck = np.arange(4.0)  # of the deals: it cancels in all but the first
    points = {sources.NO_SEAT: luck - 1, sources.LEGAL_ONLY: luck + 1, sources.ALL_SEATS: luck + 6}
    found = measures.search_gain(made(points, unsearched=luck))
    assert found.policy.mean == 1.5
    assert (found.uniform.mean, found.legal.mean, found.listening.mean) == (-1, 1, 6)
    assert (found.over_uniform.mean, found.over_legal.mean) == (6 - -1, 6 - 1)
    assert (found.over_legal.low, found.over_legal.high) == (5, 5)


def test_shapleys_shares_of_a_game_worked_by_hand():
    worth = {"next": 1.0, "partner": 4.0, "previous": 2.0}
    points = {
        one: sum(v for seat, v in worth.items() if getattr(one, seat) == "policy")
        for one in sources.SUBSETS
    }
    points[sources.ONLY_PARTNER] += 3  # the partner alone is worth more than beside others
    points |= dict(zip(sources.DEAF, (9.0, 4.0, 2.0), strict=True))
    found = measures.value_of_listening(made(points))
    assert found.total.mean == 7
    assert found.partner.mean == 7 - 3
    assert (found.total_deaf.mean, found.partner_deaf.mean) == (9 - 2, 9 - 4)
    # Partner: joins nobody (weight 2/6) with 4 + 3, others with 4: 4 + 3 * 1/3.
    assert found.shapley_partner.mean == pytest.approx(5)
    # Next: after the partner alone (weight 1/6) it adds 1 - 3, else 1: 1 - 3/6. So previous.
    assert found.shapley_next.mean == pytest.approx(0.5)
    assert found.shapley_previous.mean == pytest.approx(1.5)


def test_ceilings_and_costs_are_differences_of_sources():
    other = InformationSources("policy", "other", "policy")
    deaf = np.array([-4.0, -6, -4, -6])
    points = {sources.ALL_SEATS: 0.0, sources.PARTNER_SHOWN: 5.0, sources.ALL_SHOWN: 8.0}
    points |= {sources.NOT_PARTNER: deaf, sources.ONLY_PARTNER: -2.0, other: deaf - 1}
    found = measures.oracle_gain(made(points))
    assert (found.partner_shown.mean, found.all_shown.mean) == (5, 8)
    assert found.efficiency.mean == pytest.approx((0 + 5) / (5 + 5))
    assert measures.opponent_information_cost(made(points)).mean == -2 - 0
    assert measures.model_mismatch_cost(made(points), "other").mean == -1
    points[sources.PARTNER_SHOWN] = deaf  # to see the hand is worth nothing: there is no ratio
    assert measures.oracle_gain(made(points)).efficiency is None


def test_listening_to_a_random_player_is_worth_nothing():
    models = {"policy": PolicyModel("random"), "uniform": UNIFORM_MODEL}
    given = {"sources": (*sources.SUBSETS, *sources.DEAF), "worlds": 4, "min_z": 1.0}
    values = measures.play_listening("random", models, 3, **given)
    assert (
        values.of(sources.ALL_SEATS) != values.unsearched
    ).any()  # the search does leave the policy
    found = measures.value_of_listening(values)
    assert found.total.mean == found.total.low == found.total.high == 0
    assert found.partner.mean == found.shapley_next.mean == 0


def test_a_hand_that_is_shown_is_known(told):
    row = int(told.starts[1]) - 1  # late in the first deal
    seat = int(told.seat[row])
    view = told.view(np.array([row]))
    hands = told.hands[0, (seat + np.arange(4)) % 4].astype(np.int64)
    beliefs = {
        name: Listener(view, model).deals()
        for name, model in (("uniform", UNIFORM_MODEL), ("legal", LEGAL_MODEL))
    }
    shown = mixed(beliefs, InformationSources(partner=SHOWN), hands)
    place = shown.support.find(hands[2])
    assert shown.marginals[1][place] == near(1)
    assert shown.models == ("uniform", "shown", "uniform")
    plain = mixed(beliefs, InformationSources(), hands)
    assert plain.marginals[1] == near(beliefs["uniform"].marginals[1])
    # All hands shown: one deal is left.
    every = mixed(beliefs, InformationSources(SHOWN, SHOWN, SHOWN), hands)
    assert every.log_probability(list(hands[1:])) == near(0)


def test_weights_of_hands_are_weighed_again_by_bayes(told):
    view = next(listening.seen_by(told, 0, 1, told.starts[[0]]))
    belief = Listener(view, UNIFORM_MODEL).deals()
    one, two, three = belief.weights
    twice = np.where(np.arange(len(two)) == np.flatnonzero(two)[0], 2.0, 1.0)
    found = reweighted(belief, (one, two * twice, three))
    p = belief.marginals[1][np.flatnonzero(two)[0]]
    assert found.marginals[1][np.flatnonzero(two)[0]] == near(2 * p / (1 + p))
    assert reweighted(belief, (one, two * 0, three)) is None


def test_a_signals_values_are_differences_of_its_variants():
    points = np.array([[8.0, 4], [5, 3], [6, 2], [1, 1], [3, 5]])
    found = Shuffled.of(points, 0.5, 1.0)
    assert found.information.mean == (3 + 1) / 2  # V0 - V1
    assert found.material.mean == (2 + 2) / 2  # V0 - V2
    assert found.misinformation.mean == (2 + 4) / 2  # V4 - V3
    joined = Shuffled.join([found, Shuffled.of(points[:, [0, 0, 0, 0]], 0.2, 0.7)])
    assert joined.information.mean == pytest.approx((3 + 1 + 4 * 3) / 6)
    assert joined.changed == pytest.approx((2 * 0.5 + 4 * 0.2) / 6)
    assert Shuffled.of(np.ones((5, 3)), 0, 0).information.high == 0


# -------------------------------------------------------------------------------------- cross-play


def test_the_gap_of_two_runs():
    points = np.array([[5.0, 1], [2, 4]])[:, :, None] + np.array([0.0, 0])
    found = measures.cross_play_gap(points)
    assert found.gap == (5 + 4) / 2 - (1 + 2) / 2
    # Grand mean 3, rows 3 and 3, columns 3.5 and 2.5: R_00 = 5 - 3 - 0 - 0.5.
    assert found.residual.ravel().tolist() == [1.5, -1.5, -1.5, 1.5]
    assert found.p_value == found.smallest_p == 1 / 2  # the identity sums to 3, the swap to -3
    additive = np.add.outer([0.0, 1, 4], [2.0, 3, 6])[:, :, None] + np.zeros(2)
    assert measures.cross_play_gap(additive).residual == near(np.zeros((3, 3)))
    assert measures.cross_play_gap(additive).p_value == 1


def test_the_jackknife_of_three_values():
    # Mean 2, squares 1 + 0 + 1, times (n - 1) / n = 2/3.
    assert jackknife_error([1, 2, 3]) == near(sqrt(2 / 3 * 2))
    assert jackknife_error([5, 5, 5]) == 0


def test_the_divergence_of_two_policies():
    sure, even = np.array([[1.0, 0]]), np.array([[0.5, 0.5]])
    # The mean is (3/4, 1/4): (ln 4/3) / 2 + (ln 2/3 + ln 2) / 4 = 0.143841 + 0.071921.
    assert divergence(sure, even) == near([NATS])
    assert divergence(even, even) == near([0])
    assert divergence(sure, 1 - sure) == near([log(2)])


# --------------------------------------------------------------------------- published and tables


def test_the_information_of_a_counted_table_and_its_bias():
    counts = np.array([[3, 1], [1, 3]])
    # 2 (3/8 ln (3/8 / 1/4) + 1/8 ln (1/8 / 1/4)) = 2 (0.152049 - 0.086643).
    plug_in, bias = emergent_communication.plug_in_information(counts[None])
    assert plug_in == near(0.130812)
    assert bias == (4 - 2 - 2 + 1) / (2 * 8)
    # Beside a context of the same size without information it counts half.
    both = np.array([counts, np.full((2, 2), 2)])
    assert emergent_communication.plug_in_information(both)[0] == near(0.130812 / 2)
    assert emergent_communication.plug_in_information(np.array([[[2, 4], [3, 6]]]))[0] == near(0)


def test_an_estimate_is_the_plug_in_value_less_its_bias():
    pairs = [(0, 0)] * 3 + [(0, 1), (1, 0)] + [(1, 1)] * 3
    first, second = np.transpose(pairs)
    found = emergent_communication.information(first, second, np.arange(8), np.zeros(8, np.int64))
    assert found.interval.mean == near(0.130812 - 1 / 16)
    assert found.samples == 8
    same = emergent_communication.information(
        first, np.zeros(8, np.int64), np.arange(8), np.zeros(8, np.int64)
    )
    assert same.interval.mean == same.interval.high == same.shuffled == 0


def slow_information(pairs):
    """Returns I(first; second | context) of (context, first, second), counted one by one."""
    n, found = len(pairs), 0.0
    joint, contexts = Counter(pairs), Counter(c for c, _, _ in pairs)
    firsts = Counter((c, a) for c, a, _ in pairs)
    seconds = Counter((c, b) for c, _, b in pairs)
    for (c, a, b), count in joint.items():
        found += count / n * log(count * contexts[c] / (firsts[c, a] * seconds[c, b]))
    return found


def test_speaker_consistency_pairs_a_seats_plays_in_a_round():
    told = play(["greedy"], 30, seed=3)
    pairs, said = [], {}
    for row, action in enumerate(told.action.tolist()):
        if PASS < action < CALL:
            seat, kind = (int(told.deal[row]), int(told.seat[row])), (action - 1) % 8
            if seat in said:
                where = int(context(told.view(np.array([row])))[0])
                pairs.append((where, said[seat], kind))
            said[seat] = kind
    found = measures.speaker_consistency(told)
    assert found.samples == len(pairs) > 100
    assert found.plug_in == near(slow_information(pairs))


def test_instantaneous_coordination_pairs_actions_of_partners():
    told = play(["greedy"], 30, seed=4)
    pairs = []
    kinds = [(a - 1) % 8 if 0 < a < CALL else 8 for a in told.action.tolist()]
    for row, (deal, later) in enumerate(zip(told.deal, told.deal[2:], strict=False)):
        if told.action[row] < CALL and deal == later:
            assert (told.seat[row + 2] - told.seat[row]) % 4 == 2
            view = told.view(np.array([row + 2]))
            pairs.append(
                ((int(attack(view)[0]), int(context(view)[0])), kinds[row], kinds[row + 2])
            )
    found = measures.instantaneous_coordination(told)
    assert found.samples == len(pairs) > 100
    assert found.plug_in == near(slow_information(pairs))


def test_influence_is_the_information_of_the_channel_from_message_to_answer():
    row, likely = np.array([0, 0, 1, 1]), np.array([0.5, 0.5, 0.9, 0.1])
    deaf = np.array([[0.2, 0.8]] * 2)
    found = emergent_communication.channel_information(row, likely, np.concatenate([CHANNEL, deaf]))
    # With the mean over messages in place of the sum the second would be log 2.
    assert found == near([NATS, 0.0])


def test_messages_tell_of_the_number_of_tiles():
    # Without a king it sends message 0, with one it sends either.
    information = messages._tile_information
    assert information(np.array([0, 0, 1, 1]), CHANNEL[[0, 0, 1, 1]]) == near(NATS)
    # Hands with a king three times as many: P = (5/8, 3/8) of the messages, so
    # I = 1/4 ln 8/5 + 3/8 ln 4/5 + 3/8 ln 4/3 = 0.117501 - 0.083679 + 0.107881.
    assert information(np.array([0, 1, 1, 1]), CHANNEL[[0, 1, 1, 1]]) == near(0.141703)
    assert information(np.array([0, 0, 1, 1]), np.full((4, 2), 0.5)) == near(0)


# -------------------------------------------------------------------------------- trees and probes


def test_cross_entropy_is_capped():
    found = cross_entropy(np.array([0.8, 0.8, 0.0]), np.array([True, False, True]))
    assert found == near([-log(0.8), -log(0.2), -log(0.001)])


def test_a_policy_against_itself_scores_nothing_on_duplicate_deals():
    points = duplicate_points(play([load_agent("greedy"), "greedy"], 20))
    assert (points.mean, points.low, points.high) == (0, 0, 0)


def test_a_tree_is_written_as_questions():
    inner = SimpleNamespace(
        children_left=[1, -1, -1],
        children_right=[2, -1, -1],
        feature=[0, -2, -2],
        threshold=[1.5, -2, -2],
        value=[None, np.array([[3.0, 1.0]]), np.array([[0.0, 5.0]])],
    )
    tree = SimpleNamespace(tree_=inner, classes_=np.array([PASS, 1 + 7]))
    assert tree_text(tree, ["kings in hand"]).splitlines() == [
        "kings in hand: 2+?",
        "no: pass (75%)",
        "yes: attack with a king (100%)",
    ]
    assert tree_text(tree, ["a king lies face up"]).startswith("A king lies face up?\nno: pass")
