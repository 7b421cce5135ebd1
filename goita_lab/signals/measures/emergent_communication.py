"""Offers the measures of emergent communication that others report, for comparison.

They take plays or policies, no listeners. None says what a signal is worth: see ``measures.value``.
In Goita the action is the message and changes what is legal next, so each measure is conditioned on
public context or split from what the rules do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from goita_agents.asking import ask_probabilities
from goita_agents.base import Bool, Float, Int, Policy
from goita_env import View
from goita_env.actions import CALL, NUM_ACTIONS, PASS
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.tiles import PARTNER
from goita_env.worlds import Positions
from goita_lab.arena.statistics.intervals import Interval, jackknife_error, t_interval
from goita_lab.signals.filters import context
from goita_lab.signals.measures.information_gain import attack, attacks_with, over_deals
from goita_lab.signals.playing import Play, load_policy, one_choice_a_deal, positions

GROUPS: Final = 50
"""Groups of deals that the jackknife leaves out in turn."""
SHUFFLES: Final = 20
"""Permutations behind a shuffled control."""
NOTHING: Final = NUM_ACTIONS
"""In place of an action: the round is over before the seat is asked."""


@dataclass(frozen=True)
class Information:
    """A mutual information that was estimated from counts, in nats."""

    interval: Interval
    """The plug-in value minus its bias, with an interval by the jackknife over groups of deals."""
    plug_in: float
    """The plug-in value, of the counted frequencies; too large."""
    bias: float
    """Its bias (``plug_in_information``); below 0 where few combinations occur."""
    shuffled: float
    """Control: mean value where one side is shuffled within contexts; near 0."""
    samples: int

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {"interval": self.interval}


def information(first: Int, second: Int, deal: Int, context: Int, seed: int = 0) -> Information:
    """Estimates I(first; second | context) of paired values [n], in nats."""
    groups = np.unique(deal, return_inverse=True)[1] % GROUPS
    if len(first) == 0 or groups.max() == 0:
        raise SettingError("expected pairs of two deals at least, got fewer")
    index = [np.unique(values, return_inverse=True)[1] for values in (context, first, second)]
    shape = tuple(int(values.max()) + 1 for values in index)

    def table(values: tuple[Int, ...]) -> npt.NDArray[np.integer]:
        flat = np.ravel_multi_index(values, shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)

    counts = table(tuple(index))
    plug_in, bias = plug_in_information(counts)
    left = [counts - table(tuple(v[groups == group] for v in index)) for group in np.unique(groups)]
    error = jackknife_error([np.subtract(*plug_in_information(part)) for part in left])
    rng, order, shuffled = np.random.default_rng(seed), np.argsort(index[0], kind="stable"), []
    for _ in range(SHUFFLES):
        mixed = rng.permutation(len(order))
        mixed = mixed[np.argsort(index[0][mixed], kind="stable")]
        pairs = table((index[0][order], index[1][order], index[2][mixed]))
        shuffled.append(np.subtract(*plug_in_information(pairs)))
    value = plug_in - bias
    interval = t_interval(value, error, len(left) - 1)
    return Information(interval, plug_in, bias, float(np.mean(shuffled)), len(first))


def plug_in_information(counts: npt.NDArray[np.integer]) -> tuple[float, float]:
    """Returns the plug-in conditional mutual information of counts and its bias, in nats.

        bias = sum over contexts of (K_xy - K_x - K_y + 1) / 2 N

    with K_xy the non-zero cells of a context, K_x and K_y its non-zero rows and columns, of
    ``counts`` [C, X, Y]: pairs (x, y) in each context. Source: Roulston (1999), Physica D 125,
    285-294, from the bias of plug-in entropies (Miller 1955). It is (rows - 1)(columns - 1) / 2 N
    only where the rules forbid no combination.
    """
    total = counts.sum()
    joint = counts / total
    rows, columns = joint.sum(axis=2, keepdims=True), joint.sum(axis=1, keepdims=True)
    each = joint.sum(axis=(1, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(joint * each / (rows * columns))
    plug_in = float(terms[joint > 0].sum())
    cells = [(part > 0).sum(axis=(1, 2)) for part in (joint, rows, columns, each)]
    return plug_in, float((cells[0] - cells[1] - cells[2] + cells[3]).sum() / (2 * total))


def speaker_consistency(play: Play, seed: int = 0) -> Information:
    """Measures how a seat's message predicts its own next action, in nats (SC).

        SC = sum over a, m of p(a, m) log [ p(a, m) / (p(a) p(m)) ]

    by co-occurrence counts (Lowe et al., arXiv:1903.05168; ``calc_mutinfo`` of their code). The
    message is the kind that a play attacks with, the action the kind of the same seat's next
    attack in the round, given the public context of the second play. High values need no listener:
    scrambling what others hear leaves SC unchanged.
    """
    rows = np.flatnonzero((play.action > PASS) & (play.action < CALL))
    order = rows[np.lexsort((rows, play.seat[rows], play.deal[rows]))]
    same = play.seat[order[:-1]] == play.seat[order[1:]]
    return _of_pairs(play, order[:-1][same], order[1:][same], context, seed)


def instantaneous_coordination(play: Play, seed: int = 0) -> Information:
    """Measures how an action predicts the partner's next one, in nats (IC).

        IC = sum over a_i, a_j of p(a_i, a_j) log [ p(a_i, a_j) / (p(a_i) p(a_j)) ]

    by co-occurrence counts of a_i,t and the partner's next action a_j (Lowe et al.,
    arXiv:1903.05168), each as pass or kind of the attack, given the attack that the partner answers
    and whose it is; unconditioned it would measure the rules. What both saw before confounds it.
    """
    first = np.flatnonzero(play.action[:-PARTNER] < CALL)  # every seat decides in turn
    return _of_pairs(
        play, first, first + PARTNER, lambda view: attack(view) * 8 + context(view), seed
    )


def _of_pairs(
    play: Play, first: Int, second: Int, context: Callable[[View], Int], seed: int
) -> Information:
    """Estimates what a decision tells of a later one, of the pairs in one deal."""
    same = play.deal[first] == play.deal[second]
    first, second = first[same], second[same]
    said, done = (attacks_with(play.action[part].astype(np.int64)) for part in (first, second))
    return information(said, done, play.deal[first], context(play.view(second)), seed)


@dataclass(frozen=True)
class Influence:
    """The influence of actions on the partner's next one, in nats a decision."""

    influence: Interval
    """I(A_k; A_j | s), all hands fixed."""
    uniform: Interval
    """The same for a listener that acts uniformly at random: the effect on what is legal."""
    beyond: Interval
    """``influence`` minus ``uniform``; may be below 0, for a policy that narrows its choices."""
    decisions: int

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {"influence": self.influence, "uniform": self.uniform, "beyond": self.beyond}


