"""Offers the measures of emergent communication that others report, so that results compare.

They are counted from plays or asked of policies; no listener is needed. None says what a signal is
worth: see ``measures.value``. In Goita the action is the message, and what one seat does changes
what the next is allowed, so each is conditioned on what is public or split from what the rules do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from agents.base import Bool, Float, Int, Policy
from agents.signals.contexts import attack, attacked, context
from agents.signals.measures.estimates import Information, information, over_deals
from agents.signals.playing import Play, load_policy
from agents.signals.standing import positions
from agents.statistics.intervals import Interval
from goita_env.actions import CALL, NUM_ACTIONS, PASS
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.worlds import Positions

NOTHING: Final = NUM_ACTIONS
"""In place of an action: the round is over before the seat is asked."""

LISTENERS: Final = {"next": 1, "partner": 2}
"""Seats whose answer is looked at, relative to the speaker."""


def speaker_consistency(play: Play, seed: int = 0) -> Information:
    """Says whether a seat's message goes with its own next action, in nats (SC).

        SC = sum over a, m of p(a, m) log [ p(a, m) / (p(a) p(m)) ]

    by co-occurrence counts (Lowe et al., arXiv:1903.05168; ``calc_mutinfo`` of their code). The
    message is the kind that a play attacks with, the action the kind of the same seat's next
    attack in the round; given the context of the second play, known to all (lead, partner's or
    opponent's attack). The bias of the plug-in value is subtracted. High values need no listener:
    scrambling what others hear leaves SC as it is.

    Args:
        play: the play.
        seed: of the placebo's shuffles.

    Raises:
        SettingError: if there are pairs in fewer than two deals.
    """
    rows = np.flatnonzero((play.action > PASS) & (play.action < CALL))
    order = rows[np.lexsort((rows, play.seat[rows], play.deal[rows]))]
    first, second = order[:-1], order[1:]
    same = (play.deal[first] == play.deal[second]) & (play.seat[first] == play.seat[second])
    first, second = first[same], second[same]
    kinds = [attacked(play.action[part].astype(np.int64)).which for part in (first, second)]
    where = context(play.view(second)).which
    return information(kinds[0], kinds[1], play.deal[first], where, seed)


def instantaneous_coordination(play: Play, seed: int = 0) -> Information:
    """Says whether an action goes with the partner's next one, in nats (IC).

        IC = sum over a_i, a_j of p(a_i, a_j) log [ p(a_i, a_j) / (p(a_i) p(a_j)) ]

    by co-occurrence counts of a_i,t and the partner's next action a_j (Lowe et al.,
    arXiv:1903.05168), each as pass or kind of the attack, given the attack that the partner answers
    and whose it is: unconditioned it would measure the rules. It is still confounded by what both
    saw before. The bias of the plug-in value is subtracted.

    Args:
        play: the play.
        seed: of the placebo's shuffles.

    Raises:
        SettingError: if there are pairs in fewer than two deals.
    """
    first = np.flatnonzero(play.action < CALL)
    second = first + LISTENERS["partner"]  # everybody decides in turn
    inside = second < len(play.deal)
    first, second = first[inside], second[inside]
    first, second = (part[play.deal[first] == play.deal[second]] for part in (first, second))
    kinds = [attacked(play.action[part].astype(np.int64)).which for part in (first, second)]
    view = play.view(second)
    where = attack(view).which * 8 + context(view).which
    return information(kinds[0], kinds[1], play.deal[first], where, seed)


@dataclass(frozen=True)
class Influence:
    """Holds what actions do to another seat's next one, in nats a decision."""

    influence: Interval
    """I(A_k; A_j | s) with all hands as they are."""
    rules: Interval
    """The same where that seat took any legal action: what the move does to what is allowed."""
    beyond: Interval
    """Influence minus rules; may be below 0, for a policy that narrows its choices."""
    decisions: int
    """Positions, one a deal."""


