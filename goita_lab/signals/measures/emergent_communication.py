"""Offers the measures of emergent communication from the literature, for comparison.

They need plays or policies, but no listeners. None measures the value of a signal: see
``measures.value``. In Goita the action is the message and changes which actions are legal next, so
each measure is conditioned on public context, or has the effect of the rules taken out.
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
from goita_env.tiles import PARTNER, RELATIVE_SEATS
from goita_env.worlds import Positions
from goita_lab.arena.statistics.intervals import Interval, jackknife_error, t_interval
from goita_lab.signals.filters import context
from goita_lab.signals.measures.information_gain import attack, attacks_with, over_deals
from goita_lab.signals.playing import Play, load_policy, one_choice_a_deal, positions

JACKKNIFE_GROUPS: Final = 50
"""Groups of deals that the jackknife leaves out in turn."""
SHUFFLES: Final = 20
"""Permutations behind a shuffled control."""
NO_ACTION: Final = NUM_ACTIONS
"""In place of an action: the round ends before the seat acts."""


@dataclass(frozen=True)
class Information:
    """A mutual information that was estimated from counts, in nats."""

    interval: Interval
    """The plug-in value minus its bias, with an interval by the jackknife over groups of deals."""
    plug_in: float
    """The value for the counted frequencies, which is too large on average."""
    bias: float
    """Bias of the plug-in value (``plug_in_information``); below 0 where few combinations occur."""
    shuffled: float
    """Control: mean value with one variable shuffled within contexts; near 0."""
    samples: int

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {"interval": self.interval}


def information(first: Int, second: Int, deal: Int, context: Int, seed: int = 0) -> Information:
    """Estimates I(first; second | context) of paired values [n], in nats."""
    groups = np.unique(deal, return_inverse=True)[1] % JACKKNIFE_GROUPS
    if len(first) == 0 or groups.max() == 0:
        raise SettingError("expected pairs of two deals at least, got fewer")
    # Each variable's values become 0, 1, 2 and so on, for a table of counts [C, X, Y].
    c, x, y = (np.unique(values, return_inverse=True)[1] for values in (context, first, second))
    shape = tuple(int(variable.max()) + 1 for variable in (c, x, y))

    def count(c: Int, x: Int, y: Int) -> npt.NDArray[np.integer]:
        cells = np.ravel_multi_index((c, x, y), shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)

    counts = count(c, x, y)
    plug_in, bias = plug_in_information(counts)
    members = [groups == group for group in np.unique(groups)]
    # The jackknife: the counts without one group of deals.
    reduced = [counts - count(c[group], x[group], y[group]) for group in members]
    error = jackknife_error([np.subtract(*plug_in_information(table)) for table in reduced])
    rng, order, shuffled = np.random.default_rng(seed), np.argsort(c, kind="stable"), []
    for _ in range(SHUFFLES):
        # A stable sort of a permutation by context shuffles within contexts: its i-th element has
        # the same context as the i-th of ``order``.
        mixed = rng.permutation(len(order))
        mixed = mixed[np.argsort(c[mixed], kind="stable")]
        pairs = count(c[order], x[order], y[mixed])
        shuffled.append(np.subtract(*plug_in_information(pairs)))
    interval = t_interval(plug_in - bias, error, len(members) - 1)
    return Information(
        interval, plug_in, bias, shuffled=float(np.mean(shuffled)), samples=len(first)
    )


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
    contexts = joint.sum(axis=(1, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(joint * contexts / (rows * columns))
    plug_in = float(terms[joint > 0].sum())
    # K_xy, K_x, K_y and 1 for each context that occurs.
    nonzero = [(table > 0).sum(axis=(1, 2)) for table in (joint, rows, columns, contexts)]
    k_xy, k_x, k_y, occurs = nonzero
    return plug_in, float((k_xy - k_x - k_y + occurs).sum() / (2 * total))


def speaker_consistency(play: Play, seed: int = 0) -> Information:
    """Measures how a seat's message predicts its own next action, in nats (SC).

        SC = sum over a, m of p(a, m) log [ p(a, m) / (p(a) p(m)) ]

    by co-occurrence counts (Lowe et al., arXiv:1903.05168; ``calc_mutinfo`` of their code). The
    message is the kind that a play attacks with, the action the kind of the same seat's next
    attack in the round, given the public context of the second play. High values need no listener:
    scrambling what others observe leaves SC unchanged.
    """
    rows = np.flatnonzero((play.action > PASS) & (play.action < CALL))
    # Sorted by deal, then by seat, then by time: neighbours of one seat are successive attacks.
    # Pairs across deals drop out in ``_of_pairs``.
    order = rows[np.lexsort((rows, play.seat[rows], play.deal[rows]))]
    one_seat = play.seat[order[:-1]] == play.seat[order[1:]]
    return _of_pairs(play, order[:-1][one_seat], order[1:][one_seat], context, seed)


def instantaneous_coordination(play: Play, seed: int = 0) -> Information:
    """Measures how an action predicts the partner's next one, in nats (IC).

        IC = sum over a_i, a_j of p(a_i, a_j) log [ p(a_i, a_j) / (p(a_i) p(a_j)) ]

    by co-occurrence counts of a_i,t and the partner's next action a_j (Lowe et al.,
    arXiv:1903.05168), each as pass or kind of the attack, given the attack that the partner answers
    and whose attack it is; unconditioned it would measure the rules. Earlier actions, which both
    have observed, confound it.
    """
    first = np.flatnonzero(play.action[:-PARTNER] < CALL)  # every seat decides in turn
    # One number for each pair of an attack and a context: there are fewer than 8 contexts.
    return _of_pairs(
        play, first, first + PARTNER, lambda view: attack(view) * 8 + context(view), seed
    )


def _of_pairs(
    play: Play, first: Int, second: Int, context: Callable[[View], Int], seed: int
) -> Information:
    """Estimates the information of the attack of one decision about the attack of a later one.

    ``first`` [n] and ``second`` [n] are the decisions of each pair; pairs of two deals drop out.
    ``context`` returns a number for the public context of a view.
    """
    one_deal = play.deal[first] == play.deal[second]
    first, second = first[one_deal], second[one_deal]
    signal, response = (attacks_with(play.action[r].astype(np.int64)) for r in (first, second))
    return information(signal, response, play.deal[first], context(play.view(second)), seed)


@dataclass(frozen=True)
class Influence:
    """The influence of actions on the partner's next one, in nats a decision."""

    influence: Interval
    """I(A_k; A_j | s), all hands fixed."""
    uniform: Interval
    """The same for a listener that acts uniformly at random: the effect on what is legal."""
    beyond: Interval
    """``influence`` minus ``uniform``; below 0 for some policies that rule out actions anyway."""
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
    them is averaged over the policy. By ``messages``, p(m) is the policy or uniform over legal
    actions. A deterministic policy has one message and no influence. One decision with a choice is
    drawn from each of ``decisions`` deals, and its value is exact.

    This is the expectation of the social influence reward of Jaques et al. (arXiv:1810.08647) and
    the causal influence of Lowe et al. (arXiv:1903.05168). **The published code of the latter takes
    the mean over m, not the sum, for p(a)**, so its values are too large by exactly log(number of
    messages): 1.386 for four messages that do nothing. Here it is the sum.

    Raises:
        AgentError: if ``load_policy`` refuses the policy.
        SettingError: if fewer than two deals have a choice.
    """
    player = load_policy(policy)
    rows = one_choice_a_deal(play, np.random.default_rng(seed))[:decisions]
    if len(rows) < 2:
        raise SettingError(f"expected two deals with a choice at least, got {len(rows)}")
    legal = play.legal[rows]
    probabilities = legal / legal.sum(axis=1, keepdims=True)
    if messages == "policy":
        probabilities = ask_probabilities(player, play.view(rows), legal)
    row, action = np.nonzero(probabilities > 0)  # a message for each position and possible action
    likely = probabilities[row, action]
    answers = _answers(positions(play, rows), row, action, player)
    by_policy, by_uniform = (channel_information(row, likely, answer) for answer in answers)
    nats = by_policy, by_uniform, by_policy - by_uniform
    influence, uniform, beyond = (over_deals(play, rows, figure) for figure in nats)
    return Influence(influence, uniform, beyond, len(rows))


def channel_information(row: Int, likely: Float, answers: Float) -> Float:
    """Returns the mutual information of message and answer in each position, in nats: [n].

    Args:
        row: [m] the position of each message.
        likely: [m] its probability there.
        answers: [m, A] the probabilities of A answers to it.
    """
    num_positions = int(row.max()) + 1
    joint = answers * likely[:, None]
    mean = np.zeros((num_positions, answers.shape[1]))
    np.add.at(mean, row, joint)  # p(a): the sum over messages
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(answers / mean[row])
    nats = np.zeros(num_positions)
    np.add.at(nats, row, np.where(joint > 0, terms, 0).sum(axis=1))
    return nats


def _answers(games: Positions, row: Int, action: Int, policy: Policy) -> Float:
    """Returns the probabilities [2, m, 70] of the partner's answers to m messages of seat 0.

    The first 70 are of a partner that plays the policy, the others of one that plays uniformly.
    ``row`` [m] is the message's position in ``games``, ``action`` [m] the message.
    """
    # The opponent between speaker and partner plays the policy. Every message gets a game for each
    # of the opponent's possible actions, and the answers are averaged over these games.
    rounds = Rounds.from_positions(games, row, actions=action)
    opponent, _ = _next_action(rounds, np.zeros(len(row), bool), RELATIVE_SEATS["next"], policy)
    message, reply = np.nonzero(opponent)
    weight = opponent[message, reply]
    rounds = Rounds.from_positions(games, row[message], actions=action[message])
    if not rounds.over:
        rounds.step(reply[rounds.decisions.rows])
    answers = weight[:, None] * _next_action(rounds, reply == NO_ACTION, PARTNER, policy)
    means = np.zeros((2, *opponent.shape))
    for mean, answer in zip(means, answers, strict=True):
        np.add.at(mean, message, answer)
    return means


def _next_action(rounds: Rounds, ended: Bool, seat: int, policy: Policy) -> Float:
    """Returns the next seat's probabilities [2, m, 70], by the policy and uniformly.

    ``rounds`` take a single legal action without asking; it counts as a pass, which it nearly
    always is. ``ended``: [m] games that ended earlier; those that end now are added.
    """
    probabilities, decisions = np.zeros((2, len(ended), NUM_ACTIONS + 1)), rounds.decisions
    if decisions.ended is not None:
        ended[decisions.ended.rows] = True
    probabilities[:, ended, NO_ACTION] = 1
    probabilities[:, ~ended, PASS] = 1
    acting = decisions.seats == seat
    rows = decisions.rows[acting]
    if len(rows):
        view, legal = decisions.view[acting], decisions.legal[acting]
        probabilities[:, rows, PASS] = 0
        probabilities[0, rows, :NUM_ACTIONS] = ask_probabilities(policy, view, legal)
        probabilities[1, rows, :NUM_ACTIONS] = legal / legal.sum(axis=1, keepdims=True)
    return probabilities
