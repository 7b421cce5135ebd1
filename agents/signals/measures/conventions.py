"""Finds conventions: how an action depends on a feature of the hand, in tables.

Tables come from the policy's exact probabilities, not from counted actions, so there is no noise of
sampled actions in them; over the opening hands there is none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Bool, Float, Int, Policy
from agents.beliefs.supports import support
from agents.signals.contexts import KINDS
from agents.signals.measures.estimates import SHUFFLES, table_information
from agents.signals.playing import Play, load_policy
from goita_env import View
from goita_env.actions import CALL, PASS
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import COUNTS, KING, NUM_KINDS, PAWN
from goita_env.views import Replay

PUBLIC: Final = ("pass", *(f"{kind}" for kind in KINDS))
"""Public actions of the tables: pass, or the kind of the attack."""


@dataclass(frozen=True)
class ConventionTable:
    """Tells how an action depends on a feature, in one context."""

    context: str
    """Which decisions."""
    feature: str
    """Which feature of the hand in the seat's hand."""
    values: tuple[str, ...]
    """[F] Its values."""
    share: Float
    """[F] How often each value was met."""
    probability: Float
    """[F, 9] P(action | value, context), actions as ``PUBLIC``."""
    lift: Float
    """[F, 9] log P(action | value, context) / P(action | context), nats; minus infinity where the
    action is never taken, 0 where it is never taken in the context."""
    information: float
    """I(feature; action | context), nats."""
    placebo: float
    """The same with features shuffled among the positions, mean of 20; 0 where the table is exact.
    What the information must exceed to mean anything."""
    positions: int
    """Positions or hands behind the table."""


def features(hands: npt.NDArray[np.integer]) -> dict[str, tuple[tuple[str, ...], Int]]:
    """Returns features of hands: by name the names of the values, and which each hand has.

    Args:
        hands: [n, 8] tiles of each kind.
    """
    found: dict[str, tuple[tuple[str, ...], Int]] = {}
    for kind, name in enumerate(KINDS):
        most = min(COUNTS[kind], 4)
        last = f"{most}+" if kind == PAWN else str(most)
        names = (*(str(n) for n in range(most)), last)
        found[f"{name}s"] = names, np.minimum(hands[:, kind], most).astype(np.int64)
    pair = np.asarray((hands[:, 1:KING] >= 2).any(axis=1), np.int64)
    found["a pair of a kind but pawns"] = ("no", "yes"), pair
    return found


def opening_table(
    policy: str | Policy, feature: str, *, rules: str | Rules = JGA
) -> ConventionTable:
    """Tells how the first lead of a round depends on a feature of the hand: exact.

        P(y | f) = sum over hands h with f of p(h) pi(y | h) / p(f),   lift = log P(y|f) / P(y)

    over all hands of the 32 tiles with at most four pawns (more are asked about before play), with
    the probability that they are dealt. No hand is sampled, so nothing here has an interval.
    Compare pair lead, lance lead and pawn lead of Goita's players.

    Args:
        policy: the policy.
        feature: its name (``features``).
        rules: a rule set or its name.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there is no such feature.
    """
    known, rule_set = load_policy(policy), get_rules(rules)
    every = support(np.array(COUNTS))
    usual = every.hands[:, PAWN] <= 4
    hands, weight = every.hands[usual], every.prior[usual]
    replay = Replay.of_seat(rule_set, 0, hands, 0)
    legal = replay.choices().legal(np.arange(len(hands)))
    public = _public(known.probabilities(replay.view(), legal))
    return _table("first lead", feature, hands, public, weight, exact=True)


def convention_table(
    play: Play,
    policy: str | Policy,
    feature: str,
    context: str,
    chosen: Bool | Callable[[View], Bool],
    seed: int = 0,
) -> ConventionTable:
    """Tells how actions depend on a feature of the hand in a context.

        P(y | f, c) = mean of pi(y | s) over positions s of the play with f and c

    from the policy's probabilities in the positions that a play came to: actions are not sampled,
    positions are, so a small bias is left that the placebo shows (features shuffled among the
    positions of the context). The feature is of the tiles in hand now.

    Args:
        play: whose positions are looked at.
        policy: the policy.
        feature: its name (``features``).
        context: by what name the table knows the context.
        chosen: bool [D] the positions with a choice that are meant, or what tells them from views.
        seed: of the placebo.

    Raises:
        AgentError: if the policy is none.
        SettingError: if there is no such feature, or no such position.
    """
    meant = chosen(play.view()) if callable(chosen) else chosen
    rows = np.flatnonzero(meant & play.choice & (play.action < CALL))
    if len(rows) == 0:
        raise SettingError(f"expected positions of the context {context!r}, got none")
    view, known = play.view(rows), load_policy(policy)
    public = _public(known.probabilities(view, play.legal[rows]))
    return _table(context, feature, view.hand.astype(np.int64), public, np.ones(len(rows)), seed)


def strongest(tables: Sequence[ConventionTable]) -> list[ConventionTable]:
    """Returns tables in the order of what they tell beyond their placebo, the most first."""
    return sorted(tables, key=lambda table: table.placebo - table.information)


def _table(
    context: str,
    feature: str,
    hands: Int,
    public: Float,
    weight: Float,
    seed: int = 0,
    *,
    exact: bool = False,
) -> ConventionTable:
    """Returns the table of some positions; ``weight``: [n] how much each counts."""
    known = features(hands)
    if feature not in known:
        raise SettingError(f"expected a feature of {list(known)}, got {feature!r}")
    names, which = known[feature]
    joint = _joint(which, len(names), public * weight[:, None])
    some = joint.sum(axis=1) > 0
    share = joint.sum(axis=1) / joint.sum()
    probability = np.zeros_like(joint)
    probability[some] = joint[some] / joint[some].sum(axis=1, keepdims=True)
    overall = joint.sum(axis=0) / joint.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.where(overall > 0, np.log(probability) - np.log(overall), 0.0)
    placebo, rng = [0.0], np.random.default_rng(seed)
    if not exact:
        placebo = [
            table_information(_joint(rng.permutation(which), len(names), public))
            for _ in range(SHUFFLES)
        ]
    return ConventionTable(
        context,
        feature,
        tuple(name for name, met in zip(names, some, strict=True) if met),
        share[some],
        probability[some],
        lift[some],
        table_information(joint),
        float(np.mean(placebo)),
        len(hands),
    )


def _joint(which: Int, many: int, public: Float) -> Float:
    """Returns the sums of rows by feature: [F, 9]."""
    joint = np.zeros((many, public.shape[1]))
    np.add.at(joint, which, public)
    return joint


def _public(probabilities: Float) -> Float:
    """Returns the probabilities of pass and of each attack: [n, 9]."""
    found = np.zeros((len(probabilities), 1 + NUM_KINDS))
    found[:, 0] = probabilities[:, PASS]
    pairs = probabilities[:, 1:CALL].reshape(-1, NUM_KINDS, NUM_KINDS)
    found[:, 1:] = pairs.sum(axis=1)
    return found