def causal_influence(
    play: Play,
    policy: str | Policy,
    listener: str = "partner",
    *,
    messages: Literal["policy", "legal"] = "policy",
    decisions: int | None = None,
    seed: int = 0,
) -> Influence:
    """Says how far an action determines another seat's next one, in nats (CIC, social influence).

        p(a, m) = pi_j(a | do(m)) p(m),   p(a) = sum over m of p(a, m)
        CIC = mean over positions of sum over a, m of p(a, m) log [ p(a, m) / (p(a) p(m)) ]

    with m the speaker's action, p(m) its policy or any legal action alike, a the listener's next
    action, over positions of the play, hands as dealt, what lies between averaged by the policy.
    This is the expectation of the social influence reward of Jaques et al. (arXiv:1810.08647) and
    the causal influence of Lowe et al. (arXiv:1903.05168). **The published code of the latter takes
    the mean over m, not the sum, for p(a)**, so its values are too large by exactly log(number of
    messages): 1.386 for four messages that do nothing. Here it is the sum. An action changes what
    is allowed next, so the same is computed for a listener that takes any legal action. Exact in
    each position; the interval is over deals.

    Args:
        play: the play; one decision with a choice is drawn of each deal.
        policy: of all seats.
        listener: "partner" or "next".
        messages: p(m): "policy", by which a policy that is sure of its actions has no influence,
            for it has but one message; or "legal", all legal actions being as likely.
        decisions: how many deals; None: all.
        seed: of the draw.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there is no such listener, or fewer than two deals have a choice.
    """
    if listener not in LISTENERS:
        raise SettingError(f"expected a listener of {list(LISTENERS)}, got {listener!r}")
    known, rng = load_policy(policy), np.random.default_rng(seed)
    fit = rng.permutation(np.flatnonzero(play.choice & (play.action < CALL)))
    _, first = np.unique(play.deal[fit], return_index=True)
    rows = fit[first][:decisions]
    if len(rows) < 2:
        raise SettingError(f"expected two deals with a choice at least, got {len(rows)}")
    legal = play.legal[rows]
    row, action = np.nonzero(legal)
    likely = (legal / legal.sum(axis=1, keepdims=True))[row, action]
    if messages == "policy":
        likely = known.probabilities(play.view(rows), legal)[row, action]
    some = likely > 0
    row, action, likely = row[some], action[some], likely[some]
    answers = np.zeros((2, len(row), NUM_ACTIONS + 1))
    games = positions(play, rows)
    for number, told in enumerate(_answers(games, row, action, known, LISTENERS[listener])):
        answers[number] = told
    found = np.zeros((2, len(rows)))
    for number in range(2):
        joint = answers[number] * likely[:, None]
        mean = np.zeros((len(rows), NUM_ACTIONS + 1))
        np.add.at(mean, row, joint)  # p(a): the sum over messages
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = joint * np.log(answers[number] / mean[row])
        np.add.at(found[number], row, np.where(joint > 0, terms, 0).sum(axis=1))
    deal = play.deal[rows]
    return Influence(
        over_deals(found[0], deal),
        over_deals(found[1], deal),
        over_deals(found[0] - found[1], deal),
        len(rows),
    )


def _answers(
    games: Positions, row: Int, action: Int, policy: Policy, turn: int
) -> tuple[Float, Float]:
    """Returns how likely a seat answers in each way: by the policy and by the rules, [m, 70] each.

    Args:
        games: positions, the speaker at seat 0.
        row: [m] positions.
        action: [m] what the speaker does there.
        policy: of all seats.
        turn: seat of the listener.
    """
    rounds = Rounds.from_positions(games, row, actions=action)
    owner, weight, path = np.arange(len(row)), np.ones(len(row)), row
    history, over = action[:, None], np.zeros(len(row), bool)
    known, rules = _seen(rounds, over, 1, policy)
    for seat in range(2, turn + 1):  # branch over what lies between
        branch, played = np.nonzero(known)
        weight = weight[branch] * known[branch, played]
        owner, path, over = owner[branch], path[branch], played == NOTHING
        history = np.column_stack((history[branch], played))
        rounds = Rounds.from_positions(games, path, actions=history[:, 0])
        for column in history.T[1:]:
            if not rounds.over:
                rounds.step(column[rounds.tick.rows])
        known, rules = _seen(rounds, over, seat, policy)
    found = np.zeros((2, len(row), NUM_ACTIONS + 1))
    np.add.at(found[0], owner, weight[:, None] * known)
    np.add.at(found[1], owner, weight[:, None] * rules)
    return found[0], found[1]


def _seen(rounds: Rounds, over: Bool, seat: int, policy: Policy) -> tuple[Float, Float]:
    """Returns how likely the next seat acts in each way, by the policy and by the rules: [m, 70].

    What it does unasked, having a single legal action, counts as a pass, which it nearly always is.

    Args:
        rounds: m games.
        over: [m] games that were over before.
        seat: the seat.
        policy: how it plays.
    """
    known, tick = np.zeros((2, len(over), NUM_ACTIONS + 1)), rounds.tick
    done = over.copy()
    if tick.ended is not None:
        done[tick.ended.rows] = True
    known[:, done, NOTHING] = 1
    known[:, ~done, PASS] = 1
    asked = tick.seats == seat
    rows = tick.rows[asked]
    if len(rows):
        view, legal = tick.view[asked], tick.legal[asked]
        known[:, rows, PASS] = 0
        known[0, rows, :NUM_ACTIONS] = policy.probabilities(view, legal)
        known[1, rows, :NUM_ACTIONS] = legal / legal.sum(axis=1, keepdims=True)
    return known[0], known[1]
