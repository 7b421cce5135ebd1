"""Tabulates conventions: how an action depends on a feature of the hand.

Tables come from the policy's exact probabilities, not from sampled actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float, Int, Policy
from goita_agents.beliefs.supports import support
from goita_env.actions import CALL, PASS
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import COUNTS, KING, NAMES, NUM_KINDS, PAWN
from goita_env.views import Replay
from goita_lab.signals.measures.emergent_communication import SHUFFLES
from goita_lab.signals.playing import Play, load_policy

PUBLIC: Final = ("pass", *NAMES)
"""Public actions of the tables: pass, or the kind of the attack."""


@dataclass(frozen=True)
class ConventionTable:
    """A table of actions by a feature of the hand, in one context."""

    context: str
    feature: str
    values: tuple[str, ...]
    """[F] Values of the feature that occur."""
    share: Float
    """[F] How often each value occurs."""
    probability: Float
    """[F, 9] P(action | value, context), actions as ``PUBLIC``."""
    lift: Float
    """[F, 9] log P(action | value, context) / P(action | context), nats; 0 where both are 0."""
    information: float
    """I(feature; action | context), nats."""
    shuffled: float
    """Control: the same with features shuffled among positions, mean of 20; 0 in exact tables."""
    positions: int


def features(hands: npt.NDArray[np.integer]) -> dict[str, tuple[tuple[str, ...], Int]]:
    """Returns features of hands [n, 8]: by name the names of the values, and each hand's [n]."""
    found: dict[str, tuple[tuple[str, ...], Int]] = {}
    for kind, name in enumerate(NAMES):
        most = min(COUNTS[kind], 4)
        names = (*map(str, range(most)), f"{most}+" if kind == PAWN else str(most))
        found[f"{name}s"] = names, np.minimum(hands[:, kind], most).astype(np.int64)
    pair = np.asarray((hands[:, 1:KING] >= 2).any(axis=1), np.int64)
    found["a pair of a kind but pawns"] = ("no", "yes"), pair
    return found


def opening_table(
    policy: str | Policy, feature: str, *, rules: str | Rules = JGA
) -> ConventionTable:
    """Tabulates the first lead of a round by a feature of the hand, exactly.

        P(y | f) = sum over hands h with f of p(h) pi(y | h) / p(f),   lift = log P(y|f) / P(y)

    over all hands with at most four pawns (more lead to a pre-play decision), weighted by the
    probability of being dealt. Nothing is sampled, so nothing has an interval. ``feature`` is a
    name from ``features``.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there is no such feature.
    """
    known, every = load_policy(policy), support(np.array(COUNTS))
    usual = every.hands[:, PAWN] <= 4
    hands, weight = every.hands[usual], every.prior[usual]
    replay = Replay.of_seat(get_rules(rules), 0, hands, 0)
    legal = replay.choices().legal(np.arange(len(hands)))
    public = _public(known.probabilities(replay.view(), legal))
    return tabulated("first lead", feature, hands, public, weight)


def convention_table(
    play: Play,
    policy: str | Policy,
    feature: str,
    context: str,
    chosen: Bool,
    seed: int = 0,
) -> ConventionTable:
    """Tabulates actions by a feature of the tiles in hand, in a context of a play.

        P(y | f, c) = mean of pi(y | s) over positions s of the play with f and c

    The policy's probabilities are exact, but positions are sampled: ``ConventionTable.shuffled``
    shows the size of the bias. ``feature`` is a name from ``features``; ``chosen`` [D] marks the
    decisions of the context. Those without a choice are left out.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there is no such feature, or no such position.
    """
    rows = np.flatnonzero(chosen & play.choice & (play.action < CALL))
    if len(rows) == 0:
        raise SettingError(f"expected positions of the context {context!r}, got none")
    view, known = play.view(rows), load_policy(policy)
    public = _public(known.probabilities(view, play.legal[rows]))
    hands, even = view.hand.astype(np.int64), np.ones(len(rows))
    return tabulated(context, feature, hands, public, even, shuffles=SHUFFLES, seed=seed)


def strongest(tables: Sequence[ConventionTable]) -> list[ConventionTable]:
    """Sorts tables by their information beyond the shuffled control, the most first."""
    return sorted(tables, key=lambda table: table.shuffled - table.information)


def tabulated(
    context: str,
    feature: str,
    hands: Int,
    public: Float,
    weight: Float,
    *,
    shuffles: int = 0,
    seed: int = 0,
) -> ConventionTable:
    """Returns the table of positions: ``hands`` [n, 8], P of ``PUBLIC`` [n, 9], ``weight`` [n]."""
    known = features(hands)
    if feature not in known:
        raise SettingError(f"expected a feature of {list(known)}, got {feature!r}")
    names, which = known[feature]

    def joint_of(which: Int) -> Float:
        joint = np.zeros((len(names), public.shape[1]))
        np.add.at(joint, which, public * weight[:, None])
        return joint

    joint = joint_of(which)
    some = joint.sum(axis=1) > 0
    joint_some = joint[some]
    probability = joint_some / joint_some.sum(axis=1, keepdims=True)
    overall = joint.sum(axis=0) / joint.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.where(overall > 0, np.log(probability) - np.log(overall), 0.0)
    rng = np.random.default_rng(seed)
    shuffled = [table_information(joint_of(rng.permutation(which))) for _ in range(shuffles)]
    values = tuple(name for name, met in zip(names, some, strict=True) if met)
    share, control = joint_some.sum(axis=1) / joint.sum(), np.mean(shuffled) if shuffled else 0.0
    told = table_information(joint), float(control)
    return ConventionTable(context, feature, values, share, probability, lift, *told, len(hands))


def table_information(joint: Float) -> float:
    """Returns the mutual information of a table [X, Y] of weights, in nats."""
    table = joint / joint.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = table * np.log(table / (table.sum(1, keepdims=True) * table.sum(0, keepdims=True)))
    return float(terms[table > 0].sum())


def _public(probabilities: Float) -> Float:
    """Returns the probabilities of the actions of ``PUBLIC``: [n, 9]."""
    attacks = probabilities[:, 1:CALL].reshape(-1, NUM_KINDS, NUM_KINDS).sum(axis=1)
    return np.column_stack([probabilities[:, PASS], attacks])