def causal_influence(
    play: Play,
    policy: str | Policy,
    *,
    messages: Literal["policy", "legal"] = "policy",
    decisions: int | None = None,
    seed: int = 0,
) -> Influence:
    """Measures how far an action determines the partner's next one, in nats (CIC).

        p(a, m) = pi_j(a | do(m)) p(m),   p(a) = sum over m of p(a, m)
        CIC = mean over positions of sum over a, m of p(a, m) log [ p(a, m) / (p(a) p(m)) ]

    with m the speaker's action, a the partner's next action, hands as dealt; the decision between
    them is averaged by the policy. By ``messages``, p(m) is the policy (a deterministic one has
    one message and no influence) or uniform over legal actions. One decision with a choice is drawn
    of each of ``decisions`` deals, and its value is exact.

    This is the expectation of the social influence reward of Jaques et al. (arXiv:1810.08647) and
    the causal influence of Lowe et al. (arXiv:1903.05168). **The published code of the latter takes
    the mean over m, not the sum, for p(a)**, so its values are too large by exactly log(number of
    messages): 1.386 for four messages that do nothing. Here it is the sum.

    Raises:
        AgentError: if the policy is none.
        SettingError: if fewer than two deals have a choice.
    """
    known = load_policy(policy)
    rows = one_choice_a_deal(play, np.random.default_rng(seed))[:decisions]
    if len(rows) < 2:
        raise SettingError(f"expected two deals with a choice at least, got {len(rows)}")
    legal = play.legal[rows]
    row, action = np.nonzero(legal)
    likely = (legal / legal.sum(axis=1, keepdims=True))[row, action]
    if messages == "policy":
        likely = ask_probabilities(known, play.view(rows), legal)[row, action]
    some = likely > 0
    row, action, likely = row[some], action[some], likely[some]
    answers = _answers(positions(play, rows), row, action, known)
    by_policy, by_uniform = (channel_information(row, likely, answer) for answer in answers)
    values = by_policy, by_uniform, by_policy - by_uniform
    influence, uniform, beyond = (over_deals(play, rows, value) for value in values)
    return Influence(influence, uniform, beyond, len(rows))


def channel_information(row: Int, likely: Float, answers: Float) -> Float:
    """Returns the mutual information of message and answer in each position, in nats: [rows].

    Messages [m]: ``row`` is their position, ``likely`` p(m), ``answers`` [m, A] p(a | m).
    """
    many = int(row.max()) + 1
    joint = answers * likely[:, None]
    mean = np.zeros((many, answers.shape[1]))
    np.add.at(mean, row, joint)  # p(a): the sum over messages
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(answers / mean[row])
    found = np.zeros(many)
    np.add.at(found, row, np.where(joint > 0, terms, 0).sum(axis=1))
    return found


def _answers(games: Positions, row: Int, action: Int, policy: Policy) -> Float:
    """Returns P [2, m, 70] of the partner's answers to seat 0, by the policy and uniformly."""
    rounds = Rounds.from_positions(games, row, actions=action)
    known = _next_action(rounds, np.zeros(len(row), bool), 1, policy)
    owner, between = np.nonzero(known[0])
    weight = known[0, owner, between]
    rounds = Rounds.from_positions(games, row[owner], actions=action[owner])
    if not rounds.over:
        rounds.step(between[rounds.decisions.rows])
    answers = weight[:, None] * _next_action(rounds, between == NOTHING, PARTNER, policy)
    found = np.zeros_like(known)
    for total, answer in zip(found, answers, strict=True):
        np.add.at(total, owner, answer)
    return found


def _next_action(rounds: Rounds, done: Bool, seat: int, policy: Policy) -> Float:
    """Returns the next seat's probabilities [2, m, 70], by the policy and uniformly.

    A single legal action, which is not asked for, counts as a pass, which it nearly always is.
    ``done``: [m] games that were over before; those that are over now are added.
    """
    known, decisions = np.zeros((2, len(done), NUM_ACTIONS + 1)), rounds.decisions
    if decisions.ended is not None:
        done[decisions.ended.rows] = True
    known[:, done, NOTHING] = 1
    known[:, ~done, PASS] = 1
    asked = decisions.seats == seat
    rows = decisions.rows[asked]
    if len(rows):
        legal = decisions.legal[asked]
        known[:, rows, PASS] = 0
        known[0, rows, :NUM_ACTIONS] = ask_probabilities(policy, decisions.view[asked], legal)
        known[1, rows, :NUM_ACTIONS] = legal / legal.sum(axis=1, keepdims=True)
    return known
